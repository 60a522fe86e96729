"""Verdicts on applied moves through HTTP, in worlds whose truth is known: hours before the moves, one hour after."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from sinemora.applications.curves.core.library import published
from sinemora.kit.db import tenant_session
from sinemora.recommendations import load_instance, service, tasks
from sinemora.recommendations.core import recency
from tests.api_clients import MeshWorld, code_of
from tests.measurements.reports import AgentWindow, sent_together
from tests.measurements.worlds import Raw
from tests.recommendations.asking import PATH, asked, declared, moved
from tests.statements import execute

pytestmark = pytest.mark.whole_store

CURVE = published("memcached-server").curve
MINUTE_S = 60
BEFORE = range(-9 * 60, -66, 3)
"""Minutes measured before the moves, which are applied 64 minutes ago."""
AFTER = range(-63, 0)
MOVED = -64
FAR_US, NEAR_US = 400.0, 30.0
World = Callable[[tuple[str, str]], float]


def before(pair: tuple[str, str]) -> float:
    """Round trips before the moves: from a-1, c-1 is near and b-1, where the task is, far."""
    return {("a-1", "b-1"): FAR_US, ("a-1", "c-1"): NEAR_US}.get(pair, 300.0)


@pytest.fixture(autouse=True)
def asked_an_hour_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the question be asked after the hour that judges it, by windows that are an hour old."""
    monkeypatch.setattr(load_instance, "STALE_AFTER", timedelta(hours=2))
    monkeypatch.setattr(recency, "FRESH_S", 7200)


@pytest.fixture
def now_s() -> int:
    """The present minute."""
    return int(time.time()) // MINUTE_S * MINUTE_S


def measured(mesh: MeshWorld, now_s: int, minutes: range, world: World) -> None:
    """Windows of ten seconds in these minutes, relative to now."""
    rng = np.random.default_rng(minutes.start + 1000)
    collected: list[AgentWindow] = []
    for at, agent in enumerate(mesh.agents[:-1]):
        for minute in minutes:
            peers = {}
            for other in mesh.agents[at + 1 :]:
                one_way = ((world((agent.name, other.name)) + rng.standard_normal(8)) * 500).astype(int)
                peers[other.vm_key] = Raw(
                    (one_way.tolist(), one_way.tolist(), (2 * one_way).tolist()), (8,) * 3, (0,) * 3, 500
                )
            collected.append((agent, peers, now_s + MINUTE_S * minute))
    sent_together(mesh.key, collected)


def applied(mesh: MeshWorld, worker, now_s: int) -> dict:
    """Return a recommendation of one move that was applied after the windows before."""
    recommendation = asked(mesh, worker, applications=["cache"], minutes=180)
    assert [(step["source"]["name"], step["target"]["name"]) for step in recommendation["steps"]] == [("b-1", "c-1")]
    assert mesh.owner.post(f"{PATH}/{recommendation['id']}/apply").json()["state"] == "applied"
    # Time cannot pass in a test. No window that made the promise is later than this.
    at = datetime.fromtimestamp(now_s + MOVED * MINUTE_S, UTC)
    execute("UPDATE recommendations SET applied_at = :at WHERE id = :id", {"at": at, "id": recommendation["id"]})
    return recommendation


def outcome(mesh: MeshWorld, recommendation: dict) -> dict:
    tasks.follow()
    read = mesh.owner.get(f"{PATH}/{recommendation['id']}").json()
    assert read["state"] == "verified"
    return read["outcome"]


def metric(mesh: MeshWorld, now_s: int, application: dict, value: Callable[[int], float], kind: str = "rate") -> None:
    """Push a metric of an application by minute, with 2 % of noise."""
    ends = {"source_vm_id": str(mesh.agents[0].vm_id), "target_vm_id": str(mesh.agents[1].vm_id)}
    body = {"name": application["name"], "mesh_id": str(mesh.id), "paths": [ends], "metric": kind}
    source = mesh.owner.created("/v1/metric-sources", body | {"application_id": application["id"]})
    assert source["application_id"] == application["id"]
    rng = np.random.default_rng(len(application["name"]))
    points = [
        {
            "at": datetime.fromtimestamp(now_s + MINUTE_S * minute, UTC).isoformat(),
            "value": value(minute) * float(np.exp(0.02 * rng.standard_normal())),
        }
        for minute in range(-9 * 60, 0)
    ]
    answer = mesh.owner.post(f"/v1/metric-sources/{source['id']}/points", json={"points": points})
    assert answer.status_code in (200, 202), answer.text


def test_a_true_gain_holds_by_delays(mesh: MeshWorld, worker, now_s: int):
    declared(mesh, vms=("a-1", "b-1"))
    measured(mesh, now_s, BEFORE, before)
    recommendation = applied(mesh, worker, now_s)
    measured(mesh, now_s, AFTER, before)
    judged = outcome(mesh, recommendation)
    assert (judged["verdict"], judged["judged_by"]) == ("held", "delays"), judged["reason"]
    truth = float(CURVE(NEAR_US) - CURVE(FAR_US))
    assert judged["observed"]["mean"] == pytest.approx(truth, abs=0.02)
    assert judged["observed"]["low"] < judged["observed"]["mean"] < judged["observed"]["high"]
    (of_cache,) = judged["applications"]
    assert (of_cache["application"]["name"], of_cache["verdict"]) == ("cache", "held")
    accuracy = mesh.owner.get(f"{PATH}/accuracy").json()
    assert [accuracy[name] for name in ("held", "not_held", "cannot_tell", "undone")] == [1, 0, 0, 0]
    assert accuracy["mean_error"] == pytest.approx(0, abs=0.02)


def test_windows_before_the_moves_verify_nothing(mesh: MeshWorld, worker, now_s: int):
    declared(mesh, vms=("a-1", "b-1"))
    measured(mesh, now_s, BEFORE, before)
    recommendation = applied(mesh, worker, now_s)
    tasks.follow()
    path = f"{PATH}/{recommendation['id']}"
    assert mesh.owner.get(path).json()["state"] == "applied"
    with tenant_session(mesh.owner.tenant_id) as session:
        assert service.verify(session, recommendation["id"], datetime.now(UTC) + timedelta(days=2))
    judged = mesh.owner.get(path).json()["outcome"]
    assert (judged["verdict"], judged["observed"]) == ("cannot_tell", None)
    assert "not measured after the moves" in judged["reason"]
    accuracy = mesh.owner.get(f"{PATH}/accuracy").json()
    assert (accuracy["held"], accuracy["not_held"], accuracy["cannot_tell"]) == (0, 0, 1)
    assert accuracy["mean_error"] is None


def true_to_its_curve(minute: int) -> float:
    return 1000 * float(CURVE(FAR_US if minute < MOVED else NEAR_US))


@pytest.mark.parametrize(
    ("value", "kind", "control", "verdict"),
    [
        (lambda minute: 1 / true_to_its_curve(minute), "duration", 500.0, "held"),
        (true_to_its_curve, "rate", None, "cannot_tell"),
    ],
)
def test_the_applications_own_metric_judges(mesh: MeshWorld, worker, now_s: int, value, kind, control, verdict):
    cache = declared(mesh, vms=("a-1", "b-1"))
    other = declared(mesh, "other", ("a-2", "b-2"))
    metric(mesh, now_s, cache, value, kind)
    if control is not None:
        metric(mesh, now_s, other, lambda minute: control)
    measured(mesh, now_s, BEFORE, before)
    recommendation = applied(mesh, worker, now_s)
    measured(mesh, now_s, AFTER, before)
    judged = outcome(mesh, recommendation)
    assert (judged["verdict"], judged["judged_by"]) == (verdict, "metric"), judged["reason"]
    (of_cache,) = judged["applications"]
    assert [source["name"] for source in of_cache["metric_sources"]] == ["cache"]
    assert [one["name"] for one in of_cache["controls"]] == ([] if control is None else ["other"])
    if control is None:
        assert judged["reason"].startswith("No control group")


def test_what_was_undone_is_not_held_against_it(mesh: MeshWorld, worker, now_s: int):
    declared(mesh, vms=("a-1", "b-1"))
    measured(mesh, now_s, BEFORE, before)
    recommendation = applied(mesh, worker, now_s)
    application = mesh.owner.get("/v1/applications").json()["items"][0]
    moved(mesh, application, {"cache-1": "b-1"})
    measured(mesh, now_s, AFTER, before)
    tasks.follow()
    read = mesh.owner.get(f"{PATH}/{recommendation['id']}").json()
    assert (read["state"], read["outcome"]) == ("undone", None)
    assert read["reason"] == "cache/cache-1 left c-1 before the outcome was measured."
    accuracy = mesh.owner.get(f"{PATH}/accuracy").json()
    assert [accuracy[name] for name in ("held", "not_held", "cannot_tell", "undone")] == [0, 0, 0, 1]
    assert [item["id"] for item in mesh.owner.get(PATH, params={"state": "undone"}).json()["items"]] == [read["id"]]


def test_the_application_of_a_metric_is_on_its_mesh(mesh: MeshWorld, make_mesh):
    second = make_mesh(mesh.owner, 2, "second")
    elsewhere = declared(second, vms=(second.agents[0].name, second.agents[1].name))
    ends = {"source_vm_id": str(mesh.agents[0].vm_id), "target_vm_id": str(mesh.agents[1].vm_id)}
    body = {"name": "cache", "mesh_id": str(mesh.id), "paths": [ends], "application_id": elsewhere["id"]}
    assert code_of(mesh.owner.post("/v1/metric-sources", json=body)) == (409, "application_elsewhere")
    source = mesh.owner.created("/v1/metric-sources", body | {"application_id": None})
    own = declared(mesh, "own", ("a-1", "b-1"))
    path = f"/v1/metric-sources/{source['id']}"
    assert mesh.owner.patch(path, json={"application_id": own["id"]}).json()["application_id"] == own["id"]
    assert mesh.owner.patch(path, json={"paused": True}).json()["application_id"] == own["id"]
    assert mesh.owner.patch(path, json={"application_id": None}).json()["application_id"] is None
