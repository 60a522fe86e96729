"""Annealing of tasks on machines, compiled: what a search tries, every limit held at each step."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinemora.compiled import compiled
from sinemora.placement.problem import Bools, Ints, Shares


class State(NamedTuple):
    """Where tasks are, and what that leaves."""

    at: Ints
    home: Ints
    free: Ints
    loads: Ints
    """Tasks of each job in each domain of each level, shape (jobs, levels, domains)."""
    present: Ints
    """Tasks of each job on each machine, shape (jobs, machines)."""
    first: Ints
    after: Ints
    before: Ints
    forgiven: Bools
    """Tasks whose machine breaks a limit already: there they may stay."""


class Fixed(NamedTuple):
    """What a search does not change; see `search.SearchProblem`."""

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


@compiled
def put(state: State, fixed: Fixed, task: int, machine: int) -> None:
    """Let a task that runs nowhere run on a machine (below 0: wait)."""
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
def take(state: State, fixed: Fixed, task: int) -> None:
    """Take a task from its machine."""
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
def fits(state: State, fixed: Fixed, task: int, machine: int) -> bool:
    """Return whether a task that runs nowhere may be put on a machine."""
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
def _cost(state: State, fixed: Fixed, task: int) -> float:
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
def _link(state: State, fixed: Fixed, a: int, b: int) -> float:
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
def _is_moved(state: State, task: int) -> int:
    return 1 if state.home[task] >= 0 and state.at[task] != state.home[task] else 0


@compiled
def _note(state: State, task: int, away: Ints, place_of: Ints, moved: int) -> int:
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
def annealed(state: State, fixed: Fixed, movers: Ints, most_moves: int, proposals: int, seed: int) -> Ints:
    """Return the best placement seen in `proposals` proposals: a task moves to a free slot or swaps with another."""
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
        take(state, fixed, a)
        b = -1
        if not fits(state, fixed, a, target):
            # Somebody there has to make room: the first few are tried.
            b = state.first[target]
            for _ in range(np.random.randint(0, 4)):
                if b >= 0 and state.after[b] >= 0:
                    b = state.after[b]
            if b < 0 or not may_move[b] or source < 0:
                put(state, fixed, a, source)
                continue
            state.at[a] = source  # for the links between the two, which neither loses
            old += _cost(state, fixed, b) - _link(state, fixed, a, b)
            state.at[a] = -1
            moved_before += _is_moved(state, b)
            take(state, fixed, b)
            if not fits(state, fixed, a, target):
                put(state, fixed, b, target)
                put(state, fixed, a, source)
                continue
            put(state, fixed, a, target)
            if not fits(state, fixed, b, source):
                take(state, fixed, a)
                put(state, fixed, b, target)
                put(state, fixed, a, source)
                continue
            put(state, fixed, b, source)
        else:
            put(state, fixed, a, target)
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
        take(state, fixed, a)
        if b >= 0:
            take(state, fixed, b)
            put(state, fixed, b, target)
        put(state, fixed, a, source)
    return chosen
