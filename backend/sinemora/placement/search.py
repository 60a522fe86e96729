"""Policy `graph`: local search for tasks of any size and communication pattern on shared VMs.

The problem is neither a flow nor, beyond about ten tasks, provable: plans are the best found, with a lower bound.
Simulated annealing with a fixed number of proposals moves or swaps tasks, so a problem always has the same solution.
Slots, CPU, memory, allowed VMs, anti-affinity, spread limits, pins, move price and move budget hold at every step.
"""

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.placement.annealing import Fixed, State, annealed, fits, put, take
from sinemora.placement.problem import Bools, Ints, ProblemError, Shares

WAITING = -1
"""Machine of a waiting task."""
PROPOSALS_LEAST, PROPOSALS_A_TASK, PROPOSALS_MOST = 100_000, 10_000, 3_000_000
# A few tasks freeze in the first valley: several short runs find more than a long one.
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


@dataclass(frozen=True, slots=True, eq=False)
class SearchSolution:
    """Best placement found. `cost` covers links without move prices; `bound` is a lower bound for any placement."""

    at: Ints
    cost: float
    bound: float
    moved: int
    waiting: int
    seconds: float


def solve(question: SearchProblem, seed: int = 0, proposals: int | None = None) -> SearchSolution:
    """Return the best placement found; the time grows with the links of a task."""
    started = time.perf_counter()
    _check(question)
    movers = np.flatnonzero(question.movable)
    default = min(max(PROPOSALS_LEAST, PROPOSALS_A_TASK * len(movers)), PROPOSALS_MOST)
    fixed = _fixed(question)
    tries = [question.at]
    if len(movers) and len(question.source):
        starts = _STARTS if len(movers) <= _FEW_TASKS else 1
        for start in range(starts):
            state = _state(question, fixed)
            count = (proposals or default) // starts
            tries.append(annealed(state, fixed, movers, question.most_moves, count, seed + start))
    at = min(tries, key=lambda placement: _total(question, fixed, placement))
    moved = int(((at != question.at) & (question.at >= 0)).sum())
    return SearchSolution(
        at, _value(question, at), lower_bound(question), moved, int((at < 0).sum()), time.perf_counter() - started
    )


def lower_bound(question: SearchProblem) -> float:
    """Return the lower bound: every link at the cheapest pair of machines allowed to its tasks."""
    total = 0.0
    jobs = question.owner[question.source] if len(question.source) else np.zeros(0, np.int64)
    both = question.movable[question.source] & question.movable[question.target]
    for job in np.unique(jobs[both]).tolist():
        usable = question.allowed[job] & (question.room[:, 0] > 0)
        if usable.any():
            nearest = int(question.steps[np.ix_(usable, usable)].min())
            cheapest = float(question.table[question.curve[job], nearest:].min())
            total += cheapest * float(question.weight[both & (jobs == job)].sum())
    for link in np.flatnonzero(~both).tolist():
        ends = (int(question.source[link]), int(question.target[link]))
        costs = question.table[question.curve[jobs[link]]]
        held = [question.at[end] for end in ends if not question.movable[end]]
        if len(held) == 2:
            total += question.weight[link] * float(costs[question.steps[held[0], held[1]]]) if min(held) >= 0 else 0.0
        elif held[0] >= 0:
            total += question.weight[link] * float(costs[question.steps[held[0]]].min())
    return total


def _check(question: SearchProblem) -> None:
    used = np.zeros_like(question.room)
    placed = question.at >= 0
    np.add.at(used, question.at[placed], question.need[placed])
    over = (used > question.room).any(axis=1)
    if over.any():
        raise ProblemError("machine_overfull", f"machine {int(over.argmax())}", "more runs there than it has room for")


def _value(question: SearchProblem, at: Ints) -> float:
    """Return the cost of the links whose tasks both run."""
    a, b = at[question.source], at[question.target]
    run = (a >= 0) & (b >= 0)
    curve = question.curve[question.owner[question.source[run]]]
    return float((question.table[curve, question.steps[a[run], b[run]]] * question.weight[run]).sum())


def _total(question: SearchProblem, fixed: Fixed, at: Ints) -> float:
    moved = ((at != question.at) & (question.at >= 0)).sum()
    return _value(question, at) + fixed.price * float(moved) + fixed.waiting_cost * float((at < 0).sum())


def _fixed(question: SearchProblem) -> Fixed:
    task = np.concatenate([question.source, question.target])
    order = np.argsort(task, kind="stable")
    tasks = len(question.at)
    index = np.concatenate([[0], np.cumsum(np.bincount(task, minlength=tasks))]).astype(np.int64)
    other = np.concatenate([question.target, question.source])[order].astype(np.int64)
    weight = np.concatenate([question.weight, question.weight])[order]
    # A task that runs costs its links, and is always worth it: all links at their dearest are cheaper than waiting.
    dearest = float(question.table.max(initial=1.0)) * float(question.weight.sum()) + question.move_price * tasks + 1
    return Fixed(
        question.owner,
        question.need,
        question.curve,
        question.table,
        question.steps,
        question.allowed,
        question.domain,
        question.most,
        question.spared,
        question.apart,
        index,
        other,
        weight,
        question.move_price,
        dearest,
    )


def _state(question: SearchProblem, fixed: Fixed) -> State:
    tasks, machines = len(question.at), len(question.room)
    jobs = len(question.curve)
    state = State(
        question.at.copy(),
        question.at.copy(),
        question.room.copy(),
        np.zeros((jobs, len(LEVELS), int(question.domain.max(initial=0)) + 1), np.int64),
        np.zeros((jobs, machines), np.int64),
        np.full(machines, -1, np.int64),
        np.full(tasks, -1, np.int64),
        np.full(tasks, -1, np.int64),
        np.zeros(tasks, np.bool_),
    )
    for task in np.flatnonzero(question.at >= 0).tolist():
        put(state, fixed, task, int(question.at[task]))
    for task in np.flatnonzero(question.movable & (question.at >= 0)).tolist():
        machine = int(question.at[task])
        take(state, fixed, task)
        state.forgiven[task] = not fits(state, fixed, task, machine)
        put(state, fixed, task, machine)
    return state
