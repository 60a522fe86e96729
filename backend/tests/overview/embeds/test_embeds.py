"""Embed links over HTTP: what a token reads, what it does not, when it ends, and where its page may be framed."""

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from sinemora.kit import errors
from sinemora.kit.config import Settings
from sinemora.kit.http.frontend import serve_frontend
from sinemora.kit.http.middleware import HttpMiddleware
from sinemora.overview.embeds import service
from tests.api_clients import Caller, MakeMesh, Member, MeshWorld, bearer, code_of, place_of
from tests.recommendations.asking import stored
from tests.statements import execute
from tests.test_every_route import PUBLIC, filled, operations

PATH = "/v1/embed-links"
EXAMPLES = Path(__file__).parents[3] / "sinemora" / "contract" / "examples" / "recommendations.json"


@pytest.fixture
def link(owner: Member, mesh: MeshWorld) -> Callable[..., dict[str, Any]]:
    """Return a function that creates a link to a view of the mesh."""

    def create(view: str = "heatmap", **more: Any) -> dict[str, Any]:
        ends = {"source_vm_id": str(mesh.agents[0].vm_id), "target_vm_id": str(mesh.agents[1].vm_id)}
        body = {"name": "Wiki", "view": view, "mesh_id": str(mesh.id)} | (ends if view == "path" else {})
        return owner.created(PATH, body | more)

    return create


def routes_of(view: str, mesh: MeshWorld) -> set[str]:
    whole = f"/v1/meshes/{mesh.id}"
    path = f"{whole}/paths/{mesh.agents[0].vm_id}/{mesh.agents[1].vm_id}"
    return {"/v1/embed", whole} | {
        "heatmap": {f"{whole}/roster", f"{whole}/matrix", f"{whole}/deviations"},
        "path": {path, f"{path}/series"},
        "overview": {
            f"/v1/overview/meshes/{mesh.id}",
            f"/v1/overview/meshes/{mesh.id}/history",
            f"{whole}/matrix",
            f"{whole}/deviations",
        },
    }[view]


def test_a_token_reads_its_view_and_no_other(client: Caller, mesh: MeshWorld, link: Any):
    routes = {view: routes_of(view, mesh) for view in ("heatmap", "path", "overview")}
    for view, granted in routes.items():
        reader = bearer(client.http, link(view)["token"])
        for path in sorted(granted):
            assert reader.get(path).status_code == 200, path
        for path in sorted(set().union(*routes.values()) - granted):
            assert reader.get(path).status_code in (401, 403), (view, path)
        embed = reader.get("/v1/embed").json()
        assert (embed["view"], embed["mesh"]["id"]) == (view, str(mesh.id))
        assert embed["alerts"] == {"evaluates": True, "evaluated_at": None, "notifies": True, "waiting_since": None}


def test_a_token_reads_nothing_else(client: Caller, mesh: MeshWorld, link: Any):
    reader = bearer(client.http, link("overview")["token"])
    granted = routes_of("overview", mesh)
    refused = 0
    for method, template, _ in operations():
        path = filled(template.replace("{mesh_id}", str(mesh.id)), uuid4())
        if (method, template) in PUBLIC - {("get", "/v1/auth/status")} or (method == "get" and path in granted):
            continue
        answer = reader.request(method.upper(), path)
        assert answer.status_code in (401, 403), (method, path, answer.text)
        refused += 1
    assert refused > 100


def test_another_mesh_and_another_path_do_not_exist(
    client: Caller, owner: Member, make_mesh: Any, mesh: Any, link: Any
):
    other = make_mesh(owner, 2, name="other")
    reader = bearer(client.http, link("path")["token"])
    first, second, third = (agent.vm_id for agent in mesh.agents)
    paths = f"/v1/meshes/{mesh.id}/paths"
    assert reader.get(f"{paths}/{second}/{first}").status_code == 200
    assert reader.get(f"{paths}/{first}/{third}").json()["code"] == "path_unknown"
    assert reader.get(f"/v1/meshes/{other.id}").json()["code"] == "mesh_unknown"
    heatmap = bearer(client.http, link()["token"])
    assert heatmap.get(f"/v1/meshes/{other.id}/matrix").status_code == 404


def test_a_heatmap_reads_the_moves_of_its_mesh_and_of_no_other(
    client: Caller, owner: Member, make_mesh: MakeMesh, mesh: MeshWorld, link: Any
):
    example = json.loads(EXAMPLES.read_text())["read_recommendation"]["responses"]["200"]["application/json"]
    columns = {name: example[name] for name in ("request", "result")} | {"moves": example["steps"]}
    own, others = (
        f"/v1/recommendations/{stored(place, **columns)}" for place in (mesh, make_mesh(owner, 2, name="other"))
    )
    assert owner.get(others).status_code == 200
    reader = bearer(client.http, link()["token"])
    assert reader.get(own).json()["mesh"]["id"] == str(mesh.id)
    assert reader.get(others).json()["code"] == "recommendation_unknown"
    assert bearer(client.http, link("path")["token"]).get(own).status_code == 403


def test_a_link_ends_when_it_is_revoked_or_expires(client: Caller, owner: Member, link: Any):
    revoked, expired = link(), link()
    assert owner.delete(f"{PATH}/{revoked['id']}").status_code == 204
    execute("UPDATE embed_links SET expires_at = now() - interval '1 s' WHERE id = :id", {"id": expired["id"]})
    for token in (revoked["token"], expired["token"], "sme_unknown"):
        assert code_of(bearer(client.http, token).get("/v1/embed")) == (401, "embed_link_ended")
    actions = [item["action"] for item in owner.get("/v1/audit-entries").json()["items"]]
    assert actions[:3] == ["embed_link.deleted", "embed_link.created", "embed_link.created"]


def test_the_list_says_who_made_a_link_and_when_it_was_used_but_not_its_token(client: Caller, owner: Member, link: Any):
    made = link()
    assert made["token"].startswith("sme_")
    [before] = owner.get(PATH).json()["items"]
    assert (before["created_by"], before["last_used_at"]) == (owner.email, None)
    assert made["token"] not in str(before)
    bearer(client.http, made["token"]).get("/v1/embed")
    [after] = owner.get(PATH).json()["items"]
    assert datetime.fromisoformat(after["last_used_at"]) > datetime.now(UTC) - timedelta(minutes=1)


def test_a_link_lives_a_month_by_default_and_at_most_a_year(owner: Member, link: Any):
    days = datetime.fromisoformat(link()["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=29, hours=23) < days <= timedelta(days=30)
    body = {"name": "Wiki", "view": "overview", "mesh_id": link()["mesh"]["id"]}
    for wrong in (timedelta(days=400), timedelta(days=-1)):
        refused = owner.post(PATH, json=body | {"expires_at": (datetime.now(UTC) + wrong).isoformat()})
        assert place_of(refused) == (409, "embed_link_life_invalid", "#/expires_at")


def test_a_path_has_two_vms(owner: Member, mesh: MeshWorld):
    for ends in ({}, {"source_vm_id": str(UUID(int=1))}):
        refused = owner.post(PATH, json={"name": "Wiki", "view": "path", "mesh_id": str(mesh.id)} | ends)
        assert refused.status_code == 422


def test_a_link_is_made_to_what_the_tenant_has(owner: Member, other_owner: Member, mesh: MeshWorld):
    body = {"name": "Wiki", "view": "heatmap", "mesh_id": str(mesh.id)}
    assert other_owner.post(PATH, json=body).json()["code"] == "mesh_unknown"
    ends = {"source_vm_id": str(mesh.agents[0].vm_id), "target_vm_id": str(uuid4())}
    assert owner.post(PATH, json=body | {"view": "path"} | ends).json()["code"] == "vm_unknown"
    made = owner.created(PATH, body)
    assert other_owner.get(PATH).json()["items"] == []
    assert other_owner.delete(f"{PATH}/{made['id']}").status_code == 404


def test_links_are_limited(owner: Member, link: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service, "EMBED_LINKS_MAX", 1)
    made = link()
    refused = owner.post(PATH, json={"name": "B", "view": "overview", "mesh_id": made["mesh"]["id"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "embed_links_too_many")


def test_readers_of_a_link_are_limited_like_api_keys(client: Caller, link: Any):
    answer = bearer(client.http, link()["token"]).get("/v1/embed")
    assert int(answer.headers["RateLimit-Remaining"]) < int(answer.headers["RateLimit-Limit"])


def test_a_token_is_not_logged(client: Caller, link: Any, caplog: pytest.LogCaptureFixture, capfd: Any):
    token = link()["token"]
    with caplog.at_level(logging.DEBUG):
        bearer(client.http, token).get("/v1/embed")
        bearer(client.http, token).get("/v1/vms")
    out, err = capfd.readouterr()
    assert token not in caplog.text + out + err


@pytest.fixture
def site(tmp_path: Path) -> Callable[[str], TestClient]:
    (tmp_path / "index.html").write_text("<html></html>")

    def serve(hosts: str) -> TestClient:
        app = FastAPI()
        errors.install(app)
        app.add_middleware(HttpMiddleware, hsts=False, body_limit_bytes=1024)
        serve_frontend(app, tmp_path, hosts)
        return TestClient(app)

    return serve


@pytest.mark.parametrize("hosts", ["*", "https://wiki.example.com https://*.grafana.net"])
def test_only_the_page_of_links_is_framed_and_keeps_its_address_secret(site: Any, hosts: str):
    for path in ("/embed", "/embed/"):
        headers = site(hosts).get(path).headers
        assert headers["Content-Security-Policy"].endswith(f"frame-ancestors {hosts}")
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "X-Frame-Options" not in headers
    for path in ("/", "/sign-in", "/embedded", "/embed/x", "/meshes/1"):
        headers = site(hosts).get(path).headers
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Frame-Options"] == "DENY"


def test_an_installation_may_forbid_frames(site: Any):
    headers = site("none").get("/embed").headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("hosts", ["*; script-src *", "https://a.example/path", "'self'"])
def test_hosts_that_would_end_the_policy_are_refused(hosts: str):
    with pytest.raises(ValueError, match="embed_hosts"):
        Settings(embed_hosts=hosts)
