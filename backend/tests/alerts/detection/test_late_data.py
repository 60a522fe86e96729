"""Late data: incidents of the past, one notification at most, live state unchanged."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from sinemora.alerts.detection import late_data, tasks
from sinemora.alerts.detection.late_data import LateDataResult, LateRange
from sinemora.alerts.models import AlertState, Delivery, LateDataProgress
from sinemora.measurements.store.roll_up import roll_up_mesh
from sinemora.measurements.store.tiers import Tier
from tests.alerts.conftest import Watched, egress
from tests.alerts.notifications.servers import Hooks, routed
from tests.statements import call, execute, scalars

LATER = timedelta(minutes=10)


def backlog(watched: Watched, hours_ago: float, slow: dict[tuple[int, int], int], windows: int = 12) -> int:
    """Report windows of some time ago from all agents, slow ones between quiet ones; return the last end."""
    present = watched.started_at_s
    watched.started_at_s = present - round(hours_ago * 360) * 10
    watched.report(slow={})
    watched.report(windows, slow=slow)
    ended_at_s = watched.report(slow={})
    watched.started_at_s = present
    roll_up(watched)
    return ended_at_s


def roll_up(watched: Watched) -> None:
    while roll_up_mesh(watched.owner.tenant_key, watched.world.key, Tier.MINUTE, datetime.now(UTC)):
        pass


def evaluate_later(watched: Watched, later: timedelta = LATER) -> LateDataResult | None:
    """Evaluate late data as the worker does, some time from now."""
    at = datetime.now(UTC) + later
    return call(late_data.evaluate_late_data, watched.world.id, at, tenant=watched.owner.tenant_id)


def rolled_up(watched: Watched, minutes_ago: int) -> None:
    """Let the minutes have been merged a while ago, and late data have been looked for before that."""
    merged = "UPDATE zone_frames_1m SET rolled_at = now() - make_interval(mins => :ago) WHERE mesh_key = :key"
    execute(merged, {"ago": minutes_ago, "key": watched.world.key})
    execute("UPDATE late_data_progress SET looked_until = now() - interval '1 hour'")


def rows(watched: Watched, query: Any) -> list[Any]:
    return scalars(query, tenant=watched.owner.tenant_id)


@pytest.fixture
def evaluated(watched: Watched) -> Watched:
    """A mesh whose late data was evaluated once before."""
    watched.window()
    roll_up(watched)
    assert evaluate_later(watched, timedelta(0)) is None
    return watched


@pytest.mark.whole_store
def test_late_data_opens_ended_incidents_with_one_notification(local: None, evaluated: Watched, hooks: Hooks):
    watched, owner = evaluated, evaluated.owner
    routed(owner, hooks, "webhook", "pagerduty")
    before = rows(watched, select(AlertState))[0]
    first = backlog(watched, 5, egress(watched, 2))
    backlog(watched, 3, egress(watched, 0))
    backlog(watched, 2, {(1, 4): 5_000_000})
    result = evaluate_later(watched)
    assert (len(result.ranges), len(result.new), result.confirmed) == (3, 3, [])
    incidents = watched.incidents()
    assert [one["culprit"]["suspect"] for one in incidents] == ["path", "egress", "egress"]
    for one in incidents:
        assert (one["state"], one["ended_at"]) == ("resolved", one["seen_at"])
        assert one["found_late_at"] > one["ended_at"]
    oldest = watched.whole(incidents[-1])
    assert datetime.fromisoformat(oldest["seen_at"]).timestamp() == pytest.approx(first, abs=60)
    assert [one["kind"] for one in oldest["timeline"]] == ["opened", "ended", "late"]
    assert oldest["evidence"]["hypotheses"][0]["suspect"] == "egress"

    # One webhook for the three, none that pages; the live state is unchanged.
    tasks.deliver_due()
    (body,) = [one for path, _, one in hooks.got if path.startswith("/hook")]
    assert b'"about": "late"' in body
    assert b'"others": 2' in body
    assert len(rows(watched, select(Delivery))) == 1
    after = rows(watched, select(AlertState))[0]
    assert (after.rule_states, after.baselines) == (before.rule_states, before.baselines)
    watched.windows(3)
    assert evaluate_later(watched) is None
    assert len(watched.incidents()) == 3
    assert len(rows(watched, select(Delivery))) == 1


def test_a_known_incident_is_confirmed_once(evaluated: Watched):
    backlog(evaluated, 4, egress(evaluated, 3))
    assert evaluate_later(evaluated) is not None
    (incident,) = evaluated.incidents()
    for hours_ago in (4.05, 3.95):  # overlaps, and what others send later
        backlog(evaluated, hours_ago, egress(evaluated, 3))
        again = evaluate_later(evaluated)
        assert ([str(one) for one in again.confirmed], again.new) == ([incident["id"]], [])
    assert [one["id"] for one in evaluated.incidents()] == [incident["id"]]
    assert [one["kind"] for one in evaluated.incident()["timeline"]].count("late") == 1


def test_waits_for_more_late_data_up_to_a_limit(evaluated: Watched):
    backlog(evaluated, 4, egress(evaluated, 3))
    assert evaluate_later(evaluated, timedelta(seconds=30)) is None
    rolled_up(evaluated, minutes_ago=40)
    backlog(evaluated, 2, egress(evaluated, 1))
    result = evaluate_later(evaluated, timedelta(seconds=30))
    assert (len(result.ranges), len(result.new)) == (1, 1)  # the second one is still arriving
    result = evaluate_later(evaluated)
    assert (len(result.ranges), len(result.new)) == (1, 1)


def test_data_older_than_a_day_is_not_evaluated(evaluated: Watched):
    backlog(evaluated, 30, egress(evaluated, 3))
    assert evaluate_later(evaluated) is None
    assert evaluated.incidents() == []


def test_windows_missed_by_the_worker_are_evaluated_as_late_data(watched: Watched):
    """Evaluation catches up on ten minutes; earlier windows are handed over as late data."""
    watched.started_at_s -= 1200
    watched.window()
    roll_up(watched)
    evaluate_later(watched, timedelta(0))
    watched.report(4, slow=egress(watched, 2))
    watched.slow = {}
    watched.evaluate(watched.report(70))
    assert watched.incidents() == []
    evaluate_later(watched)
    assert [one["culprit"]["suspect"] for one in watched.incidents()] == ["egress"]


# Rules of two in three windows have forgotten a place that is older than three.
@pytest.mark.parametrize(("windows_late", "in_time"), [(3, True), (8, False), (20, False)])
def test_windows_that_come_after_their_evaluation_are_judged_at_their_place(
    watched: Watched, windows_late: int, in_time: bool
):
    watched.started_at_s -= 600
    watched.windows(3)
    evaluate_later(watched, timedelta(0))
    late_s = watched.started_at_s
    for _ in range(windows_late):
        watched.window(leave_out=(0,))
    present_s, watched.started_at_s = watched.started_at_s, late_s
    watched.report(3, leave_out=(1, 2, 3, 4, 5), slow=egress(watched, 0))
    watched.report(windows_late - 3, leave_out=(1, 2, 3, 4, 5), slow={})
    watched.started_at_s = present_s
    watched.window()
    evaluate_later(watched)
    (incident,) = watched.incidents()
    assert (incident["found_late_at"] is None) == in_time
    assert in_time or abs(datetime.fromisoformat(incident["opened_at"]).timestamp() - late_s - 20) <= 10
    assert rows(watched, select(AlertState))[0].late_ranges == []


@pytest.mark.whole_store
def test_the_task_evaluates_every_mesh(evaluated: Watched):
    backlog(evaluated, 4, egress(evaluated, 3))
    rolled_up(evaluated, minutes_ago=5)
    tasks.evaluate_late_data()
    assert len(evaluated.incidents()) == 1
    assert len(rows(evaluated, select(LateDataProgress))) == 1


def test_large_ranges_are_replayed_by_minutes(evaluated: Watched, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(late_data, "_BY_WINDOWS_MAX", 0)
    backlog(evaluated, 4, egress(evaluated, 3), windows=30)
    result = evaluate_later(evaluated)
    assert len(result.new) == 1
    (incident,) = evaluated.incidents()
    assert (incident["culprit"]["suspect"], incident["state"]) == ("egress", "resolved")
    lasted = datetime.fromisoformat(incident["seen_at"]) - datetime.fromisoformat(incident["opened_at"])
    assert timedelta(minutes=3) <= lasted <= timedelta(minutes=7)


def test_minutes_close_together_are_one_range():
    assert late_data.ranges_of([(0, 60), (60, 120), (600, 660), (4000, 4060)]) == [
        LateRange(0, 660),
        LateRange(4000, 4060),
    ]
    assert late_data.ranges_of([]) == []
