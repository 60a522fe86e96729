"""Placement of tasks of any size and communication pattern on shared VMs, with a lower bound.

Simulated annealing finds a placement, a Lagrangian relaxation (Fisher 1981) a lower bound of all placements, and branch
and bound closes what is between them where it can: small problems, small budgets of moves and stars are solved to
proven optimality. The work of each is fixed, so a problem always has the same solution. Slots, CPU, memory, allowed
VMs, anti-affinity, spread limits, pins, move price and move budgets hold at every step.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import sinemora_native

from sinemora.recommendations.placement import progress
from sinemora.recommendations.placement.problem import Bools, Ints, ProblemError, Shares

WAITING = -1
"""Machine of a waiting task."""
PROPOSALS_LEAST, PROPOSALS_A_TASK, PROPOSALS_MOST = 100_000, 10_000, 700_000
PROPOSALS_OF_VERY_MANY, _VERY_MANY_STARTS = 2_800_000, 2
"""Number of proposals of local search, and of its runs, if more than `PLACED_BY_JOB_MOST` tasks can move."""
BOUND_ROUNDS = 201
"""Maximum number of rounds in which the relaxation raises the lower bound."""
BRANCH_WORK = 20_000_000
"""Maximum number of machines that branch and bound looks at, over all tasks."""
FEW_MOVES, FEW_MOVES_WORK = 3, 100_000_000
"""Budget up to which sets of moves are searched, and the maximum number of machines that are looked at for it."""
PLACED_BY_JOB_MOST = 400
"""Maximum number of movable tasks for placement by application and for branch and bound.

With more tasks neither finds a better placement within its limit of work, and both take half the time of a search.
"""
_TOLERANCE = 1e-9
# Work to find whether all tasks can run: it is done for each limit that may be in their way.
_START_PROPOSALS, _START_WORK = 50_000, 1_000_000
# Annealing of few tasks ends in the first local optimum: several short runs find more than a long one. That of many
# ends far from the bound: placing each application by itself, then together, finds more.
_FEW_TASKS, _FEW_STARTS = 20, 8
_MANY_TASKS, _WORK_A_TASK = 40, 500_000
_MANY_WORK = BRANCH_WORK // 40
LEVELS = ("machine", "rack", "pod")
"""Failure domains of spread limits."""
NO_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class SearchProblem:
    """Tasks, links, machines and constraints. Arrays have one entry per task unless stated otherwise."""

    at: Ints
    """Machine each task runs on, `WAITING` for none."""
    movable: Bools
    pinned: Bools
    """Tasks that only a pin prevents from moving."""
    owner: Ints
    """Job of each task."""
    need: Ints
    """Demand of a task, shape (tasks, resources)."""
    room: Ints
    """Capacity of a machine, shape (machines, resources)."""
    source: Ints
    """Task at one end of each link, shape (links,)."""
    target: Ints
    weight: Shares
    """Weight of each link."""
    curve: Ints
    """Row of `table` by job, shape (jobs,)."""
    table: Shares
    """Cost of a link at every step of latency, shape (curves, steps)."""
    steps: npt.NDArray[np.int32]
    """Step of the latency between machines, shape (machines, machines)."""
    allowed: Bools
    """Machines each job may use, shape (jobs, machines)."""
    domain: Ints
    """Failure domain of each machine by level, shape (LEVELS, machines)."""
    most: Ints
    """Tasks of each job in one domain of each level, shape (jobs, LEVELS)."""
    spared: Bools
    """Tasks exempt from spread limits: roots."""
    apart: Bools
    """Jobs that must not share a machine, shape (jobs, jobs)."""
    move_price: Shares
    """Price of a move of each job, shape (jobs,)."""
    bringing: Shares
    """Price of what a task of each job brings to each machine, shape (jobs, machines)."""
    location: Ints
    """Zone, region and provider of each machine, shape (3, machines)."""
    far: float
    """Price of each of them that a running task leaves, so small that it only decides between equal places."""
    stays: Bools
    """Jobs whose running tasks stay in their region, shape (jobs,)."""
    pays: Bools
    """Jobs that move only where they gain more than their own moves cost, shape (jobs,)."""
    over: Ints
    """Load of a machine beyond its capacity that `room` includes, shape (machines, resources)."""
    most_moves: int
    most_moves_of: Ints
    """Most moves of each job, shape (jobs,)."""
    barred: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))
    """Tasks and the machine that each may not come to, shape (pairs, 2)."""


Watch = Callable[[float, float], None]


class LinkIndex(NamedTuple):
    """Both ends of every link, by task."""

    starts: Ints
    """Place of each task's first link, and the number of links at the end, shape (tasks + 1,)."""
    other: Ints
    """Task at the other end."""
    weight: Shares


@dataclass(frozen=True, slots=True, eq=False)
class SearchSolution:
    """Best placement found. Costs are those of `SearchProblem.table`."""

    at: Ints
    cost: float
    """Cost of its links, without moves."""
    total: float
    """Cost with the price of moves, and a larger one of each waiting task."""
    gap: float | None
    """No placement costs less by more than this, moves included; None if one with fewer waiting tasks may exist."""
    moved: int
    waiting: int
    seconds: float
    bound: float
    """Lower bound of `total` of every placement."""
    prices: Shares
    """Dual of the capacity: cost saved by one more unit, shape (machines, resources)."""

    @property
    def proven(self) -> bool:
        """Return True if no placement is better."""
        return self.gap == 0.0

    @property
    def slot_price(self) -> Shares:
        """Return the cost saved by one more slot, shape (machines,)."""
        return self.prices[:, 0]


class Earlier(NamedTuple):
    """Solution of the same problem with fewer limits, and a placement `at` that keeps all limits of now."""

    solution: SearchSolution
    at: Ints


def solve(
    problem: SearchProblem,
    seed: int = 0,
    proposals: int | None = None,
    rounds: int = BOUND_ROUNDS,
    work: int = BRANCH_WORK,
    earlier: Earlier | None = None,
) -> SearchSolution:
    """Return the best placement found, proven optimal where branch and bound ends within `work`.

    Without `rounds` and `work` it is what local search finds, and the bound is 0. It costs no more than the placement
    of `earlier`. With more than `PLACED_BY_JOB_MOST` movable tasks, the bound of `earlier` is kept.
    """
    started = time.perf_counter()
    _check(problem)
    movers = int(problem.movable.sum())
    links, waiting_cost = _links(problem), waiting_cost_of(problem)
    at, least, prices = problem.at, _total(problem, waiting_cost, problem.at), np.zeros(problem.room.shape)
    if earlier is not None and (total := _total(problem, waiting_cost, earlier.at)) < least:
        at, least = earlier.at, total
    begin, bound = at, least
    if movers:
        progress.report(0.3, f"local search over {movers} tasks", least)
        watch = _watch(0.3, f"local search over {movers} tasks", least)
        starts = _FEW_STARTS if movers <= _FEW_TASKS else _VERY_MANY_STARTS if movers > PLACED_BY_JOB_MOST else 1
        count = (proposals or _proposals_for(movers)) // starts
        for start in range(starts):
            found = sinemora_native.anneal(problem, links, waiting_cost, begin, count, seed + start, watch)
            if (total := _total(problem, waiting_cost, found)) < least:
                at, least = found, total
        few = problem.most_moves <= FEW_MOVES
        if _MANY_TASKS < movers <= PLACED_BY_JOB_MOST and not few and work:
            watch = _watch(0.4, f"local search over {movers} tasks", least)
            at, _ = _by_job(problem, links, waiting_cost, at, _WORK_A_TASK * movers, watch)
            least = _total(problem, waiting_cost, at)
        bound, flat = 0.0, prices.ravel()
        if earlier is not None and movers > PLACED_BY_JOB_MOST:
            # More limits make no placement cheaper.
            bound, flat = earlier.solution.bound, earlier.solution.prices.ravel()
        elif rounds:
            progress.report(0.5, f"lower bound for {movers} tasks", least)
            watch = _watch(0.5, f"lower bound for {movers} tasks", least)
            bound, flat = sinemora_native.placement_bound(problem, links, waiting_cost, least, rounds, watch)
        prices = flat.reshape(problem.room.shape)
        # Of few tasks the nearest of equal places is found, too.
        slack = 0.0 if movers <= _FEW_TASKS else problem.far * _levels_left(problem, at)
        left = work and _open(least - slack, bound) > 0
        if left and few and _MANY_TASKS < movers <= PLACED_BY_JOB_MOST:
            phase = f"sets of {problem.most_moves} moves of {movers} tasks"
            progress.report(0.6, phase, least, bound)
            watch = _watch(0.6, phase, least, bound)
            at, lower = _by_job(problem, links, waiting_cost, at, FEW_MOVES_WORK, watch)
            least, bound = _total(problem, waiting_cost, at), max(bound, lower)
        elif left and (few or movers <= PLACED_BY_JOB_MOST):
            progress.report(0.6, f"branch and bound over {movers} tasks", least, bound)
            most_work = min(work, _MANY_WORK) if movers > _MANY_TASKS else work
            watch = _watch(0.6, f"branch and bound over {movers} tasks", least, bound)
            at, proven = sinemora_native.branch(problem, links, waiting_cost, at, flat, most_work, watch)
            least = _total(problem, waiting_cost, at)
            bound = least if proven else bound
    gap = _open(least - problem.far * _levels_left(problem, at), bound)
    moved = int(((at != problem.at) & (problem.at >= 0)).sum())
    return SearchSolution(
        at,
        float(_of_links(problem, at).sum()),
        least,
        gap if gap < waiting_cost / 2 else None,
        moved,
        int(((at < 0) & problem.movable).sum()),
        time.perf_counter() - started,
        bound,
        prices,
    )


def _proposals_for(movers: int) -> int:
    """Return the number of proposals of local search, from the number of movable tasks."""
    if movers > PLACED_BY_JOB_MOST:
        return PROPOSALS_OF_VERY_MANY
    return min(max(PROPOSALS_LEAST, PROPOSALS_A_TASK * movers), PROPOSALS_MOST)


def _by_job(
    problem: SearchProblem, links: LinkIndex, waiting_cost: float, begin: Ints, work: int, watch: Watch
) -> tuple[Ints, float]:
    """Place one job after another; return the placement, that of `begin` where a job would lose, and a lower bound."""
    at, lower = sinemora_native.place_by_job(problem, links, waiting_cost, begin, work, watch)
    return (at if each_pays(problem, at) else begin), lower


def _open(cost: float, bound: float) -> float:
    """Return by how much a placement may cost less than the one found, 0 where that is rounding."""
    return cost - bound if cost - bound > _TOLERANCE * max(abs(cost), 1.0) else 0.0


def _watch(share: float, phase: str, least: float, lower: float | None = None) -> Watch:
    """Return what reports the progress of a native search, at the best cost and the bound known so far."""
    listener = progress.listener()

    def report(cost: float, bound: float) -> None:
        known = bound if lower is None and np.isfinite(bound) else lower
        listener(progress.SolveProgress(share, phase, min(cost, least), known))

    return report


def can_start_all(problem: SearchProblem, begin: Ints) -> bool:
    """Return whether a placement was found in which no movable task waits, from that of `begin` on.

    Only limits count, not links, so jobs of which none starts move only if they move for others. False does not prove
    that there is no such placement.
    """
    return not _waits(problem, started(problem, begin))


def started(problem: SearchProblem, begin: Ints) -> Ints:
    """Return the placement of `can_start_all` with the fewest waiting tasks that was found."""
    if not _waits(problem, begin):
        return begin
    nothing, jobs = np.empty(0, np.int64), len(problem.curve)
    problem = replace(
        problem,
        source=nothing,
        target=nothing,
        weight=np.empty(0),
        move_price=np.full(jobs, _TOLERANCE * 100),
        bringing=np.zeros_like(problem.bringing),
        far=0.0,
    )
    links, waiting_cost = _links(problem), waiting_cost_of(problem)
    at = sinemora_native.anneal(problem, links, waiting_cost, begin, _START_PROPOSALS, 0)
    if _waits(problem, at) and problem.movable.sum() <= _MANY_TASKS:
        prices = np.zeros(problem.room.size)
        at, _ = sinemora_native.branch(problem, links, waiting_cost, at, prices, _START_WORK)
    return at


def _waits(problem: SearchProblem, at: Ints) -> bool:
    return bool(((at < 0) & problem.movable).any())


def _check(problem: SearchProblem) -> None:
    used = np.zeros_like(problem.room)
    placed = problem.at >= 0
    np.add.at(used, problem.at[placed], problem.need[placed])
    over = (used > problem.room).any(axis=1)
    if over.any():
        raise ProblemError("machine_overfull", f"machine {int(over.argmax())}", "running tasks exceed its capacity")


def _of_links(problem: SearchProblem, at: Ints) -> Shares:
    """Return the cost of the links whose tasks both run, by job."""
    a, b = at[problem.source], at[problem.target]
    run = (a >= 0) & (b >= 0)
    job = problem.owner[problem.source[run]]
    costs = problem.table[problem.curve[job], problem.steps[a[run], b[run]]] * problem.weight[run]
    return np.bincount(job, costs, len(problem.curve)).astype(np.float64)


def _of_moves(problem: SearchProblem, at: Ints) -> Shares:
    """Return the price of moves and of what they bring, by job."""
    came = np.flatnonzero((at != problem.at) & (at >= 0))
    job, ran = problem.owner[came], problem.at[came] >= 0
    left = (problem.location[:, problem.at[came]] != problem.location[:, at[came]]).sum(axis=0)
    prices = problem.bringing[job, at[came]] + ran * (problem.move_price[job] + problem.far * left)
    return np.bincount(job, prices, len(problem.curve)).astype(np.float64)


def _levels_left(problem: SearchProblem, at: Ints) -> int:
    moved = (at != problem.at) & (at >= 0) & (problem.at >= 0)
    return int((problem.location[:, problem.at[moved]] != problem.location[:, at[moved]]).sum())


def each_pays(problem: SearchProblem, at: Ints) -> bool:
    """Return whether each job that moves gains more than its moves cost, starts a task, or need not pay."""
    moved, started = (
        np.bincount(problem.owner, (at != problem.at) & (at >= 0) & side, len(problem.curve)) > 0
        for side in (problem.at >= 0, problem.at < 0)
    )
    before, after = _of_links(problem, problem.at), _of_links(problem, at) + _of_moves(problem, at)
    return not (problem.pays & moved & ~started & (after > before + _TOLERANCE * np.maximum(before, 1.0))).any()


def _total(problem: SearchProblem, waiting_cost: float, at: Ints) -> float:
    waiting = (at < 0) & problem.movable
    costs = _of_links(problem, at) + _of_moves(problem, at)
    return float(costs.sum()) + waiting_cost * float(waiting.sum())


def waiting_cost_of(problem: SearchProblem) -> float:
    """Return a cost above that of all links at their dearest and all moves: a task that runs is always worth it."""
    dearest = float(problem.table.max(initial=1.0)) * float(problem.weight.sum())
    a_move = problem.move_price.max(initial=0.0) + problem.bringing.max(initial=0.0) + 3 * problem.far
    return dearest + float(a_move) * len(problem.at) + 1


def _links(problem: SearchProblem) -> LinkIndex:
    task = np.concatenate([problem.source, problem.target])
    order = np.argsort(task, kind="stable")
    tasks = len(problem.at)
    return LinkIndex(
        starts=np.concatenate([[0], np.cumsum(np.bincount(task, minlength=tasks))]).astype(np.int64),
        other=np.concatenate([problem.target, problem.source])[order].astype(np.int64),
        weight=np.concatenate([problem.weight, problem.weight])[order],
    )
