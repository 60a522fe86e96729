"""Bodies are read after authentication, up to a limit, and hold only what can be stored."""

import asyncio
import base64
import json
from typing import Any
from uuid import uuid4

import pytest
from fastapi.routing import APIRoute

from sinemora.fleet.inventory.agents import AgentRoute
from sinemora.kit import config
from sinemora.kit.http.routes import PUBLIC_BODY_BYTES, BoundedRoute
from sinemora.main import ROUTERS
from tests.api_clients import AgentCaller, Caller, Member, code_of
from tests.kit.test_yaml_text import laughs
from tests.test_every_route import PUBLIC, filled, operations

JSON = {"Content-Type": "application/json"}


def test_every_route_reads_its_body_late():
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    late = [route for route in routes if isinstance(route, BoundedRoute | AgentRoute)]
    assert {route.path for route in routes if route not in late} == {"/healthz", "/readyz", "/metrics"}


def test_the_body_of_a_stranger_is_never_read(client: Caller):
    async def send_to(method: str, path: str) -> tuple[int, int]:
        reads, statuses = 0, []

        async def receive() -> dict[str, Any]:
            nonlocal reads
            reads += 1
            return {"type": "http.request", "body": b"[" * 1000, "more_body": True}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        head = [(b"host", b"test"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": method.upper(), "path": path, "headers": head, "query_string": b""}
        scope |= {"client": ("192.0.2.1", 1), "server": ("test", 80), "scheme": "http", "http_version": "1.1"}
        await client.http.app(scope, receive, send)
        return reads, statuses[0]

    for method, path, operation in operations():
        if (method, path) not in PUBLIC and "requestBody" in operation:
            assert asyncio.run(send_to(method, filled(path, uuid4()))) == (0, 401), (method, path)


@pytest.mark.parametrize("path", ["/v1/auth/sign-in", "/v1/agents/enrol"])
def test_a_body_without_authentication_is_small(client: Caller, path: str):
    assert code_of(client.post(path, content=b" " * (PUBLIC_BODY_BYTES + 1), headers=JSON)) == (413, "body_too_large")


def test_a_stream_with_a_long_body_is_refused_before_it_begins(owner: Member, make_mesh: Any):
    mesh = make_mesh(owner, 0).id
    answer = owner.get(f"/v1/meshes/{mesh}/live", headers={"Content-Length": "99999999999999999999"})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


def test_strangers_of_one_network_are_limited_together(client: Caller, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config.settings(), "anonymous_limit_per_minute", 5)
    wrong = {"Authorization": f"Bearer sm_{uuid4()}"}
    statuses = [client.get("/v1/zones", headers=wrong).status_code for _ in range(12)]
    assert (statuses[0], statuses[-1]) == (401, 429)


def test_valid_callers_of_a_limited_network_are_served(owner: Member, client: Caller, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config.settings(), "anonymous_limit_per_minute", 1)
    for _ in range(4):
        client.get("/v1/zones")
    assert owner.get("/v1/zones").status_code == 200


BAD = [
    ('{"name": 1e999}', "#/name", "at most 1.8e308"),
    ('{"name": [0.5, -1e400]}', "#/name/1", "at most 1.8e308"),
    ('{"name": "a\\u0000b"}', "#/name", "U+0000"),
    ('{"a\\u0000b": 1}', "#", "U+0000"),
    ('{"name": "\\ud800"}', "#/name", "surrogate"),
    ('{"name": NaN}', "#", "NaN"),
    ('{"window_s": -Infinity}', "#", "Infinity"),
    ('{"window_s": ' + "9" * 5000 + "}", "#", "digits"),
    ('{"name": ' + "[" * 70 + "]" * 70 + "}", "#/name/0/0", "nested"),
    ("[" * 100_000 + "]" * 100_000, "#", "nested"),
    ('{"name": "\xff"}', "#", "UTF-8"),
    ('{"name": x}', "#", "not JSON: Expecting value at character 9"),
]


@pytest.mark.parametrize(("text", "pointer", "message"), BAD)
def test_what_cannot_be_stored_is_pointed_at(owner: Member, text: str, pointer: str, message: str):
    answer = owner.post("/v1/meshes", content=text.encode("latin-1"), headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid"), answer.text
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert message in error["message"]


@pytest.mark.parametrize("text", [text for text, _, _ in BAD[::4]])
def test_no_route_breaks_on_a_bad_body(owner: Member, text: str):
    for method, path, operation in operations():
        if path.startswith("/v1/agents/self") or "requestBody" not in operation:
            continue
        headers = JSON | ({"If-Match": "*"} if method in ("patch", "put") else {})
        body = text.encode("latin-1")
        answer = owner.request(method.upper(), filled(path, uuid4()), content=body, headers=headers)
        # The manifests take no JSON, and imports keep any body for later.
        assert 400 <= answer.status_code < 500 or path.endswith("/imports"), (method, path, answer.text)


@pytest.mark.parametrize("address", ["/v1/vms?name=%00", "/v1/curves/a%00b", "/v1/vms?cursor=%00"])
def test_an_address_with_nul_is_malformed(owner: Member, address: str):
    assert code_of(owner.get(address)) == (422, "request_invalid")


def test_a_number_beyond_the_column_is_malformed(owner: Member):
    curve = owner.get("/v1/curves").json()["items"][0]["id"]
    answer = owner.get(f"/v1/curves/{curve}/points", params={"number": "9" * 18})
    assert answer.status_code in (404, 422), answer.text


def test_a_cursor_with_foreign_values_is_malformed(owner: Member, make_mesh: Any):
    for values in [["9" * 30, "x"], ["\0", "\0"], ["\ud800", "x"], ["1", "9" * 30]]:
        cursor = base64.urlsafe_b64encode(json.dumps(values).encode()).decode()
        for method, path, operation in operations():
            if method == "get" and any(one.get("name") == "cursor" for one in operation.get("parameters", ())):
                answer = owner.get(filled(path, uuid4()), params={"cursor": cursor})
                assert answer.status_code < 500, (path, values, answer.text)


@pytest.mark.parametrize("host", ["x;$(id)", "a b", "<script>"])
def test_a_host_that_is_none_is_refused(client: Caller, host: str):
    assert code_of(client.get("/v1/about", headers={"Host": host})) == (400, "host_invalid")


def test_json_reports_are_bounded(make_mesh: Any, owner: Member):
    agent: AgentCaller = make_mesh(owner, 1).agents[0]
    answer = agent.post("/v1/agents/self/reports", json={"windows": [{}] * 3000})
    assert (answer.status_code, answer.json()["code"]) == (422, "malformed_report")
    assert "objects" in answer.json()["detail"]


YAMLS = [
    b"[" * 3000,
    b"a: 2026-13-45",
    b"rules: [" + b"[" * 100,
    b"\xff\xfe",
    b'rules: [{name: "a\\0b"}]',
    b"? " * 5000,
    laughs(12),
]


@pytest.mark.parametrize("path", ["/v1/alert-rules/manifest?mesh_id={mesh}", "/v1/applications/manifest"])
@pytest.mark.parametrize("text", YAMLS)
def test_no_yaml_breaks_a_manifest(owner: Member, path: str, text: bytes):
    mesh = owner.created("/v1/meshes", {"name": "m"})["id"]
    answer = owner.post(path.format(mesh=mesh), content=text, headers={"Content-Type": "application/yaml"})
    assert (answer.status_code, answer.json()["code"]) == (422, "manifest_invalid"), answer.text
