"""Probing plan: which VM measures which, computed from the keys of the VMs alone.

Each unordered pair is measured once; the VM that sends requests is the client. Multiplication with 2^64/φ maps keys to
a circle (Fibonacci hashing, Knuth, TAOCP 3, §6.4). A VM is the client towards the VMs in the half circle ahead of it.
Consecutive keys spread almost evenly, so a VM is the client for about half of its peers. Since only the two keys
matter, a pair keeps its client when other VMs join or leave.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from sinemora.fleet.meshes.strategies.strategy import FULL, Strategy
from sinemora.fleet.meshes.strategies.turns import Flags, Words, active, turns_of

_GOLDEN = 0x9E3779B97F4A7C15
_CIRCLE = 1 << 64

PACKETS_PER_S = 20_000
PEERS = 2_000
# Of one processor, and of resident memory.
CPU_PERCENT = 20
MEMORY_MIB = 192
SPIKE_THRESHOLD_NS, SPIKE_THRESHOLD_RANGE_NS = 500_000, (10_000, 1_000_000_000)
"""Default and limits of the excess over a window's median from which an agent keeps delays as evidence."""
LOSS_DEADLINE_MS, LOSS_DEADLINE_RANGE_MS = 1_000, (100, 2_000)
"""Default and limits of the time after which an exchange is lost. A window is complete when its last exchange is, and
alerts wait for three seconds.
"""

_FORM = 2
"""Number of the form of plans. A higher one makes agents fetch plans that have not changed otherwise."""

_CAPS = {"packets_per_s": PACKETS_PER_S, "peers": PEERS, "cpu_percent": CPU_PERCENT, "memory_mib": MEMORY_MIB}


@dataclass(frozen=True)
class Member:
    """VM of a mesh. `has_agent`: it has an unrevoked agent; `responder`: the program that responds to probes."""

    id: UUID
    key: int
    name: str
    zone_id: UUID
    zone_name: str
    address: str | None
    event_port: int
    general_port: int
    has_agent: bool
    responder: str = "agent"
    ptp_domain: int = 0

    @property
    def is_master(self) -> bool:
        """Return whether a standard IEEE 1588 master or a server of SPTP responds in place of an agent."""
        return self.responder != "agent" and not self.has_agent

    @property
    def can_probe(self) -> bool:
        """Return whether others can measure against it. Without a responder every packet would be lost."""
        return (self.has_agent or self.is_master) and self.address is not None


@dataclass(frozen=True)
class MeshState:
    """Mesh at one revision. Members are ordered by zone name, zone, VM name, as in every matrix.

    `focus`: pairs of VM keys that are measured in every window, whatever the strategy.
    """

    id: UUID
    key: int
    name: str
    window_s: int
    rate_hz: int
    flows: int
    revision: int
    members: tuple[Member, ...]
    spike_threshold_ns: int = SPIKE_THRESHOLD_NS
    loss_deadline_ms: int = LOSS_DEADLINE_MS
    strategy: Strategy = FULL
    focus: tuple[tuple[int, int], ...] = ()

    @cached_property
    def turns(self) -> Words:
        """Return the turns of every pair [n, n], see `strategies.turns`; 0 is a pair that is never measured."""
        zones = {zone_id: at for at, zone_id in enumerate(dict.fromkeys(member.zone_id for member in self.members))}
        zone_of = np.array([zones[member.zone_id] for member in self.members], np.int64)
        # The period of a standard master's service is negotiated with it: it does not follow turns.
        fixed = np.array([member.is_master for member in self.members], np.bool_)
        return turns_of(self.strategy, zone_of, planned(self.members), fixed, self._focused(), self.key)

    @property
    def planned(self) -> Flags:
        """Return the paths that are measured at least once in a period: n×n, symmetric, diagonal false."""
        return planned(self.members) if not self.strategy.rotates else self.turns > 0

    def active(self, started_at_s: int) -> Flags:
        """Return the paths that are measured in the window that starts at `started_at_s` (Unix time): n×n."""
        if not self.strategy.rotates:
            return planned(self.members)
        return active(self.turns, self.strategy.period, started_at_s, self.window_s)

    def _focused(self) -> Flags | None:
        if not self.focus:
            return None
        places = {member.key: at for at, member in enumerate(self.members)}
        flags = np.zeros((len(self.members),) * 2, np.bool_)
        for one, other in self.focus:
            if one in places and other in places:
                flags[places[one], places[other]] = True
        return flags


@dataclass(frozen=True)
class OnDemandPlan:
    """Measurement of one pair on demand. `rate_hz` is for each of its `flows`; times are Unix ns."""

    id: UUID
    key: int
    rate_hz: int
    flows: int
    loss_deadline_ms: int
    starts_at_ns: int
    ends_at_ns: int
    ecn: bool
    reordering: bool
    client: Member
    responder: Member


def is_client(key: int, peer_key: int) -> bool:
    """Return whether the VM `key` is the client of the pair. Exactly one of two different 32-bit keys is."""
    ahead = (peer_key - key) * _GOLDEN % _CIRCLE
    return 0 < ahead < _CIRCLE // 2


def clients(keys: Sequence[int]) -> NDArray[np.bool_]:
    """Return `is_client` for all pairs: n×n, true where the row is the client, diagonal false."""
    position = np.asarray(keys, dtype=np.uint64) * np.uint64(_GOLDEN)
    ahead = position[None, :] - position[:, None]
    return (ahead > 0) & (ahead < np.uint64(_CIRCLE // 2))


def planned(members: Sequence[Member]) -> NDArray[np.bool_]:
    """Return the paths that can be measured: n×n, symmetric as one exchange yields both directions, diagonal false.

    Two IEEE 1588 masters do not measure each other.
    """
    reachable = np.array([member.can_probe for member in members], dtype=np.bool_)
    has_agent = np.array([member.has_agent for member in members], dtype=np.bool_)
    paths = np.outer(reachable, reachable) & np.logical_or.outer(has_agent, has_agent)
    np.fill_diagonal(paths, False)
    return paths


def plan_revision(agent_id: UUID, meshes: Sequence[MeshState], for_a_while: Sequence[UUID | str] = ()) -> str:
    """Return the revision of an agent's plan in these meshes: a hash of the plan without its time.

    Ids of measurements on demand and of bulk orders, and names of what the tenant switched on, follow after a hyphen:
    `mesh_part` is the revision without them.
    """
    revision = revision_of(agent_id, [(mesh.id, mesh.revision) for mesh in meshes])
    if not for_a_while:
        return revision
    words = "\n".join(sorted(map(str, for_a_while)))
    return f"{revision}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def mesh_part(revision: str) -> str:
    """Return the part of a plan's revision that depends on meshes."""
    return revision.partition("-")[0]


def revision_of(agent_id: UUID, meshes: Sequence[tuple[UUID, int]]) -> str:
    """Return `plan_revision`, given the id and revision of each mesh."""
    words = [str(agent_id), *sorted(f"{id}:{revision}" for id, revision in meshes)]
    return hashlib.sha256("\n".join([*words, *map(str, (_FORM, *_CAPS.values()))]).encode()).hexdigest()[:16]


def vm_tag(one: UUID, other: UUID, secret: bytes) -> int:
    """Return the tag by which two VMs name each other in their messages, 53 bits and not 0: a keyed hash of their ids.

    Only these two get it, so that no third VM can answer in the name of one. Every JSON reader keeps 53 bits exactly.
    """
    low, high = sorted((one.bytes, other.bytes))
    hashed = hashlib.blake2b(low + high, key=secret[: hashlib.blake2b.MAX_KEY_SIZE], digest_size=8)
    return int.from_bytes(hashed.digest(), "big") >> 11 or 1


def unmeasurable(one: Member, other: Member) -> tuple[str, str] | None:
    """Return why no packet can pass between the addresses of two VMs: a reason for programs and a sentence; or None."""
    if one.address is None or other.address is None:
        return None
    first, second = ("IPv6" if ":" in address else "IPv4" for address in (one.address, other.address))
    if first != second:
        return "address_family", (
            f"{one.name} has an {first} address and {other.name} an {second} address, so no packet can pass between"
            " them: give both addresses of one family (probe_address)"
        )
    if _is_loopback(one.address) != _is_loopback(other.address):
        inner = one if _is_loopback(one.address) else other
        return "loopback", (
            f"{inner.name} has the address {inner.address}, which no other machine reaches: set its probe_address"
        )
    if (one.address, one.event_port) == (other.address, other.event_port):
        return "same_address", f"{one.name} and {other.name} have one address and port: correct one (probe_address)"
    return None


def plan_for(
    agent_id: UUID,
    vm_key: int,
    meshes: Sequence[MeshState],
    server_time_ns: int,
    on_demand: Sequence[OnDemandPlan] = (),
    secret: bytes = b"",
    *,
    service_traffic: bool = False,
) -> dict[str, object]:
    """Return the plan of one agent (JSON), given the meshes of its VM and its measurements on demand.

    `secret` of the installation makes the tags of VMs; without one they are hashes of random ids. With
    `service_traffic` the agent counts connections with all VMs of its meshes, also those that it does not measure.
    """
    return {
        "revision": plan_revision(agent_id, meshes, [one.id for one in on_demand]),
        "agent_id": str(agent_id),
        "vm_key": vm_key,
        "server_time_ns": server_time_ns,
        "caps": _CAPS,
        # An agent has one threshold: in several meshes the lowest, which keeps more than the others ask for.
        "spike_threshold_ns": min((mesh.spike_threshold_ns for mesh in meshes), default=SPIKE_THRESHOLD_NS),
        "meshes": [
            {
                "id": str(mesh.id),
                "key": mesh.key,
                "name": mesh.name,
                "window_s": mesh.window_s,
                "rate_hz": mesh.rate_hz,
                "loss_deadline_ms": mesh.loss_deadline_ms,
                "period_windows": mesh.strategy.period,
                "peers": _peers(vm_key, mesh, secret),
            }
            for mesh in meshes
        ],
        "on_demand": [_on_demand(vm_key, one, secret) for one in on_demand],
        "service_traffic": _vms_by_address(vm_key, meshes) if service_traffic else None,
    }


def _vms_by_address(vm_key: int, meshes: Sequence[MeshState]) -> dict[str, int]:
    """Return the keys of the other VMs by address; none for an address of several VMs, as behind NAT."""
    keys: dict[str, set[int]] = {}
    for member in (member for mesh in meshes for member in mesh.members):
        if member.address is not None:
            keys.setdefault(member.address, set()).add(member.key)
    return {address: key for address, (key, *others) in keys.items() if not others and key != vm_key}


def unmeasurable_pairs(members: Sequence[Member]) -> NDArray[np.bool_]:
    """Return `unmeasurable` for all pairs: n×n."""
    kinds = np.array([(":" in (vm.address or ""), _is_loopback(vm.address or "")) for vm in members]).reshape(-1, 2)
    places: dict[object, int] = {}
    at = np.array([places.setdefault((vm.address, vm.event_port), len(places)) for vm in members], np.int64)
    apart = (kinds[:, None] != kinds[None, :]).any(axis=2) | (at[:, None] == at[None, :])
    known = np.array([vm.address is not None for vm in members], np.bool_)
    np.fill_diagonal(apart, False)
    pairs: NDArray[np.bool_] = apart & known & known[:, None]
    return pairs


def _is_loopback(address: str) -> bool:
    return address.startswith("127.") or address == "::1"


def _peers(vm_key: int, mesh: MeshState, secret: bytes) -> list[dict[str, object]]:
    """Return the peers of a VM with an agent. `turns` is null for peers that are measured in every window."""
    own = next(at for at, member in enumerate(mesh.members) if member.key == vm_key)
    vm = mesh.members[own]
    if not mesh.strategy.rotates:
        return [_peer(vm, peer, mesh.flows, secret) for peer in mesh.members if _probes(vm, peer)]
    period = mesh.strategy.period
    every = (1 << period) - 1
    peers = []
    for peer, word in zip(mesh.members, mesh.turns[own].tolist(), strict=True):
        if word and not unmeasurable(vm, peer):
            turns = None if word == every else [turn for turn in range(period) if word >> turn & 1]
            peers.append(_peer(vm, peer, mesh.flows, secret) | {"turns": turns})
    return peers


def _on_demand(vm_key: int, one: OnDemandPlan, secret: bytes) -> dict[str, object]:
    is_client = one.client.key == vm_key
    vm, peer_vm = (one.client, one.responder) if is_client else (one.responder, one.client)
    peer = _peer(vm, peer_vm, one.flows, secret)
    return {
        "id": str(one.id),
        "key": one.key,
        "rate_hz": one.rate_hz,
        "loss_deadline_ms": one.loss_deadline_ms,
        "starts_at_ns": one.starts_at_ns,
        "ends_at_ns": one.ends_at_ns,
        "ecn": one.ecn,
        "reordering": one.reordering,
        "peer": peer | {"role": "client" if is_client else "responder"},
    }


def _probes(vm: Member, peer: Member) -> bool:
    return peer.can_probe and peer.key != vm.key and not unmeasurable(vm, peer)


def _peer(vm: Member, peer: Member, flows: int, secret: bytes) -> dict[str, object]:
    return {
        "vm_key": peer.key,
        "name": peer.name,
        "address": peer.address,
        "event_port": peer.event_port,
        "general_port": peer.general_port,
        "role": "client" if peer.is_master or is_client(vm.key, peer.key) else "responder",
        "protocol": peer.responder if peer.is_master else "compact",
        "domain": peer.ptp_domain if peer.is_master else 0,
        "vm_tag": 0 if peer.is_master else vm_tag(vm.id, peer.id, secret),
        "flows": flows,
        "turns": None,
    }
