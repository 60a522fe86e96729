"""A second search over very many tasks begins with what the first one knows, and costs no more."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import sinemora_native

from lab.benchmarks.recommending.instances import instance_of
from lab.benchmarks.recommending.tenants import large
from sinemora.recommendations.core import optimize
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.placement.policies import search

FAR_NS = 900e3


def test_the_second_search_keeps_the_bound_and_the_confirmed_moves_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # So many tasks are very many already, and the searches take half the time.
    monkeypatch.setattr(search, "PLACED_BY_JOB_MOST", 120)
    instance = instance_of(large(np.random.default_rng((1, 240)), 240))
    solved: list[tuple[search.SearchProblem, search.SearchSolution]] = []
    bounds: list[float] = []
    solve, bound_of = search.solve, sinemora_native.placement_bound

    def recorded(problem: search.SearchProblem, **options: object) -> search.SearchSolution:
        solved.append((problem, solve(problem, **options)))  # type: ignore[arg-type]
        return solved[-1][1]

    def counted(*arguments: object) -> object:
        bounds.append(1.0)
        return bound_of(*arguments)

    monkeypatch.setattr(search, "solve", recorded)
    monkeypatch.setattr(sinemora_native, "placement_bound", counted)
    first = optimize.solve(instance, Options(move_cost=0.0))
    assert int(solved[0][0].movable.sum()) > search.PLACED_BY_JOB_MOST
    refused = next(group for group in first.kept if not any(move.starts for move in group.moves))
    holdout = instance.holdout.copy()
    for move in refused.moves:
        holdout[:, move.target, :] = holdout[:, :, move.target] = FAR_NS
    solved.clear()
    bounds.clear()
    again = optimize.solve(replace(instance, holdout=holdout), Options(move_cost=0.0))
    assert len(solved) == 2
    assert len(bounds) == 1
    assert again.left_out >= 1
    (_, one), (problem, two) = solved
    assert two.bound == one.bound <= two.total
    assert two.gap is not None
    assert len(problem.barred) == again.left_out
    little = partial(solve, problem, proposals=2, rounds=0, work=0)
    assert little().total > two.total
    assert little(earlier=search.Earlier(one, two.at)).total <= two.total
