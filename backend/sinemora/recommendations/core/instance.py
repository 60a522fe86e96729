"""Placement instance: VMs of a mesh, applications on them, and round trips in training and hold-out windows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Flags, Indices, Links, Sensitivity
from sinemora.recommendations.core.recency import Recency
from sinemora.recommendations.core.tail_risk import RiskModel

Ints = npt.NDArray[np.int64]
Trips = npt.NDArray[np.float32]
"""Round trips in ns; NaN is unknown."""
WAITING, ELSEWHERE = -1, -2
"""Machine of a task without a VM, and of a task on a VM outside the mesh, which stays and is not evaluated."""
UNLIMITED = 1 << 40
"""Capacity of a machine without a limit."""


@dataclass(frozen=True, slots=True)
class Machine:
    """VM with its capacity, location and price; None where not stated."""

    id: UUID
    name: str
    zone_id: UUID
    zone: str
    host: str | None
    slots: int
    cpu_millicores: int | None
    memory_mib: int | None
    price_per_hour: float | None
    rack: str | None = None
    stated_slots: int | None = None
    """Number of slots of its capacity; `slots` are never fewer than are taken."""
    region: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class TaskDemand:
    """Resource demand of a task, and for how long it has run on its VM or waited for one; 0 where unknown."""

    id: UUID
    name: str
    pinned: bool
    slots: int
    cpu_millicores: int
    memory_mib: int
    running_s: float = 0.0
    waited_s: float = 0.0

    @property
    def takes(self) -> tuple[int, int, int]:
        """Return slots, millicores and MiB."""
        return (self.slots, self.cpu_millicores, self.memory_mib)


@dataclass(frozen=True, slots=True, eq=False)
class Deployment:
    """Application and the placement of its tasks: `at` is the machine of each, `WAITING` or `ELSEWHERE`.

    `root` is the position of a star's root, None for a graph. `allowed` marks the usable machines. Spread limits are
    None without a limit. `apart_from` holds positions of other applications.
    """

    id: UUID
    name: str
    tasks: tuple[TaskDemand, ...]
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
    """The request selects this application; others stay and keep their slots."""
    leaves_region: bool = False
    """Running tasks may move to another region."""
    moves_for_others: bool = False
    """Tasks may move for the gain of other applications; otherwise each application gains by its own moves."""
    bringing: Floats | None = None
    """Minimum gain of a move to each machine on top, since the image of the tasks has to be brought there first."""


@dataclass(frozen=True, slots=True, eq=False)
class PerformanceSeries:
    """Performance of an application in each window (NaN is unknown), and by each draw of its curve's band.

    Shapes (windows,) and (draws, windows).
    """

    performance: Floats
    draws: Floats


@dataclass(frozen=True, eq=False)
class Instance:
    """VMs of a mesh, its applications, and round trips in training and hold-out windows.

    `training` and `holdout` have shape (windows, machines, machines); `training_blocks` and `holdout_blocks` number
    the block of time of each window. For the policy robust, `training_risk` and `holdout_risk` hold the distributions
    of the same windows from the roots of stars.
    """

    machines: tuple[Machine, ...]
    applications: tuple[Deployment, ...]
    training: Trips
    holdout: Trips
    training_blocks: Indices
    holdout_blocks: Indices
    gap_s: int
    """Least time between a window that trains and one that is held out."""
    recency: Recency | None = None
    """Age of the newest window, and which held-out windows are recent."""
    shortage: str | None = None
    """Reason why no window is held out: the history is too short."""
    training_risk: RiskModel | None = None
    holdout_risk: RiskModel | None = None

    @cached_property
    def racks(self) -> Indices:
        """Return the host of each machine; a machine without a stated host is its own."""
        return numbered([machine.host or machine.id for machine in self.machines])

    @cached_property
    def zones(self) -> Indices:
        """Return the zone of each machine."""
        return numbered([machine.zone_id for machine in self.machines])

    @cached_property
    def location(self) -> Ints:
        """Return zone, region and provider of each machine as numbers, shape (3, machines)."""
        regions = numbered([(machine.provider, machine.region) for machine in self.machines])
        providers = numbered([machine.provider for machine in self.machines])
        return np.stack([self.zones, regions, providers]).astype(np.int64)

    @cached_property
    def stated_room(self) -> Ints:
        """Return the capacity of each machine as stated, shape (machines, 3): more may run there."""
        room = self.room.copy()
        slots = [machine.slots if machine.stated_slots is None else machine.stated_slots for machine in self.machines]
        room[:, 0] = np.minimum(room[:, 0], slots)
        return room

    @cached_property
    def room(self) -> Ints:
        """Return the capacity of each machine, shape (machines, 3): slots, millicores, MiB."""
        rows = [(machine.slots, machine.cpu_millicores, machine.memory_mib) for machine in self.machines]
        return np.array([[UNLIMITED if part is None else part for part in row] for row in rows], np.int64)

    @cached_property
    def known_series(self) -> dict[tuple[int, bytes], PerformanceSeries]:
        """Return the performance on held-out windows that was computed already, by application and its placement."""
        return {}

    def free(self, at: tuple[Indices, ...] | None = None) -> Ints:
        """Return the free capacity for the placement `at` (default: the current one)."""
        left = self.room.copy()
        for place, application in enumerate(self.applications):
            for need, machine in zip(
                application.tasks, (application.at if at is None else at[place]).tolist(), strict=True
            ):
                if machine >= 0:
                    left[machine] -= need.takes
        return left


@dataclass(frozen=True, slots=True, eq=False)
class ImputedMatrix:
    """Round trips in ns without gaps, and which were `known`; the diagonal is 0 and known."""

    round_trips_ns: Floats
    known: Flags


class NothingMeasured(ValueError):
    """No pair of the mesh was measured."""


def impute(trips: Trips, zones: Indices) -> ImputedMatrix:
    """Return each pair's median over windows; fill gaps with the median of its zones, else of the mesh.

    Raises `NothingMeasured`.
    """
    size = zones.size
    own = np.eye(size, dtype=bool)
    median = _medians(trips)
    median[own] = np.nan
    measured = np.isfinite(median)
    if not measured.any():
        raise NothingMeasured("no path of the mesh was measured")
    if not (measured | own).all():
        # Only gaps need zone medians.
        everywhere = float(np.median(median[measured]))
        pairs = zones[:, None] * (int(zones.max()) + 1) + zones[None, :]
        of_pair = np.full(int(pairs.max()) + 1, everywhere)
        gaps = ~measured & ~own
        for pair in np.unique(pairs[gaps]):
            of_pair[pair] = (
                np.median(same_zones) if (same_zones := median[measured & (pairs == pair)]).size else everywhere
            )
        median[gaps] = of_pair[pairs[gaps]]
    median[own] = 0.0
    return ImputedMatrix(median, measured | own)


def _medians(trips: Trips) -> Floats:
    """Return the median over windows; ten times faster than `np.nanmedian` for few windows of many pairs."""
    ranked = np.sort(trips, axis=0)  # NaN come last
    counted = np.isfinite(trips).sum(axis=0)
    middle = [np.maximum(counted - more, 0) // 2 for more in (1, 0)]
    low, high = (np.take_along_axis(ranked, at[None], axis=0)[0].astype(np.float64) for at in middle)
    return np.where(counted > 0, (low + high) / 2, np.nan)


def numbered(names: list[Any]) -> Indices:
    place: dict[Any, int] = {}
    return np.array([place.setdefault(name, len(place)) for name in names], np.intp)
