"""Null in an update clears a field or is refused with the field's name: in every operation, never ignored."""

from typing import Any
from uuid import uuid4

from tests.callers import AgentCaller, Member
from tests.test_every_route import filled, operations
from tests.test_unknown_fields import resolved


def updates() -> list[tuple[str, dict[str, dict[str, Any]]]]:
    """Return the path and the fields of the body of each PATCH operation."""
    found = []
    for method, path, operation in operations():
        if method == "patch":
            (body,) = resolved(operation["requestBody"]["content"]["application/json"]["schema"])
            found.append((path, body["properties"]))
    return found


def takes_null(field: dict[str, Any]) -> bool:
    return any(kind.get("type") == "null" for kind in resolved(field))


def test_null_is_refused_where_a_field_cannot_be_cleared(owner: Member, make_mesh: Any):
    agent: AgentCaller = make_mesh(owner, 1).agents[0]
    refused, cleared = 0, 0
    for path, fields in updates():
        caller = agent if path.startswith("/v1/agents/self") else owner
        for name, field in fields.items():
            answer = caller.request("PATCH", filled(path, uuid4()), json={name: None}, headers={"If-Match": "*"})
            if takes_null(field):
                cleared += 1
                assert answer.status_code == 404, (path, name, answer.text)
                continue
            refused += 1
            assert answer.status_code == 422, (path, name, answer.text)
            assert [error["pointer"] for error in answer.json()["errors"]] == [f"#/{name}"], (path, name)
    assert refused > 60
    assert cleared > 10


def test_fields_that_take_null_are_null_afterwards(owner: Member, make_mesh: Any):
    world = make_mesh(owner, 3)
    vm = owner.get("/v1/vms").json()["items"][0]
    zone = owner.created("/v1/zones", {"provider": "p", "region": "r", "name": "z", "physical_id": "use1-az1"})
    plain_vm = owner.created("/v1/vms", {"name": "plain", "zone_id": zone["id"], "probe_address": "10.0.0.9"})
    application = owner.created(
        "/v1/applications",
        {
            "name": "cache",
            "mesh": world.name,
            "curve": "dns",
            "tasks": [{"vm": agent.name, "root": not n} for n, agent in enumerate(world.agents)],
            **{"objective": 0.5, "moves_max": 2, "per_vm_max": 2, "per_host_max": 3, "per_zone_max": 3},
            "reference_us": 40,
        },
    )
    note = owner.created(
        "/v1/annotations",
        {
            **{"kind": "deploy", "text": "4.2", "starts_at": "2026-11-20T10:00:00Z", "ends_at": "2026-11-20T11:00:00Z"},
            **{"mesh_id": str(world.id), "scope": {"vm_ids": [vm["id"]]}, "url": "https://ci.example.com/1"},
        },
    )
    scenario = owner.created("/v1/scenarios", {"name": "s", "mesh": world.name, "changes": [], "minutes": 60})
    (rule, *_) = owner.get("/v1/alert-rules", params={"mesh_id": str(world.id)}).json()["items"]
    runbook = {"runbook_url": "https://wiki.example.com/1"}
    assert owner.patch(f"/v1/alert-rules/{rule['id']}", json=runbook, headers={"If-Match": "*"}).json()["runbook_url"]
    objects = {
        "/v1/zones/{zone_id}": zone["id"],
        "/v1/vms/{vm_id}": plain_vm["id"],
        "/v1/applications/{application_id}": application["id"],
        "/v1/annotations/{annotation_id}": note["id"],
        "/v1/scenarios/{scenario_id}": scenario["id"],
        "/v1/alert-rules/{rule_id}": rule["id"],
        "/v1/vms/{vm_id}/capacity": vm["id"],
    }
    capacity = {"slots": 4, "cpu_millicores": 8_000, "memory_mib": 64_000, "price_per_hour": "1.5", "host": "h1"}
    assert owner.patch(f"/v1/vms/{vm['id']}/capacity", json=capacity).status_code == 200
    # Null stands for a default there: the newest version of the curve, its reference, one slot.
    defaults = {"curve_number": None, "reference_us": None, "slots": 1}
    for path, fields in updates():
        clearable = [name for name, field in fields.items() if takes_null(field)]
        if not clearable or path == "/v1/metric-sources/{metric_source_id}":
            continue
        for name in clearable:
            answer = owner.request("PATCH", filled(path, objects[path]), json={name: None}, headers={"If-Match": "*"})
            assert answer.status_code == 200, (path, name, answer.text)
            if name not in defaults:
                body = answer.json()
                assert (body["question"] if name == "minutes" else body)[name] is None, (path, name)
