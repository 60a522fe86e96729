"""Flows over one bottleneck link, packet by packet, under one policy; the loop is native.

Priorities are those of K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia
University, 2021, equations 2.1 and 2.2: age / bytes^α, age in nanoseconds since the first packet was scheduled, bytes
sent so far (blind) or remaining (aware). PBS is the policy that it extends (H. Feng, V. Misra, D. Rubenstein,
SIGMETRICS 2007): age since the arrival, without a rule for first packets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sinemora_native

from sinemora.labs.tail_lab.core.policies import PacketPolicy
from sinemora.labs.tail_lab.core.workloads import Workload

Progress = Callable[[float], None]

_ORDERS = {PacketPolicy.PBS: "sent", PacketPolicy.D_TAIL_BLIND: "sent", PacketPolicy.D_TAIL_AWARE: "remaining"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A policy with its α and, with classes of priority, their `boundaries`: log2 of the priority, ascending."""

    policy: PacketPolicy
    alpha: float = 0.0
    boundaries: Sequence[float] = ()

    @property
    def order(self) -> str:
        """Name of the order in the native module."""
        return _ORDERS.get(self.policy, self.policy.value)

    @property
    def first_packet_rule(self) -> bool:
        """True if the first packet of a flow goes before all others."""
        return self.policy is not PacketPolicy.PBS


@dataclass(frozen=True, slots=True)
class Link:
    """Bottleneck: its rate, and the largest packet."""

    mbit: float = 10_000.0
    packet_bytes: int = 1_460

    @property
    def byte_ps(self) -> int:
        """Time of a byte, ps."""
        return max(1, round(8e6 / self.mbit))


@dataclass(frozen=True)
class Flows:
    """Flows in the order of their arrivals at a link."""

    link: Link
    arrivals_ps: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]

    @property
    def ideal_s(self) -> npt.NDArray[np.float64]:
        """Time that each flow takes on an empty link, s."""
        return self.sizes * self.link.byte_ps / 1e12

    @property
    def load(self) -> float:
        """Share of the link's capacity that the flows offer."""
        return float(self.sizes.sum()) * self.link.byte_ps / float(self.arrivals_ps[-1])


@dataclass(frozen=True)
class Simulated:
    """Flow completion times, s, and what else the simulation counted."""

    fct_s: npt.NDArray[np.float64]
    packets: int
    class_shares: list[float]
    recorded: npt.NDArray[np.float64]
    recorded_bytes: npt.NDArray[np.int64]


def draw_flows(workload: Workload, link: Link, load: float, count: int, seed: int) -> Flows:
    """Draw flows: Poisson arrivals at a load of the link, sizes by inverse transform of their distribution."""
    # One stream of uniform numbers each: the arrivals are the same for every workload, scaled by its mean.
    gaps, sizes = (np.random.default_rng([seed, stream]).random(count) for stream in range(2))
    gap_ps = workload.mean_bytes * link.byte_ps / load
    arrivals_ps = np.cumsum(-np.log1p(-gaps) * gap_ps).astype(np.int64)
    return Flows(link, arrivals_ps, workload.sizes_at(sizes))


def simulate(flows: Flows, chosen: Chosen, progress: Progress | None = None, *, record: bool = False) -> Simulated:
    """Send all packets of the flows. What `progress` raises ends the simulation; it gets the share of flows that ended.

    With `record`, the result has log2 of the priority of packets, and their bytes; first packets have none.
    """
    count = max(len(flows.sizes), 1)
    watch = None if progress is None else lambda finished: progress(finished / count)
    finish_ps, packets, class_bytes, recorded, recorded_bytes = sinemora_native.simulate_link(
        flows.arrivals_ps, flows.sizes, flows.link.byte_ps, flows.link.packet_bytes, chosen, record, watch
    )
    total = sum(class_bytes) or 1
    return Simulated(
        (finish_ps - flows.arrivals_ps) / 1e12,
        packets,
        [each / total for each in class_bytes],
        recorded,
        recorded_bytes,
    )
