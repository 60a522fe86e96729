"""Rules about token buckets: from counters of agents to an incident with its forecast, and in a back-test."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Condition, Kind, Rule, Severity
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.token_buckets.tokens import Bucket, Level, TokenForecast, Tokens
from tests.alerts.conftest import Watched
from tests.alerts.detection.test_backtest import back_test, question
from tests.alerts.evaluation.windows import series, window_of
from tests.api_clients import body_of
from tests.measurements.reports import sent, traffic_of

SIZE = 3
RULE = Rule("r", "Nearly empty", Condition(Kind.TOKENS, within_s=60))


def window(number: int, empty_in_s: dict[int, float | None]) -> EvaluationWindow:
    """A window of three VMs with keys 10, 20, 30; `empty_in_s` of the token buckets by VM key."""
    buckets = {
        key: (Bucket(1e6, 1e8), TokenForecast(0.0, Tokens(0, 1e8, 5e7), 2e6, Level.DRAINING, left, None, None, None))
        for key, left in empty_in_s.items()
    }
    flat = series(np.zeros((SIZE, SIZE)))
    return window_of(number, np.zeros(SIZE, np.int64), flat, keys=np.array([10, 20, 30]), buckets=buckets)


def fired(rules: list[Rule], windows: list[dict[int, float | None]]) -> list[list[tuple[int, tuple[str, ...]]]]:
    """Return the VMs (by position) with the ids of their rules in each window."""
    state = EvaluationState(np.zeros(0, np.int64))
    results = []
    for number, empty_in_s in enumerate(windows, 1):
        detections = step(state, rules, window(number, empty_in_s)).detections
        assert {one.cause.culprit.suspect for one in detections} <= {Suspect.BUCKET}
        results.append([(one.cause.culprit.at, tuple(one.rules)) for one in detections])
    return results


def test_two_of_three_forecasts_within_the_time_are_an_incident():
    lefts = [{20: left} for left in (200.0, 59.0, 61.0, 58.0, 57.0, None, None, None, None, None, None, None, None)]
    found = [bool(one) for one in fired([RULE], lefts)]
    assert found[:5] == [False, False, False, True, True]
    assert found[5]  # keeps firing for a minute
    assert not found[-1]


def test_an_empty_bucket_is_a_breach_and_one_that_never_empties_is_none():
    assert fired([RULE], [{10: 0.0, 30: None}] * 2)[-1] == [(0, ("r",))]


def test_each_vm_has_one_detection_with_all_its_rules():
    critical = replace(RULE, id="c", condition=Condition(Kind.TOKENS, within_s=20), severity=Severity.CRITICAL)
    assert fired([RULE, critical], [{10: 15.0, 20: 40.0}] * 2)[-1] == [(0, ("r", "c")), (1, ("r",))]


def test_a_scope_selects_vms():
    scope = np.zeros((SIZE, SIZE), bool)
    scope[1, 2] = True
    assert fired([replace(RULE, scope=scope)], [dict.fromkeys((10, 20, 30), 5.0)] * 2)[-1] == [(1, ("r",)), (2, ("r",))]


def use(watched: Watched, vm: int, mbit: float, windows: int, last_ended_s: int) -> None:
    """Report the traffic of a VM in the windows until a time."""
    starts = [last_ended_s - 10 * back for back in range(windows, 0, -1)]
    sent(watched.world.agents[vm], traffic_of({at: round(mbit * 1.25e6) for at in starts}))


def bucket_of(watched: Watched, vm: int, **values: Any) -> None:
    body = {"rate_mbit": 100, "burst_kb": 150_000, **values}
    body_of(watched.owner.put(f"/v1/vms/{watched.world.agents[vm].vm_id}/token-bucket", json=body))


def test_a_bucket_that_runs_empty_is_an_incident_with_its_forecast(watched: Watched):
    watched.add_rule("Tokens", {"kind": "tokens", "within_s": 60})
    bucket_of(watched, 2)
    for _ in range(2):
        assert watched.incidents() == []
        ended_s = watched.report()
        use(watched, 2, 120, 1, ended_s)
        watched.evaluate(ended_s, datetime.fromtimestamp(ended_s, UTC))
    incident = watched.incident()
    assert (incident["title"], incident["severity"]) == ("token bucket of c-1: nearly empty", "warning")
    assert (incident["culprit"]["suspect"], incident["culprit"]["at"]["name"]) == ("bucket", "c-1")
    bucket = incident["evidence"]["token_bucket"]
    assert (bucket["rate_mbit"], bucket["burst_kb"]) == (100, 150_000)
    assert bucket["use_mbit"] == pytest.approx(120)
    assert bucket["empty_in_s"] == pytest.approx(40)  # 20 s at 20 Mbit/s above the rate took 50 of 150 MB
    assert bucket["tokens_kb"] == pytest.approx(100_000)
    reasons = incident["verdict"]["reasons"]
    assert incident["verdict"] == {"kind": "shaping", "reasons": [reasons[0]], "others": []}
    assert reasons[0]["code"] == "bucket_empties"


def test_a_back_test_replays_the_traffic(watched: Watched):
    body = question(watched, {"kind": "tokens", "within_s": 60})
    assert "No VM of this mesh has a token bucket" in back_test(watched.owner, body)["notes"][-1]
    bucket_of(watched, 1)
    ended_s = watched.report(6)
    use(watched, 1, 130, 4, ended_s)
    result = back_test(watched.owner, body)
    (found,) = result["found"]
    assert found["culprit"]["words"] == "token bucket of b-1"
    assert "today's rate and depth" in result["notes"][-1]
