"""Token buckets of VMs through HTTP and from a terminal, with traffic as agents report it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from tests.api_clients import MeshWorld, code_of
from tests.measurements.reports import sent, traffic_of, window_start

pytestmark = pytest.mark.agents(2)

BUCKET = {"rate_mbit": 100, "burst_kb": 125_000}


def path(mesh: MeshWorld) -> str:
    return f"/v1/vms/{mesh.agents[0].vm_id}/token-bucket"


def send_mbit(mesh: MeshWorld, rates: list[float], until_s: int | None = None) -> int:
    """Report windows with these rates, Mbit/s, the last one the newest; return its end (Unix s)."""
    newest_s = window_start() if until_s is None else until_s - 10
    starts = [newest_s - 10 * back for back in reversed(range(len(rates)))]
    windows = {at: round(rate * 1.25e6) for at, rate in zip(starts, rates, strict=True)}
    sent(mesh.agents[0], traffic_of(windows))
    return newest_s + 10


def test_a_bucket_is_set_read_changed_and_deleted(mesh: MeshWorld):
    owner = mesh.owner
    assert code_of(owner.get(path(mesh))) == (404, "token_bucket_unknown")
    made = owner.put(path(mesh), json=BUCKET).json()
    assert (made["rate_mbit"], made["burst_kb"], made["direction"], made["source"]) == (100, 125_000, "sent", "stated")
    assert made["forecast"] is None
    changed = owner.put(path(mesh), json={**BUCKET, "rate_mbit": 50, "direction": "received", "source": "detected"})
    assert changed.json() == owner.get(path(mesh)).json()
    assert (changed.json()["rate_mbit"], changed.json()["direction"]) == (50, "received")
    assert [one["vm_id"] for one in owner.get("/v1/token-buckets").json()["items"]] == [made["vm_id"]]
    assert owner.delete(path(mesh)).status_code == 204
    assert owner.get("/v1/token-buckets").json()["items"] == []
    assert owner.delete(path(mesh)).status_code == 404


def test_several_set_the_first_bucket_at_once(mesh: MeshWorld):
    rates = range(1, 7)
    with ThreadPoolExecutor(len(rates)) as pool:
        answers = list(pool.map(lambda rate: mesh.owner.put(path(mesh), json={**BUCKET, "rate_mbit": rate}), rates))
    assert [answer.status_code for answer in answers] == [200] * len(rates)
    assert mesh.owner.get(path(mesh)).json()["rate_mbit"] in rates


def test_received_bytes_take_the_tokens_of_that_direction(mesh: MeshWorld):
    mesh.owner.put(path(mesh), json={**BUCKET, "direction": "received"})
    send_mbit(mesh, [0, 900])
    assert mesh.owner.get(path(mesh)).json()["forecast"]["level"] == "full"


def test_old_traffic_gives_no_forecast(mesh: MeshWorld):
    mesh.owner.put(path(mesh), json=BUCKET)
    send_mbit(mesh, [120], until_s=window_start(15))
    assert mesh.owner.get(path(mesh)).json()["forecast"] is None


def test_a_deep_bucket_is_followed_for_hours(mesh: MeshWorld):
    """A quarter of an hour at twice the rate, half an hour ago, still shows in what is left."""
    mesh.owner.put(path(mesh), json={"rate_mbit": 100, "burst_kb": 100 * 125 * 3_600})  # an hour of its rate
    ended_s = send_mbit(mesh, [200] * 90 + [80] * 180)
    forecast = mesh.owner.get(path(mesh)).json()["forecast"]
    assert datetime.fromisoformat(forecast["at"]) == datetime.fromtimestamp(ended_s, UTC)
    # 15 min at 100 Mbit/s above the rate, then 30 min at 20 Mbit/s below it.
    assert forecast["tokens_kb"] == pytest.approx(125 * (100 * 2_700 + 20 * 1_800), rel=0.01)
    assert (forecast["level"], forecast["use_mbit"]) == ("filling", pytest.approx(80))
    assert forecast["full_in_s"] == pytest.approx(2_700, rel=0.02)


def test_a_terminal_shows_traffic_and_tokens(mesh: MeshWorld, online):
    send_mbit(mesh, [0, 0, 0, 120])
    name = mesh.owner.get(f"/v1/vms/{mesh.agents[0].vm_id}").json()["name"]
    assert online("traffic", name, "--points", "360").splitlines()[-1].split()[1] == "120"
    made = online("token-buckets", "set", name, "--rate-mbit", "100", "--burst-kb", "125000")
    assert made.splitlines()[-1].split()[-2:] == ["40", "s"]
    assert online("token-buckets", "list").splitlines()[-1] == made.splitlines()[-1]
    online("token-buckets", "delete", name)
    assert name not in online("token-buckets", "list")
