"""What a recommendation looks at, as values: VMs, applications on them, and round trips in windows apart."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sinemora.applications.performance import Flags, Indices, Links, Sensitivity
from sinemora.curves.core.curve import Floats
from sinemora.recommendations.tail_risk import Felt

Ints = npt.NDArray[np.int64]
Trips = npt.NDArray[np.float32]
"""Round trips in ns, NaN where unknown."""
WAITING, ELSEWHERE = -1, -2
"""Machines of tasks that wait for one, and of tasks on VMs that are not in the mesh: those stay and are not judged."""
PLENTY = 1 << 40
"""Room of a machine that nobody limited."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A VM: how many tasks it may hold in all, and what it is made of and costs, where that was said."""

    id: UUID
    name: str
    zone_id: UUID
    zone: str
    host: str | None
    slots: int
    cpu_millicores: int | None
    memory_mib: int | None
    price_per_hour: float | None


@dataclass(frozen=True, slots=True)
class Need:
    """What a task takes of a VM."""

    id: UUID
    name: str
    pinned: bool
    slots: int
    cpu_millicores: int
    memory_mib: int

    @property
    def takes(self) -> tuple[int, int, int]:
        """Slots, millicores, MiB."""
        return (self.slots, self.cpu_millicores, self.memory_mib)


@dataclass(frozen=True, slots=True, eq=False)
class Deployed:
    """An application and where its tasks run: `at` is the machine of each, `WAITING` or `ELSEWHERE`.

    `root` is the position of a star's root, None for a graph. `allowed` says which machines its tasks may use; spread
    limits are None where nothing was said. `apart_from` are positions of other applications.
    """

    id: UUID
    name: str
    tasks: tuple[Need, ...]
    root: int | None
    links: Links
    sensitivity: Sensitivity
    at: Indices
    objective: float | None
    moves_max: int | None
    move_cost: float
    allowed: Flags | None
    per_vm_max: int | None
    per_host_max: int | None
    per_zone_max: int | None
    apart_from: frozenset[int]
    chosen: bool
    """Whether the question is about it; the others stay and keep their slots."""


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """VMs of a mesh, all its applications, and two sets of windows: some to choose on, others to judge by.

    `choosing` and `judging` have shape (windows, machines, machines). Where bad moments count, `felt_choosing` and
    `felt_judging` have the whole distributions of the same windows from where the roots of stars are.
    """

    machines: tuple[Machine, ...]
    applications: tuple[Deployed, ...]
    choosing: Trips
    judging: Trips
    felt_choosing: Felt | None = None
    felt_judging: Felt | None = None

    @property
    def racks(self) -> Indices:
        """The host each machine is on; a machine whose host nobody named has one of its own."""
        return _numbered([machine.host or machine.id for machine in self.machines])

    @property
    def zones(self) -> Indices:
        """The zone each machine is in."""
        return _numbered([machine.zone_id for machine in self.machines])

    @property
    def room(self) -> Ints:
        """What each machine has in all, shape (machines, 3): slots, millicores, MiB."""
        rows = [(one.slots, one.cpu_millicores, one.memory_mib) for one in self.machines]
        return np.array([[PLENTY if part is None else part for part in row] for row in rows], np.int64)

    def free(self, at: tuple[Indices, ...] | None = None) -> Ints:
        """What is left of `room` when tasks run `at` these machines (as they do now by default)."""
        left = self.room
        for place, one in enumerate(self.applications):
            for need, machine in zip(one.tasks, (one.at if at is None else at[place]).tolist(), strict=True):
                if machine >= 0:
                    left[machine] -= need.takes
        return left


@dataclass(frozen=True, slots=True, eq=False)
class Assumed:
    """Round trips with every gap filled, ns, and which were `known`; diagonal 0 and known."""

    round_trips_ns: Floats
    known: Flags


class NothingKnown(ValueError):
    """No pair of the mesh was measured."""


def filled(trips: Trips, zones: Indices) -> Assumed:
    """The median of each pair over windows; where there is none, the median between its zones, else of the mesh.

    Raises `NothingKnown`.
    """
    size = zones.size
    own = np.eye(size, dtype=bool)
    median = _medians(trips)
    median[own] = np.nan
    measured = np.isfinite(median)
    if not measured.any():
        raise NothingKnown("no path of the mesh was measured")
    if not (measured | own).all():
        # Only gaps need what is usual between zones.
        everywhere = float(np.median(median[measured]))
        pairs = zones[:, None] * (int(zones.max()) + 1) + zones[None, :]
        of_pair = np.full(int(pairs.max()) + 1, everywhere)
        gaps = ~measured & ~own
        for pair in np.unique(pairs[gaps]):
            of_pair[pair] = np.median(found) if (found := median[measured & (pairs == pair)]).size else everywhere
        median[gaps] = of_pair[pairs[gaps]]
    median[own] = 0.0
    return Assumed(median, measured | own)


def _medians(trips: Trips) -> Floats:
    """`np.nanmedian` over windows, which takes ten times as long for a few windows of many pairs."""
    ranked = np.sort(trips, axis=0)  # NaN come last
    counted = np.isfinite(trips).sum(axis=0)
    middle = [np.maximum(counted - more, 0) // 2 for more in (1, 0)]
    low, high = (np.take_along_axis(ranked, at[None], axis=0)[0].astype(np.float64) for at in middle)
    return np.where(counted > 0, (low + high) / 2, np.nan)


def _numbered(names: list[Any]) -> Indices:
    place: dict[Any, int] = {}
    return np.array([place.setdefault(name, len(place)) for name in names], np.intp)
