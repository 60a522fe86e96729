"""Annotations over HTTP: ranges, scopes, versions, limits and the boundary of a tenant."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from sinemora.overview.annotations import service
from tests.api_clients import Member, MeshWorld, code_of
from tests.recommendations.asking import declared

DEPLOY = {"kind": "deploy", "text": "web 4.2", "starts_at": "2026-11-20T10:00:00Z"}


def texts(owner: Member, **query: Any) -> list[str]:
    return [item["text"] for item in owner.get("/v1/annotations", params=query).json()["items"]]


def test_a_deploy_begins_ends_and_is_deleted(owner: Member):
    entry = owner.created("/v1/annotations", DEPLOY | {"url": "https://ci.example/7", "source": "CI"})
    path = f"/v1/annotations/{entry['id']}"
    assert (entry["ends_at"], entry["mesh_id"], entry["scope"], entry["source"]) == (None, None, None, "CI")
    changed = owner.patch(path, json={"ends_at": "2026-11-20T10:05:00Z"}, headers={"If-Match": '"1"'})
    assert changed.json() == entry | {"ends_at": "2026-11-20T10:05:00Z", "version": 2}
    assert owner.get(path).headers["ETag"] == '"2"'
    assert code_of(owner.patch(path, json={"text": "late"}, headers={"If-Match": '"1"'})) == (412, "version_changed")
    assert owner.patch(path, json={"ends_at": None}).json()["ends_at"] is None
    assert owner.get(path).json()["text"] == "web 4.2"
    assert owner.delete(path).status_code == 204
    assert owner.get(path).json()["code"] == "annotation_unknown"
    actions = [(item["action"], item["subject_name"]) for item in owner.get("/v1/audit-entries").json()["items"]]
    assert [action for action, name in actions if name == "web 4.2"] == [
        "annotation.deleted",
        "annotation.updated",
        "annotation.updated",
        "annotation.created",
    ]


def test_without_times_and_source_it_is_now_and_the_callers(owner: Member):
    entry = owner.created("/v1/annotations", {"kind": "note", "text": "n"})
    assert entry["source"] == owner.email
    assert abs(_seconds(entry["starts_at"]) - _seconds(entry["created_at"])) < 60


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def test_a_range_finds_what_overlaps_it(owner: Member):
    owner.created("/v1/annotations", DEPLOY | {"text": "event"})
    span = {"starts_at": "2026-11-20T10:15:00Z", "ends_at": "2026-11-20T11:00:00Z"}
    owner.created("/v1/annotations", DEPLOY | {"text": "span"} | span)
    for start, end, found in (
        ("10:00", "11:00", ["span", "event"]),
        ("10:30", "10:31", ["span"]),
        ("11:00", "12:00", []),  # a span ends before its end
        ("09:00", "10:00", []),
        ("09:00", "10:01", ["event"]),
        ("10:00", "10:01", ["event"]),  # an event belongs to the range that begins with it
    ):
        range_ = {"from": f"2026-11-20T{start}:00Z", "to": f"2026-11-20T{end}:00Z"}
        assert texts(owner, **range_) == found, range_


def test_a_mesh_has_its_own_and_those_of_all_meshes(owner: Member, mesh: MeshWorld):
    other = owner.created("/v1/meshes", {"name": "other"})
    owner.created("/v1/annotations", DEPLOY | {"text": "mine", "mesh_id": str(mesh.id)})
    owner.created("/v1/annotations", DEPLOY | {"text": "theirs", "mesh_id": other["id"]})
    owner.created("/v1/annotations", DEPLOY | {"text": "all"})
    assert sorted(texts(owner, mesh_id=str(mesh.id))) == ["all", "mine"]
    assert sorted(texts(owner)) == ["all", "mine", "theirs"]
    assert owner.get("/v1/annotations", params={"mesh_id": str(mesh.id)}).json()["items"][0]["mesh_name"] in (
        None,
        "demo",
    )


def test_a_scope_names_vms_zones_and_the_vms_of_applications(owner: Member, mesh: MeshWorld):
    vms = [str(agent.vm_id) for agent in mesh.agents]
    zone = owner.get("/v1/zones").json()["items"][0]["id"]
    shop = declared(mesh, "shop", ("a-1", "b-1"))["id"]
    scope = {"vm_ids": [vms[2], vms[2]], "zone_ids": [zone], "application_ids": [shop]}
    entry = owner.created("/v1/annotations", DEPLOY | {"scope": scope})
    assert sorted(entry["scope"].pop("task_vm_ids")) == sorted(vms[:2])
    assert entry["scope"] == scope | {"vm_ids": [vms[2]]}
    path = f"/v1/annotations/{entry['id']}"
    narrowed = owner.patch(path, json={"scope": {"vm_ids": [vms[0]]}}).json()
    assert (narrowed["scope"]["vm_ids"], narrowed["scope"]["zone_ids"]) == ([vms[0]], [])
    assert narrowed["version"] == 2
    assert owner.patch(path, json={"scope": None}).json()["scope"] is None


def test_a_scope_whose_objects_are_deleted_is_about_nothing(owner: Member, mesh: MeshWorld):
    vm = owner.created("/v1/vms", {"name": "old", "zone_id": owner.get("/v1/zones").json()["items"][0]["id"]})
    entry = owner.created("/v1/annotations", DEPLOY | {"scope": {"vm_ids": [vm["id"]]}})
    assert owner.delete(f"/v1/vms/{vm['id']}").status_code == 204
    scope = owner.get(f"/v1/annotations/{entry['id']}").json()["scope"]
    assert scope == {"vm_ids": [], "zone_ids": [], "application_ids": [], "task_vm_ids": []}


def test_nonsense_is_refused_beside_its_field(owner: Member):
    entry = owner.created("/v1/annotations", DEPLOY)
    for change, status, code, pointer in (
        ({"ends_at": "2026-11-20T10:00:00Z"}, 422, "range_invalid", "#/ends_at"),
        ({"starts_at": "2026-11-20T10:00:00"}, 422, "request_invalid", "#/starts_at"),
        ({"starts_at": "9999-12-31T23:59:59-12:00"}, 422, "request_invalid", "#/starts_at"),
        ({"text": "a\nb"}, 422, "request_invalid", "#/text"),
        ({"url": "javascript:alert(1)"}, 422, "request_invalid", "#/url"),
        ({"scope": {}}, 422, "request_invalid", "#/scope"),
        ({"scope": {"vm_ids": [str(uuid4())]}}, 404, "vm_unknown", "#/scope/vm_ids/0"),
        ({"scope": {"zone_ids": [str(uuid4())]}}, 404, "zone_unknown", "#/scope/zone_ids/0"),
        ({"scope": {"application_ids": [str(uuid4())]}}, 404, "application_unknown", "#/scope/application_ids/0"),
        ({"mesh_id": str(uuid4())}, 404, "mesh_unknown", "#/mesh_id"),
    ):
        for answer in (
            owner.post("/v1/annotations", json=DEPLOY | change),
            owner.patch(f"/v1/annotations/{entry['id']}", json=change),
        ):
            problem = answer.json()
            assert (answer.status_code, problem["code"]) == (status, code), problem
            assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert owner.get(f"/v1/annotations/{entry['id']}").json() == entry


def test_the_number_of_annotations_is_limited(owner: Member, other_owner: Member, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service, "ANNOTATIONS_MAX", 2)
    entry = owner.created("/v1/annotations", DEPLOY)
    owner.created("/v1/annotations", DEPLOY)
    assert code_of(owner.post("/v1/annotations", json=DEPLOY)) == (409, "annotations_too_many")
    other_owner.created("/v1/annotations", DEPLOY)
    owner.delete(f"/v1/annotations/{entry['id']}")
    owner.created("/v1/annotations", DEPLOY)


def test_a_deploy_is_recorded_from_a_terminal(mesh: MeshWorld, online: Callable[..., str]):
    named = ("--mesh", "demo", "--vm", "a-1", "--vm", "b-1", "--zone", "c")
    entry = json.loads(online("annotate", "web 4.2", *named, "--json"))
    assert (entry["kind"], entry["source"], entry["mesh_id"]) == ("deploy", "terminal", str(mesh.id))
    assert entry["scope"]["vm_ids"] == [str(agent.vm_id) for agent in mesh.agents[:2]]
    assert len(entry["scope"]["zone_ids"]) == 1
    span = ("annotate", "disks", "--kind", "maintenance", "--from", "2026-11-20T10:00:00Z", "--to")
    printed = online(*span, "2026-11-20T11:00:00Z", "--source", "kim")
    assert printed.splitlines()[1].split()[1:] == ["2026-11-20T10:00:00", "maintenance", "disks"]
    assert "`starts_at` must be before `ends_at`" in online(*span, "2026-11-20T09:00:00Z", code=1)
    assert "Unknown vm: z-9" in online("annotate", "disks", "--vm", "z-9", code=1)
