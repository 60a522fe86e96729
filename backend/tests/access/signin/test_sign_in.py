import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from redis import Redis
from sqlalchemy import Engine

from sinemora.access.signin import throttle
from sinemora.access.tenants.access import CSRF_COOKIE, DEVICE_COOKIE, SESSION_COOKIE, cookie_name
from sinemora.access.tenants.tasks import sweep
from sinemora.kit import security
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from tests.access.signin.conftest import attempt, known_device
from tests.api_clients import PASSWORD, Caller, Member, SetTo
from tests.statements import execute, rows, scalar
from tests.waits import WAIT_MOST_S, until


def test_signing_in_opens_a_session(client: Caller, owner: Member):
    answer = attempt(client, owner.email.upper())
    assert answer.status_code == 200
    body = answer.json()
    assert body["user"]["email"] == owner.email
    assert body["role"] == "owner"
    session, csrf = (
        next(c for c in answer.headers.get_list("set-cookie") if c.startswith(cookie_name(name)))
        for name in (SESSION_COOKIE, CSRF_COOKIE)
    )
    assert "HttpOnly" in session
    assert "SameSite=lax" in session
    assert "HttpOnly" not in csrf
    assert body["csrf_token"] in csrf
    assert owner.get("/v1/auth/session").json()["tenant"]["id"] == str(owner.tenant_id)


def test_behind_https_no_other_host_can_set_the_cookies(client: Caller, owner: Member, set_to: SetTo):
    set_to(cookie_secure="true")
    set_to(public_url="https://sinemora.example.com")
    opened = attempt(client, owner.email)
    lines = {line.partition("=")[0]: line for line in opened.headers.get_list("set-cookie")}
    for name in ("__Host-sinemora_session", "__Host-sinemora_csrf"):
        assert "Path=/;" in lines[name] + ";"
        assert "Secure" in lines[name]
        assert "Domain" not in lines[name]
    assert "__Secure-sinemora_device" in lines
    secret = lines["__Host-sinemora_session"].partition("=")[2].partition(";")[0]
    account = [
        Caller(client.http, cookies={name: secret}).get("/v1/account").status_code
        for name in ("__Host-sinemora_session", "sinemora_session")
    ]
    assert account == [200, 401]


def test_installations_on_other_ports_of_a_host_leave_the_session_alone(client: Caller, owner: Member, set_to: SetTo):
    jar: dict[str, str] = {}
    for port in (8420, 9420):
        set_to(public_url=f"http://127.0.0.1:{port}")
        jar |= dict(attempt(client, owner.email).cookies)
    assert {"sinemora_session_8420", "sinemora_csrf_8420", "sinemora_session_9420", "sinemora_csrf_9420"} <= set(jar)
    set_to(public_url="http://127.0.0.1:8420")
    signed_out = Caller(client.http, cookies=jar, headers={"X-CSRF-Token": jar["sinemora_csrf_8420"]})
    assert signed_out.post("/v1/auth/sign-out").status_code == 204
    assert Caller(client.http, cookies=jar).get("/v1/account").status_code == 401
    set_to(public_url="http://127.0.0.1:9420")
    assert Caller(client.http, cookies=jar).get("/v1/account").status_code == 200


@pytest.mark.parametrize(("email", "password"), [("{owner}", "wrong password"), ("nobody@sinemora.example", PASSWORD)])
def test_wrong_credentials_look_alike(client: Caller, owner: Member, email: str, password: str):
    answer = attempt(client, email.format(owner=owner.email), password)
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_credentials")
    assert "set-cookie" not in answer.headers


def test_an_unknown_user_costs_a_hash_too(client: Caller, owner: Member, monkeypatch: pytest.MonkeyPatch):
    hashed: list[str] = []

    class Watched(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            hashed.append(str(hash).rsplit("$", 2)[0])  # the parameters, which decide the time
            return super().verify(hash, password)

    monkeypatch.setattr(security, "_hasher", Watched())
    attempt(client, owner.email, "wrong password")
    attempt(client, "nobody@sinemora.example", "wrong password")
    assert len(hashed) == 2
    assert hashed[0] == hashed[1]


def test_success_is_not_counted(client: Caller, owner: Member, set_to: SetTo):
    set_to(sign_in_attempts="1")
    assert [attempt(client, owner.email).status_code for _ in range(12)] == [200] * 12


@pytest.mark.parametrize(
    ("guesser", "locked", "free"),
    [
        ("203.0.113.9", "203.0.113.9", "198.51.100.7"),
        ("2001:db8:1:2::{n:x}", "2001:db8:1:2:ffff::1", "2001:db8:1:3::1"),  # a network of IPv6 is one guesser
    ],
)
def test_who_guesses_locks_himself_out_and_not_the_owner(
    database: Engine, redis: Redis, guesser: str, locked: str, free: str
):
    for n in range(settings().sign_in_attempts):
        throttle.begin("owner@sinemora.example", guesser.format(n=n))
    with pytest.raises(ProductError, match="Too many"):
        throttle.begin("owner@sinemora.example", locked)
    throttle.begin("owner@sinemora.example", free)


def test_guessing_from_everywhere_is_throttled_too(database: Engine, redis: Redis):
    for n in range(settings().sign_in_attempts * 10):
        throttle.begin("owner@sinemora.example", f"198.51.{n // 250}.{n % 250}")
    with pytest.raises(ProductError, match="Too many"):
        throttle.begin("owner@sinemora.example", "203.0.113.9")


def test_an_office_with_many_failures_still_signs_in(client: Caller, owner: Member, other_owner: Member, set_to: SetTo):
    set_to(sign_in_attempts="2")
    for n in range(30):
        attempt(client, f"{n}@sinemora.example", "wrong password")
    for _ in range(3):
        attempt(client, owner.email, "wrong password")
    refused = attempt(client, owner.email)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
    assert int(refused.headers["Retry-After"]) > 0
    assert attempt(client, other_owner.email).status_code == 200
    guesses = [attempt(client, "nobody@sinemora.example", "wrong password").status_code for _ in range(2)]
    assert guesses == [401, 429]


def test_the_status_of_a_browser_is_its_session_or_nothing(client: Caller, owner: Member):
    answer = client.get("/v1/auth/status")
    assert (answer.status_code, answer.json()) == (200, {"session": None, "first_account_due": False})
    assert owner.get("/v1/auth/status").json()["session"] == owner.get("/v1/auth/session").json()
    owner.post("/v1/auth/sign-out")
    assert owner.get("/v1/auth/status").json()["session"] is None


@pytest.mark.whole_store
def test_a_session_ends_by_itself(owner: Member):
    execute("UPDATE sessions SET expires_at = now() - interval '1 s'")
    assert owner.get("/v1/auth/session").status_code == 401
    sweep()
    assert scalar("SELECT count(*) FROM sessions") == 0


def test_a_csrf_token_of_another_session_does_not_fit(owner: Member, other_owner: Member):
    owner.headers["X-CSRF-Token"] = other_owner.headers["X-CSRF-Token"]
    assert owner.post("/v1/meshes", json={"name": "m"}).status_code == 403


def test_neither_passwords_nor_cookies_are_kept(owner: Member):
    assert all(user.startswith("$argon2id$") for (user,) in rows("SELECT password_hash FROM users"))
    secret = owner.cookies[cookie_name(SESSION_COOKIE)]
    for (session,) in rows("SELECT row_to_json(s)::text FROM sessions s"):
        assert not any(form in session for form in (secret, secret.encode().hex()))


def test_a_known_browser_is_not_locked_out_by_others(client: Caller, owner: Member, set_to: SetTo):
    set_to(sign_in_attempts="2")
    while attempt(client, owner.email, "wrong password").status_code != 429:
        pass
    assert attempt(client, owner.email, **known_device(owner)).status_code == 200
    assert attempt(client, owner.email).status_code == 429


def test_a_made_up_device_counts_as_a_stranger(client: Caller, owner: Member, set_to: SetTo):
    set_to(sign_in_attempts="2")
    device = cookie_name(DEVICE_COOKIE)
    statuses = [
        attempt(client, owner.email, "wrong password", Cookie=f"{device}=n{n}.00").status_code for n in range(4)
    ]
    assert statuses == [401, 401, 429, 429]


def test_the_audit_log_has_sign_ins(client: Caller, owner: Member, set_to: SetTo):
    set_to(sign_in_attempts="2")
    for _ in range(4):
        attempt(client, owner.email, "wrong password")
    entries = owner.get("/v1/audit-entries", params={"action": "session."}).json()["items"]
    actions = [entry["action"] for entry in entries]
    assert actions.count("session.refused") == 2
    assert actions.count("session.locked") == 1
    assert all(entry["detail"]["address"] and entry["actor_name"] == owner.email for entry in entries)
    assert owner.get("/v1/audit-entries", params={"action": "mesh.created"}).json()["items"] == []
    assert owner.post("/v1/auth/sign-out").status_code == 204


def test_200_waiting_sign_ins_keep_no_thread_from_other_requests(
    client: Caller, owner: Member, redis: Redis, monkeypatch: pytest.MonkeyPatch, set_to: SetTo
):
    """Hashing is held up here until a reader has its answer; 200 sign-ins wait for it meanwhile."""
    answered, hashing = threading.Event(), threading.Semaphore(0)

    class Held(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            hashing.release()
            answered.wait(WAIT_MOST_S)
            raise VerifyMismatchError

    set_to(sign_in_attempts="1000")
    monkeypatch.setattr(security, "_hasher", Held())
    with ThreadPoolExecutor(201) as pool:
        waiting = [pool.submit(attempt, client, f"p{n}@noc.example", "wrong password") for n in range(200)]
        try:
            assert all(hashing.acquire(timeout=WAIT_MOST_S) for _ in range(security._AT_ONCE))
            # Each has been counted, so it waits for its turn.
            until(lambda: len(redis.keys("sign-in:*")) >= 401, "200 sign-ins that wait")
            assert pool.submit(owner.get, "/v1/meshes").result(timeout=WAIT_MOST_S).status_code == 200
        finally:
            answered.set()
        assert {answer.result(WAIT_MOST_S).status_code for answer in waiting} == {401}
