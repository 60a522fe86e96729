"""Answers small enough for the reference: `make examples` records them where other tests read large ones."""

from typing import Any

from tests.callers import Member
from tests.witness import contract_of_api


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
    assert owner.put(path, json=recorded("write_recommendation_schedule")).status_code == 200
    assert owner.get(path).json()["every_h"] == 24
