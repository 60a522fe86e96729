"""The end of a disturbance: paths that have recovered and still fire are no causes of their own."""

import pytest

from lab.incidents.events import Event, make
from lab.incidents.trial import judge, run
from sinemora.alerts.evaluation.rule import defaults


@pytest.mark.parametrize("seed", [4242, 4244])
def test_a_disturbance_that_ends_opens_no_further_incident(seed: int):
    scenario = make(Event.ONE_DIRECTION, seed)
    found = run(scenario.mesh, scenario.windows, defaults(scenario.mesh.window_s))
    score = judge(scenario, found)
    assert (score.detected, score.right, score.incidents) == (True, True, 1)
