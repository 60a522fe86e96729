"""Every route, and callers on both sides of its role: the answers of the contract, read from `x-required-role`."""

from collections.abc import Iterable
from typing import Any
from uuid import uuid4

import pytest

from sinemora.access.tenants.access import SESSION_COOKIE, cookie_name
from tests import seeds
from tests.api_clients import Caller, Member, join, key_of
from tests.test_every_route import filled, operations

RANK = {"viewer": 0, "editor": 1, "admin": 2, "owner": 3}
REFUSALS = {401, 403}
# They would end the session of the next request, or refuse credentials of a body that callers do not send.
NOT_SENT = {
    "/v1/auth/sign-out",
    "/v1/auth/sign-in",
    "/v1/auth/second-factor",
    "/v1/auth/second-factor/passkey",
    "/v1/auth/passkey",
    "/v1/api-keys/self",
}


def test_every_operation_states_its_role():
    assert {operation["x-required-role"] for _, _, operation in operations()} == {"none", "agent", *RANK}


def allowed(method: str, path: str, caller: Caller) -> bool:
    """Return whether a request with random ids and an empty body passes authentication and authorisation."""
    answer = caller.request(method.upper(), filled(path, uuid4()), headers={"If-Match": "*"})
    assert answer.status_code < 500, (method, path, answer.text)
    return answer.status_code not in REFUSALS


@pytest.fixture
def callers(client: Caller, owner: Member, make_mesh: Any) -> dict[str, tuple[Caller, str | None]]:
    """Return callers with their role; `agent` is one of its own, None for those without credentials that count."""
    wrong = {"Authorization": f"Bearer sm_{uuid4()}"}
    return {
        "anonymous": (client, None),
        "unknown key": (Caller(client.http, wrong), None),
        "unknown session": (Caller(client.http, cookies={cookie_name(SESSION_COOKIE): "x" * 43}), None),
        "unknown embed": (Caller(client.http, {"Authorization": f"Bearer sme_{uuid4()}"}), None),
        "key read": (key_of(owner, "read", name="reads"), "viewer"),
        "key write": (key_of(owner, "write", name="writes"), "editor"),
        "viewer": (join(owner, "viewer"), "viewer"),
        "editor": (join(owner, "editor"), "editor"),
        "administrator": (join(owner, "admin"), "admin"),
        "owner": (owner, "owner"),
        "agent": (make_mesh(owner, 1).agents[0], "agent"),
    }


def asking(number: int, required: str, callers: Iterable[str]) -> set[str]:
    """Return who asks for the operation of a number: callers on both sides of its role, and one of the strangers.

    With SEEDS=all, everybody.
    """
    if seeds.ALL:
        return set(callers)
    strangers = ("anonymous", "unknown key", "unknown session", "unknown embed")
    people = ("viewer", "editor", "administrator", "owner")
    at = RANK.get(required, len(people) - 1)
    keys = {"key read"} if at == 0 else {"key read", "key write"}
    return {strangers[number % len(strangers)], "agent", *people[max(at - 1, 0) : at + 1], *keys}


def test_every_route_answers_callers_by_its_role(callers: dict[str, tuple[Caller, str | None]]):
    wrong = []
    # An agent that retires is nobody afterwards.
    in_order = sorted(operations(), key=lambda one: one[:2] == ("delete", "/v1/agents/self"))
    for number, (method, path, operation) in enumerate(in_order):
        required = operation["x-required-role"]
        if (method, path) == ("delete", "/v1/account/sessions"):
            path += "?keep_this=true"
        if path in NOT_SENT:
            continue
        for name in asking(number, required, callers):
            caller, role = callers[name]
            if required == "none":
                expected = True
            elif "agent" in (required, role):
                expected = required == role
            else:
                expected = role is not None and RANK[role] >= RANK[required]
            if operation.get("x-person-only") and name.startswith("key "):
                expected = False
            if path == "/v1/auth/status" and role in (None, "agent") and "Authorization" in caller.headers:
                expected = False  # a token that is none is an error, no session is not
            if allowed(method, path, caller) != expected:
                wrong.append((name, method, path, required))
    assert wrong == []


def test_an_owner_without_the_csrf_token_changes_nothing(owner: Member):
    session = cookie_name(SESSION_COOKIE)
    bare = Caller(owner.http, cookies={session: owner.cookies[session]})
    for method, path, operation in operations():
        if method == "get" or operation["x-required-role"] in ("none", "agent"):
            continue
        answer = bare.request(method.upper(), filled(path, uuid4()), headers={"If-Match": "*"})
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_token_invalid"), (method, path)
