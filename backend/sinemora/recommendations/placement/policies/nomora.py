"""Policy `nomora`: the published flow network (Popescu, UCAM-CL-TR-937, chapter 6), also with one node per job.

Nodes: tasks T, an unscheduled aggregator U per job, the cluster X, racks R, machines M, the sink S. The arcs of a task
lead to its preferred machines and racks (cost at most p_m, p_r), to X at the cost of the worst machine, to the machine
it runs on at its cost minus β, and to U, where it waits. Details that the source leaves open: costs have two decimals
(`costs`). The capacity of U to S is the number of tasks of the job (with 1 the network is infeasible once two wait). β
is subtracted only from the arc to the current machine, and no cost falls below 0.

Tasks of a job differ only in their current machine. One node per job, with a bounded arc for each group of tasks that
have run on one machine for the same time, has the same optimum in a network a tenth the size (`aggregate`).
"""

import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement.costs import CostTable
from sinemora.recommendations.placement.plan import Certificate, PlacementPlan, Statistics
from sinemora.recommendations.placement.problem import (
    ANYWHERE,
    WAITING_COST,
    Assignment,
    Bools,
    Ints,
    Nanoseconds,
    Problem,
    ProblemError,
)
from sinemora.recommendations.placement.solvers import flow
from sinemora.recommendations.placement.solvers.flow import FlowNetwork

CostMatrix = npt.NDArray[np.int32]
"""Cost points, shape (jobs, machines)."""
_ROWS = 256  # latency rows held at a time


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of the published policy."""

    p_m: int = 105
    """Cost up to which a machine is preferred."""
    p_r: int = 110
    """Cost up to which a rack is preferred; a rack costs as much as its worst machine."""
    omega: float = 0.0
    """Cost points for each second a task has waited."""
    gamma: int = WAITING_COST
    """Cost points of waiting."""
    beta: float = 0.0
    """Cost points for each second a task has run, subtracted from the arc to its machine; 0: all may move."""
    aggregate: bool = False
    """One node per job and state instead of one per task."""


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A network and the meaning of its nodes: groups of tasks (supplies), then U, X, racks, machines, the sink."""

    network: FlowNetwork
    group_job: Ints
    """Job of each supply node."""
    machines: int
    racks: int
    jobs: int

    @property
    def unscheduled(self) -> int:
        """Node of the first U."""
        return len(self.group_job)

    @property
    def cluster(self) -> int:
        """Node X."""
        return self.unscheduled + self.jobs

    @property
    def rack(self) -> int:
        """Node of the first rack."""
        return self.cluster + 1

    @property
    def machine(self) -> int:
        """Node of the first machine."""
        return self.rack + self.racks

    @property
    def sink(self) -> int:
        """Node S."""
        return self.machine + self.machines


def solve(
    problem: Problem, parameters: Parameters | None = None, rng: np.random.Generator | None = None
) -> PlacementPlan:
    """Return one round of the published policy: unplaced roots first, on any machine; then the other tasks.

    `rng` chooses among slots of equal cost; without it the choice is the same every time.
    """
    started = time.perf_counter()
    parameters = parameters or Parameters()
    problem.check()
    if problem.allowed or problem.spread:
        raise ProblemError("not_supported", "policy nomora", "the published network knows no limits on machines")
    problem = problem.with_roots(_place_roots(problem))
    rooted = problem.jobs.root != ANYWHERE
    waiting_for_root = np.where(rooted, 0, problem.jobs.size)
    built, matrix = build(_only(problem, rooted), parameters)
    flows = flow.solve(built.network)
    placed = read(built, flows, rng or np.random.default_rng(0))
    waiting = problem.jobs.size - placed.of_jobs(len(problem.jobs))
    cost = int((matrix[placed.job, placed.machine].astype(np.int64) * placed.count).sum())
    cost += int(waiting.sum()) * parameters.gamma
    primal = flow.cost(built.network, flows)
    dual = flow.dual_value(built.network, flow.potentials(built.network, flows))
    return PlacementPlan(
        "nomora",
        problem.jobs.root,
        placed,
        np.maximum(waiting, waiting_for_root),
        cost,
        Certificate(primal, dual),
        Statistics(time.perf_counter() - started, len(built.network.tail)),
    )


def build(problem: Problem, parameters: Parameters) -> tuple[Built, CostMatrix]:
    """Return the network of a problem with fixed roots, and its costs, shape (jobs, machines)."""
    jobs, machines = len(problem.jobs), len(problem.machines)
    racks = int(problem.machines.rack.max(initial=-1)) + 1
    matrix = cost_matrix(problem, points.table(problem.curves)[problem.jobs.curve])
    groups = _groups(problem, parameters)
    built = Built(FlowNetwork(*(np.zeros(0, np.int64),) * 5), groups.job, machines, racks, jobs)
    free = problem.free_slots()
    arcs = _Arcs()
    node = np.arange(len(groups.job))
    # Waiting, the cluster, preferred racks and machines: the same for all groups of a job.
    worst_in_rack = np.zeros((jobs, racks), np.int64)
    order = np.argsort(problem.machines.rack, kind="stable")
    present, starts = np.unique(problem.machines.rack[order], return_index=True)
    for job in range(jobs):
        worst_in_rack[job, present] = np.maximum.reduceat(matrix[job, order], starts)
    wait = parameters.gamma + np.rint(parameters.omega * groups.waited_s).astype(np.int64)
    arcs.add(node, built.unscheduled + groups.job, groups.count, wait)
    cluster_cost = worst_in_rack.max(axis=1, initial=0)
    arcs.add(node, built.cluster, groups.count, cluster_cost[groups.job])
    near_rack, rack = np.nonzero((worst_in_rack <= parameters.p_r) & np.isin(np.arange(racks), present))
    near_machine, machine = np.nonzero(matrix <= parameters.p_m)
    by_job = _members(groups.job, jobs)
    arcs.prefer(by_job, near_rack, built.rack + rack, worst_in_rack[near_rack, rack], groups.count)
    arcs.prefer(
        by_job, near_machine, built.machine + machine, matrix[near_machine, machine].astype(np.int64), groups.count
    )
    stays = groups.stays
    discount = np.rint(parameters.beta * stays.running_s).astype(np.int64)
    own = matrix[groups.job[stays.group], stays.machine].astype(np.int64)
    arcs.add(stays.group, built.machine + stays.machine, stays.count, np.maximum(own - discount, 0))
    # Aggregators.
    rack_slots = np.bincount(problem.machines.rack, free, racks).astype(np.int64)
    each = np.arange(machines)
    arcs.add(built.unscheduled + np.arange(jobs), built.sink, problem.jobs.size, 0)
    arcs.add(built.cluster, built.rack + np.arange(racks), rack_slots, 0)
    arcs.add(built.rack + problem.machines.rack, built.machine + each, free, 0)
    arcs.add(built.machine + each, built.sink, free, 0)
    supply = np.zeros(built.sink + 1, np.int64)
    supply[: len(groups.count)] = groups.count
    supply[built.sink] = -groups.count.sum()
    return replace(built, network=arcs.network(supply)), matrix


def cost_matrix(problem: Problem, tables: CostTable) -> CostMatrix:
    """Return the cost of every job on every machine; `tables` has a row of cost points for each job."""
    jobs, step = len(problem.jobs), points.step_ns(problem.curves)
    matrix = np.empty((jobs, len(problem.machines)), np.int32)
    for start in range(0, jobs, _ROWS):
        rows = slice(start, start + _ROWS)
        steps = (_nearest(problem, rows).astype(np.int64) + step // 2) // step
        matrix[rows] = np.take_along_axis(tables[rows], np.minimum(steps, tables.shape[1] - 1), axis=1)
    return matrix


def _nearest(problem: Problem, which: slice) -> Nanoseconds:
    """Return the round trip from each machine to the nearest root of each of these jobs, shape (jobs, machines)."""
    jobs = problem.jobs
    rows = problem.latency.rows(np.maximum(jobs.root[which], 0))  # a root that waits: its job has no tasks
    if jobs.further_roots is None:
        return rows
    rows = rows.copy()
    for roots in jobs.further_roots[which].T:
        has = roots != ANYWHERE
        rows[has] = np.minimum(rows[has], problem.latency.rows(roots[has]))
    return rows


def read(built: Built, flows: Ints, rng: np.random.Generator) -> Assignment:
    """Return tasks on machines; flow through X and racks takes random slots, as all paths cost the same.

    The solver's own choice fills rack after rack: tasks of later jobs would find room in the rack of their root.
    """
    network = built.network
    tail, head, count = network.tail, network.head, flows
    from_group = tail < built.unscheduled
    on_machine = from_group & (head >= built.machine) & (head < built.sink) & (count > 0)
    placed = Assignment(built.group_job[tail[on_machine]], head[on_machine] - built.machine, count[on_machine])
    to_sink = (tail >= built.machine) & (head == built.sink)
    free = np.zeros(built.machines, np.int64)
    free[tail[to_sink] - built.machine] = network.capacity[to_sink]
    slots = rng.permutation(np.repeat(np.arange(built.machines), free - placed.on_machines(built.machines)))
    rack_of = np.zeros(built.machines, np.int64)
    in_rack = (tail >= built.rack) & (tail < built.machine)
    rack_of[head[in_rack] - built.machine] = tail[in_rack] - built.rack
    # Slots by rack, in random order within each; the first ones are for the tasks that go to this rack.
    slots = slots[np.argsort(rack_of[slots], kind="stable")]
    size = np.bincount(rack_of[slots], minlength=built.racks)
    rank = np.arange(len(slots)) - np.repeat(np.cumsum(size) - size, size)
    to_rack = from_group & (head >= built.rack) & (head < built.machine)
    rack = np.repeat(head[to_rack] - built.rack, count[to_rack])
    rack_job = np.repeat(built.group_job[tail[to_rack]], count[to_rack])
    taken = rank < np.bincount(rack, minlength=built.racks)[rack_of[slots]]
    rack_job = rack_job[np.argsort(rack, kind="stable")]
    to_cluster = from_group & (head == built.cluster)
    cluster_job = np.repeat(built.group_job[tail[to_cluster]], count[to_cluster])
    anywhere = rng.choice(slots[~taken], len(cluster_job), replace=False)
    job, machine = np.concatenate((rack_job, cluster_job)), np.concatenate((slots[taken], anywhere))
    return placed.plus(Assignment(job, machine, np.ones(len(job), np.int64)))


@dataclass(frozen=True, slots=True, eq=False)
class _Stays:
    group: Ints
    machine: Ints
    count: Ints
    running_s: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Return the supply nodes: single tasks, or all tasks of a job that run or that wait."""

    job: Ints
    count: Ints
    waited_s: Ints
    stays: _Stays


def _groups(problem: Problem, parameters: Parameters) -> _Groups:
    """Return entries of tasks that run and that wait; merged by job on request."""
    current = problem.current
    age = problem.running_s if problem.running_s is not None else np.zeros_like(current.count)
    waiting = problem.jobs.size - current.of_jobs(len(problem.jobs))
    none = np.full(len(problem.jobs), -1, np.int64)
    job = np.concatenate([current.job, np.arange(len(problem.jobs))])
    machine = np.concatenate([current.machine, none])
    count = np.concatenate([current.count, waiting])
    running = np.concatenate([age, np.zeros_like(none)])
    waits = np.repeat([0, 1], [len(current.count), len(none)])
    keep = count > 0
    job, machine, count, running, waits = job[keep], machine[keep], count[keep], running[keep], waits[keep]
    if parameters.aggregate:
        keys, group = np.unique(job * 2 + waits, return_inverse=True)
        group_job, group_waits = keys // 2, keys % 2
        group_count = np.bincount(group, count, len(keys)).astype(np.int64)
    else:
        repeats = count
        job, machine, running, waits = (np.repeat(column, repeats) for column in (job, machine, running, waits))
        count = np.ones(len(job), np.int64)
        group, group_job, group_waits, group_count = np.arange(len(job)), job, waits, count
    on = machine >= 0
    waited = np.where(group_waits, problem.jobs.waited_s[group_job], 0)
    stays = _Stays(group[on], machine[on], count[on], running[on])
    return _Groups(group_job, group_count, waited, stays)


def _members(group_job: Ints, jobs: int) -> tuple[Ints, Ints, Ints]:
    """Return the groups sorted by job, and the first and the number of each job."""
    groups = np.argsort(group_job, kind="stable")
    number = np.bincount(group_job, minlength=jobs)
    return groups, np.cumsum(number) - number, number


class _Arcs:
    def __init__(self) -> None:
        self._parts: list[tuple[Ints, Ints, Ints, Ints]] = []

    def add(self, tail: npt.ArrayLike, head: npt.ArrayLike, capacity: npt.ArrayLike, cost: npt.ArrayLike) -> None:
        parts = np.broadcast_arrays(tail, head, capacity, cost)
        self._parts.append((parts[0].ravel(), parts[1].ravel(), parts[2].ravel(), parts[3].ravel()))

    def prefer(self, by_job: tuple[Ints, Ints, Ints], job: Ints, head: Ints, cost: Ints, count: Ints) -> None:
        """Return an arc from every group of a job to each head that the job prefers."""
        groups, first, number = by_job
        times = number[job]
        within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        tail = groups[np.repeat(first[job], times) + within]
        self.add(tail, np.repeat(head, times), count[tail], np.repeat(cost, times))

    def network(self, supply: Ints) -> FlowNetwork:
        columns = [np.concatenate([part[at] for part in self._parts]).astype(np.int64) for at in range(4)]
        return FlowNetwork(columns[0], columns[1], columns[2], columns[3], supply)


def _place_roots(problem: Problem) -> Ints:
    """Place roots through X at cost 0, that is in any free slot: on the emptiest machine."""
    root = problem.jobs.root.copy()
    free = problem.free_slots() - problem.current.on_machines(len(problem.machines))
    for job in np.flatnonzero(root == ANYWHERE):
        machine = int(free.argmax())
        if free[machine] <= 0:
            break
        root[job] = machine
        free[machine] -= 1
    return root


def _only(problem: Problem, rooted: Bools) -> Problem:
    """Return the problem without the tasks of jobs whose root waits."""
    return replace(problem, jobs=replace(problem.jobs, size=np.where(rooted, problem.jobs.size, 0)))
