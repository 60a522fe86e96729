"""Answers small enough for the reference: `make examples` records them where other tests read large ones."""

import hashlib
from typing import Any

from tests.api_clients import Member
from tests.recorded_examples import contract_of_api


def recorded(operation_id: str) -> Any:
    """Return the body of the recorded request of an operation."""
    for item in contract_of_api()["paths"].values():
        for operation in item.values():
            if operation["operationId"] == operation_id:
                return operation["requestBody"]["content"]["application/json"]["example"]
    raise LookupError(operation_id)


def test_a_price_list_of_two_entries(owner: Member):
    body = recorded("import_price_list")
    made = owner.created("/v1/price-lists", {**body, "entries": body["entries"][:2]})
    assert owner.get(f"/v1/price-lists/{made['id']}").json()["name"] == body["name"]
    assert [one["id"] for one in owner.get("/v1/price-lists").json()["items"]] == [made["id"]]


def test_one_receiver(owner: Member):
    made = owner.created("/v1/receivers", {"name": "On call", "kind": "email", "settings": {"to": ["sre@example.com"]}})
    assert [one["id"] for one in owner.get("/v1/receivers").json()["items"]] == [made["id"]]


def test_one_alert_rule(owner: Member, make_mesh: Any):
    body = recorded("create_alert_rule") | {"mesh_id": str(make_mesh(owner, 1).id)}
    made = owner.created("/v1/alert-rules", body)
    assert owner.get(f"/v1/alert-rules/{made['id']}").json()["name"] == body["name"]


def test_the_audit_log_as_csv(owner: Member):
    owner.created("/v1/meshes", {"name": "production"})
    answer = owner.get("/v1/audit-entries/export", params={"format": "csv", "action": "mesh."})
    assert "mesh.created" in answer.text


def test_a_tenant_that_no_demonstration_plays_in(owner: Member):
    assert owner.get("/v1/demonstration").json() == {"playing": None}


def test_a_schedule_of_recommendations(owner: Member, make_mesh: Any):
    path = f"/v1/meshes/{make_mesh(owner, 1).id}/recommendation-schedules"
    assert owner.put(path, json=recorded("set_recommendation_schedule")).status_code == 200
    assert owner.get(path).json()["every_h"] == 24


def test_an_artifact_of_one_block(owner: Member, make_mesh: Any, secret_key: None):
    mesh = make_mesh(owner, 1).id
    settings = f"/v1/meshes/{mesh}/artifact-settings"
    assert owner.put(settings, json={"enabled": True}).json() == owner.get(settings).json()
    block = b"model weights"
    digest = hashlib.sha256(block).hexdigest()
    headers = {"Content-Type": "application/octet-stream"}
    assert owner.put(f"/v1/artifact-blocks/{digest}", content=block, headers=headers).status_code == 204
    blocks = [{"digest": digest, "size": len(block)}]
    body = {"name": "weights", "release": "1", "mesh_id": str(mesh), "chunking": "fixed", "blocks": blocks}
    made = owner.created("/v1/artifacts", body)
    assert owner.get(f"/v1/artifacts/{made['id']}").json()["size_bytes"] == len(block)
    assert [one["id"] for one in owner.get("/v1/artifacts").json()["items"]] == [made["id"]]
    assert owner.get(f"/v1/artifacts/{made['id']}/content").content == block
