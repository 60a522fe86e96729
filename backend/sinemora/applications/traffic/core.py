"""Applications found in counted connections: stars and graphs of VMs by listening port, and how they follow.

A service is a listening port of a VM. Services of one port with mostly the same clients are one proposal, and so are
VMs that serve the port to one another. Traffic has one size: its bytes, plus `CONNECTION` for each connection, because
short connections end before anything reads their bytes.
"""

import hashlib
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np

CONNECTION = 1_000
"""Size of a connection in addition to the bytes that were counted: a small request and its response."""
WINDOW = timedelta(seconds=30)
"""Window in which agents count connections."""
RECENT = timedelta(days=1)
"""Age of its newest window up to which traffic is of now."""
_WINDOWS_MIN = 2
_ALIKE = 0.5
"""Least Jaccard index of the clients of two services of one application."""
_EVERYWHERE = 0.8
"""Share of the mesh's VMs from which on light traffic is no application."""
_LIGHT = 0.1
"""Largest share of the mesh's traffic that is light."""
_FEW_VMS = 8
"""Number of VMs below which a service of most of them is an application as any other."""
_SCANNED_PORTS = 4
_SCANNED = 6
_FEW_WINDOWS = 3
_STRAY = 0.01
"""Least size per window of a client of few windows, as a share of what is usual for its application."""
_EVEN = 1.5
"""Largest ratio of the shares of a star's links: a star weighs its links equally, so others are graphs."""
_QUIET = timedelta(seconds=45)
"""Time without traffic after which a VM is quiet, if others of its application have some: more than a window."""
_FRESH = timedelta(minutes=3)
"""Age up to which a new task can prove to be one that moved, because the old VM falls quiet later."""
_AWAITED = timedelta(minutes=10)
"""Time in which a task is awaited on a VM on which somebody recorded it."""
GONE = timedelta(minutes=5)
"""Time without traffic after which a task waits."""
FORGOTTEN = timedelta(days=1)
"""Time after which a waiting task that nobody pinned is removed."""
_GAPS_QUIET = 1.5
_GAPS_GONE = 10

# IANA's names, or those of the programs that made the port their own.
_NAMES = {
    22: "ssh",
    53: "dns",
    80: "http",
    443: "https",
    1883: "mqtt",
    2181: "zookeeper",
    2222: "tensorflow",
    2379: "etcd",
    3306: "mysql",
    3389: "rdp",
    5432: "postgres",
    5672: "amqp",
    6379: "redis",
    7077: "spark",
    8080: "http",
    8443: "https",
    9042: "cassandra",
    9092: "kafka",
    9100: "node exporter",
    9200: "elasticsearch",
    10250: "kubelet",
    11211: "memcached",
    27017: "mongodb",
}
_CURVES = {
    53: "dns",
    80: "apache",
    443: "apache",
    2222: "tensorflow-mnist",
    3306: "tpc-c",
    7077: "spark-glm",
    8080: "apache",
    8443: "apache",
    11211: "memcached-server",
}
_MANAGEMENT = frozenset({22, 3389, 9100, 10250})
"""Ports of the machines themselves, whatever runs on them."""
_LABELS = ("app.kubernetes.io/name", "app", "application", "service", "role", "component")


@dataclass(frozen=True, slots=True)
class TrafficEdge:
    """Traffic of a client VM with a listening port of a server VM, as the end counted it that counted more."""

    client: UUID
    server: UUID
    port: int
    connections: int
    bytes: int
    days: int
    windows: int
    first_at: datetime
    last_at: datetime

    @property
    def size(self) -> int:
        """Return bytes and connections as one number."""
        return self.bytes + CONNECTION * self.connections

    @property
    def gap(self) -> timedelta:
        """Return the usual time between two windows with traffic."""
        return (self.last_at - self.first_at - WINDOW) / max(self.windows - 1, 1)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Application found in traffic. `weights` has the share of each pair of client and server; they add up to 1.

    `share` is its part of the mesh's traffic, `stability` the share of windows with traffic. `everywhere`: most VMs
    have a little of it, as of monitoring, so it is no application.
    """

    key: str
    port: int
    servers: tuple[UUID, ...]
    clients: tuple[UUID, ...]
    edges: tuple[TrafficEdge, ...]
    weights: Mapping[tuple[UUID, UUID], float]
    share: float
    stability: float
    everywhere: bool

    @property
    def is_star(self) -> bool:
        """Return true for one server whose clients have like shares of its traffic."""
        return is_star(self.weights)

    @property
    def curve(self) -> str | None:
        """Return the key of the published curve that fits the port; None where none does."""
        return _CURVES.get(self.port)

    def name(self, names: Mapping[UUID, str], labels: Mapping[UUID, Mapping[str, str]]) -> str:
        """Return a name from the port and from the labels that all its servers have, else from a server's name."""
        program = _NAMES.get(self.port, f"port {self.port}")
        for label in _LABELS:
            values = {str(labels.get(server, {}).get(label, "")) for server in self.servers}
            if len(values) == 1 and (value := values.pop().strip()):
                return value if value == program else f"{value[:60]} {program}"
        others = "" if len(self.servers) == 1 else f" and {len(self.servers) - 1} more"
        return f"{program} on {min(names[server] for server in self.servers)[:60]}{others}"


def proposals(edges: Sequence[TrafficEdge], vms: int, *, at_once: bool = False) -> list[Proposal]:
    """Return the applications in the traffic between the `vms` VMs of a mesh, largest share first.

    A single window of traffic is an accident. `at_once`: it counts if it carried something.
    """
    if not edges:
        return []
    total = sum(edge.size for edge in edges)
    most_windows = max(edge.windows for edge in edges)
    newest = max(edge.last_at for edge in edges)
    scanners = _scanners(edges)
    by_port: dict[int, list[TrafficEdge]] = defaultdict(list)
    for edge in edges:
        is_faint = _is_faint(edge)
        is_usual = edge.windows >= _WINDOWS_MIN or (at_once and not is_faint)
        if is_usual and newest - edge.last_at <= RECENT and not (is_faint and edge.client in scanners):
            by_port[edge.port].append(edge)
    found = []
    for port, of_port in by_port.items():
        for group, is_polled in _groups(of_port, vms, total):
            servers = tuple(sorted({edge.server for edge in group}))
            members = {end for edge in group for end in (edge.client, edge.server)}
            size = sum(edge.size for edge in group)
            is_light = _is_most(len(members), vms) and size <= _LIGHT * total
            found.append(
                Proposal(
                    key=_key(port, servers),
                    port=port,
                    servers=servers,
                    clients=tuple(sorted(members - set(servers))),
                    edges=tuple(group),
                    weights=weights_of(group),
                    share=size / total,
                    stability=max(edge.windows for edge in group) / most_windows,
                    everywhere=port in _MANAGEMENT or is_polled or is_light,
                )
            )
    return sorted(found, key=lambda one: (one.everywhere, -one.share, one.key))


def _key(port: int, servers: Iterable[UUID]) -> str:
    text = " ".join([str(port), *(str(server) for server in servers)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _is_most(members: int, vms: int) -> bool:
    return vms >= _FEW_VMS and members >= _EVERYWHERE * vms


def _is_faint(edge: TrafficEdge) -> bool:
    """Return true for connections that carry next to nothing, and are few."""
    return edge.bytes < 200 * max(edge.connections, 1) and edge.connections <= 2 * edge.windows


def _scanners(edges: Iterable[TrafficEdge]) -> set[UUID]:
    """Return the VMs that try many ports of others and send next to nothing."""
    of_client: dict[UUID, list[TrafficEdge]] = defaultdict(list)
    for edge in edges:
        of_client[edge.client].append(edge)
    found = set()
    for client, mine in of_client.items():
        faint = [edge for edge in mine if _is_faint(edge)]
        ports = len({edge.port for edge in faint})
        if ports >= _SCANNED_PORTS and len(faint) >= max(_SCANNED, len(mine) / 2):
            found.add(client)
    return found


def _groups(edges: list[TrafficEdge], vms: int, total: int) -> Iterable[tuple[list[TrafficEdge], bool]]:
    """Yield the traffic of one port by application; true for that of VMs that poll most others."""
    of_client: dict[UUID, list[TrafficEdge]] = defaultdict(list)
    for edge in edges:
        of_client[edge.client].append(edge)
    pollers = {
        client
        for client, mine in of_client.items()
        if _is_most(len(mine) + 1, vms) and sum(edge.size for edge in mine) <= _LIGHT * total
    }
    if pollers:
        yield [edge for edge in edges if edge.client in pollers], True
    edges = [edge for edge in edges if edge.client not in pollers]
    place = {vm: at for at, vm in enumerate({end for edge in edges for end in (edge.client, edge.server)})}
    services = {server: at for at, server in enumerate(sorted({edge.server for edge in edges}))}
    uses = np.zeros((len(services), len(place)), np.float32)
    for edge in edges:
        uses[services[edge.server], place[edge.client]] = 1
    # VMs that serve one another: which end of a pair opens the connections is chance.
    own = np.array([place[server] for server in services], np.intp)
    serves = uses[:, own].astype(bool)
    among = uses.copy()
    among[np.arange(len(own)), own] = 1
    server, client = np.nonzero(serves)
    among[client, own[server]] = 1
    is_peer = np.asarray(serves.any(axis=0))
    alike = (_jaccard(uses) >= _ALIKE) | (_jaccard(among) >= _ALIKE)
    alike |= (serves | serves.T) & is_peer[:, None] & is_peer[None, :]
    of_service = _components(alike)
    parts: dict[int, list[TrafficEdge]] = defaultdict(list)
    for edge in edges:
        parts[of_service[services[edge.server]]].append(edge)
    yield from ((_without_strays(part), False) for part in parts.values())


def _without_strays(edges: list[TrafficEdge]) -> list[TrafficEdge]:
    """Return the traffic of an application without that of few windows and next to nothing in each."""
    usual = statistics.median(edge.size / edge.windows for edge in edges)
    return [edge for edge in edges if edge.windows > _FEW_WINDOWS or edge.size / edge.windows >= _STRAY * usual]


def _jaccard(members: np.ndarray) -> np.ndarray:
    """Return the Jaccard index of each two rows of a matrix of zeros and ones."""
    common = members @ members.T
    sizes = members.sum(axis=1)
    index: np.ndarray = common / np.maximum(sizes[:, None] + sizes[None, :] - common, 1)
    return index


def _components(linked: np.ndarray) -> list[int]:
    """Return the number of the connected component of each node of a symmetric matrix."""
    component = [-1] * len(linked)
    for start in range(len(linked)):
        waiting = [start] if component[start] < 0 else []
        while waiting:
            node = waiting.pop()
            if component[node] < 0:
                component[node] = start
                waiting += [int(other) for other in np.flatnonzero(linked[node]) if component[other] < 0]
    return component


def is_star(weights: Mapping[tuple[UUID, UUID], float]) -> bool:
    """Return true for pairs of one server, of which none has much more of the traffic than others."""
    return len({server for _, server in weights}) == 1 and max(weights.values()) <= _EVEN * min(weights.values())


def current(edges: Collection[TrafficEdge]) -> list[TrafficEdge]:
    """Return the edges without those that fell quiet long before the newest of them."""
    newest = max(edge.last_at for edge in edges)
    return [edge for edge in edges if newest - edge.last_at <= max(GONE, _GAPS_GONE * edge.gap)]


def weights_of(edges: Collection[TrafficEdge]) -> dict[tuple[UUID, UUID], float]:
    """Return the share of each pair in the traffic per second since it was first seen; peers are one pair."""
    newest = max(edge.last_at for edge in edges)
    rates: dict[tuple[UUID, UUID], float] = defaultdict(float)
    for edge in edges:
        pair = (edge.client, edge.server)
        seconds = (newest - edge.first_at + WINDOW).total_seconds()
        rates[pair[::-1] if pair[::-1] in rates else pair] += max(edge.size, 1) / seconds
    total = sum(rates.values())
    return {pair: rate / total for pair, rate in rates.items()}


def matching(found: Iterable[Proposal], port: int, servers: Collection[UUID]) -> Proposal | None:
    """Return the proposal of a port that has most of these servers: it grows, and stays the one that was decided on."""
    known = set(servers)
    alike = [one for one in found if one.port == port and known & set(one.servers)]
    return max(alike, key=lambda one: (len(known & set(one.servers)), one.share), default=None)


def key_beyond(key: str, taken: Collection[str]) -> str:
    """Return a key, or where it is taken one that follows from it."""
    while key in taken:
        key = hashlib.sha256(key.encode()).hexdigest()[:16]
    return key


def without(proposal: Proposal, services: Collection[tuple[int, UUID]]) -> Proposal:
    """Return a proposal without the traffic of some services: port and server."""
    edges = tuple(edge for edge in proposal.edges if (edge.port, edge.server) not in services)
    return replace(proposal, edges=edges, servers=tuple(sorted({edge.server for edge in edges})))


@dataclass(frozen=True, slots=True)
class FollowedTask:
    """Task of an application that follows traffic. `added_at` is None unless it was added by following."""

    id: UUID
    vm: UUID | None
    serves: bool
    pinned: bool
    added_at: datetime | None = None
    placed_at: datetime | None = None
    waiting_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes by which tasks follow: VM of moved tasks, VMs of new ones, tasks that wait, and tasks to remove."""

    moved: dict[UUID, UUID]
    added: list[UUID]
    waiting: list[UUID]
    removed: list[UUID]

    def __bool__(self) -> bool:
        return bool(self.moved or self.added or self.waiting or self.removed)


def follow(tasks: Sequence[FollowedTask], now_seen: Sequence[Proposal], at: datetime) -> Changes:
    """Return the changes of an application's tasks after traffic.

    VMs are compared with the newest traffic of the application: when nothing is reported, nothing changes. A client
    has a task as soon as it is seen; a server only after another fell quiet, or when it stayed. A quiet client's task
    moves to a new client. Pinned tasks stay, and so does the last server. A task that a person recorded on another VM
    is awaited there for a while. The VM that it leaves is the one without a task that was seen first.
    """
    edges = [edge for proposal in now_seen for edge in proposal.edges]
    if not edges:
        return Changes({}, [], [], [])
    newest = max(edge.last_at for edge in edges)
    servers = {edge.server for edge in edges}
    live: dict[UUID, datetime] = {}
    latest: dict[UUID | None, datetime] = {}
    gone = {task.vm for task in tasks if task.vm is not None}
    for edge in edges:
        silence = newest - edge.last_at
        for end in (edge.client, edge.server):
            latest[end] = max(edge.last_at, latest.get(end, edge.last_at))
            if silence <= max(_QUIET, _GAPS_QUIET * edge.gap):
                live[end] = min(edge.first_at, live.get(end, edge.first_at))
            if silence <= max(GONE, _GAPS_GONE * edge.gap):
                gone.discard(end)
    fresh = {
        task.vm: task.id
        for task in tasks
        if task.vm in live and not task.pinned and task.added_at is not None and at - task.added_at <= _FRESH
    }
    awaited = {
        task.id
        for task in tasks
        if task.placed_at is not None
        and at - task.placed_at <= _AWAITED
        and (task.vm not in latest or latest[task.vm] < task.placed_at - 2 * _QUIET)
    }
    placed = {task.vm for task in tasks}
    appeared = [vm for vm in sorted(live, key=lambda vm: (live[vm], vm)) if vm not in placed or vm in fresh]
    appeared = appeared[len(awaited) :]
    moved: dict[UUID, UUID] = {}
    removed: list[UUID] = []
    for serves in (True, False):
        free = [task for task in tasks if task.serves is serves and task.vm not in live and task.id not in awaited]
        free = [task for task in free if not task.pinned]
        free.sort(key=lambda task: (task.vm is None, task.vm in gone, task.id))
        for task, vm in zip(free, [vm for vm in appeared if (vm in servers) is serves], strict=False):
            moved[task.id] = vm
            if vm in fresh:
                removed.append(fresh[vm])
    taken = set(moved.values())
    settled = newest - 2 * _QUIET
    added = [
        vm for vm in appeared if vm not in taken and vm not in fresh and (vm not in servers or live[vm] <= settled)
    ]
    stay = {task.id for task in tasks if task.pinned or (task.serves and servers.isdisjoint(live))}
    waiting = [task.id for task in tasks if task.vm in gone and task.id not in stay | moved.keys() | awaited]
    forgotten = [
        task.id
        for task in tasks
        if task.waiting_since is not None and at - task.waiting_since > FORGOTTEN and task.id not in stay | moved.keys()
    ]
    # An application keeps two tasks.
    spare = max(len(tasks) + len(added) - len(removed) - 2, 0)
    return Changes(moved, added, waiting, removed + forgotten[:spare])
