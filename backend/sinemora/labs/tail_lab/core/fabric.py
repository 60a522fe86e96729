"""Flows through the leaf-spine network of the source, packet by packet, under one transport; the loop is native.

Source: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University, 2021,
section 2.4: 144 hosts in 9 racks, 4 spines, ECMP, links of 10 and 40 Gbit/s that are not oversubscribed, 8 classes of
priority. The transports are simplified (docs/tail-lab.md) and have the constants of their publications, as the source
prints none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sinemora_native

from sinemora.labs.tail_lab.core.classes import even_boundaries
from sinemora.labs.tail_lab.core.link import Progress, Simulated
from sinemora.labs.tail_lab.core.policies import PacketPolicy
from sinemora.labs.tail_lab.core.workloads import Workload

CLASSES = 8
"""Classes of priority of a switch."""
HOPS = 8
"""Links that a packet and its acknowledgement take together."""
_TRAINED = 4
"""Boundaries are made from the first quarter of the flows."""
_TRAINING_SHARE = 0.2
"""Share of a simulation's progress that this takes."""
_UNSCHEDULED_PACKETS = 7
"""Homa: packets that are sent without a grant, 9.7 kB; the same in the native module."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """Leaf-spine network: switches, hosts, times of a byte and propagation delays of links, ps."""

    leaves: int = 9
    hosts_per_leaf: int = 16
    spines: int = 4
    edge_byte_ps: int = 800
    core_byte_ps: int = 200
    edge_delay_ps: int = 10_000
    core_delay_ps: int = 100_000
    packet_bytes: int = 1_460
    header_bytes: int = 40

    @property
    def hosts(self) -> int:
        return self.leaves * self.hosts_per_leaf


@dataclass(frozen=True)
class FabricFlows:
    """Flows in the order of their arrivals, each from a host to one of another rack."""

    fabric: Fabric
    arrivals_ps: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.int64]
    seed: int

    @property
    def ideal_s(self) -> npt.NDArray[np.float64]:
        """Time that each flow takes on an empty network without waiting for acknowledgements, s."""
        fabric = self.fabric
        edge, core = (fabric.edge_byte_ps, fabric.edge_delay_ps), (fabric.core_byte_ps, fabric.core_delay_ps)
        packets = -(-self.sizes // fabric.packet_bytes)
        full = fabric.packet_bytes + fabric.header_bytes
        last = self.sizes - (packets - 1) * fabric.packet_bytes + fabric.header_bytes
        # The last packet follows the one before it: when each has left the first link, the second, …
        before_ps = np.zeros(self.sizes.size, np.int64)
        last_ps = (packets - 1) * full * edge[0]
        arrives_before_ps = last_ps - full * edge[0]
        for byte_ps, delay_ps in (edge, core, core, edge):
            before_ps = np.where(packets > 1, arrives_before_ps + full * byte_ps, 0)
            last_ps = np.maximum(last_ps, before_ps) + last * byte_ps
            arrives_before_ps, last_ps = before_ps + delay_ps, last_ps + delay_ps
        return last_ps / 1e12

    @property
    def load(self) -> float:
        """Share of the capacity of the hosts' links that the flows offer, without headers."""
        return float(self.sizes.sum()) * self.fabric.edge_byte_ps / float(self.arrivals_ps[-1]) / self.fabric.hosts

    def first(self, count: int) -> "FabricFlows":
        return FabricFlows(
            self.fabric,
            self.arrivals_ps[:count],
            self.sizes[:count],
            self.sources[:count],
            self.destinations[:count],
            self.seed,
        )


@dataclass(frozen=True)
class FabricSimulated(Simulated):
    """Also counts of packets, and the boundaries of classes."""

    boundaries: list[float]
    dropped: int
    duplicates: int
    marked: int
    hops: int


@dataclass(frozen=True, slots=True)
class FabricChosen:
    """A transport and an order of flows, as the native module reads them."""

    transport: str
    order: str
    by_age: bool = False
    alpha: float = 0.0
    boundaries: Sequence[float] = ()
    scheduled_classes: int = 0
    cutoffs: Sequence[int] = ()


_MODES = {
    PacketPolicy.TCP: ("tcp", "turn", False),
    PacketPolicy.DCTCP: ("dctcp", "turn", False),
    PacketPolicy.DCTCP_D_TAIL_BLIND: ("dctcp", "sent", True),
    PacketPolicy.DCTCP_D_TAIL_AWARE: ("dctcp", "remaining", True),
    PacketPolicy.PFABRIC_LAS: ("pfabric", "sent", False),
    PacketPolicy.PFABRIC: ("pfabric", "remaining", False),
    PacketPolicy.PFABRIC_D_TAIL_BLIND: ("pfabric", "sent", True),
    PacketPolicy.PFABRIC_D_TAIL_AWARE: ("pfabric", "remaining", True),
    PacketPolicy.HOMA: ("homa", "remaining", False),
    PacketPolicy.HOMA_D_TAIL_AWARE: ("homa", "remaining", True),
}
"""Transport, bytes that count, and whether age counts, of each policy."""


def has_classes(policy: PacketPolicy) -> bool:
    """Return whether packets of a policy have one of 8 classes, not one class or a rank."""
    transport, _, by_age = _MODES[policy]
    return transport == "homa" or (transport == "dctcp" and by_age)


def draw_fabric_flows(workload: Workload, fabric: Fabric, load: float, count: int, seed: int) -> FabricFlows:
    """Draw flows: Poisson arrivals at a load of the hosts' links, random pairs of hosts of different racks."""
    gaps, sizes, sources, destinations = (np.random.default_rng([seed, stream]).random(count) for stream in range(4))
    gap_ps = workload.mean_bytes * fabric.edge_byte_ps / load / fabric.hosts
    arrivals_ps = np.cumsum(-np.log1p(-gaps) * gap_ps).astype(np.int64)
    source = np.floor(sources * fabric.hosts).astype(np.int64)
    rack = source // fabric.hosts_per_leaf
    # Of the hosts outside the rack, those behind it are shifted by its size.
    other = np.floor(destinations * (fabric.hosts - fabric.hosts_per_leaf)).astype(np.int64)
    destination = other + np.where(other >= rack * fabric.hosts_per_leaf, fabric.hosts_per_leaf, 0)
    return FabricFlows(fabric, arrivals_ps, workload.sizes_at(sizes), source, destination, seed)


def homa_classes(flows: FabricFlows) -> tuple[int, list[int]]:
    """Return the number of classes of granted packets, and the largest sizes of the classes of first packets but one.

    Homa's rule: the classes are split by the share of bytes that need no grant, and each class of first packets carries
    as many bytes; the smallest flows are in the highest.
    """
    first = np.minimum(flows.sizes, _UNSCHEDULED_PACKETS * flows.fabric.packet_bytes)
    unscheduled = int(np.clip(round(CLASSES * float(first.sum() / flows.sizes.sum())), 1, CLASSES - 1))
    order = np.argsort(flows.sizes, kind="stable")
    carried = np.cumsum(first[order]) / first.sum()
    at = np.searchsorted(carried, np.arange(1, unscheduled) / unscheduled)
    return CLASSES - unscheduled, [int(size) for size in flows.sizes[order][at]]


def simulate_fabric(
    flows: FabricFlows, policy: PacketPolicy, alpha: float = 0.0, progress: Progress | None = None
) -> FabricSimulated:
    """Send all flows under a policy. What `progress` raises ends it; it gets the share that is done.

    Classes of D-TAIL first need their boundaries: the first flows are sent with the same α, by DCTCP with one class, by
    Homa with classes by rank; their priorities are spread evenly by bytes.
    """
    transport, order, by_age = _MODES[policy]
    scheduled, cutoffs = homa_classes(flows) if transport == "homa" else (0, [])
    chosen = FabricChosen(transport, order, by_age, alpha, (), scheduled, cutoffs)
    if not by_age or not has_classes(policy):
        return _simulate(flows, chosen, progress)
    trained = flows.first(-(-flows.sizes.size // _TRAINED))
    watch = None if progress is None else lambda share: progress(_TRAINING_SHARE * share)
    recorded = _simulate(trained, chosen, watch, record=True)
    if transport == "homa":
        boundaries = even_boundaries(recorded, int(recorded.recorded_bytes.sum()), 0, scheduled)
    else:
        first = int(np.minimum(trained.sizes, flows.fabric.packet_bytes).sum())
        boundaries = even_boundaries(recorded, int(trained.sizes.sum()), first, CLASSES)
    left = None if progress is None else lambda share: progress(_TRAINING_SHARE + (1 - _TRAINING_SHARE) * share)
    return _simulate(flows, FabricChosen(transport, order, by_age, alpha, boundaries, scheduled, cutoffs), left)


def _simulate(
    flows: FabricFlows, chosen: FabricChosen, progress: Progress | None, *, record: bool = False
) -> FabricSimulated:
    count = max(len(flows.sizes), 1)
    watch = None if progress is None else lambda finished: progress(finished / count)
    pairs = flows.sources, flows.destinations
    finish_ps, counts, class_bytes, recorded, recorded_bytes = sinemora_native.simulate_fabric(
        flows.arrivals_ps, flows.sizes, *pairs, flows.fabric, chosen, flows.seed, record, watch
    )
    total = sum(class_bytes) or 1
    return FabricSimulated(
        (finish_ps - flows.arrivals_ps) / 1e12,
        counts.delivered,
        [each / total for each in class_bytes],
        recorded,
        recorded_bytes,
        list(chosen.boundaries),
        counts.dropped,
        counts.duplicates,
        counts.marked,
        counts.hops,
    )
