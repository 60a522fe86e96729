"""Placement problem: jobs, machines, latency, current assignment and constraints.

Jobs and machines are rows of arrays, addressed by position. The tasks of a job are identical except its root (server,
master). The value of a machine for a task depends on its latency to the machine of the root.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.table import CurveTable

Ints = npt.NDArray[np.int64]
Nanoseconds = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Shares = npt.NDArray[np.float64]

ANYWHERE = -1
"""Root of a job without a machine yet."""
WAITING_COST = 1001
"""Cost points of a waiting task: more than the worst placement (Popescu, UCAM-CL-TR-937, 6.1.1)."""


class ProblemError(ValueError):
    """Inconsistent problem: `code` identifies the error, `where` the part, the message the remedy."""

    def __init__(self, code: str, where: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.where = where


class Latency(Protocol):
    """Round trip between machines at application level, in addition to the round trip within one machine."""

    def rows(self, sources: Ints) -> Nanoseconds:
        """Return latency from each source to every machine in ns, shape (sources, machines), without gaps."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """Machines: arrays with one entry per machine."""

    slots: Ints
    """Number of tasks that fit, roots included."""
    rack: Ints
    """Smallest failure domain of a machine: rack, host or placement group."""
    pod: Ints
    """Next larger failure domain: pod or zone."""
    names: Sequence[str] = ()

    @classmethod
    def regular(cls, count: int, slots: int, rack_size: int = 48, pod_racks: int = 16) -> Self:
        """Return `count` equal machines, `rack_size` per rack and `pod_racks` racks per pod, as in the source."""
        at = np.arange(count, dtype=np.int64)
        return cls(np.full(count, slots, np.int64), at // rack_size, at // (rack_size * pod_racks))

    def __len__(self) -> int:
        return len(self.slots)

    def name(self, machine: int) -> str:
        """Return the display name of a machine."""
        return self.names[machine] if self.names else f"machine {machine}"


@dataclass(frozen=True, slots=True, eq=False)
class Jobs:
    """Applications to place: arrays with one entry per job."""

    size: Ints
    """Number of tasks without the root."""
    root: Ints
    """Machine of the root, or `ANYWHERE`. A root takes one slot."""
    curve: Ints
    """Column in the problem's curve table."""
    waited_s: Ints
    """Waiting time of its waiting tasks; each second adds to their cost."""
    names: Sequence[str] = ()
    further_roots: Ints | None = None
    """Machines of the roots beyond the first, shape (jobs, roots), `ANYWHERE` where a job has none. A task counts the
    nearest root of its job. None: each job has one root.
    """

    @property
    def roots(self) -> Ints:
        """Return the machines of all roots, shape (jobs, roots)."""
        if self.further_roots is None:
            return self.root[:, None]
        return np.column_stack((self.root, self.further_roots))

    @classmethod
    def of(cls, size: npt.ArrayLike, root: npt.ArrayLike, curve: npt.ArrayLike, names: Sequence[str] = ()) -> Self:
        """Return jobs whose tasks have not waited."""
        sizes = np.asarray(size, np.int64)
        at, curves = np.asarray(root, np.int64), np.asarray(curve, np.int64)
        return cls(sizes, at, curves, np.zeros_like(sizes), names)

    def __len__(self) -> int:
        return len(self.size)

    def name(self, job: int) -> str:
        """Return the display name of a job."""
        return self.names[job] if self.names else f"job {job}"


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """Number of tasks of each job on each machine, without roots: three arrays of equal length."""

    job: Ints
    machine: Ints
    count: Ints

    @classmethod
    def nothing(cls) -> Self:
        """Return the empty assignment."""
        none = np.zeros(0, np.int64)
        return cls(none, none, none)

    @classmethod
    def of(cls, entries: Sequence[tuple[int, int, int]]) -> Self:
        """Return an assignment from (job, machine, tasks)."""
        table = np.array(entries, np.int64).reshape(-1, 3)
        return cls(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())

    def merged(self) -> "Assignment":
        """Return the assignment sorted by job and machine, with one non-empty entry each."""
        if len(self.job) == 0:
            return self
        width = int(self.machine.max()) + 1
        keys, position = np.unique(self.job * width + self.machine, return_inverse=True)
        count = np.zeros(len(keys), np.int64)
        np.add.at(count, position, self.count)
        full = count > 0
        return Assignment(keys[full] // width, keys[full] % width, count[full])

    def plus(self, other: "Assignment") -> "Assignment":
        """Return the sum of two assignments."""
        return Assignment(
            np.concatenate([self.job, other.job]),
            np.concatenate([self.machine, other.machine]),
            np.concatenate([self.count, other.count]),
        ).merged()

    def on_machines(self, machines: int) -> Ints:
        """Return the number of tasks on each machine."""
        return np.bincount(self.machine, self.count, machines).astype(np.int64)

    def of_jobs(self, jobs: int) -> Ints:
        """Return the number of placed tasks of each job."""
        return np.bincount(self.job, self.count, jobs).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread limit: at most `most` tasks of a job in one failure domain of a level, without its root."""

    job: int
    level: str
    """Machine, rack or pod."""
    most: int


class Risk(StrEnum):
    """Risk measure of a pair's latency distribution."""

    mean = "mean"
    p99 = "p99"
    cvar = "cvar"
    """Mean of the worst twentieth."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Placement problem. `check()` validates it."""

    jobs: Jobs
    machines: Machines
    latency: Latency
    curves: CurveTable
    current: Assignment = field(default_factory=Assignment.nothing)
    """Current machines of tasks; the rest of each job waits. Entries may repeat a job and machine."""
    running_s: Ints | None = None
    """Running time of the tasks of each entry of `current`: β of the published policy. None: β = 0."""
    allowed: Mapping[int, Bools] = field(default_factory=dict)
    """Machines a job may use, shape (machines,); jobs not named may use all."""
    spread: tuple[Spread, ...] = ()

    def check(self) -> None:
        """Raise `ProblemError` unless all parts refer to existing, matching parts."""
        jobs, machines = len(self.jobs), len(self.machines)
        _within("jobs.root", self.jobs.root, ANYWHERE, machines)
        if self.jobs.further_roots is not None:
            _within("jobs.further_roots", self.jobs.further_roots, ANYWHERE, machines)
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
        """Return the slots of each machine without roots."""
        roots = self.jobs.roots
        roots = roots[roots >= 0]
        return self.machines.slots - np.bincount(roots, minlength=len(self.machines))

    def with_roots(self, root: Ints) -> "Problem":
        """Return the problem with fixed roots: the first of each job, shape (jobs,), or all, shape (jobs, roots)."""
        if root.ndim == 1:
            return replace(self, jobs=replace(self.jobs, root=root))
        further = root[:, 1:] if root.shape[1] > 1 else None
        return replace(self, jobs=replace(self.jobs, root=root[:, 0], further_roots=further))


def _within(where: str, values: Ints, low: int, high: int) -> None:
    bad = (values < low) | (values >= high)
    if bad.any():
        at = np.unravel_index(int(bad.argmax()), values.shape)
        place = ", ".join(str(int(axis)) for axis in at)
        raise ProblemError("out_of_range", f"{where}[{place}]", f"{values[at]} is not in {low} … {high - 1}")
