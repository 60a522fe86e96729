from datetime import UTC, datetime, timedelta

import pytest

from sinemora.access.api_keys.scopes import family_of
from sinemora.access.tenants.models import Role
from tests.access.tenants.test_access import new_key
from tests.api_clients import Member, bearer, body_of, code_of, key_of
from tests.statements import execute
from tests.test_every_route import operations


def set_role(member: Member, role: Role) -> None:
    execute("UPDATE memberships SET role = :role WHERE user_id = :id", {"role": role, "id": member.user_id})


def test_every_route_belongs_to_a_family():
    for _, _, operation in operations():
        assert ("x-required-scopes" in operation) == (operation["x-required-role"] not in ("none", "agent"))
    with pytest.raises(LookupError, match="scopes"):
        family_of(["something new"])


@pytest.mark.parametrize(
    ("scope", "allowed", "refused"),
    [
        ("alerts:read", "GET /v1/alert-rules, GET /v1/jobs", "GET /v1/meshes, POST /v1/silences"),
        ("alerts:write", "GET /v1/silences, POST /v1/silences", "POST /v1/zones, GET /v1/curves"),
        ("inventory:write", "POST /v1/zones, GET /v1/vms", "GET /v1/overview, GET /v1/members"),
        ("measurements:read", "GET /v1/prometheus/api/v1/labels", "GET /v1/alert-rules, GET /v1/vms"),
        ("tenant:read", "GET /v1/members, GET /v1/usage", "GET /v1/meshes, POST /v1/zones"),
    ],
)
def test_a_key_reaches_its_family_alone(owner: Member, scope: str, allowed: str, refused: str):
    key = key_of(owner, scope)
    for request in allowed.split(", "):
        assert key.request(*request.split()).status_code in (200, 422), request
    for request in refused.split(", "):
        answer = key.request(*request.split())
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing"), request
        assert answer.json()["required_scopes"]


def test_a_key_may_at_most_what_its_owner_may(owner: Member):
    key = key_of(owner, "write")
    assert key.post("/v1/zones", json={"provider": "p", "region": "r", "name": "a"}).status_code == 201
    assert key.post("/v1/api-keys", json=new_key()).status_code == 403
    set_role(owner, Role.viewer)
    assert code_of(key.post("/v1/zones", json={"provider": "p", "region": "r", "name": "b"})) == (403, "not_allowed")
    assert key.get("/v1/zones").status_code == 200


def test_the_last_use_is_listed(owner: Member):
    key = key_of(owner, "read")
    (listed,) = owner.get("/v1/api-keys").json()["items"]
    assert (listed["last_used_at"], listed["last_used_from"]) == (None, None)
    assert key.get("/v1/auth/session").json()["user"]["email"] == "ci"
    (listed,) = owner.get("/v1/api-keys").json()["items"]
    assert datetime.now(UTC) - datetime.fromisoformat(listed["last_used_at"]) < timedelta(minutes=1)
    assert listed["last_used_from"] == "127.0.0.1"


def test_a_rotated_key_has_two_secrets_for_the_overlap(owner: Member):
    created = owner.created("/v1/api-keys", new_key())
    path = f"/v1/api-keys/{created['id']}/rotate"
    rotated = body_of(owner.post(path, json={"overlap_s": 3600}))
    assert rotated["id"] == created["id"]
    old, new = (bearer(owner.http, key["secret"]) for key in (created, rotated))
    assert (old.get("/v1/zones").status_code, new.get("/v1/zones").status_code) == (200, 200)
    execute("UPDATE api_keys SET previous_expires_at = now() WHERE previous_digest IS NOT NULL")
    assert (old.get("/v1/zones").status_code, new.get("/v1/zones").status_code) == (401, 200)
    at_once = bearer(owner.http, owner.post(path, json={"overlap_s": 0}).json()["secret"])
    assert (new.get("/v1/zones").status_code, at_once.get("/v1/zones").status_code) == (401, 200)
    actions = [entry["action"] for entry in owner.get("/v1/audit-entries").json()["items"]]
    assert actions[:2] == ["api_key.rotated", "api_key.rotated"]
    assert code_of(owner.post(path, json={"expires_at": "2999-01-01T00:00:00Z"})) == (409, "api_key_life_invalid")


def test_members_manage_their_own_keys_alone(owner: Member):
    mine = owner.created("/v1/api-keys", new_key(name="mine"))
    other = owner.created("/v1/api-keys", new_key(name="service", service_account=True))
    set_role(owner, Role.viewer)
    for method, path, body in (("DELETE", "", None), ("POST", "/rotate", {})):
        assert code_of(owner.request(method, f"/v1/api-keys/{other['id']}{path}", json=body)) == (403, "not_allowed")
    assert owner.post(f"/v1/api-keys/{mine['id']}/rotate", json={}).status_code == 200
    assert owner.delete(f"/v1/api-keys/{mine['id']}").status_code == 204


def test_a_key_deletes_itself_and_no_other(owner: Member):
    key, other = key_of(owner, "alerts:read"), key_of(owner, "write", name="other")
    ids = {entry["name"]: entry["id"] for entry in owner.get("/v1/api-keys").json()["items"]}
    assert other.delete(f"/v1/api-keys/{ids['ci']}").json()["code"] == "not_allowed"
    assert key.delete("/v1/api-keys/self").status_code == 204
    assert key.get("/v1/alert-rules").status_code == 401
    assert other.get("/v1/zones").status_code == 200
    assert owner.delete("/v1/api-keys/self").json()["code"] == "api_key_unknown"
