"""What cannot be undone, or opens the tenant to a program, needs a proof of the last ten minutes."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.api_clients import PASSWORD, Member, code_of
from tests.statements import execute
from tests.test_every_route import operations

SENSITIVE = {
    ("post", "/v1/device-logins/approve"),
    ("post", "/v1/account/totp"),
    ("delete", "/v1/account/totp"),
    ("post", "/v1/account/totp/confirm"),
    ("post", "/v1/account/passkey-options"),
    ("post", "/v1/account/passkeys"),
    ("delete", "/v1/account/passkeys/{passkey_id}"),
    ("post", "/v1/account/recovery-codes"),
    ("put", "/v1/sign-in-policy"),
    ("put", "/v1/identity-provider"),
    ("delete", "/v1/identity-provider"),
    ("post", "/v1/api-keys"),
    ("post", "/v1/ownership-transfers"),
    ("post", "/v1/tenants/{tenant_id}/deletion"),
}


def test_the_contract_names_what_needs_a_confirmation(servers: Any):
    found = {(method, path) for method, path, operation in operations() if operation.get("x-confirmation")}
    assert found == SENSITIVE


def test_an_old_sign_in_has_to_be_confirmed_before_what_cannot_be_undone(owner: Member):
    execute(
        "UPDATE sessions SET authenticated_at = now() - interval '11 min' WHERE user_id = :id", {"id": owner.user_id}
    )
    key = {"name": "k", "scopes": ["read"], "expires_at": (datetime.now(UTC) + timedelta(days=1)).isoformat()}
    mistaken = {"tenant_name": "not its name"}
    requests = [
        ("/v1/api-keys", key, 201),
        ("/v1/ownership-transfers", mistaken | {"user_id": str(owner.user_id)}, 409),
        (f"/v1/tenants/{owner.tenant_id}/deletion", mistaken, 409),
    ]
    for path, body, _ in requests:
        assert code_of(owner.post(path, json=body)) == (403, "confirmation_required"), path
    assert owner.post("/v1/account/confirmations", json={"password": "a wrong one"}).status_code == 403
    assert owner.post("/v1/account/confirmations", json={"password": PASSWORD}).status_code == 204
    for path, body, status in requests:
        assert owner.post(path, json=body).status_code == status, path


def test_people_change_their_own_name(owner: Member):
    assert owner.patch("/v1/account", json={"name": "Ada Byron"}).json()["name"] == "Ada Byron"
    members = owner.get("/v1/members").json()["items"]
    assert [member["name"] for member in members if member["id"] == str(owner.user_id)] == ["Ada Byron"]
    (entry,) = owner.get("/v1/audit-entries", params={"action": "account.renamed"}).json()["items"]
    assert entry["detail"]["name_after"] == "Ada Byron"
    for name in ("", "a\nb", "x" * 101):
        assert owner.patch("/v1/account", json={"name": name}).status_code == 422
