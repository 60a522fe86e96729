"""Contracts of applications: what is refused, the account, moves of a day, and the search that a breach starts."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Barrier, BrokenBarrierError
from typing import Any
from uuid import UUID

import pytest

from sinemora.applications.models import ApplicationQuarter
from sinemora.kit import outbox
from sinemora.kit.db import tenant_session
from sinemora.recommendations import contracts, tasks
from tests.alerts.conftest import SLOW_NS, Watched, watch
from tests.api_clients import Member, MeshWorld, code_of
from tests.mail_server import MailServer
from tests.recommendations.asking import NEAR, PATH, asked, declared, declared_near
from tests.recommendations.measured_mesh import measured
from tests.recommendations.test_ends import ended, incident_of


def changed(mesh: MeshWorld, application: dict, **fields):
    return mesh.owner.patch(f"/v1/applications/{application['id']}", json=fields)


def test_a_contract_that_makes_no_sense_or_cannot_be_kept_is_refused(mesh: MeshWorld):
    application = declared(mesh)
    assert code_of(changed(mesh, application, kept_share=0.99)) == (422, "contract_incomplete")
    assert changed(mesh, application, objective=0.9, kept_share=1.0).status_code == 422
    measured(mesh, {})
    impossible = changed(mesh, application, objective=0.9, kept_share=0.99)
    assert (impossible.status_code, impossible.json()["code"]) == (409, "contract_impossible")
    assert "no two VMs of the mesh are nearer than" in impossible.json()["detail"]
    kept = changed(mesh, application, objective=0.2, kept_share=0.99, moves_per_day=3)
    assert (kept.status_code, kept.json()["moves_per_day"]) == (200, 3)
    assert changed(mesh, application, objective=None).json()["code"] == "contract_incomplete"
    # Tasks that share a VM have no round trip between them.
    capacity = f"/v1/vms/{mesh.agents[0].vm_id}/capacity"
    assert mesh.owner.patch(capacity, json={"slots": 3}).status_code == 200
    assert changed(mesh, application, objective=0.9).status_code == 200


@pytest.fixture
def kept(owner: Member, make_mesh) -> tuple[Watched, dict]:
    """Return an evaluated mesh, and an application on it that keeps its contract while nothing is slow."""
    watched = watch(owner, make_mesh(owner, 6))
    watched.window()
    application = declared(watched.world)
    reached = owner.get(f"/v1/applications/{application['id']}/performance").json()["performance"]
    return watched, changed(watched.world, application, objective=0.9 * reached, kept_share=0.99).json()


def account(watched: Watched, application: dict, **params) -> dict:
    return watched.owner.get(f"/v1/applications/{application['id']}/contract", params=params).json()


def test_the_account_counts_each_window_once_and_names_what_broke_it(kept):
    watched, application = kept
    for _ in range(4):
        watched.window()
    assert (account(watched, application)["kept"], account(watched, application)["measured_s"]) == (1.0, 40)
    watched.slow = {(0, 1): SLOW_NS, (0, 2): SLOW_NS}
    for _ in range(6):
        end = watched.window().ended_at_s
        assert watched.evaluate(end) is None  # doubled
    found = account(watched, application)
    assert (found["measured_s"], found["broken_s"], found["kept"]) == (100, 60, 0.4)
    assert found["budget_s"] == round(0.01 * 30 * 86_400)
    assert found["budget_left_s"] == found["budget_s"] - 60
    assert found["breaches"][0]["broken_s"] == 60
    assert {one["incident_id"] for one in found["breaches"]} == {one["id"] for one in watched.incidents()}
    month = datetime.now(UTC) - timedelta(days=40)
    assert account(watched, application, month=f"{month:%Y-%m}")["kept"] is None
    assert account(watched, application, month="November")["code"] == "request_invalid"
    assert [one["application"]["name"] for one in watched.owner.get("/v1/contracts").json()] == ["cache"]
    assert watched.owner.delete(f"/v1/applications/{application['id']}").status_code == 204


def test_the_report_of_a_month_is_mailed_once_to_each_address_that_wants_it(
    kept, mail_settings: None, mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
):
    watched, application = kept
    settings = {"to": ["ada@example.com", "Bob@example.com"]}
    receiver = {"name": "team", "kind": "email", "settings": settings | {"contract_report": True}}
    assert watched.owner.post("/v1/receivers", json=receiver).status_code == 201
    again = {"name": "again", "kind": "email", "settings": {"to": ["ada@example.com"], "contract_report": True}}
    watched.owner.created("/v1/receivers", again)
    watched.owner.created("/v1/receivers", receiver | {"name": "no", "settings": {"to": ["eve@example.com"]}})
    wrong = receiver | {"name": "wrong", "settings": settings | {"contract_report": "yes"}}
    assert watched.owner.post("/v1/receivers", json=wrong).json()["code"] == "receiver_invalid"
    now = datetime.now(UTC)
    first = now.replace(day=1)
    with tenant_session(watched.owner.tenant_id) as session:
        quarter = {"started_at": first - timedelta(days=2), "measured_s": 900, "kept_s": 300}
        session.add(ApplicationQuarter(application_id=UUID(application["id"]), **quarter))
    report, both = contracts.report, Barrier(2)

    def reported(*arguments: Any) -> Any:
        with suppress(BrokenBarrierError):
            both.wait(0.5)
        return report(*arguments)

    def run(_: int) -> None:
        with tenant_session(watched.owner.tenant_id) as session:
            contracts.mail_report(session, now)

    monkeypatch.setattr(contracts, "report", reported)
    with ThreadPoolExecutor(2) as workers:  # in the same second
        list(workers.map(run, range(2)))
    run(0)
    outbox.deliver_due()
    assert sorted(to for ((to,), _) in mail_server.got) == ["ada@example.com", "bob@example.com"]
    words = mail_server.got[0][1].decode()
    assert f"Contracts in {first - timedelta(days=1):%Y-%m}" in words
    assert "cache: kept 33.33 % (at least" in words


def test_a_rule_fires_on_the_rate_at_which_the_budget_is_used(kept):
    watched, application = kept
    condition = {"kind": "performance", "over_s": 3600, "above": 14.4}
    rule = {"name": "Budget", "mesh_id": str(watched.world.id), "condition": condition, "windows_x": 1, "windows_y": 1}
    assert (
        watched.owner.post("/v1/alert-rules", json=rule | {"condition": {**condition, "above": 0}}).status_code == 422
    )
    watched.owner.created("/v1/alert-rules", rule)
    watched.window()
    assert watched.incidents() == []  # too little of the hour was measured
    quarter = datetime.fromtimestamp(watched.started_at_s, UTC) - timedelta(minutes=50)
    with tenant_session(watched.owner.tenant_id) as session:
        for broken_s, later in ((0, 0), (600, 15), (0, 30)):
            times = {"started_at": quarter + timedelta(minutes=later), "measured_s": 900, "kept_s": 900 - broken_s}
            session.add(ApplicationQuarter(application_id=UUID(application["id"]), **times))
    watched.window()
    assert [one["title"] for one in watched.incidents()] == ["application cache: uses up the budget of its contract"]


@pytest.mark.whole_store
def test_a_breach_starts_one_search_within_the_moves_of_the_day(mesh: MeshWorld, worker):
    application = declared(mesh, objective=0.6, kept_share=0.99, moves_per_day=1)
    measured(mesh, NEAR, windows=20)
    below = {"id": application["id"], "name": "cache", "performance": 0.3, "cost": 0.7, "objective": 0.6}
    early = incident_of(mesh, minutes=3, applications=[below])
    tasks.follow()
    worker()
    assert mesh.owner.get(PATH).json()["items"] == []  # too few windows so far
    incident_id = incident_of(mesh, minutes=9.5, applications=[below])
    ended(mesh, early)
    for _ in range(2):
        tasks.follow()
        worker()
    (proposal,) = mesh.owner.get(PATH).json()["items"]
    assert (proposal["trigger"], proposal["incident_id"], proposal["moves"]) == ("objective", str(incident_id), 1)
    assert (
        mesh.owner.get(f"/v1/applications/{application['id']}/contract").json()["recommendation_id"] == proposal["id"]
    )
    path = f"{PATH}/{proposal['id']}"
    assert mesh.owner.post(f"{path}/apply").json()["state"] == "applied"
    assert mesh.owner.get(f"/v1/applications/{application['id']}/contract").json()["moves_today"] == 1
    assert asked(mesh, worker)["steps"] == []  # the day's move was made


def test_moves_beyond_those_of_the_day_are_not_applied(mesh: MeshWorld, worker):
    application = declared_near(mesh)
    recommendation = asked(mesh, worker)
    assert len(recommendation["steps"]) > 1
    assert changed(mesh, application, moves_per_day=1).status_code == 200
    answer = mesh.owner.post(f"{PATH}/{recommendation['id']}/apply")
    assert (answer.status_code, answer.json()["code"]) == (409, "recommendation_outdated")
    assert "cache may make at most 1 moves in 24 hours" in answer.json()["detail"]
