"""Updates of every operation: they accept the values that were read, and null clears a field or is refused."""

from typing import Any
from uuid import UUID, uuid4

from tests.advisors.compute_mix.test_price_difference import BASIS
from tests.api_clients import AgentCaller, Member, MeshWorld, code_of, join
from tests.test_every_route import filled, operations
from tests.test_names_taken import bodies
from tests.test_unknown_fields import resolved

OF_MESHES = (
    "/v1/meshes/{mesh_id}/artifact-settings",
    "/v1/meshes/{mesh_id}/recommendation-schedules",
)
FIRST: dict[str, dict[str, Any]] = {
    "/v1/meshes/{mesh_id}/artifact-settings": {"enabled": True},
    "/v1/meshes/{mesh_id}/recommendation-schedules": {"every_h": 24},
    "/v1/vms/{vm_id}/token-bucket": {"rate_mbit": 100, "burst_kb": 125_000},
    "/v1/applications/{application_id}/price-basis": BASIS,
    "/v1/identity-provider": {
        "issuer": "https://login.example.com",
        "client_id": "c",
        "client_secret": "s",
        "roles": {"*": "viewer"},
    },
}
"""Bodies that create the objects that belong to another one."""
READABLE = {(method, path) for method, path, _ in operations()}


def updates() -> list[tuple[str, dict[str, dict[str, Any]]]]:
    """Return the path and the fields of the body of each PATCH operation."""
    found = []
    for method, path, operation in operations():
        if method == "patch":
            (body,) = resolved(operation["requestBody"]["content"]["application/json"]["schema"])
            found.append((path, body["properties"]))
    return found


def test_the_second_of_two_who_read_the_same_is_refused(owner: Member, make_mesh: Any):
    mesh, member = make_mesh(owner, 1).id, f"/v1/members/{join(owner, 'viewer').user_id}"
    for path, read, first, second in (
        (f"/v1/meshes/{mesh}/artifact-settings", 0, {"enabled": False, "rate_mbit": 20}, {"enabled": False}),
        (f"{member}/meshes", 1, {"mesh_ids": [str(mesh)]}, {"mesh_ids": None}),
        (f"{member}/role", 2, {"role": "editor"}, {"role": "admin"}),
    ):
        header = {"If-Match": f'"{read}"'}
        assert owner.put(path, json=first, headers=header).json()["version"] == read + 1, path
        assert code_of(owner.put(path, json=second, headers=header)) == (412, "version_changed"), path
    assert owner.delete(member, headers={"If-Match": '"2"'}).status_code == 412


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


def objects(world: MeshWorld) -> dict[str, str]:
    """Create one object of each kind with all its fields set; return its id by the path of its kind."""
    owner = world.owner
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
    return {
        "/v1/meshes/{mesh_id}": str(world.id),
        "/v1/zones/{zone_id}": zone["id"],
        "/v1/vms/{vm_id}": plain_vm["id"],
        "/v1/applications/{application_id}": application["id"],
        "/v1/annotations/{annotation_id}": note["id"],
        "/v1/scenarios/{scenario_id}": scenario["id"],
        "/v1/alert-rules/{rule_id}": rule["id"],
        "/v1/vms/{vm_id}/capacity": vm["id"],
    }


def test_fields_that_take_null_are_null_afterwards(owner: Member, make_mesh: Any):
    ids = objects(make_mesh(owner, 3))
    vm_id = ids["/v1/vms/{vm_id}/capacity"]
    capacity = {"slots": 4, "cpu_millicores": 8_000, "memory_mib": 64_000, "price_per_hour": "1.5", "host": "h1"}
    assert owner.patch(f"/v1/vms/{vm_id}/capacity", json=capacity).status_code == 200
    # Null stands for a default there: the newest version of the curve, its reference, one slot.
    defaults = {"curve_number": None, "reference_us": None, "slots": 1}
    for path, fields in updates():
        clearable = [name for name, field in fields.items() if takes_null(field)]
        if not clearable or path.startswith("/v1/metric-"):
            continue
        for name in clearable:
            answer = owner.request("PATCH", filled(path, ids[path]), json={name: None}, headers={"If-Match": "*"})
            assert answer.status_code == 200, (path, name, answer.text)
            if name not in defaults:
                body = answer.json()
                assert (body["request"] if name == "minutes" else body)[name] is None, (path, name)


def with_parts(read: dict[str, Any]) -> dict[str, Any]:
    """Add the fields of an object's parts: a schedule has its request as one, and PUT takes both as one body."""
    return {name: value for part in read.values() if isinstance(part, dict) for name, value in part.items()} | read


def written(value: Any, schema: dict[str, Any]) -> Any:
    """Return a read value as it is written: without fields of reads alone, and an object referred to by its id."""
    kinds = resolved(schema)
    if isinstance(value, list):
        (items,) = [kind["items"] for kind in kinds if "items" in kind]
        return [written(one, items) for one in value]
    if not isinstance(value, dict):
        return value
    if "id" in value and any(kind.get("type") == "string" for kind in kinds):
        return value["id"]
    fields = [kind["properties"] for kind in kinds if value.keys() & kind.get("properties", {}).keys()]
    if len(fields) != 1:
        return value  # a free object, or one of several kinds, which reads and writes have in common
    return {name: written(value[name], field) for name, field in fields[0].items() if name in value}


def test_every_update_accepts_what_was_read(owner: Member, make_mesh: Any, secret_key: None):
    world = make_mesh(owner, 3)
    ids = objects(world) | {path: str(world.id) for path in OF_MESHES}
    ids["/v1/vms/{vm_id}/token-bucket"] = ids["/v1/vms/{vm_id}/capacity"]
    ids["/v1/applications/{application_id}/price-basis"] = ids["/v1/applications/{application_id}"]
    for table in ("receivers", "metric_exports", "curves", "metric_sources"):
        route, body = bodies(world)[table]
        ids[f"{route}/{{{table.removesuffix('s')}_id}}"] = owner.created(route, body)["id"]
    assert owner.patch("/v1/account", json={"name": "Ada"}).status_code == 200
    for path, body in FIRST.items():
        first = owner.put(filled(path, UUID(ids.get(path, str(owner.tenant_id)))), json=body)
        assert first.status_code == 200, (path, first.text)
    tried = 0
    for method, path, operation in operations():
        media = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if method not in ("patch", "put") or media is None or ("get", path) not in READABLE:
            continue
        url = filled(path, UUID(ids.get(path, str(owner.tenant_id))))
        read = with_parts(owner.get(url).json())
        (body,) = resolved(media["schema"])
        fields = {
            name: written(read[name], field)
            for name, field in body["properties"].items()
            if name in read and (read[name] is not None or takes_null(field))
        }
        assert fields, (path, read)
        for sent in [{name: value} for name, value in fields.items()] if method == "patch" else [fields]:
            answer = owner.request(method.upper(), url, json=sent, headers={"If-Match": "*"})
            assert answer.status_code == 200, (method, path, sent, answer.text)
            tried += len(sent)
    assert tried > 90
