"""Windows that come hours late: incidents of the past, told of at most once, and a present that goes on undisturbed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

from sinemora.alerts.detection import evaluator, late_data, tasks
from sinemora.alerts.detection.late_data import Late, Looked
from sinemora.alerts.models import AlertState, Delivery, LateDataProgress
from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.store.roll_up import roll_up_mesh
from sinemora.measurements.store.tiers import Tier
from tests.alerts.conftest import Watched, egress
from tests.alerts.notifications.servers import Hooks, receiver, route

LATER = timedelta(minutes=10)


def backlog(watched: Watched, hours_ago: float, slow: dict[tuple[int, int], int], windows: int = 12) -> int:
    """All agents send windows of some time ago, slow ones between quiet ones; the end of the last one."""
    present = watched.started_at_s
    watched.started_at_s = present - round(hours_ago * 360) * 10
    watched.slow = {}
    watched.report()
    watched.slow = slow
    for _ in range(windows):
        watched.report()
    watched.slow = {}
    ended_at_s = watched.report()
    watched.started_at_s = present
    return ended_at_s


def roll_up(watched: Watched) -> None:
    with system_session() as session:
        tenant_key = session.scalar(text("SELECT key FROM tenants WHERE id = :id"), {"id": watched.owner.tenant_id})
    while roll_up_mesh(tenant_key, watched.world.key, Tier.MINUTE, datetime.now(UTC)):
        pass


def look(watched: Watched, later: timedelta = LATER) -> Looked | None:
    """What the worker does every minute, some time from now."""
    with tenant_session(watched.owner.tenant_id) as session:
        return late_data.look_back(session, watched.world.id, datetime.now(UTC) + later)


def rows(watched: Watched, wanted: Any) -> list[Any]:
    with tenant_session(watched.owner.tenant_id) as session:
        return list(session.scalars(wanted))


@pytest.fixture
def looked(watched: Watched) -> Watched:
    """The mesh, evaluated and looked back at once before: what comes late comes after that."""
    watched.window()
    roll_up(watched)
    assert look(watched, timedelta(0)) is None
    return watched


@pytest.mark.whole_store
def test_what_was_wrong_hours_ago_is_an_incident_that_is_over_and_told_of_once(
    local: None,
    looked: Watched,
    hooks: Hooks,
):
    watched, owner = looked, looked.owner
    for kind in ("webhook", "pagerduty"):
        receiver(owner, kind, hooks)
    route(owner, "webhook", "pagerduty")
    before = rows(watched, select(AlertState))[0]
    first = backlog(watched, 5, egress(watched, 2))
    backlog(watched, 3, egress(watched, 0))
    backlog(watched, 2, {(1, 4): 5_000_000})
    roll_up(watched)
    found = look(watched)
    assert found is not None
    assert (len(found.stretches), len(found.found), found.known) == (3, 3, [])
    incidents = watched.incidents()
    assert [one["culprit"]["suspect"] for one in incidents] == ["path", "egress", "egress"]
    for one in incidents:
        assert (one["state"], one["ended_at"]) == ("resolved", one["seen_at"])
        assert one["found_late_at"] > one["ended_at"]
    oldest = owner.get(f"/v1/incidents/{incidents[-1]['id']}").json()
    assert datetime.fromisoformat(oldest["seen_at"]).timestamp() == pytest.approx(first, abs=60)
    assert [one["kind"] for one in oldest["timeline"]] == ["opened", "ended", "late"]
    assert oldest["evidence"]["hypotheses"][0]["suspect"] == "egress"

    # One webhook for the three, none that pages; the present knows nothing of it.
    tasks.deliver_due()
    (body,) = [one for path, _, one in hooks.got if path.startswith("/hook")]
    assert b'"about": "late"' in body
    assert b'"others": 2' in body
    assert len(rows(watched, select(Delivery))) == 1
    after = rows(watched, select(AlertState))[0]
    assert (after.rule_states, after.baselines) == (before.rule_states, before.baselines)
    for _ in range(3):
        watched.window()
    assert look(watched) is None
    assert len(watched.incidents()) == 3
    assert len(rows(watched, select(Delivery))) == 1


def test_more_of_what_is_known_is_written_beside_it_once(looked: Watched):
    backlog(looked, 4, egress(looked, 3))
    roll_up(looked)
    assert look(looked) is not None
    (incident,) = looked.incidents()
    for hours_ago in (4.05, 3.95):  # overlaps, and what others send later
        backlog(looked, hours_ago, egress(looked, 3))
        roll_up(looked)
        again = look(looked)
        assert again is not None
        assert ([str(one) for one in again.known], again.found) == ([incident["id"]], [])
    assert [one["id"] for one in looked.incidents()] == [incident["id"]]
    timeline = looked.owner.get(f"/v1/incidents/{incident['id']}").json()["timeline"]
    assert [one["kind"] for one in timeline].count("late") == 1


def test_what_keeps_coming_is_waited_for_but_not_for_ever(looked: Watched):
    backlog(looked, 4, egress(looked, 3))
    roll_up(looked)
    assert look(looked, timedelta(seconds=30)) is None
    with system_session() as session:
        session.execute(
            text("UPDATE zone_frames_1m SET rolled_at = now() - interval '40 minutes' WHERE mesh_key = :key"),
            {"key": looked.world.key},
        )
        session.execute(text("UPDATE late_data_progress SET looked_until = now() - interval '1 hour'"))
    backlog(looked, 2, egress(looked, 1))
    roll_up(looked)
    found = look(looked, timedelta(seconds=30))
    assert found is not None
    assert (len(found.stretches), len(found.found)) == (1, 1)  # the second one goes on coming
    found = look(looked)
    assert found is not None
    assert (len(found.stretches), len(found.found)) == (1, 1)


def test_what_is_older_than_a_day_is_stored_and_not_looked_at(looked: Watched):
    backlog(looked, 30, egress(looked, 3))
    roll_up(looked)
    assert look(looked) is None
    assert looked.incidents() == []


def test_windows_missed_while_the_worker_was_away_are_looked_at_too(watched: Watched):
    """Evaluation catches up on six windows; what lies before them is found afterwards."""
    watched.started_at_s -= 1200
    watched.window()
    roll_up(watched)
    look(watched, timedelta(0))
    watched.slow = egress(watched, 2)
    for _ in range(4):
        watched.report()
    watched.slow = {}
    for _ in range(40):
        ended_at_s = watched.report()
    watched.evaluate(ended_at_s)
    assert watched.incidents() == []
    roll_up(watched)
    look(watched)
    assert [one["culprit"]["suspect"] for one in watched.incidents()] == ["egress"]


@pytest.mark.whole_store
def test_the_sweep_looks_at_every_mesh_that_is_watched(looked: Watched):
    backlog(looked, 4, egress(looked, 3))
    roll_up(looked)
    with system_session() as session:
        session.execute(
            text("UPDATE zone_frames_1m SET rolled_at = now() - interval '5 minutes' WHERE mesh_key = :key"),
            {"key": looked.world.key},
        )
        session.execute(text("UPDATE late_data_progress SET looked_until = now() - interval '1 hour'"))
    tasks.look_back()
    assert len(looked.incidents()) == 1
    assert len(rows(looked, select(LateDataProgress))) == 1


def test_of_what_is_much_minutes_are_looked_at(looked: Watched, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(late_data, "_BY_WINDOWS_MAX", 0)
    backlog(looked, 4, egress(looked, 3), windows=30)
    roll_up(looked)
    found = look(looked)
    assert found is not None
    assert len(found.found) == 1
    (incident,) = looked.incidents()
    assert (incident["culprit"]["suspect"], incident["state"]) == ("egress", "resolved")
    lasted = datetime.fromisoformat(incident["seen_at"]) - datetime.fromisoformat(incident["opened_at"])
    assert timedelta(minutes=3) <= lasted <= timedelta(minutes=7)


def test_minutes_close_together_are_one_stretch():
    assert late_data.stretches_of([0, 60, 600, 4000]) == [Late(0, 660), Late(4000, 4060)]
    assert late_data.stretches_of([]) == []


def test_restarts_of_the_worker_change_nothing_of_it(looked: Watched):
    backlog(looked, 4, egress(looked, 3))
    roll_up(looked)
    evaluator.forget()
    assert look(looked) is not None
    assert len(looked.incidents()) == 1
