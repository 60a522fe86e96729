"""Random problems with every kind of limit, solved to proven optimality, against every placement there is."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import sinemora_native

from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.search import NO_LIMIT, SearchProblem
from sinemora.recommendations.placement.problem import Ints
from tests.seeds import seeds

_UNLIMITED = 1 << 40
_TASKS_MOST = 6
STEPS = 41


def world(seed: int) -> SearchProblem:
    """Return one to three stars and graphs on three to five machines, with limits drawn at random."""
    rng = np.random.default_rng(seed)
    machines, jobs = int(rng.integers(3, 6)), int(rng.integers(1, 4))
    owner: list[int] = []
    links: list[tuple[int, int, float]] = []
    spared: list[bool] = []
    for job in range(jobs):
        size, first = int(rng.integers(2, 4)), len(owner)
        if first + size > _TASKS_MOST:
            break
        owner += [job] * size
        if rng.random() < 0.6:  # a star
            spared += [True] + [False] * (size - 1)
            links += [(first, first + leaf, 1.0) for leaf in range(1, size)]
        else:
            spared += [False] * size
            pairs = itertools.combinations(range(first, first + size), 2)
            links += [(a, b, float(rng.integers(1, 4))) for a, b in pairs if rng.random() < 0.8]
    tasks, jobs = len(owner), max(owner) + 1
    need = np.ones((tasks, 3), np.int64)
    need[:, 0] = np.where(rng.random(tasks) < 0.2, 2, 1)
    need[:, 1] = rng.integers(0, 4, tasks) * 500 if rng.random() < 0.5 else 0
    need[:, 2] = 0
    at = rng.integers(0, machines, tasks)
    if rng.random() < 0.3:
        at[rng.integers(tasks)] = -1
    room = np.zeros((machines, 3), np.int64)
    np.add.at(room, at[at >= 0], need[at >= 0])
    free = rng.integers(0, 3, machines)
    room[:, 0] += free
    # On some full machines more runs than they have.
    over = np.zeros_like(room)
    over[:, 0] = (free == 0) & (room[:, 0] > 1) & (rng.random(machines) < 0.3)
    room[:, 1] += rng.integers(0, 3, machines) * 500 if rng.random() < 0.7 else _UNLIMITED
    room[:, 2] = _UNLIMITED
    steps = rng.integers(1, STEPS - 1, (machines, machines))
    steps = np.maximum(steps, steps.T).astype(np.int32)
    np.fill_diagonal(steps, 0)
    rising = np.linspace(0, 1, STEPS)
    allowed = np.array([rng.random(machines) < (0.7 if rng.random() < 0.25 else 2.0) for _ in range(jobs)])
    most = np.full((jobs, 3), NO_LIMIT)
    for job in np.flatnonzero(rng.random(jobs) < 0.3):
        most[job, rng.integers(3)] = rng.integers(1, 3)
    apart = np.zeros((jobs, jobs), np.bool_)
    if jobs > 1 and rng.random() < 0.3:
        apart[0, 1] = apart[1, 0] = True
    movable = rng.random(tasks) > 0.15
    ends = np.array([link[:2] for link in links], np.int64).reshape(-1, 2)
    return SearchProblem(
        at=at,
        movable=movable,
        pinned=~movable,
        owner=np.array(owner),
        need=need,
        room=room,
        source=ends[:, 0],
        target=ends[:, 1],
        weight=np.array([link[2] for link in links]),
        curve=rng.integers(0, 3, jobs),
        table=np.stack([rising, rising**2, np.floor(rising * 4) / 5]),
        steps=steps,
        allowed=allowed,
        domain=np.stack([np.arange(machines), np.arange(machines) // 2, np.arange(machines) // 3]),
        most=most,
        spared=np.array(spared),
        apart=apart,
        move_price=rng.choice([0.0, 0.05, 0.3], jobs),
        bringing=rng.choice([0.0, 0.0, 0.1], (jobs, machines)),
        location=np.stack([np.arange(machines) // 2, np.arange(machines) // 3, np.zeros(machines, np.int64)]),
        far=float(rng.choice([0.0, 0.01])),
        stays=rng.random(jobs) < 0.2,
        pays=rng.random(jobs) < 0.7,
        over=over,
        most_moves=int(rng.choice([NO_LIMIT, 1, 2, 3])),
        most_moves_of=np.where(rng.random(jobs) < 0.25, rng.integers(0, 3, jobs), NO_LIMIT),
    )


def unpaid(problem: SearchProblem, most_moves: int) -> SearchProblem:
    """Return the problem with a budget, in which jobs move for others, and near and far are alike."""
    return replace(problem, most_moves=most_moves, pays=np.zeros_like(problem.pays), far=0.0)


def keeps(problem: SearchProblem, at: Ints) -> bool:
    """Return whether a placement respects all limits, and nothing joins what breaks one; checked independently."""
    used, came = np.zeros_like(problem.room), np.zeros_like(problem.room)
    changed = at != problem.at
    np.add.at(used, at[at >= 0], problem.need[at >= 0])
    np.add.at(came, at[changed & (at >= 0)], problem.need[changed & (at >= 0)])
    moved = changed & (problem.at >= 0)
    joined = (used > problem.room - problem.over) & (came > 0)
    if (used > problem.room).any() or joined.any() or moved.sum() > problem.most_moves:
        return False
    region = problem.location[1]
    if (moved & problem.stays[problem.owner] & (region[at] != region[problem.at])).any():
        return False
    for task in np.flatnonzero(changed & (at >= 0)):
        job = problem.owner[task]
        rivals = np.isin(problem.owner, np.flatnonzero(problem.apart[job]))
        if not problem.allowed[job, at[task]] or (at[rivals] == at[task]).any():
            return False
    if any(at[task] == machine and changed[task] for task, machine in problem.barred):
        return False
    for job, limits in enumerate(problem.most):
        if (moved & (problem.owner == job)).sum() > problem.most_moves_of[job]:
            return False
        for level, most in enumerate(limits):
            domain = problem.domain[level]
            guests = (at >= 0) & ((problem.at < 0) | (domain[at] != domain[problem.at]))
            after = _loads(problem, job, level, at)
            came_to = _loads(problem, job, level, np.where(guests, at, -1))
            if ((after > most) & (came_to > 0)).any():
                return False
    return True


def _loads(problem: SearchProblem, job: int, level: int, at: Ints) -> Ints:
    counted = (problem.owner == job) & ~problem.spared & (at >= 0)
    return np.bincount(problem.domain[level, at[counted]], minlength=int(problem.domain[level].max()) + 1)


def value(problem: SearchProblem, at: Ints) -> tuple[int, float]:
    """Return the number of waiting tasks, and the cost of links and moves, computed one at a time."""
    waiting = int(((at < 0) & problem.movable).sum())
    total = sum(_moved(problem, task, int(machine)) for task, machine in enumerate(at))
    for a, b, weight in zip(problem.source, problem.target, problem.weight, strict=True):
        if at[a] >= 0 and at[b] >= 0:
            total += weight * problem.table[problem.curve[problem.owner[a]], problem.steps[at[a], at[b]]]
    return waiting, total


def _moved(problem: SearchProblem, task: int, machine: int) -> float:
    """Return the price of a task's being on a machine."""
    home, job = int(problem.at[task]), problem.owner[task]
    if machine in (home, -1):
        return 0.0
    if home < 0:
        return float(problem.bringing[job, machine])
    left = (problem.location[:, home] != problem.location[:, machine]).sum()
    return float(problem.bringing[job, machine] + problem.move_price[job] + problem.far * left)


def best_of_all(problem: SearchProblem) -> tuple[int, float]:
    """Return the least `value` of all placements that keep the limits.

    Costs are summed as `value` does, from lists: there are tens of thousands of placements, and arrays of six are slow.
    """
    everywhere = range(len(problem.room))
    homes = problem.at.tolist()
    places = [
        ([*everywhere] if home >= 0 else [-1, *everywhere]) if movable else [home]
        for home, movable in zip(homes, problem.movable, strict=True)
    ]
    links = [
        (a, b, (weight * problem.table[problem.curve[problem.owner[a]]][problem.steps]).tolist())
        for a, b, weight in zip(problem.source.tolist(), problem.target.tolist(), problem.weight, strict=True)
    ]
    paid = [[_moved(problem, task, place) for place in (*everywhere, -1)] for task in range(len(homes))]
    waits = [bool(movable) and home < 0 for home, movable in zip(homes, problem.movable, strict=True)]
    best, best_way = (len(homes) + 1, 0.0), tuple(homes)
    for way in itertools.product(*places):
        moves = sum(place != home and home >= 0 for place, home in zip(way, homes, strict=True))
        if moves > problem.most_moves:
            continue
        waiting = sum(place < 0 and may_wait for place, may_wait in zip(way, waits, strict=True))
        total = sum(paid[task][place] for task, place in enumerate(way))
        for a, b, costs in links:
            if way[a] >= 0 and way[b] >= 0:
                total += costs[way[a]][way[b]]
        if (waiting, total) < best and keeps(problem, np.array(way)) and search.each_pays(problem, np.array(way)):
            best, best_way = (waiting, total), way
    assert best == pytest.approx(value(problem, np.array(best_way)), abs=1e-9)
    return best


@pytest.mark.parametrize("seed", seeds(range(40)))
def test_what_is_called_optimal_is_the_best_of_all(seed: int) -> None:
    problem = world(seed)
    solution = search.solve(problem, proposals=8_000)
    waiting, cost = value(problem, solution.at)
    truth = best_of_all(problem)
    assert keeps(problem, solution.at)
    assert solution.proven
    assert (solution.waiting, waiting) == (truth[0], truth[0])
    assert cost == pytest.approx(truth[1], abs=1e-9)


@pytest.mark.parametrize("seed", seeds(range(40, 80)))
def test_without_branch_and_bound_the_gap_holds_the_optimum(seed: int) -> None:
    problem = world(seed)
    solution = search.solve(problem, proposals=200, work=0)
    waiting, cost = value(problem, solution.at)
    truth = best_of_all(problem)
    if waiting == truth[0] and solution.gap is not None:
        assert cost - solution.gap <= truth[1] + 1e-9
    else:
        assert waiting > truth[0] or solution.gap is None


@pytest.mark.parametrize("seed", seeds(range(80, 110)))
def test_tasks_do_not_come_to_machines_they_are_barred_from(seed: int) -> None:
    problem = world(seed)
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(rng.random((len(problem.at), len(problem.room))) < 0.3)
    problem = replace(problem, barred=pairs.astype(np.int64))
    solution = search.solve(problem, proposals=8_000)
    assert keeps(problem, solution.at)
    assert solution.proven
    assert value(problem, solution.at) == pytest.approx(best_of_all(problem), abs=1e-9)


def crowded(seed: int) -> SearchProblem:
    """Return a problem with one or two more tasks that wait and hardly any free slots: tasks have to make room."""
    problem, rng = world(seed), np.random.default_rng((seed, 7))
    at = problem.at.copy()
    running = np.flatnonzero(at >= 0)
    at[rng.choice(running, min(len(running) - 1, int(rng.integers(1, 3))), replace=False)] = -1
    room = np.zeros_like(problem.room)
    np.add.at(room, at[at >= 0], problem.need[at >= 0])
    room[:, 0] += rng.random(len(room)) < 0.35
    room[:, 1] += rng.integers(0, 3, len(room)) * 500
    room[:, 2] = _UNLIMITED
    return unpaid(replace(problem, at=at, room=room, over=np.zeros_like(room)), seed % 4)


@pytest.mark.parametrize("seed", seeds([*range(200, 320), *range(1_000, 1_100)]))
def test_few_moves_placed_job_by_job_are_the_best_of_all(seed: int) -> None:
    problem = unpaid(world(seed), seed % 4) if seed < 1_000 else crowded(seed)
    links, waiting_cost = search._links(problem), search.waiting_cost_of(problem)
    at, bound = sinemora_native.place_by_job(problem, links, waiting_cost, problem.at, 20_000_000)
    waiting, cost = value(problem, at)
    assert keeps(problem, at)
    assert (waiting, cost) == pytest.approx(best_of_all(problem), abs=1e-9)
    assert bound == pytest.approx(cost + waiting * waiting_cost, abs=1e-6)


@pytest.mark.parametrize("work", [0, 1_000, 30_000])
def test_without_the_work_for_it_the_bound_job_by_job_holds(work: int) -> None:
    for seed in range(200, 230):
        problem = unpaid(world(seed), seed % 4)
        links, waiting_cost = search._links(problem), search.waiting_cost_of(problem)
        at, bound = sinemora_native.place_by_job(problem, links, waiting_cost, problem.at, work)
        truth = best_of_all(problem)
        assert keeps(problem, at)
        assert bound <= truth[0] * waiting_cost + truth[1] + 1e-9


def test_with_many_moves_nothing_is_proven_job_by_job() -> None:
    for seed in range(200, 210):
        problem = unpaid(world(seed), NO_LIMIT)
        links, waiting_cost = search._links(problem), search.waiting_cost_of(problem)
        at, bound = sinemora_native.place_by_job(problem, links, waiting_cost, problem.at, 1_000_000)
        assert keeps(problem, at)
        assert bound == -np.inf
        assert value(problem, at) <= value(problem, problem.at)


def test_arrays_that_do_not_fit_are_refused() -> None:
    problem = world(1)
    links = search._links(problem)
    for barred in (np.array([[0, 99]]), np.array([[99, 0]])):
        with pytest.raises(ValueError, match="fit"):
            sinemora_native.anneal(replace(problem, barred=barred), links, 10.0, problem.at, 1_000, 0)
    with pytest.raises(ValueError, match="fit"):
        sinemora_native.place_by_job(problem, links, 10.0, problem.at[:-1].copy(), 1_000)
    with pytest.raises(ValueError, match="fit"):
        sinemora_native.branch(problem, links, 10.0, problem.at[:-1].copy(), np.zeros(problem.room.size), 1_000)
    with pytest.raises(ValueError, match="fit"):
        sinemora_native.branch(problem, links, 10.0, problem.at, np.zeros(1), 1_000)
