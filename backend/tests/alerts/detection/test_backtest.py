import time
from datetime import UTC, datetime, timedelta
from typing import Any

from sinemora.jobs.executor import run
from sinemora.measurements.store.roll_up import roll_up_mesh
from sinemora.measurements.store.tiers import Tier
from tests.alerts.conftest import Watched, egress
from tests.api_clients import Member, SetTo
from tests.statements import execute, scalars

SLOW = {"kind": "threshold", "above": 1_000_000}


def back_test(owner: Member, body: dict[str, Any]) -> dict[str, Any]:
    job = owner.created("/v1/alert-back-tests", body)
    run(owner.tenant_id, job["id"])
    return owner.get(f"/v1/jobs/{job['id']}").json()["result"]


def question(watched: Watched, condition: dict[str, Any], hours: int = 1, **fields: Any) -> dict[str, Any]:
    return {"mesh_id": str(watched.world.id), "name": "Tried", "hours": hours, "condition": condition} | fields


def test_a_back_test_replays_stored_windows(watched: Watched):
    watched.started_at_s = int(time.time()) // 10 * 10 - 200
    watched.report(3, slow=egress(watched, 3))
    result = back_test(watched.owner, question(watched, SLOW))
    assert (result["incidents"], result["found"][0]["culprit"]["suspect"]) == (1, "egress")
    assert (result["by"], watched.incidents()) == ("windows", [])


def test_a_back_test_beyond_retention_replays_minutes(watched: Watched, set_to: SetTo):
    set_to(retention_raw_days="1")
    minute = int(time.time()) // 60 * 60 - 300
    watched.slow = egress(watched, 3)
    for at in (minute, minute + 60):
        watched.started_at_s = at
        watched.report(2)
    assert roll_up_mesh(watched.owner.tenant_key, watched.world.key, Tier.MINUTE, datetime.now(UTC)) > 0
    two_minutes_of_two = {"windows_x": 9, "windows_y": 12}
    result = back_test(watched.owner, question(watched, SLOW, 25, **two_minutes_of_two))
    assert (result["by"], result["incidents"]) == ("minutes", 1)
    (incident,) = result["found"]
    assert incident["culprit"]["suspect"] == "egress"
    assert datetime.fromisoformat(incident["opened_at"]).timestamp() == minute + 120


def test_silence_is_derived_from_stored_windows(watched: Watched):
    watched.started_at_s -= watched.started_at_s % 60 + 1200
    for at in range(30):
        watched.report(leave_out=(2,) if 5 <= at < 20 else ())
    of_mesh = {"key": watched.world.key}
    starts = scalars("SELECT DISTINCT started_at FROM probe_frames WHERE mesh_key = :key", of_mesh)
    # As if received in time. One value a statement: Citus refuses to compute a time from a column.
    received = "UPDATE probe_frames SET received_at = :at WHERE mesh_key = :key AND started_at = :start"
    execute(received, [of_mesh | {"start": start, "at": start + timedelta(seconds=12)} for start in starts])
    body = question(watched, {"kind": "silent"}, windows_x=1, windows_y=1, keep_firing_s=0)
    result = back_test(watched.owner, body)
    (incident,) = result["found"]
    assert (incident["culprit"]["suspect"], incident["culprit"]["at"]["name"]) == ("agent", "c-1")
    lasted = datetime.fromisoformat(incident["seen_at"]) - datetime.fromisoformat(incident["opened_at"])
    assert timedelta(seconds=80) <= lasted <= timedelta(seconds=110)
    assert "look alike" in result["notes"][0]
    # Its windows arrived an hour late instead: it was silent as well.
    late = "UPDATE probe_frames SET received_at = now() WHERE mesh_key = :key AND vm_key = :vm"
    execute(late, of_mesh | {"vm": watched.world.agents[2].vm_key})
    result = back_test(watched.owner, body)
    assert (result["incidents"], "c-1" in result["notes"][-1]) == (0, True)


def test_performance_is_predicted_with_todays_curves(watched: Watched):
    owner = watched.owner
    body = question(watched, {"kind": "performance"})
    assert "No application" in back_test(owner, body)["notes"][0]
    watched.add_application("cache", "a-1", "b-1", objective=0.9)
    watched.started_at_s -= 1200
    for at in range(10):
        watched.report(slow={(0, 1): 5_000_000, (1, 0): 5_000_000} if at >= 4 else {})
    result = back_test(owner, body)
    (incident,) = result["found"]
    assert incident["culprit"]["words"] == "application cache"
    assert "today's" in result["notes"][0]
