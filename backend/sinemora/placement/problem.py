"""What a placement policy is asked: jobs, machines, latency between them, where tasks run now and what must hold.

Jobs and machines are rows of arrays, named by position. The tasks of a job are alike but for its root (server, master):
what a task is worth on a machine depends on the latency between that machine and the machine of the root.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from sinemora.curves.core.table import CurveTable

Ints = npt.NDArray[np.int64]
Nanoseconds = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Shares = npt.NDArray[np.float64]

ANYWHERE = -1
"""The root of a job whose place is still to be chosen."""
WAITING_COST = 1001
"""Cost points of a task that is not placed: more than the worst placement (Popescu, UCAM-CL-TR-937, 6.1.1)."""


class ProblemError(ValueError):
    """The problem contradicts itself: `code` names how, `where` the part of it, the message what would be right."""

    def __init__(self, code: str, where: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.where = where


class Latency(Protocol):
    """Round trip between machines as the applications feel it, added to that of one machine to itself."""

    def rows(self, sources: Ints) -> Nanoseconds:
        """Latency from each source to every machine in ns, shape (sources, machines); nothing is missing."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """Places for tasks: arrays of one entry a machine."""

    slots: Ints
    """How many tasks fit, roots included."""
    rack: Ints
    """The smallest failure domain a machine is in: rack, host or placement group."""
    pod: Ints
    """The next larger one: pod or zone."""
    names: Sequence[str] = ()

    @classmethod
    def regular(cls, count: int, slots: int, rack_size: int = 48, pod_racks: int = 16) -> Self:
        """`count` equal machines, `rack_size` to a rack and `pod_racks` racks to a pod, as in the source."""
        at = np.arange(count, dtype=np.int64)
        return cls(np.full(count, slots, np.int64), at // rack_size, at // (rack_size * pod_racks))

    def __len__(self) -> int:
        return len(self.slots)

    def name(self, machine: int) -> str:
        """How to call a machine to a person."""
        return self.names[machine] if self.names else f"machine {machine}"


@dataclass(frozen=True, slots=True, eq=False)
class Jobs:
    """Applications to place: arrays of one entry a job."""

    size: Ints
    """Tasks besides the root."""
    root: Ints
    """Machine of the root, or `ANYWHERE`. A root takes one slot."""
    curve: Ints
    """Column in the problem's curve table."""
    waited_s: Ints
    """How long its waiting tasks have waited; each second adds to what waiting costs."""
    names: Sequence[str] = ()

    @classmethod
    def of(cls, size: npt.ArrayLike, root: npt.ArrayLike, curve: npt.ArrayLike, names: Sequence[str] = ()) -> Self:
        """Jobs of which no task has waited yet."""
        sizes = np.asarray(size, np.int64)
        at, curves = np.asarray(root, np.int64), np.asarray(curve, np.int64)
        return cls(sizes, at, curves, np.zeros_like(sizes), names)

    def __len__(self) -> int:
        return len(self.size)

    def name(self, job: int) -> str:
        """How to call a job to a person."""
        return self.names[job] if self.names else f"job {job}"


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """How many tasks of which job run on which machine, roots not counted: three arrays of equal length."""

    job: Ints
    machine: Ints
    count: Ints

    @classmethod
    def nothing(cls) -> Self:
        """No task placed."""
        none = np.zeros(0, np.int64)
        return cls(none, none, none)

    @classmethod
    def of(cls, entries: Sequence[tuple[int, int, int]]) -> Self:
        """From (job, machine, tasks)."""
        table = np.array(entries, np.int64).reshape(-1, 3)
        return cls(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())

    def merged(self) -> "Assignment":
        """Sorted by job and machine, one entry for each, none empty."""
        if len(self.job) == 0:
            return self
        width = int(self.machine.max()) + 1
        keys, position = np.unique(self.job * width + self.machine, return_inverse=True)
        count = np.zeros(len(keys), np.int64)
        np.add.at(count, position, self.count)
        full = count > 0
        return Assignment(keys[full] // width, keys[full] % width, count[full])

    def plus(self, other: "Assignment") -> "Assignment":
        """Both together."""
        return Assignment(
            np.concatenate([self.job, other.job]),
            np.concatenate([self.machine, other.machine]),
            np.concatenate([self.count, other.count]),
        ).merged()

    def on_machines(self, machines: int) -> Ints:
        """Tasks on each machine."""
        return np.bincount(self.machine, self.count, machines).astype(np.int64)

    def of_jobs(self, jobs: int) -> Ints:
        """Tasks placed of each job."""
        return np.bincount(self.job, self.count, jobs).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Spread:
    """At most `most` tasks of a job in one failure domain of a level, its root not counted."""

    job: int
    level: str
    """machine, rack or pod."""
    most: int


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """What tasks need and machines have, in whole units (millicores, MiB), and who may not share a machine."""

    cpu: Ints
    """Of one task of each job."""
    memory: Ints
    machine_cpu: Ints
    machine_memory: Ints
    apart: tuple[tuple[int, int], ...] = field(default=())
    """Pairs of jobs of which no two tasks may share a machine."""


class Risk(StrEnum):
    """What of a pair's distribution counts."""

    mean = "mean"
    p99 = "p99"
    cvar = "cvar"
    """Mean of the worst twentieth."""


class Distributions(Protocol):
    """How the latency between machines is distributed over the steps of the curve table."""

    def shares(self, source: int) -> Shares:
        """Share of each step, from `source` to every machine: shape (machines, steps), rows add up to 1."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One placement question. `check()` says whether it makes sense."""

    jobs: Jobs
    machines: Machines
    latency: Latency
    curves: CurveTable
    current: Assignment = field(default_factory=Assignment.nothing)
    """Where tasks run now; the rest of each job waits. Entries may repeat a job and machine."""
    running_s: Ints | None = None
    """How long the tasks of each entry of `current` have run: β of the published policy. None: β = 0."""
    pinned: Ints | None = None
    """How many tasks of each entry of `current` must stay. None: all may move."""
    allowed: Mapping[int, Bools] = field(default_factory=dict)
    """Machines a job may use, shape (machines,); jobs not named may use all."""
    spread: tuple[Spread, ...] = ()
    most_moves: int | None = None
    """Tasks that may change their machine; starting a waiting task is no move."""
    move_price: int = 0
    """Cost points a move must gain at least."""
    weight: Shares | None = None
    """How much each job counts besides what its objective says. None: all alike."""
    resources: Resources | None = None
    """What the policy `pack` needs to know."""
    risk: tuple[Distributions, Risk] | None = None
    """Cost pairs by a risk of their distribution instead of one latency."""

    def check(self) -> None:
        """Raise `ProblemError` unless every part refers to another that exists and fits."""
        jobs, machines = len(self.jobs), len(self.machines)
        _within("jobs.root", self.jobs.root, ANYWHERE, machines)
        _within("jobs.curve", self.jobs.curve, 0, self.curves.values.shape[1])
        _within("jobs.size", self.jobs.size, 0, 1 << 31)
        _within("machines.slots", self.machines.slots, 0, 1 << 31)
        _within("current.job", self.current.job, 0, jobs)
        _within("current.machine", self.current.machine, 0, machines)
        for job, mask in self.allowed.items():
            if not 0 <= job < jobs or mask.shape != (machines,):
                raise ProblemError("unknown_machine", f"allowed[{job}]", f"a mask of {machines} machines for a job")
        for limit in self.spread:
            if not 0 <= limit.job < jobs or limit.level not in ("machine", "rack", "pod") or limit.most < 1:
                raise ProblemError("invalid_spread", f"spread of job {limit.job}", "level and a limit of 1 or more")
        surplus = self.current.of_jobs(jobs) - self.jobs.size
        if (surplus > 0).any():
            job = int(surplus.argmax())
            raise ProblemError(
                "too_many_tasks", f"current, {self.jobs.name(job)}", f"{surplus[job]} tasks more run than it has"
            )
        over = self.current.on_machines(machines) - self.free_slots()
        if (over > 0).any():
            machine = int(over.argmax())
            raise ProblemError(
                "machine_overfull", self.machines.name(machine), f"{over[machine]} tasks more run than it has slots"
            )

    def free_slots(self) -> Ints:
        """Slots of each machine that no root takes."""
        roots = self.jobs.root[self.jobs.root >= 0]
        return self.machines.slots - np.bincount(roots, minlength=len(self.machines))

    def held(self) -> Assignment:
        """The tasks that must stay where they are."""
        if self.pinned is None:
            return Assignment.nothing()
        return Assignment(self.current.job, self.current.machine, self.pinned).merged()

    def loose(self) -> Assignment:
        """The tasks that may move, where they run."""
        if self.pinned is None:
            return self.current.merged()
        current = self.current
        return Assignment(current.job, current.machine, current.count - self.pinned).merged()

    def with_roots(self, root: Ints) -> "Problem":
        """The same question with roots decided."""
        return replace(self, jobs=replace(self.jobs, root=root))


def _within(where: str, values: Ints, low: int, high: int) -> None:
    bad = (values < low) | (values >= high)
    if bad.any():
        at = int(bad.argmax())
        raise ProblemError("out_of_range", f"{where}[{at}]", f"{values[at]} is not in {low} … {high - 1}")
