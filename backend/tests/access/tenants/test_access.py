import pytest
from sqlalchemy import Engine

from sinemora.access.tenants.service import create_owner
from tests.api_clients import PASSWORD, Caller, Member, code_of, key_of, sign_in
from tests.expiry import in_a_month
from tests.statements import execute, scalar


def new_key(**fields: object) -> dict[str, object]:
    """Return the body of a new key that reads."""
    return {"name": "k", "scopes": ["read"], "expires_at": in_a_month(), **fields}


def test_a_key_ends_when_deleted_and_when_over(owner: Member):
    first, second = key_of(owner, "read"), key_of(owner, "read", name="other")
    listed = owner.get("/v1/api-keys").json()["items"]
    assert [key["name"] for key in listed] == ["ci", "other"]
    assert all("secret" not in key for key in listed)
    assert owner.delete(f"/v1/api-keys/{listed[0]['id']}").status_code == 204
    assert first.get("/v1/meshes").json()["code"] == "bad_credentials"
    execute("UPDATE api_keys SET expires_at = now()")
    assert second.get("/v1/meshes").status_code == 401


@pytest.mark.parametrize("token", ["sm_made-up", "made-up", "sma_made-up"])
def test_a_made_up_key_is_refused(client: Caller, token: str):
    answer = client.get("/v1/meshes", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_credentials")
    assert "invalid_token" in answer.headers["WWW-Authenticate"]


@pytest.mark.parametrize("end", ["2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
def test_a_key_lives_a_year_at_most(owner: Member, end: str):
    assert code_of(owner.post("/v1/api-keys", json=new_key(expires_at=end))) == (409, "api_key_life_invalid")


def test_a_key_is_kept_as_a_digest(owner: Member):
    created = owner.created("/v1/api-keys", new_key())
    row = scalar("SELECT row_to_json(k)::text FROM api_keys k WHERE id = :id", {"id": created["id"]})
    assert created["secret"] not in row
    assert created["secret"].startswith(created["prefix"])


def test_changes_are_on_record(owner: Member, other_owner: Member):
    key = key_of(owner, "write")
    mesh = key.created("/v1/meshes", {"name": "m"})
    owner.patch(f"/v1/meshes/{mesh['id']}", json={"rate_hz": 16})
    owner.delete(f"/v1/meshes/{mesh['id']}")
    items = [entry for entry in owner.get("/v1/audit-entries").json()["items"] if entry["action"] != "session.created"]
    assert [(entry["action"], entry["actor_kind"], entry["actor_name"]) for entry in items] == [
        ("mesh.deleted", "user", owner.email),
        ("mesh.updated", "user", owner.email),
        ("mesh.created", "api_key", "ci"),
        ("api_key.created", "user", owner.email),
    ]
    assert items[1]["detail"] == {"fields": ["rate_hz"], "changes": {"rate_hz": {"before": 8, "after": 16}}}
    assert {entry["address"] for entry in items} == {"127.0.0.1"}
    others = other_owner.get("/v1/audit-entries").json()["items"]
    assert [entry["action"] for entry in others] == ["session.created"]


@pytest.mark.whole_store
def test_creating_the_owner_again_changes_nothing(http, database: Engine):
    first = create_owner("T", "A@sinemora.example", PASSWORD)
    again = create_owner("T", "a@sinemora.example", "another password")
    assert (first.created, again.created) == (True, False)
    assert (first.tenant_id, first.user_id) == (again.tenant_id, again.user_id)
    assert again.password is None
    sign_in(http, "a@sinemora.example")


@pytest.mark.whole_store
def test_a_generated_password_works(http, database: Engine):
    result = create_owner("T", "a@sinemora.example")
    assert result.password
    assert sign_in(http, "a@sinemora.example", result.password).tenant_id == result.tenant_id


@pytest.mark.whole_store
@pytest.mark.parametrize(
    ("email", "password", "why"), [("nobody", PASSWORD, "address"), ("a@sinemora.example", "short", "characters")]
)
def test_a_bad_owner_is_refused(database: Engine, email: str, password: str, why: str):
    with pytest.raises(ValueError, match=why):
        create_owner("T", email, password)


@pytest.mark.whole_store
def test_the_same_person_may_own_two_tenants(http, database: Engine):
    create_owner("T1", "a@sinemora.example", PASSWORD)
    create_owner("T2", "a@sinemora.example", None)
    assert sign_in(http, "a@sinemora.example").get("/v1/auth/session").json()["tenant"]["name"] == "T1"
