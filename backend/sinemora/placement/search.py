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


def solve(question: SearchProblem, seed: int = 0, proposals: int | None = None) -> SearchSolution:
    """Return the best placement found; the time grows with the links of a task."""
    started = time.perf_counter()
    _check(question)
    movers = np.flatnonzero(question.movable)
    default = min(max(PROPOSALS_LEAST, PROPOSALS_A_TASK * len(movers)), PROPOSALS_MOST)
    links, waiting_cost = _links(question), _waiting_cost(question)
    tries = [question.at]
    if len(movers) and len(question.source):
        starts = _STARTS if len(movers) <= _FEW_TASKS else 1
        for start in range(starts):
            count = (proposals or default) // starts
            tries.append(sinemora_native.anneal(question, links, waiting_cost, count, seed + start))
    at = min(tries, key=lambda placement: _total(question, waiting_cost, placement))
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
        raise ProblemError("machine_overfull", f"machine {int(over.argmax())}", "running tasks exceed its capacity")


def _value(question: SearchProblem, at: Ints) -> float:
    """Return the cost of the links whose tasks both run."""
    a, b = at[question.source], at[question.target]
    run = (a >= 0) & (b >= 0)
    curve = question.curve[question.owner[question.source[run]]]
    return float((question.table[curve, question.steps[a[run], b[run]]] * question.weight[run]).sum())


def _total(question: SearchProblem, waiting_cost: float, at: Ints) -> float:
    moved = ((at != question.at) & (question.at >= 0)).sum()
    return _value(question, at) + question.move_price * float(moved) + waiting_cost * float((at < 0).sum())


def _waiting_cost(question: SearchProblem) -> float:
    """Return a cost above that of all links at their dearest and all moves: a task that runs is always worth it."""
    dearest = float(question.table.max(initial=1.0)) * float(question.weight.sum())
    return dearest + question.move_price * len(question.at) + 1


def _links(question: SearchProblem) -> Links:
    task = np.concatenate([question.source, question.target])
    order = np.argsort(task, kind="stable")
    tasks = len(question.at)
    return Links(
        starts=np.concatenate([[0], np.cumsum(np.bincount(task, minlength=tasks))]).astype(np.int64),
        other=np.concatenate([question.target, question.source])[order].astype(np.int64),
        weight=np.concatenate([question.weight, question.weight])[order],
    )
