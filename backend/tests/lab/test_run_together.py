"""Meshes evaluated together get the incidents and notifications of meshes evaluated one by one."""

import numpy as np
import pytest

from lab.incidents.traces import TRACES
from lab.incidents.trial import Incident, run_and_notify, run_together
from lab.incidents.weeks import make_week
from sinemora.alerts.evaluation.rule import defaults


def shown(incidents: list[Incident]) -> list[tuple[object, ...]]:
    return [
        (one.id, one.opened, one.ended, one.first, one.last, one.rules, one.notified, one.cells.tolist())
        for one in incidents
    ]


def test_together_is_the_same_as_one_by_one():
    days = {0: 0.15, 12: 0.1, 1: 0.15}  # EC2-EUW-1, Azure-UKW-1, EC2-EUW-2; one is over before the others
    weeks = [make_week(TRACES[at], np.random.default_rng([1, at]), lasts) for at, lasts in days.items()]
    rules = defaults(10)
    found = run_together([week.mesh for week in weeks], [week.windows for week in weeks], rules)
    alone = [run_and_notify(week.mesh, week.windows, rules) for week in weeks]
    assert [(shown(incidents), sent) for incidents, sent in found] == [
        (shown(incidents), sent) for incidents, sent in alone
    ]
    assert any(incidents for incidents, _ in found)


def test_meshes_that_differ_are_refused():
    week = make_week(TRACES[0], np.random.default_rng(1), 0.01)
    week.windows.silent[3, 2] = True
    with pytest.raises(ValueError, match="silent"):
        run_together([week.mesh], [week.windows], defaults(10))
