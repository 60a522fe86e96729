"""Policy `graph` for whole tenants: tasks of any size and any pattern of communication on VMs that others use too.

Neither a flow nor, beyond about ten tasks, provable: plans are the best found and carry a bound. Tasks are moved to
VMs with room, or change places with one another, by annealing with a fixed number of proposals, so that the same
question has the same answer. Slots, CPU, memory, allowed VMs, exclusion, spread limits, pins, the price of a move and
the budget of moves hold at every step.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinemora.compiled import compiled
from sinemora.recommender.placement.problem import Bools, Ints, ProblemError, Shares

WAITING = -1
"""The machine of a task that waits."""
PROPOSALS_LEAST, PROPOSALS_A_TASK, PROPOSALS_MOST = 100_000, 10_000, 3_000_000
# A few tasks freeze in the first valley: several short runs find more than a long one.
_FEW_TASKS, _STARTS = 20, 8
LEVELS = 3
"""Failure domains a spread limit may name: machine, rack, pod."""
NO_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Tasks, the links between them, machines, and what must hold. Arrays of one entry a task unless said otherwise."""

    at: Ints
    """Machine each task runs on, `WAITING` for none."""
    movable: Bools
    owner: Ints
    """Job of each task."""
    need: Ints
    """What a task takes, shape (tasks, resources)."""
    room: Ints
    """What a machine has in all, shape (machines, resources)."""
    source: Ints
    """Task at one end of each link, shape (links,)."""
    target: Ints
    weight: Shares
    """What each link counts."""
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
    """Tasks that spread limits do not count: roots."""
    apart: Bools
    """Jobs that must not share a machine, shape (jobs, jobs)."""
    move_price: float
    most_moves: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best placement seen. `cost` of all links, moves not counted; no placement costs less than `bound`."""

    at: Ints
    cost: float
    bound: float
    moved: int
    waiting: int
    seconds: float


class _State(NamedTuple):
    at: Ints
    home: Ints
    free: Ints
    loads: Ints
    """Tasks of each job in each domain of each level, shape (jobs, LEVELS, domains)."""
    present: Ints
    """Tasks of each job on each machine, shape (jobs, machines)."""
    first: Ints
    after: Ints
    before: Ints
    forgiven: Bools
    """Tasks whose machine breaks a limit already: there they may stay."""


class _Fixed(NamedTuple):
    owner: Ints
    need: Ints
    curve: Ints
    table: Shares
    steps: npt.NDArray[np.int32]
    allowed: Bools
    domain: Ints
    most: Ints
    spared: Bools
    apart: Bools
    starts: Ints
    other: Ints
    weight: Shares
    price: float
    waiting_cost: float


def solve(question: Question, seed: int = 0, proposals: int | None = None) -> Found:
    """The best placement found in so many proposals; the time they take grows with the links of a task."""
    started = time.perf_counter()
    _check(question)
    movers = np.flatnonzero(question.movable)
    wanted = min(max(PROPOSALS_LEAST, PROPOSALS_A_TASK * len(movers)), PROPOSALS_MOST)
    fixed = _fixed(question)
    tries = [question.at]
    if len(movers) and len(question.source):
        starts = _STARTS if len(movers) <= _FEW_TASKS else 1
        for start in range(starts):
            state = _state(question, fixed)
            count = (proposals or wanted) // starts
            tries.append(_annealed(state, fixed, movers, question.most_moves, count, seed + start))
    at = min(tries, key=lambda one: _total(question, fixed, one))
    moved = int(((at != question.at) & (question.at >= 0)).sum())
    return Found(
        at, _value(question, at), lower_bound(question), moved, int((at < 0).sum()), time.perf_counter() - started
    )


def lower_bound(question: Question) -> float:
    """What no placement can cost less than: every link at the cheapest pair of machines its tasks may use."""
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


def _check(question: Question) -> None:
    used = np.zeros_like(question.room)
    placed = question.at >= 0
    np.add.at(used, question.at[placed], question.need[placed])
    over = (used > question.room).any(axis=1)
    if over.any():
        raise ProblemError("machine_overfull", f"machine {int(over.argmax())}", "more runs there than it has room for")


def _value(question: Question, at: Ints) -> float:
    """Cost of the links whose tasks both run."""
    a, b = at[question.source], at[question.target]
    run = (a >= 0) & (b >= 0)
    curve = question.curve[question.owner[question.source[run]]]
    return float((question.table[curve, question.steps[a[run], b[run]]] * question.weight[run]).sum())


def _total(question: Question, fixed: _Fixed, at: Ints) -> float:
    moved = ((at != question.at) & (question.at >= 0)).sum()
    return _value(question, at) + fixed.price * float(moved) + fixed.waiting_cost * float((at < 0).sum())


def _fixed(question: Question) -> _Fixed:
    task = np.concatenate([question.source, question.target])
    order = np.argsort(task, kind="stable")
    tasks = len(question.at)
    index = np.concatenate([[0], np.cumsum(np.bincount(task, minlength=tasks))]).astype(np.int64)
    other = np.concatenate([question.target, question.source])[order].astype(np.int64)
    weight = np.concatenate([question.weight, question.weight])[order]
    # A task that runs costs its links, and is always worth it: all links at their dearest are cheaper than waiting.
    dearest = float(question.table.max(initial=1.0)) * float(question.weight.sum()) + question.move_price * tasks + 1
    return _Fixed(
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


def _state(question: Question, fixed: _Fixed) -> _State:
    tasks, machines = len(question.at), len(question.room)
    jobs = len(question.curve)
    state = _State(
        question.at.copy(),
        question.at.copy(),
        question.room.copy(),
        np.zeros((jobs, LEVELS, int(question.domain.max(initial=0)) + 1), np.int64),
        np.zeros((jobs, machines), np.int64),
        np.full(machines, -1, np.int64),
        np.full(tasks, -1, np.int64),
        np.full(tasks, -1, np.int64),
        np.zeros(tasks, np.bool_),
    )
    for task in np.flatnonzero(question.at >= 0).tolist():
        _put(state, fixed, task, int(question.at[task]))
    for task in np.flatnonzero(question.movable & (question.at >= 0)).tolist():
        machine = int(question.at[task])
        _take(state, fixed, task)
        state.forgiven[task] = not _fits(state, fixed, task, machine)
        _put(state, fixed, task, machine)
    return state


@compiled
def _put(state: _State, fixed: _Fixed, task: int, machine: int) -> None:
    job = fixed.owner[task]
    state.at[task] = machine
    if machine < 0:
        return
    for k in range(fixed.need.shape[1]):
        state.free[machine, k] -= fixed.need[task, k]
    state.present[job, machine] += 1
    if not fixed.spared[task]:
        for level in range(fixed.domain.shape[0]):
            state.loads[job, level, fixed.domain[level, machine]] += 1
    state.before[task] = -1
    state.after[task] = state.first[machine]
    if state.first[machine] >= 0:
        state.before[state.first[machine]] = task
    state.first[machine] = task


@compiled
def _take(state: _State, fixed: _Fixed, task: int) -> None:
    machine = state.at[task]
    if machine < 0:
        return
    job = fixed.owner[task]
    for k in range(fixed.need.shape[1]):
        state.free[machine, k] += fixed.need[task, k]
    state.present[job, machine] -= 1
    if not fixed.spared[task]:
        for level in range(fixed.domain.shape[0]):
            state.loads[job, level, fixed.domain[level, machine]] -= 1
    if state.before[task] >= 0:
        state.after[state.before[task]] = state.after[task]
    else:
        state.first[machine] = state.after[task]
    if state.after[task] >= 0:
        state.before[state.after[task]] = state.before[task]
    state.at[task] = -1


@compiled
def _fits(state: _State, fixed: _Fixed, task: int, machine: int) -> bool:
    """Whether a task that runs nowhere may be put on a machine."""
    job = fixed.owner[task]
    if machine < 0:
        return bool(state.home[task] < 0)
    for k in range(fixed.need.shape[1]):
        if fixed.need[task, k] > 0 and state.free[machine, k] < fixed.need[task, k]:
            return False
    if machine == state.home[task] and state.forgiven[task]:
        return True
    if not fixed.allowed[job, machine]:
        return False
    if not fixed.spared[task]:
        for level in range(fixed.domain.shape[0]):
            if state.loads[job, level, fixed.domain[level, machine]] >= fixed.most[job, level]:
                return False
    for rival in range(fixed.apart.shape[0]):
        if fixed.apart[job, rival] and state.present[rival, machine] > 0:
            return False
    return True


@compiled
def _cost(state: _State, fixed: _Fixed, task: int) -> float:
    """Links of a task, what its move costs, and what waiting costs it."""
    machine = state.at[task]
    if machine < 0:
        return fixed.waiting_cost
    total = 0.0
    table = fixed.table[fixed.curve[fixed.owner[task]]]
    for k in range(fixed.starts[task], fixed.starts[task + 1]):
        peer = state.at[fixed.other[k]]
        if peer >= 0:
            total += fixed.weight[k] * table[fixed.steps[machine, peer]]
    if state.home[task] >= 0 and machine != state.home[task]:
        total += fixed.price
    return total


@compiled
def _link(state: _State, fixed: _Fixed, a: int, b: int) -> float:
    """What the links between two tasks cost: `_cost` of both counts them twice."""
    if state.at[a] < 0 or state.at[b] < 0:
        return 0.0
    total = 0.0
    table = fixed.table[fixed.curve[fixed.owner[a]]]
    for k in range(fixed.starts[a], fixed.starts[a + 1]):
        if fixed.other[k] == b:
            total += fixed.weight[k] * table[fixed.steps[state.at[a], state.at[b]]]
    return total


@compiled
def _is_moved(state: _State, task: int) -> int:
    return 1 if state.home[task] >= 0 and state.at[task] != state.home[task] else 0


@compiled
def _note(state: _State, task: int, away: Ints, place_of: Ints, moved: int) -> int:
    """Keep the list of tasks that have moved; how many there are."""
    if _is_moved(state, task):
        if place_of[task] < 0:
            away[moved], place_of[task] = task, moved
            return moved + 1
    elif place_of[task] >= 0:
        last = away[moved - 1]
        away[place_of[task]], place_of[last] = last, place_of[task]
        place_of[task] = -1
        return moved - 1
    return moved


@compiled
def _annealed(state: _State, fixed: _Fixed, movers: Ints, most_moves: int, proposals: int, seed: int) -> Ints:
    np.random.seed(seed)
    machines = len(state.first)
    may_move = np.zeros(len(state.at), np.bool_)
    may_move[movers] = True
    # Who has moved, and where each stands in that list: under a budget that is used up only they can go anywhere.
    away, place_of = np.zeros(len(state.at), np.int64), np.full(len(state.at), -1, np.int64)
    moved, now, best = 0, 0.0, 0.0
    chosen = state.at.copy()
    # The temperature starts near what a proposal changes and ends where nothing worse is accepted.
    scale, seen = 0.0, 0
    for step in range(proposals):
        a = movers[np.random.randint(0, len(movers))]
        if moved >= most_moves and moved > 0 and np.random.random() < 0.5:
            a = away[np.random.randint(0, moved)]
        source = state.at[a]
        target = np.random.randint(0, machines)
        if state.home[a] >= 0 and source != state.home[a] and np.random.random() < 0.1:
            target = state.home[a]
        if target == source:
            continue
        old = _cost(state, fixed, a)
        moved_before = _is_moved(state, a)
        _take(state, fixed, a)
        b = -1
        if not _fits(state, fixed, a, target):
            # Somebody there has to make room: the first few are tried.
            b = state.first[target]
            for _ in range(np.random.randint(0, 4)):
                if b >= 0 and state.after[b] >= 0:
                    b = state.after[b]
            if b < 0 or not may_move[b] or source < 0:
                _put(state, fixed, a, source)
                continue
            state.at[a] = source  # for the links between the two, which neither loses
            old += _cost(state, fixed, b) - _link(state, fixed, a, b)
            state.at[a] = -1
            moved_before += _is_moved(state, b)
            _take(state, fixed, b)
            if not _fits(state, fixed, a, target):
                _put(state, fixed, b, target)
                _put(state, fixed, a, source)
                continue
            _put(state, fixed, a, target)
            if not _fits(state, fixed, b, source):
                _take(state, fixed, a)
                _put(state, fixed, b, target)
                _put(state, fixed, a, source)
                continue
            _put(state, fixed, b, source)
        else:
            _put(state, fixed, a, target)
        new = _cost(state, fixed, a)
        moved_after = _is_moved(state, a)
        if b >= 0:
            new += _cost(state, fixed, b) - _link(state, fixed, a, b)
            moved_after += _is_moved(state, b)
        change = new - old
        seen += 1
        if abs(change) < fixed.waiting_cost / 2:
            scale += (abs(change) - scale) / min(seen, 1000)
        temperature = 0.3 * scale * (1e-4 ** (step / proposals))
        taken = change <= 0 or np.random.random() < np.exp(-change / max(temperature, 1e-30))
        if moved + moved_after - moved_before > most_moves and moved_after > moved_before:
            taken = False
        if taken:
            moved = _note(state, a, away, place_of, moved)
            if b >= 0:
                moved = _note(state, b, away, place_of, moved)
            now += change
            if now < best - 1e-9:
                best = now
                chosen[:] = state.at
            continue
        _take(state, fixed, a)
        if b >= 0:
            _take(state, fixed, b)
            _put(state, fixed, b, target)
        _put(state, fixed, a, source)
    return chosen
