"""What holds for every route of the contract, those to come included."""

from functools import cache
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.api_clients import Caller, Member
from tests.recorded_examples import contract_of_api, operations_of
from tests.test_names_taken import bodies

pytestmark = pytest.mark.usefixtures("secret_key")

PUBLIC = {
    ("get", "/healthz"),
    ("get", "/readyz"),
    ("get", "/v1/evidence-keys"),
    ("get", "/v1/auth/status"),
    ("post", "/v1/auth/sign-in"),
    ("post", "/v1/auth/second-factor"),
    ("post", "/v1/auth/second-factor/passkey"),
    ("get", "/v1/auth/provider"),
    ("get", "/v1/auth/provider/start"),
    ("get", "/v1/auth/provider/callback"),
    ("post", "/v1/auth/passkey-options"),
    ("post", "/v1/auth/passkey"),
    ("post", "/v1/auth/password-resets"),
    ("post", "/v1/device-logins"),
    ("post", "/v1/device-logins/tokens"),
    ("post", "/v1/auth/password-resets/redeem"),
    ("post", "/v1/auth/first-account"),
    ("post", "/v1/agents/enrol"),
    ("post", "/v1/invitations/lookup"),
    ("post", "/v1/invitations/accept"),
}


@cache
def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return operations_of(contract_of_api())


def filled(path: str, id: UUID) -> str:
    return "/".join(str(id) if part.startswith("{") else part for part in path.split("/"))


def test_nobody_gets_in_without_signing_in(client: Caller, servers: Any):
    for method, path, _ in operations():
        if (method, path) in PUBLIC:
            continue
        answer = client.request(method.upper(), filled(path, uuid4()))
        assert (answer.status_code, answer.json()["code"]) == (401, "sign_in_required"), (method, path)


def test_unknown_ids_are_404(owner: Member):
    for method, path, operation in operations():
        if "{" not in path or path.startswith("/v1/agents/self") or "requestBody" in operation:
            continue
        answer = owner.request(method.upper(), filled(path, uuid4()))
        assert answer.status_code == 404, (method, path, answer.text)
        assert answer.json()["code"].endswith("_unknown")


def test_head_answers_as_get_does_without_a_body(owner: Member, make_mesh: Any):
    paths = [path for method, path, _ in operations() if method == "get"]
    for path in (*(filled(path, owner.tenant_id) for path in paths), "/healthz", "/readyz", "/metrics"):
        head, get = owner.request("HEAD", path), owner.get(path)
        assert head.content == b"", path
        assert head.status_code == get.status_code, (path, get.text)
        assert head.headers["content-type"] == get.headers["content-type"], path
    stream = owner.request("HEAD", f"/v1/meshes/{make_mesh(owner, 1).id}/live")  # whose body has no end
    assert (stream.status_code, stream.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")


def test_other_methods_name_those_of_the_path(owner: Member):
    of_paths: dict[str, set[str]] = {}
    refused = 0
    for method, path, _ in operations():
        of_paths.setdefault(path, set()).add(method.upper())
    for path, methods in of_paths.items():
        methods |= {"HEAD"} if "GET" in methods else set()
        for method in sorted({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} - methods)[:1]:
            answer = owner.request(method, filled(path, uuid4()))
            if answer.status_code == 422:  # a word of the path is no id of a route with an id in its place
                continue
            refused += 1
            assert answer.status_code == 405, (method, path)
            assert methods <= set(answer.headers["allow"].split(", ")), (method, path)
    assert refused > 100


def test_operations_have_their_own_names_and_say_what_they_do(servers: Any):
    result = list(operations())
    names = [operation["operationId"] for _, _, operation in result]
    assert len(set(names)) == len(names)
    assert all(operation.get("description") for _, _, operation in result)


def test_paths_are_kebab_case(servers: Any):
    for _, path, _ in operations():
        for part in path.split("/")[2:]:
            assert part == part.lower(), path
            assert "_" not in part or part.startswith("{"), path


# Bodies for routes that refuse an empty one.
BODIES = {
    ("put", "/v1/vms/{vm_id}/token-bucket"): {"rate_mbit": 100, "burst_kb": 1_000},
    ("put", "/v1/members/{user_id}/role"): {"role": "viewer"},
    ("put", "/v1/tenants/{tenant_id}"): {"name": "Mine"},
    ("post", "/v1/tenants/{tenant_id}/deletion"): {"tenant_name": "Mine"},
    ("post", "/v1/curves/{curve_id}/versions"): {"rows": [{"latency_us": 0, "performance": 1}]},
}
REFERRING = {"vms", "alert-rules", "applications", "scenarios", "metric-sources", "annotations", "pins"}


def test_what_is_another_tenants_does_not_exist(owner: Member, other_owner: Member, make_mesh: Any):
    """An object of another tenant is in no list, 404 for whatever is tried, and still there as it was."""
    mesh = make_mesh(owner, 2)
    hour = {"started_at": "2026-11-20T10:00:00Z", "ended_at": "2026-11-20T11:00:00Z"}
    wanted = [
        *bodies(mesh).values(),
        ("/v1/pins", {"mesh_id": str(mesh.id), "reason": "kept", **hour}),
        ("/v1/annotations", {"mesh_id": str(mesh.id), "kind": "deploy", "text": "4.2", "starts_at": hour["ended_at"]}),
        ("/v1/invitations", {"email": "ada@example.com", "role": "editor", "delivery": "link"}),
    ]
    mine = {route: owner.created(route, body)["id"] for route, body in wanted}
    listed = ("/v1/agents", "/v1/enrolment-tokens", "/v1/members", "/v1/tenants")
    mine |= {route: owner.get(route).json()["items"][0]["id"] for route in listed}
    for route, body in wanted:
        if route.removeprefix("/v1/") in REFERRING:
            refused = other_owner.post(route, json=body)
            assert refused.status_code == 404, (route, refused.text)
            assert refused.json()["code"].endswith("_unknown"), route
    before = {route: owner.get(route).json()["items"] for route in mine}
    for route, id in mine.items():
        assert id not in [item["id"] for item in other_owner.get(route).json()["items"]]
        tried = 0
        for method, path, operation in operations():
            if not path.startswith(f"{route}/{{"):
                continue
            tried += 1
            theirs = filled(f"{route}/{id}{path.split('}', 1)[1]}", uuid4())
            body = {"json": BODIES.get((method, path), {})} if "requestBody" in operation else {}
            answer = other_owner.request(method.upper(), theirs, headers={"If-Match": "*"}, **body)
            # Some routes refuse an empty body before they look for their object.
            refused_body = body == {"json": {}} and answer.status_code == 422
            assert answer.status_code == 404 or refused_body, (method, path, answer.text)
        assert tried, route
    assert {route: owner.get(route).json()["items"] for route in mine} == before


def test_a_parameter_that_a_route_does_not_have_is_refused(owner: Member):
    for method, path, operation in operations():
        known = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
        if method != "get" or (method, path) in PUBLIC or path.startswith("/v1/agents/self"):
            continue
        mistyped = f"{known[0]}x" if known else "form"
        answer = owner.get(filled(path, uuid4()), params={mistyped: "1"})
        assert answer.status_code == 422, (path, answer.text)
        (error,) = answer.json()["errors"]
        assert error["pointer"] == f"#/query/{mistyped}", path
        assert not known or "Did you mean" in error["message"], (path, error)


def test_a_number_is_no_time(owner: Member):
    """Pydantic takes a number for seconds or milliseconds since 1970, by its size."""
    tried = 0
    for method, path, operation in operations():
        for one in operation.get("parameters", ()):
            if method == "get" and one["in"] == "query" and "date-time" in str(one["schema"]):
                tried += 1
                answer = owner.get(filled(path, uuid4()), params={one["name"]: "1700000000"})
                assert answer.status_code == 422, (path, answer.text)
                (error,) = answer.json()["errors"]
                assert error["pointer"] == f"#/query/{one['name']}", path
                assert "RFC 3339" in error["message"], (path, error)
    assert tried > 20


def names_of(operation: dict[str, Any]) -> list[str]:
    found = [one["name"] for one in operation.get("parameters", ()) if "date-time" in str(one["schema"])]
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return found or (["from", "to"] if schema.get("$ref", "").endswith("/SeriesRequest") else [])


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01T00:00:00", "1e999"]
)
def test_times_at_both_ends_of_the_calendar_or_without_a_zone_are_never_5xx(owner: Member, make_mesh: Any, at: str):
    mesh = make_mesh(owner, 2)
    one, other = mesh.agents
    known = {"mesh_id": mesh.id, "vm_id": one.vm_id, "source_vm_id": one.vm_id, "target_vm_id": other.vm_id}
    tried = 0
    for method, path, operation in operations():
        names = names_of(operation)
        if not names:
            continue
        target = path
        for name, value in known.items():
            target = target.replace(f"{{{name}}}", str(value))
        for chosen in [[name] for name in names] + [names]:
            values = dict.fromkeys(chosen, at)
            body = {"metric": "clock_error", "points": 100} | values
            sent = {"params": values} if method == "get" else {"json": body}
            answer = owner.request(method.upper(), target, **sent)
            assert answer.status_code < 500, (method, path, values)
            tried += 1
    assert tried > 50
