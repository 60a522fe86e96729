"""Notices below critical: the first at once, those that follow together, with real receivers."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from sinemora.alerts.detection import tasks
from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Severity, Symptom
from sinemora.alerts.models import Delivery
from sinemora.alerts.notifications.grouping import Sending, group_key, is_grouped, lasts, next_sending
from tests.alerts.conftest import SLOW_NS, Watched, egress, silence_of
from tests.alerts.notifications.servers import Hooks, route, routed
from tests.api_clients import body_of
from tests.statements import execute

pytestmark = pytest.mark.whole_store

MIN, HOUR = 60, 3600


@pytest.mark.parametrize(
    ("last", "at_s", "sending"),
    [
        (None, 0, (0, 30 * MIN)),  # the first is sent at once
        ((0, 30 * MIN), 5 * MIN, (30 * MIN, HOUR)),  # the next one waits for the end of the hold
        ((30 * MIN, HOUR), 8 * MIN, (30 * MIN, HOUR)),  # and a third joins it
        ((0, 4 * HOUR), 5, (4 * HOUR, 4 * HOUR)),  # never held for longer than the route allows
        ((0, 30 * MIN), 31 * MIN, (31 * MIN, 30 * MIN)),  # none for a whole hold: at once
        ((0, 4 * HOUR), 5 * HOUR, (5 * HOUR, 2 * HOUR)),  # the hold halves …
        ((0, 4 * HOUR), 9 * HOUR, (9 * HOUR, HOUR)),  # … for each that passed
        ((0, 4 * HOUR), 40 * HOUR, (40 * HOUR, 30 * MIN)),
    ],
)
def test_a_group_sends_the_first_notice_at_once_and_then_less_and_less_often(
    last: tuple[int, int] | None, at_s: int, sending: tuple[int, int]
):
    assert next_sending(None if last is None else Sending(*last), at_s, 4 * HOUR) == Sending(*sending)


@pytest.mark.parametrize(
    ("suspect", "severity", "grouped"),
    [
        (Suspect.PATH, Severity.WARNING, True),
        (Suspect.PAIR, Severity.INFO, True),
        (Suspect.PATH, Severity.CRITICAL, False),
        (Suspect.EGRESS, Severity.WARNING, True),
        (Suspect.ZONE_PAIR, Severity.WARNING, True),
        (Suspect.ZONE, Severity.CRITICAL, False),
        (Suspect.AGENT, Severity.WARNING, False),
        (Suspect.CLOCK, Severity.WARNING, False),
        (Suspect.APPLICATION, Severity.WARNING, False),
    ],
)
def test_notices_about_the_network_below_critical_are_grouped(suspect: Suspect, severity: Severity, grouped: bool):
    assert is_grouped(suspect, severity) is grouped


@pytest.mark.parametrize(
    ("suspect", "windows", "since_s", "is_known"),
    [
        (Suspect.ZONE_PAIR, 6, 60, True),
        (Suspect.EGRESS, 5, 60, False),  # with a pause
        (Suspect.VM, 6, 50, False),
        (Suspect.PATH, 16, 299, False),
        (Suspect.PATH, 16, 300, True),  # of more windows nothing is known
    ],
)
def test_the_notice_of_a_breach_that_lasts_is_released(suspect: Suspect, windows: int, since_s: int, is_known: bool):
    assert lasts(suspect, windows, 10, since_s) is is_known


def test_only_the_same_kind_of_culprit_and_symptom_wait_for_each_other():
    def key(suspect: Suspect, symptom: Symptom = Symptom.DELAY, *, spikes: bool = False) -> str:
        return group_key("m", [symptom], suspect, spikes=spikes)

    assert key(Suspect.PATH) == key(Suspect.PAIR)
    assert key(Suspect.VM) == key(Suspect.EGRESS)
    others = [key(Suspect.VM), key(Suspect.ZONE), key(Suspect.PATH, Symptom.LOSS), key(Suspect.PATH, spikes=True)]
    assert len({key(Suspect.PATH), *others}) == 5


@pytest.fixture
def noisy(local: None, watched: Watched, hooks: Hooks) -> Watched:
    """A mesh with a first slow path, of which a webhook and PagerDuty have heard."""
    routed(watched.owner, hooks, "webhook", "pagerduty")
    watched.windows(3, {(0, 1): SLOW_NS})
    assert heard(hooks) == [("opened", 0)]
    assert len(pages(hooks)) == 1
    return watched


def bodies(hooks: Hooks, path: str) -> list[dict[str, Any]]:
    tasks.deliver_due()
    return [json.loads(raw) for at, _, raw in hooks.got if at.partition("?")[0] == path]


def heard(hooks: Hooks) -> list[tuple[str, int]]:
    """Send what is due; return what the webhook has heard so far: about, and number of incidents of a digest."""
    return [(body["about"], len(body["incidents"])) for body in bodies(hooks, "/hook")]


def pages(hooks: Hooks) -> list[tuple[str, str]]:
    """Return the events of PagerDuty so far: action and key."""
    return [(body["event_action"], body["dedup_key"]) for body in bodies(hooks, "/v2/enqueue")]


def end_of_hold() -> None:
    execute(update(Delivery).where(Delivery.held).values(due_at=datetime.now(UTC)))


def waiting(watched: Watched) -> list[dict[str, Any]]:
    rows = watched.owner.get("/v1/deliveries").json()["items"]
    return [row for row in rows if row["state"] == "waiting"]


def test_notices_that_follow_are_one_notification(noisy: Watched, hooks: Hooks):
    noisy.windows(3, noisy.slow | {(2, 3): SLOW_NS, (4, 5): SLOW_NS})
    assert len(noisy.incidents()) == 3
    assert heard(hooks) == [("opened", 0)]
    held = waiting(noisy)
    assert [row["held"] for row in held] == [True] * 4
    first = min(row["created_at"] for row in noisy.owner.get("/v1/deliveries").json()["items"])
    receivers = {row["receiver"] for row in held}
    assert len({(row["receiver"], row["due_at"]) for row in held}) == len(receivers)  # those of a receiver end together
    wait = datetime.fromisoformat(held[0]["due_at"]) - datetime.fromisoformat(first)
    assert abs(wait - timedelta(minutes=30)) < timedelta(seconds=10)
    told = bodies(hooks, "/hook")[0]
    assert told["more"] == 0
    ends_at = datetime.fromisoformat(held[0]["due_at"])
    # Whole seconds of two times that lie a moment apart.
    assert abs(datetime.fromisoformat(told["more_at"]) - ends_at) <= timedelta(seconds=1)
    end_of_hold()
    assert heard(hooks) == [("opened", 0), ("digest", 2)]
    digest = bodies(hooks, "/hook")[-1]
    assert digest["title"] == "2 incidents below critical: 2 new"
    assert {one["incident_id"] for one in digest["incidents"]} < {one["id"] for one in noisy.incidents()}
    assert len(pages(hooks)) == 3  # each is an alert of its own, since both continue
    assert waiting(noisy) == []


def test_a_notice_of_the_future_holds_none_after_the_clock_was_stepped_back(noisy: Watched, hooks: Hooks):
    execute(update(Delivery).values(due_at=datetime.now(UTC) + timedelta(hours=1)))
    noisy.windows(3, noisy.slow | {(2, 3): SLOW_NS})
    assert heard(hooks) == [("opened", 0), ("opened", 0)]


def test_spikes_that_have_ended_page_nobody(noisy: Watched, hooks: Hooks):
    noisy.windows(3, noisy.slow | {(2, 3): SLOW_NS, (4, 5): SLOW_NS})
    noisy.calm({(0, 1): SLOW_NS})
    end_of_hold()
    assert heard(hooks) == [("opened", 0), ("digest", 2)]
    assert all(one["ended_at"] for one in bodies(hooks, "/hook")[-1]["incidents"])
    assert [action for action, _ in pages(hooks)] == ["trigger"]


def test_the_end_of_an_incident_is_part_of_the_next_digest(noisy: Watched, hooks: Hooks):
    noisy.windows(3, noisy.slow | {(2, 3): SLOW_NS})
    noisy.calm()
    # The quarter of an hour after the ends has passed.
    execute(update(Delivery).where(Delivery.about == "resolved").values(due_at=datetime.now(UTC)))
    assert heard(hooks) == [("opened", 0)]
    end_of_hold()
    assert heard(hooks) == [("opened", 0), ("digest", 2)]
    assert [one["about"] for one in bodies(hooks, "/hook")[-1]["incidents"]] == ["resolved", "resolved"]
    # PagerDuty ends what it was told of, at once.
    assert [action for action, _ in pages(hooks)][:2] == ["trigger", "resolve"]


def test_a_rise_that_lasts_for_five_minutes_is_told_by_itself(noisy: Watched, hooks: Hooks):
    noisy.windows(28, noisy.slow | {(2, 3): SLOW_NS})
    assert heard(hooks) == [("opened", 0)]
    noisy.windows(4)
    assert heard(hooks) == [("opened", 0), ("opened", 0)]
    assert waiting(noisy) == []


def test_a_vm_is_told_at_once_whatever_was_told_of_paths_and_a_second_one_within_a_minute(noisy: Watched, hooks: Hooks):
    for vm, told in ((3, 2), (5, 2)):
        noisy.windows(3, noisy.slow | egress(noisy, vm))
        assert heard(hooks) == [("opened", 0)] * told
    noisy.windows(4)
    assert heard(hooks) == [("opened", 0)] * 3
    assert bodies(hooks, "/hook")[-1]["suspect"] == "egress"


def test_a_person_who_resolves_a_held_incident_withdraws_it(noisy: Watched, hooks: Hooks):
    noisy.windows(3, noisy.slow | {(2, 3): SLOW_NS})
    newest = max(noisy.incidents(), key=lambda one: one["opened_at"])
    assert noisy.owner.post(f"/v1/incidents/{newest['id']}/resolve", json={}).status_code == 200
    assert heard(hooks) == [("opened", 0)]
    assert waiting(noisy) == []


@pytest.fixture
def quiet(local: None, watched: Watched, hooks: Hooks) -> Watched:
    """A mesh with an info rule above 1 ms and a warning rule above 10 ms; a webhook and PagerDuty hear of both."""
    routed(watched.owner, hooks, "webhook", "pagerduty")
    (above_1_ms,) = watched.rules()
    body_of(watched.owner.patch(f"/v1/alert-rules/{above_1_ms['id']}", json={"severity": "info"}))
    condition = {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50", "above": 2 * SLOW_NS}
    watched.add_rule("Above 10 ms", condition)
    watched.windows(3, {(0, 1): SLOW_NS})
    return watched


def test_the_first_notice_of_an_info_incident_waits_half_a_minute(quiet: Watched, hooks: Hooks):
    assert heard(hooks) == []
    for row in waiting(quiet):
        wait = datetime.fromisoformat(row["due_at"]) - datetime.fromisoformat(row["created_at"])
        assert row["held"]
        assert abs(wait - timedelta(seconds=30)) < timedelta(seconds=5)
    end_of_hold()
    assert heard(hooks) == [("opened", 0)]
    assert len(pages(hooks)) == 1
    assert waiting(quiet) == []
    quiet.slow |= {(2, 3): SLOW_NS}  # it began a group: the next one is held for half an hour after its wait
    quiet.windows(3)
    end_of_hold()
    assert heard(hooks) == [("opened", 0)]
    assert len(waiting(quiet)) == 2


def test_a_severity_that_rises_during_the_wait_is_one_notification(quiet: Watched, hooks: Hooks):
    quiet.windows(3, {(0, 1): 4 * SLOW_NS})
    assert [one["severity"] for one in quiet.incidents()] == ["warning"]
    assert heard(hooks) == [("opened", 0)]
    assert bodies(hooks, "/hook")[-1]["severity"] == "warning"
    assert len(pages(hooks)) == 1
    assert waiting(quiet) == []


def test_a_severity_that_rises_after_the_wait_is_news(quiet: Watched, hooks: Hooks):
    route(quiet.owner, "webhook", "pagerduty", hold_s=0)
    end_of_hold()
    assert heard(hooks) == [("opened", 0)]
    quiet.windows(3, {(0, 1): 4 * SLOW_NS})
    end_of_hold()  # its place was found under the route's former hold
    assert heard(hooks) == [("opened", 0)] * 2


def test_a_silence_during_the_wait_withdraws_the_notice(quiet: Watched, hooks: Hooks):
    quiet.owner.created("/v1/silences", silence_of("mesh", quiet.world.name))
    quiet.windows(1)
    end_of_hold()
    assert heard(hooks) == []
    assert waiting(quiet) == []
