"""A person sees all signed-in browsers and ends them: one, the others, all."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from sinemora.access.signin.user_agents import browser_name
from sinemora.access.tenants.models import BrowserSession
from tests.access.signin.conftest import FIREFOX, actions, attempt, browser
from tests.api_clients import Caller, Member
from tests.statements import execute


def listed(member: Member) -> list[dict]:
    return member.get("/v1/account/sessions").json()["items"]


def test_sessions_are_listed_newest_first(client: Caller, owner: Member):
    attempt(client, owner.email, **{"User-Agent": FIREFOX})
    newest, oldest = listed(owner)
    assert (newest["browser"], newest["is_current"], newest["method"]) == ("Firefox on Linux", False, "password")
    assert oldest["is_current"]
    assert newest["address"]
    assert newest["created_at"] <= newest["last_used_at"] < newest["expires_at"]


def test_one_session_is_ended(client: Caller, owner: Member, other_owner: Member):
    other = browser(client, attempt(client, owner.email))
    ended = next(row["id"] for row in listed(owner) if not row["is_current"])
    assert owner.delete(f"/v1/account/sessions/{ended}").status_code == 204
    assert other.get("/v1/meshes").status_code == 401
    assert owner.get("/v1/meshes").status_code == 200
    for unknown in (ended, listed(other_owner)[0]["id"]):
        assert owner.delete(f"/v1/account/sessions/{unknown}").json()["code"] == "session_unknown"
    assert other_owner.get("/v1/meshes").status_code == 200
    assert "session.ended" in actions(owner)


def test_signing_out_everywhere(client: Caller, owner: Member):
    other = browser(client, attempt(client, owner.email))
    assert other.delete("/v1/account/sessions?keep_this=true").status_code == 204
    assert owner.get("/v1/meshes").status_code == 401
    assert other.get("/v1/meshes").status_code == 200
    answer = other.delete("/v1/account/sessions")
    assert answer.status_code == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert other.get("/v1/meshes").status_code == 401


def test_use_is_stored_once_a_minute(owner: Member):
    old = datetime.now(UTC) - timedelta(minutes=5)
    of_owner = BrowserSession.user_id == owner.user_id
    execute(update(BrowserSession).where(of_owner).values(last_used_at=old))
    owner.get("/v1/meshes")
    assert datetime.fromisoformat(listed(owner)[0]["last_used_at"]) > old + timedelta(minutes=4)
    recent = datetime.now(UTC) - timedelta(seconds=30)
    execute(update(BrowserSession).where(of_owner).values(last_used_at=recent))
    assert datetime.fromisoformat(listed(owner)[0]["last_used_at"]) == recent


def test_a_person_has_at_most_50_sessions(client: Caller, owner: Member):
    execute(
        "INSERT INTO sessions (id, tenant_id, user_id, secret_digest, expires_at, created_at)"
        " SELECT gen_random_uuid(), tenant_id, user_id, gen_random_uuid()::text::bytea, expires_at,"
        " created_at - interval '1 h' FROM sessions, generate_series(1, 60) WHERE user_id = :id",
        {"id": owner.user_id},
    )
    newest = browser(client, attempt(client, owner.email))
    assert len(newest.get("/v1/account/sessions").json()["items"]) == 50
    assert owner.get("/v1/meshes").status_code == 200  # the oldest ones ended


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36", "Chrome on Windows"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/18 Safari/605", "Safari on macOS"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/604", "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.14.1", "curl"),
        ("", "unknown browser"),
    ],
)
def test_browsers_have_names(user_agent: str, name: str):
    assert browser_name(user_agent) == name
