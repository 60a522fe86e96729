"""Moves as text to carry out, and moves that are seen by themselves."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import yaml

from sinemora.access.tenants import audit
from sinemora.alerts.detection.tasks import deliver_due
from sinemora.alerts.notifications.messages import signature
from sinemora.applications.models import Task
from sinemora.kit.db import tenant_session
from sinemora.recommendations import tasks
from sinemora.recommendations.models import Recommendation
from tests.alerts.notifications.servers import KEY, Hooks, receiver
from tests.api_clients import MeshWorld, code_of
from tests.recommendations.asking import PATH, asked, declared, declared_near, moved
from tests.recommendations.measured_mesh import measured

FORMATS = ("kubernetes", "network-topology", "terraform", "systemd")


def plan(mesh: MeshWorld, recommendation: dict, form: str, **query):
    return mesh.owner.get(f"{PATH}/{recommendation['id']}/plan", params={"format": form, **query})


def targets(recommendation: dict) -> dict[str, str]:
    return {step["task"]["name"]: step["target"]["name"] for step in recommendation["steps"]}


def nodes(text: str) -> list[str]:
    """Return the nodes that a plan binds the one workload to."""
    [patch] = [one for one in yaml.safe_load_all(text) if one]
    affinity = patch["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return [term["matchFields"][0]["values"][0] for term in terms]


def test_the_plan_of_each_format_and_its_way_back(mesh: MeshWorld, worker):
    declared(mesh, vms=("a-1", "b-1"))
    measured(mesh, {("a-1", "c-2"): 30.0})
    recommendation = asked(mesh, worker)
    texts = {form: plan(mesh, recommendation, form) for form in FORMATS}
    assert all(answer.status_code == 200 for answer in texts.values()), "\n".join(one.text for one in texts.values())
    assert all("# It does not " in answer.text for answer in texts.values())
    # cache-0, the root, stays on a-1.
    assert nodes(texts["kubernetes"].text) == ["a-1", "c-2"]
    assert nodes(plan(mesh, recommendation, "kubernetes", back=True).text) == ["a-1", "b-1"]
    assert "ssh -n -o BatchMode=yes -- c-2 'systemctl start -- cache-1.service'" in texts["systemd"].text
    assert '"b-1" = "c" # was "b"' in texts["terraform"].text
    assert '"b-1" = "b" # was "c"' in plan(mesh, recommendation, "terraform", back=True).text
    weights = yaml.safe_load(texts["network-topology"].text)["spec"]["weights"][0]["topologyList"]
    of_zones = {one["origin"]: one["costList"] for one in weights[-1]["originList"]}
    assert sorted(of_zones) == ["a", "b", "c"]
    assert all(2 <= cost["networkCost"] <= 100 for costs in of_zones.values() for cost in costs)


def test_renamed_vms_have_their_new_names_and_deleted_ones_end_the_plan(mesh: MeshWorld, worker):
    declared_near(mesh)
    recommendation = asked(mesh, worker)
    vm = next(agent.vm_id for agent in mesh.agents if agent.name == "c-2")
    assert mesh.owner.patch(f"/v1/vms/{vm}", json={"name": "c-9"}).status_code == 200
    assert "c-9" in nodes(plan(mesh, recommendation, "kubernetes").text)
    assert mesh.owner.delete(f"/v1/vms/{vm}").status_code == 204
    assert code_of(plan(mesh, recommendation, "kubernetes")) == (409, "recommendation_outdated")


def test_without_a_move_or_after_its_end_there_is_no_plan(mesh: MeshWorld, worker):
    declared_near(mesh)
    none = asked(mesh, worker, moves_max=0)
    assert plan(mesh, none, "kubernetes").json()["code"] == "moves_none"
    recommendation = asked(mesh, worker)
    mesh.owner.post(f"{PATH}/{recommendation['id']}/dismiss", json={"reason": "not now"})
    answer = plan(mesh, recommendation, "systemd").json()
    assert answer["code"] == "recommendation_over"
    assert "not now" in answer["detail"]


@pytest.mark.whole_store
def test_moves_are_applied_since_the_last_was_seen_and_each_says_since_when(mesh: MeshWorld, worker):
    application = declared_near(mesh)
    recommendation = asked(mesh, worker)
    path = f"{PATH}/{recommendation['id']}"
    first, *others = recommendation["steps"]
    application = moved(mesh, application, {first["task"]["name"]: first["target"]["name"]})
    tasks.follow()
    partly = mesh.owner.get(path).json()
    assert partly["state"] == "proposed"
    assert [step["made_at"] is not None for step in partly["steps"]] == [True] + [False] * len(others)
    moved(mesh, application, targets(recommendation))
    before = datetime.now(UTC)
    tasks.follow()
    whole = mesh.owner.get(path).json()
    assert whole["state"] == "applied"
    assert whole["applied_at"] == max(step["made_at"] for step in whole["steps"])
    assert datetime.fromisoformat(whole["applied_at"]) < before
    assert "recorded the last of them" in whole["reason"]
    # The way back is there as long as its tasks and VMs are.
    assert plan(mesh, whole, "kubernetes", back=True).status_code == 200
    kept = [{"name": task["name"], "root": task["root"]} for task in application["tasks"][:2]]
    mesh.owner.patch(f"/v1/applications/{application['id']}", json={"tasks": kept})
    assert "was deleted" in plan(mesh, whole, "kubernetes", back=True).json()["detail"]


@pytest.mark.whole_store
def test_moves_after_the_end_of_a_proposal_do_not_apply_it(mesh: MeshWorld, worker):
    application = declared_near(mesh)
    recommendation = asked(mesh, worker)
    with tenant_session(mesh.owner.tenant_id) as session:
        row = session.get_one(Recommendation, UUID(recommendation["id"]))
        row.expires_at = datetime.now(UTC) - timedelta(seconds=1)
    moved(mesh, application, targets(recommendation))
    tasks.follow()
    assert mesh.owner.get(f"{PATH}/{recommendation['id']}").json()["state"] == "expired"


@pytest.mark.whole_store
def test_a_proposal_whose_moves_were_made_for_an_accepted_one_is_not_applied(mesh: MeshWorld, worker):
    application = declared_near(mesh)
    accepted = asked(mesh, worker)
    assert mesh.owner.post(f"{PATH}/{accepted['id']}/accept").status_code == 200
    proposed = asked(mesh, worker)
    with tenant_session(mesh.owner.tenant_id) as session:  # as what follows an application in traffic does
        for step in accepted["steps"]:
            session.get_one(Task, UUID(step["task"]["id"])).vm_id = UUID(step["target"]["id"])
        audit.record(session, None, "application.followed", UUID(application["id"]), "cache")
    tasks.follow()
    applied = mesh.owner.get(f"{PATH}/{accepted['id']}").json()
    assert (applied["state"], applied["reason"].endswith("seen in traffic.")) == ("applied", True)
    other = mesh.owner.get(f"{PATH}/{proposed['id']}").json()
    assert (other["state"], accepted["id"] in other["reason"]) == ("superseded", True)


@pytest.mark.whole_store
def test_accepted_moves_are_sent_once_with_their_plan_to_receivers_that_want_them(
    mesh: MeshWorld, worker, hooks: Hooks, local: None
):
    declared_near(mesh)
    chosen, other = (receiver(mesh.owner, "webhook", hooks, name) for name in ("pipeline", "other"))
    path = f"/v1/receivers/{chosen['id']}"
    for settings in ({"accepted_moves": True}, {}):
        answer = mesh.owner.patch(path, json={"settings": chosen["settings"] | settings, "name": "renamed"})
        assert answer.json()["settings"] == chosen["settings"] | settings
    mesh.owner.patch(path, json={"settings": chosen["settings"] | {"accepted_moves": True}})
    wrong = mesh.owner.patch(path, json={"settings": chosen["settings"] | {"accepted_moves": "yes"}})
    assert wrong.json()["code"] == "receiver_invalid"
    recommendation = asked(mesh, worker)
    tasks.follow()
    assert mesh.owner.post(f"{PATH}/{recommendation['id']}/accept").status_code == 200
    for _ in range(2):
        tasks.follow()
        deliver_due()
    [(_, headers, body)] = hooks.got
    notice = json.loads(body)
    assert (notice["about"], notice["id"]) == ("accepted", headers["webhook-id"])
    signed = signature(KEY, notice["id"], int(headers["webhook-timestamp"]), body)
    assert headers["webhook-signature"] == f"v1,{signed}"
    plans = notice["recommendation"]["plans"]
    assert plans["kubernetes"]["there"]["text"] == plan(mesh, recommendation, "kubernetes").text
    assert plans["systemd"]["back"]["text"] == plan(mesh, recommendation, "systemd", back=True).text
    assert "Plan impossible: terraform" in plans["terraform"]["there"]["refused"]
    assert other["settings"] == chosen["settings"]
