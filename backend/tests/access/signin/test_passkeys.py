"""Passkeys: created in an account, a second factor, a confirmation, and a sign-in without a password."""

from dataclasses import replace
from typing import Any

import pytest
from httpx2 import Response

from tests.access.signin.authenticator import Authenticator
from tests.access.signin.conftest import actions, attempt, browser, pending
from tests.api_clients import Caller, Member, SetTo, body_of, code_of
from tests.statements import execute

ORIGIN = "https://sinemora.example.com"


@pytest.fixture(autouse=True)
def public_url(servers: Any, set_to: SetTo) -> None:
    """The address of the installation, which passkeys are bound to."""
    set_to(public_url=ORIGIN)


@pytest.fixture
def key() -> Authenticator:
    """An authenticator that verifies its user."""
    return Authenticator(ORIGIN)


def options(caller: Caller, path: str = "/v1/auth/passkey-options") -> dict[str, Any]:
    return body_of(caller.post(path))["options"]


def add(member: Member, key: Authenticator, name: str = "Laptop") -> Response:
    credential = key.create(options(member, "/v1/account/passkey-options"))
    return member.post("/v1/account/passkeys", json={"name": name, "credential": credential})


def prove(caller: Caller, key: Authenticator, path: str = "/v1/auth/passkey") -> Response:
    return caller.post(path, json={"credential": key.use(options(caller))})


def test_the_first_passkey_comes_with_recovery_codes(owner: Member, key: Authenticator):
    body = body_of(add(owner, key))
    assert (body["passkey"]["name"], body["passkey"]["rp_id"]) == ("Laptop", "sinemora.example.com")
    assert len(body["recovery_codes"]) == 10
    assert add(owner, Authenticator(ORIGIN), "Phone").json()["recovery_codes"] is None
    account = owner.get("/v1/account").json()
    assert [passkey["name"] for passkey in account["passkeys"]] == ["Laptop", "Phone"]
    assert account["factors"] == ["passkey", "recovery_code"]
    assert actions(owner).count("passkey.created") == 2


def test_a_passkey_signs_in_without_a_password_whatever_strangers_try(
    client: Caller, owner: Member, key: Authenticator, set_to: SetTo
):
    set_to(sign_in_attempts="1")
    add(owner, key)
    for n in range(11):
        forged = key.use(options(client)) | {"id": f"unknown{n}"}
        assert client.post("/v1/auth/passkey", json={"credential": forged}).status_code == 401
    session = browser(client, prove(client, key)).get("/v1/account/sessions").json()["items"][0]
    assert (session["method"], session["second_factor"]) == ("passkey", True)


def test_a_passkey_is_the_second_factor(client: Caller, owner: Member, key: Authenticator):
    key.verifies = False
    add(owner, key)
    assert attempt(client, owner.email).json() == {"factors": ["passkey", "recovery_code"]}
    step = pending(client, owner.email)
    asked = options(step)
    assert [allowed["id"] for allowed in asked["allowCredentials"]] == [key.create(_creation(asked))["id"]]
    answer = prove(step, key, "/v1/auth/second-factor/passkey")
    assert browser(client, answer).get("/v1/meshes").status_code == 200


def _creation(asked: dict[str, Any]) -> dict[str, Any]:
    return {**asked, "user": {"id": ""}, "rp": {"id": asked["rpId"]}}


@pytest.mark.parametrize(
    "changes",
    [
        {"verifies": False},  # without a verified user a passkey does not replace the password
        {"origin": "https://sinemora.example.com.evil.example"},
        {"key": Authenticator(ORIGIN).key},
        {"count": 0},  # a copy whose counter is behind
    ],
)
def test_a_passkey_that_is_not_as_it_was_is_refused(client: Caller, owner: Member, key: Authenticator, changes):
    add(owner, key)
    assert prove(client, key).status_code == 200
    assert code_of(prove(client, replace(key, **changes))) == (401, "passkey_refused")


def test_a_proof_is_valid_once(client: Caller, owner: Member, key: Authenticator):
    add(owner, key)
    proof = key.use(options(client))
    assert client.post("/v1/auth/passkey", json={"credential": proof}).status_code == 200
    assert client.post("/v1/auth/passkey", json={"credential": proof}).json()["code"] == "passkey_refused"


def test_a_challenge_ends_after_five_minutes(client: Caller, owner: Member, key: Authenticator):
    add(owner, key)
    proof = key.use(options(client))
    execute("UPDATE one_time_tokens SET expires_at = expires_at - interval '5 min'")
    assert client.post("/v1/auth/passkey", json={"credential": proof}).status_code == 401


def test_a_page_of_another_origin_adds_no_passkey(owner: Member):
    assert add(owner, Authenticator("https://evil.example")).json()["code"] == "passkey_refused"


def test_the_passkey_of_another_person_is_no_second_factor(
    client: Caller, owner: Member, other_owner: Member, key: Authenticator
):
    add(owner, key)
    theirs = Authenticator(ORIGIN)
    add(other_owner, theirs)
    answer = prove(pending(client, owner.email), theirs, "/v1/auth/second-factor/passkey")
    assert (answer.status_code, answer.json()["code"]) == (401, "passkey_refused")


def test_the_challenge_of_a_sign_in_creates_no_passkey(client: Caller, owner: Member, key: Authenticator):
    credential = key.create(_creation(options(client)))
    answer = owner.post("/v1/account/passkeys", json={"name": "Laptop", "credential": credential})
    assert (answer.status_code, answer.json()["code"]) == (409, "passkey_refused")


def test_a_passkey_belongs_to_one_account(owner: Member, other_owner: Member, key: Authenticator):
    assert add(owner, key).status_code == 201
    assert add(other_owner, key).json()["code"] == "passkey_refused"


def test_a_passkey_is_removed(client: Caller, owner: Member, other_owner: Member, key: Authenticator):
    id = add(owner, key).json()["passkey"]["id"]
    assert other_owner.delete(f"/v1/account/passkeys/{id}").json()["code"] == "passkey_unknown"
    assert owner.delete(f"/v1/account/passkeys/{id}").status_code == 204
    assert prove(client, key).status_code == 401
    assert attempt(client, owner.email).status_code == 200
    assert "passkey.deleted" in actions(owner)


def test_a_passkey_confirms_sensitive_changes(owner: Member, key: Authenticator):
    add(owner, key)
    execute("UPDATE sessions SET authenticated_at = now() - interval '11 min'")
    assert owner.post("/v1/account/recovery-codes", json={}).json()["code"] == "confirmation_required"
    proof = key.use(options(owner, "/v1/account/confirmation-options"))
    assert owner.post("/v1/account/confirmations", json={"credential": proof}).status_code == 204
    assert owner.post("/v1/account/recovery-codes", json={}).status_code == 201
    assert code_of(owner.post("/v1/account/confirmations", json={"credential": proof})) == (403, "confirmation_refused")


@pytest.mark.parametrize(
    "credential",
    [
        {},
        {"id": 1, "rawId": 2, "response": 3},
        {"rawId": "é", "response": {"clientDataJSON": "é"}},
        {"rawId": "AAAA", "response": {"clientDataJSON": "AAAA"}},
        {"rawId": "AAAA", "response": {"clientDataJSON": "e30"}},
        {"rawId": "AAAA", "response": {"clientDataJSON": "WzFd"}},
        {"rawId": ["AAAA"], "response": [{}]},
        {"rawId": "AAAA", "response": {"clientDataJSON": "eyJjaGFsbGVuZ2UiOiAiw6kifQ"}},
    ],
)
def test_malformed_credentials_are_refused(client: Caller, owner: Member, credential: dict[str, Any]):
    assert client.post("/v1/auth/passkey", json={"credential": credential}).status_code == 401
    answer = owner.post("/v1/account/passkeys", json={"name": "x", "credential": credential})
    assert (answer.status_code, answer.json()["code"]) == (409, "passkey_refused")


@pytest.mark.parametrize("broken", ["authenticatorData", "signature", "clientDataJSON"])
@pytest.mark.parametrize("value", ["AAAA", 7])
def test_a_proof_with_a_broken_part_is_refused(
    client: Caller, owner: Member, key: Authenticator, broken: str, value: Any
):
    add(owner, key)
    proof = key.use(options(client))
    proof["response"][broken] = value
    assert client.post("/v1/auth/passkey", json={"credential": proof}).status_code == 401


@pytest.mark.parametrize(
    ("url", "rp_id"),
    [
        ("http://127.0.0.1:8420", "localhost"),
        ("http://[::1]:8420", "localhost"),
        ("http://localhost:8420", "localhost"),
        ("https://noc.example", "noc.example"),
    ],
)
def test_the_relying_party_is_the_host_of_the_installation(
    client: Caller, owner: Member, set_to: SetTo, url: str, rp_id: str
):
    set_to(public_url=url)
    assert options(client)["rpId"] == rp_id


def test_an_address_has_no_passkeys(client: Caller, owner: Member, set_to: SetTo):
    set_to(public_url="http://192.0.2.7:8420")
    assert code_of(client.post("/v1/auth/passkey-options")) == (409, "passkeys_unavailable")
