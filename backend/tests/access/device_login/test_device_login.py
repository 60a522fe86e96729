"""Login of a device (RFC 8628): its code, the decision of a person, the key, and what is refused."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import update

from sinemora.access.device_login.limits import _BEGUN_MAX, _WRONG_MAX
from sinemora.access.device_login.service import new_code, normal_form
from sinemora.access.signin import tasks
from sinemora.access.signin.models import OneTimeToken, Purpose
from tests.api_clients import Caller, Member, bearer, body_of, code_of, join, key_of
from tests.statements import execute, scalar

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"


def begin(client: Caller, scope: str = "write") -> dict[str, Any]:
    """Begin a login as a device does."""
    body = {"device_name": "sinemora on web-1", "scope": scope}
    headers = {"User-Agent": "sinemora-client/0.1.0 Python/3.11"}
    return body_of(client.post("/v1/device-logins", json=body, headers=headers))


def poll(client: Caller, begun: dict[str, Any]) -> Any:
    """Ask for the key."""
    body = {"grant_type": GRANT_TYPE, "device_code": begun["device_code"]}
    return client.post("/v1/device-logins/tokens", json=body)


def decide(person: Caller, begun: dict[str, Any], decision: str = "approve") -> Any:
    """Approve or deny as a person."""
    return person.post(f"/v1/device-logins/{decision}", json={"user_code": begun["user_code"]})


def change_rows(**data: Any) -> None:
    """Change the stored logins of devices."""
    execute(update(OneTimeToken).where(OneTimeToken.purpose == Purpose.device_login).values(**data))


def test_a_person_confirms_and_the_device_gets_a_key_of_theirs_once(client: Caller, owner: Member):
    begun = begin(client)
    assert begun["verification_uri_complete"] == f"{begun['verification_uri']}?code={begun['user_code']}"
    shown = owner.post("/v1/device-logins/lookup", json={"user_code": begun["user_code"].lower().replace("-", " ")})
    assert (
        body_of(shown).items()
        >= {
            **{"device_name": "sinemora on web-1", "address": "127.0.0.1", "role": "editor", "key_valid_days": 90},
            "program": "sinemora-client/0.1.0 Python/3.11",
        }.items()
    )
    assert poll(client, begun).json()["code"] == "authorization_pending"
    assert decide(owner, begun).status_code == 200

    granted = poll(client, begun).json()
    assert (granted["token_type"], granted["scope"], granted["email"]) == ("Bearer", "write", owner.email)
    device = bearer(client.http, granted["access_token"])
    assert device.get("/v1/auth/session").json()["role"] == "editor"
    assert device.post("/v1/meshes", json={"name": "m"}).status_code == 201
    assert poll(client, begun).json()["code"] == "expired_token"

    (key,) = owner.get("/v1/api-keys").json()["items"]
    assert key["owner"]["email"] == owner.email
    assert key["name"].startswith("sinemora on web-1, ")
    assert device.delete("/v1/api-keys/self").status_code == 204
    assert device.get("/v1/meshes").status_code == 401


def test_both_decisions_are_in_the_audit_log(client: Caller, owner: Member):
    for decision in ("approve", "deny"):
        begun = begin(client)
        assert decide(owner, begun, decision).status_code == 200
        poll(client, begun)
    entries = owner.get("/v1/audit-entries").json()["items"]
    found = {entry["action"]: entry for entry in entries if entry["action"].startswith(("device_login", "api_key"))}
    assert set(found) == {"device_login.approved", "device_login.denied", "api_key.created"}
    detail = found["device_login.approved"]["detail"]
    assert (detail["device_name"], detail["device_address"]) == ("sinemora on web-1", "127.0.0.1")
    assert found["device_login.approved"]["actor_name"] == owner.email


def test_a_refused_device_gets_no_key(client: Caller, owner: Member):
    begun = begin(client)
    decide(owner, begun, "deny")
    assert code_of(poll(client, begun)) == (400, "access_denied")
    assert owner.get("/v1/api-keys").json()["items"] == []
    assert decide(owner, begun).json()["code"] == "device_login_unknown"


def test_a_key_may_at_most_what_its_person_may(client: Caller, owner: Member):
    viewer = join(owner, "viewer")
    begun = begin(client)
    assert decide(viewer, begun).json()["role"] == "viewer"
    device = bearer(client.http, poll(client, begun).json()["access_token"])
    assert device.get("/v1/meshes").status_code == 200
    assert device.post("/v1/meshes", json={"name": "m"}).status_code == 403
    reads = begin(client, "read")
    assert decide(owner, reads).json()["role"] == "viewer"
    owner.delete(f"/v1/members/{viewer.user_id}")
    assert device.get("/v1/meshes").status_code == 401


def test_who_left_before_the_device_asked_gives_no_key(client: Caller, owner: Member):
    editor = join(owner, "editor")
    begun = begin(client)
    decide(editor, begun)
    owner.delete(f"/v1/members/{editor.user_id}")
    assert poll(client, begun).json()["code"] in ("access_denied", "expired_token")


def test_a_device_that_asks_too_fast_has_to_slow_down(client: Caller, servers: Any, database: Any):
    begun = begin(client)
    first, second = poll(client, begun), poll(client, begun)
    assert (first.json()["error"], first.headers["Retry-After"]) == ("authorization_pending", "5")
    assert (second.json()["error"], second.headers["Retry-After"]) == ("slow_down", "10")
    assert second.status_code == 400
    assert second.json()["error_description"] == second.json()["detail"]
    assert poll(client, begun).headers["Retry-After"] == "15"


def test_a_login_expires(client: Caller, owner: Member):
    begun = begin(client)
    change_rows(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert decide(owner, begun).json()["code"] == "device_login_unknown"
    assert poll(client, begun).json()["code"] == "expired_token"
    change_rows(expires_at=datetime.now(UTC) - timedelta(hours=2))
    tasks.sweep()
    assert scalar("SELECT count(*) FROM one_time_tokens") == 0


def test_codes_cannot_be_guessed(client: Caller, owner: Member):
    begun = begin(client)
    for _ in range(_WRONG_MAX):
        answer = owner.post("/v1/device-logins/lookup", json={"user_code": new_code()})
        assert answer.json()["code"] == "device_login_unknown"
    refused = decide(owner, begun)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
    assert int(refused.headers["Retry-After"]) > 0


def test_right_codes_are_not_counted(client: Caller, owner: Member):
    begun = begin(client)
    for _ in range(_WRONG_MAX + 2):
        assert owner.post("/v1/device-logins/lookup", json={"user_code": begun["user_code"]}).status_code == 200


def test_a_network_begins_a_bounded_number_of_logins(client: Caller, database: Any, redis: Any):
    answers = [client.post("/v1/device-logins", json={"device_name": "d"}).status_code for _ in range(_BEGUN_MAX + 1)]
    assert answers == [200] * _BEGUN_MAX + [429]


def test_only_a_person_who_has_just_signed_in_confirms(client: Caller, owner: Member):
    begun = begin(client)
    key = key_of(owner, "write", name="k")
    assert decide(key, begun).json()["code"] == "person_required"
    assert decide(client, begun).status_code == 401
    execute("UPDATE sessions SET authenticated_at = now() - interval '1 h'")
    assert decide(owner, begun).json()["code"] == "confirmation_required"
    assert decide(owner, begun, "deny").status_code == 200


def test_codes_have_no_vowels_and_are_read_as_people_type_them():
    for _ in range(200):
        code = new_code()
        assert not set(code) & set("AEIOUY0123456789")
        assert normal_form(code.lower().replace("-", " ")) == code
