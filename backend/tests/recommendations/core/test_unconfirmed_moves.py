"""Moves that held-out windows do not confirm are left out, and the best of the others are found."""

from dataclasses import replace

import numpy as np

from lab.benchmarks.recommending.instances import instance_of
from lab.benchmarks.recommending.tenants import Star, Tenant
from sinemora.recommendations.core import optimize
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.core.options import Options

FAR, NEAR, NEARER = 700.0, 200.0, 50.0
ROOT, HOME, GOOD, BETTER = range(4)


def tenant(trips_us: dict[tuple[int, int], float], vms: int = 4, tasks: int = 1) -> Tenant:
    """Return a star whose root stays on the first VM, and tasks on the next ones; other round trips are far."""
    trips = np.full((vms, vms), FAR)
    np.fill_diagonal(trips, 0)
    for (a, b), us in trips_us.items():
        trips[a, b] = trips[b, a] = us
    at = [ROOT, *range(HOME, HOME + tasks)]
    pinned = [True, *[False] * tasks]
    links = [(0, task, 1.0) for task in range(1, tasks + 1)]
    star = Star("a", "memcached-server", True, at, pinned, [(1, 0)] * (tasks + 1), links, (), (None, None), None, None)
    return Tenant([1] * vms, [None] * vms, trips, [star], "loss", 10)


def turned_bad(instance: Instance, *pairs: tuple[int, int]) -> Instance:
    """Return the instance in which paths are far in every held-out window."""
    holdout = instance.holdout.copy()
    for a, b in pairs:
        holdout[:, a, b] = holdout[:, b, a] = FAR * 1e3
    return replace(instance, holdout=holdout)


def test_the_second_best_move_is_found_when_the_best_is_not_confirmed() -> None:
    instance = instance_of(tenant({(ROOT, GOOD): NEAR, (ROOT, BETTER): NEARER}))
    options = Options(move_cost=0.0)
    (best,) = optimize.solve(instance, options).kept
    assert best.moves[0].target == BETTER
    solution = optimize.solve(turned_bad(instance, (ROOT, BETTER)), options)
    assert [move.target for group in solution.kept for move in group.moves] == [GOOD]
    (refused,) = [group for group in solution.groups if group.rejected is not None]
    assert refused.moves[0].target == BETTER
    assert "probability" in (refused.rejected or "")
    assert (solution.gap, solution.left_out) == (0.0, 1)


def test_confirmed_moves_stay_beside_others_that_are_placed_again() -> None:
    near = {(ROOT, 3): NEARER, (ROOT, 4): NEARER, (ROOT, 5): NEAR}
    instance = instance_of(tenant(near, vms=6, tasks=2))
    solution = optimize.solve(turned_bad(instance, (ROOT, 4)), Options(move_cost=0.0))
    assert {move.target for group in solution.kept for move in group.moves} == {3, 5}
    assert solution.gap == 0.0


def test_where_nothing_is_confirmed_nothing_moves() -> None:
    instance = instance_of(tenant({(ROOT, GOOD): NEAR, (ROOT, BETTER): NEARER}))
    instance = turned_bad(instance, (ROOT, GOOD), (ROOT, BETTER))
    solution = optimize.solve(instance, Options(move_cost=0.0))
    assert not solution.kept
    assert {move.target for group in solution.groups for move in group.moves} == {GOOD, BETTER}
