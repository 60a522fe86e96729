"""A native search that runs: it reports its best cost and bound, and what the listener raises stops it."""

import re
import time
from functools import cache

import numpy as np
import pytest

from lab.benchmarks.recommending.instances import instance_of
from lab.benchmarks.recommending.tenants import large
from sinemora.recommendations.core import optimize
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.placement import progress
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.progress import SolveProgress

OPTIONS = Options(moves_max=10, move_cost=0.0)
PHASES = ("local search", "lower bound", "branch and bound")


@cache
def world() -> Instance:
    return instance_of(large(np.random.default_rng((5, 300)), 300))


class Stopped(Exception):
    """Raised by the listener, as a cancelled job does."""


def test_cost_falls_and_the_bound_rises_while_the_search_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    # With its own limit, branch and bound ends before its second report on a fast machine.
    monkeypatch.setattr(search, "_MANY_WORK", search.BRANCH_WORK)
    reports: list[SolveProgress] = []
    with progress.listening(reports.append):
        watched = optimize.solve(world(), OPTIONS)
    seen = [report for report in reports if report.cost is not None]
    costs = [report.cost for report in seen if report.cost is not None]
    bounds = [report.bound for report in seen if report.bound is not None]
    assert len(seen) > 5  # phases alone are five
    assert (np.diff(costs) < 1e-9).all()
    assert bounds
    assert (np.diff(bounds) > -1e-9).all()
    assert max(bounds) <= min(costs) + 1e-9
    words = [report.words for report in seen if report.bound is not None]
    assert all(re.search(r"mean performance \d+\.\d %, at most \d+\.\d %$", line) for line in words)
    # Who listens does not change what is found.
    alone = optimize.solve(world(), OPTIONS)
    assert [move.task for group in alone.groups for move in group.moves] == [
        move.task for group in watched.groups for move in group.moves
    ]


@pytest.mark.parametrize("phase", PHASES)
def test_what_the_listener_raises_stops_the_native_call(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A call reports every 0.1 s: with its own limit, branch and bound may end before that on a fast machine.
    monkeypatch.setattr(search, "_MANY_WORK", 200 * search.BRANCH_WORK)
    since: list[float] = []

    def listen(solve: SolveProgress) -> None:
        if solve.phase.startswith(phase):
            since.append(time.process_time())
            # The first report of a phase is made before the native call, the second inside it.
            if len(since) == 2:
                raise Stopped

    with progress.listening(listen), pytest.raises(Stopped):
        optimize.solve(world(), OPTIONS)
    assert len(since) == 2
    # Without the stop, branch and bound takes minutes here.
    assert time.process_time() - since[-1] < 5
