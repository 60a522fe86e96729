"""Policy `graph`: local search for tasks of any size and communication pattern on shared VMs.

The problem is neither a flow nor, beyond about ten tasks, provable: plans are the best found, with a lower bound.
Simulated annealing with a fixed number of proposals moves or swaps tasks, so a problem always has the same solution.
Slots, CPU, memory, allowed VMs, anti-affinity, spread limits, pins, move price and move budget hold at every step.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import sinemora_native

from sinemora.placement import progress
from sinemora.placement.problem import Bools, Ints, ProblemError, Shares

WAITING = -1
"""Machine of a waiting task."""
PROPOSALS_LEAST, PROPOSALS_A_TASK, PROPOSALS_MOST = 100_000, 10_000, 3_000_000
# Annealing of few tasks ends in the first local optimum: several short runs find more than a long one.
_FEW_TASKS, _STARTS = 20, 8
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
    move_price: float
    most_moves: int


class Links(NamedTuple):
    """Both ends of every link, by task."""

    starts: Ints
    """Place of each task's first link, and the number of links at the end, shape (tasks + 1,)."""
    other: Ints
    """Task at the other end."""
    weight: Shares


@dataclass(frozen=True, slots=True, eq=False)
class SearchSolution:
    """Best placement found. `cost` covers links without move prices; `bound` is a lower bound for any placement."""

    at: Ints
    cost: float
    bound: float
    moved: int
    waiting: int
    seconds: float


def solve(problem: SearchProblem, seed: int = 0, proposals: int | None = None) -> SearchSolution:
    """Return the best placement found; the time grows with the links of a task."""
    started = time.perf_counter()
    _check(problem)
    movers = np.flatnonzero(problem.movable)
    default = min(max(PROPOSALS_LEAST, PROPOSALS_A_TASK * len(movers)), PROPOSALS_MOST)
    links, waiting_cost = _links(problem), _waiting_cost(problem)
    tries = [problem.at]
    if len(movers) and len(problem.source):
        starts = _STARTS if len(movers) <= _FEW_TASKS else 1
        bound, best = lower_bound(problem), _value(problem, problem.at)
        for start in range(starts):
            share = 0.4 + 0.4 * start / starts
            progress.report(share, f"local search over {len(movers)} tasks, run {start + 1} of {starts}", best, bound)
            count = (proposals or default) // starts
            tries.append(sinemora_native.anneal(problem, links, waiting_cost, count, seed + start))
            best = min(best, _value(problem, tries[-1]))
    at = min(tries, key=lambda placement: _total(problem, waiting_cost, placement))
    moved = int(((at != problem.at) & (problem.at >= 0)).sum())
    return SearchSolution(
        at, _value(problem, at), lower_bound(problem), moved, int((at < 0).sum()), time.perf_counter() - started
    )


def lower_bound(problem: SearchProblem) -> float:
    """Return the lower bound: every link at the cheapest pair of machines allowed to its tasks."""
    total = 0.0
    jobs = problem.owner[problem.source] if len(problem.source) else np.zeros(0, np.int64)
    both = problem.movable[problem.source] & problem.movable[problem.target]
    for job in np.unique(jobs[both]).tolist():
        usable = problem.allowed[job] & (problem.room[:, 0] > 0)
        if usable.any():
            nearest = int(problem.steps[np.ix_(usable, usable)].min())
            cheapest = float(problem.table[problem.curve[job], nearest:].min())
            total += cheapest * float(problem.weight[both & (jobs == job)].sum())
    for link in np.flatnonzero(~both).tolist():
        ends = (int(problem.source[link]), int(problem.target[link]))
        costs = problem.table[problem.curve[jobs[link]]]
        held = [problem.at[end] for end in ends if not problem.movable[end]]
        if len(held) == 2:
            total += problem.weight[link] * float(costs[problem.steps[held[0], held[1]]]) if min(held) >= 0 else 0.0
        elif held[0] >= 0:
            total += problem.weight[link] * float(costs[problem.steps[held[0]]].min())
    return total


def _check(problem: SearchProblem) -> None:
    used = np.zeros_like(problem.room)
    placed = problem.at >= 0
    np.add.at(used, problem.at[placed], problem.need[placed])
    over = (used > problem.room).any(axis=1)
    if over.any():
        raise ProblemError("machine_overfull", f"machine {int(over.argmax())}", "running tasks exceed its capacity")


def _value(problem: SearchProblem, at: Ints) -> float:
    """Return the cost of the links whose tasks both run."""
    a, b = at[problem.source], at[problem.target]
    run = (a >= 0) & (b >= 0)
    curve = problem.curve[problem.owner[problem.source[run]]]
    return float((problem.table[curve, problem.steps[a[run], b[run]]] * problem.weight[run]).sum())


def _total(problem: SearchProblem, waiting_cost: float, at: Ints) -> float:
    moved = ((at != problem.at) & (problem.at >= 0)).sum()
    return _value(problem, at) + problem.move_price * float(moved) + waiting_cost * float((at < 0).sum())


def _waiting_cost(problem: SearchProblem) -> float:
    """Return a cost above that of all links at their dearest and all moves: a task that runs is always worth it."""
    dearest = float(problem.table.max(initial=1.0)) * float(problem.weight.sum())
    return dearest + problem.move_price * len(problem.at) + 1


def _links(problem: SearchProblem) -> Links:
    task = np.concatenate([problem.source, problem.target])
    order = np.argsort(task, kind="stable")
    tasks = len(problem.at)
    return Links(
        starts=np.concatenate([[0], np.cumsum(np.bincount(task, minlength=tasks))]).astype(np.int64),
        other=np.concatenate([problem.target, problem.source])[order].astype(np.int64),
        weight=np.concatenate([problem.weight, problem.weight])[order],
    )
