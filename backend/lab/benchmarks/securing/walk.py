"""Every operation of the contract as every kind of caller, with the answers that the contract promises."""

import json
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from lab.benchmarks.securing.bad_requests import BadRequest, Operation, operations
from lab.benchmarks.securing.in_process import InProcess
from lab.benchmarks.storing.product import key_of
from sinemora.access.api_keys.scopes import KeyScope
from sinemora.access.tenants.access import CSRF_HEADER, SESSION_COOKIE, cookie_name
from sinemora.access.tenants.models import BrowserSession, Membership, Role, User
from sinemora.kit.db import system_session
from sinemora.kit.security import csrf_token, digest

Headers = list[tuple[str, str]]
_REFUSALS = (401, 403)
# These end the credential of the next request, or answer a wrong credential in their own way.
_LEFT_OUT = {
    ("post", "/v1/auth/sign-in"),
    ("get", "/v1/auth/status"),
    ("post", "/v1/auth/second-factor"),
    ("post", "/v1/auth/second-factor/passkey"),
    ("post", "/v1/auth/passkey"),
}


@dataclass(frozen=True)
class WalkCaller:
    """Caller of the walk: a role (by session), scopes (by key), an agent, or nobody that counts."""

    name: str
    headers: Headers
    role: Role | None = None
    scopes: frozenset[str] = frozenset()
    is_agent: bool = False

    def may(self, operation: Operation) -> bool:
        """Return whether the contract lets this caller use an operation."""
        required = operation.described["x-required-role"]
        if required == "none":
            return True
        if required == "agent" or self.is_agent:
            return required == "agent" and self.is_agent
        if self.scopes:
            return bool(self.scopes & set(operation.described["x-required-scopes"]))
        if self.role is None:
            return False
        return self.role.rank >= Role(required).rank


@dataclass
class Walk:
    """Answers of one caller: their number by kind, and what the contract does not promise."""

    caller: str
    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


async def walked(api: InProcess, contract: dict[str, Any], callers: Sequence[WalkCaller]) -> list[Walk]:
    """Send every operation with unknown ids and an empty body as every caller."""
    walks = []
    for caller in callers:
        walk = Walk(caller.name)
        for operation in _walked(contract):
            status, body = await api.send(_request(operation, {}), caller.headers)
            is_allowed = status not in _REFUSALS
            walk.answers[str(status) if not is_allowed else "allowed"] += 1
            if is_allowed != caller.may(operation) or status >= 500:
                walk.wrong.append(f"{operation.method} {operation.path}: {status} {body[:120]!r}")
        walks.append(walk)
    return walks


async def strangers(api: InProcess, contract: dict[str, Any], owner: WalkCaller, ids: dict[str, list[str]]) -> Walk:
    """Send every operation with the ids of another tenant and with unknown ids: the answers have to be equal."""
    walk = Walk(owner.name)
    for operation in _walked(contract):
        known = {part: ids[_noun(part)][0] for part in _parts(operation.path) if ids.get(_noun(part))}
        if not known:
            continue
        theirs, unknown = [await api.send(_request(operation, of), owner.headers) for of in (known, {})]
        walk.answers["as unknown"] += 1
        if (theirs[0], _code(theirs[1])) != (unknown[0], _code(unknown[1])):
            walk.wrong.append(f"{operation.method} {operation.path}: {theirs[0]}, unknown ids {unknown[0]}")
    return walk


def every_caller(tenant_id: UUID, other_tenant_id: UUID, credential: str) -> list[WalkCaller]:
    """Return a caller of each kind: nobody, bad credentials, each role, each scope, an agent, another tenant."""
    nobody = [
        WalkCaller("anonymous", []),
        WalkCaller("unknown key", [("authorization", f"Bearer sm_{uuid4()}")]),
        WalkCaller("unknown embed link", [("authorization", f"Bearer sme_{uuid4()}")]),
        WalkCaller("unknown session", [("cookie", f"{cookie_name(SESSION_COOKIE)}={'x' * 43}")]),
    ]
    roles = [WalkCaller(f"role {role}", session_of(tenant_id, role), role) for role in Role]
    keys = [
        WalkCaller(f"key {scope}", [("authorization", f"Bearer {key_of(tenant_id, scope)}")], scopes=frozenset({scope}))
        for scope in KeyScope
    ]
    agent = WalkCaller("agent", [("authorization", f"Bearer {credential}")], is_agent=True)
    other = WalkCaller("owner of another tenant", session_of(other_tenant_id, Role.owner), Role.owner)
    return [*nobody, *roles, *keys, agent, other]


def session_of(tenant_id: UUID, role: Role) -> Headers:
    """Return the headers of a new person who has just signed in with a role and a second factor."""
    secret = secrets.token_urlsafe(32)
    with system_session() as session:
        user = User(email=f"{uuid4().hex[:12]}@bench.example", password_hash="no password")
        session.add(user)
        session.flush()
        session.add(Membership(tenant_id=tenant_id, user_id=user.id, role=role))
        session.flush()
        session.add(
            BrowserSession(
                tenant_id=tenant_id,
                user_id=user.id,
                secret_digest=digest(secret),
                expires_at=datetime.now(UTC) + timedelta(hours=12),
                second_factor=True,
            )
        )
    return [("cookie", f"{cookie_name(SESSION_COOKIE)}={secret}"), (CSRF_HEADER, csrf_token(secret))]


def _walked(contract: dict[str, Any]) -> list[Operation]:
    return [one for one in operations(contract) if (one.method, one.path) not in _LEFT_OUT]


def _request(operation: Operation, ids: dict[str, str]) -> BadRequest:
    parts = [ids.get(part, str(uuid4())) if part.startswith("{") else part for part in operation.path.split("/")]
    return BadRequest("", operation.method.upper(), "/".join(parts), [("if-match", "*")])


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part.startswith("{")]


def _noun(part: str) -> str:
    noun = part.strip("{}").removesuffix("_id")
    return "vm" if noun.endswith("_vm") else noun


def _code(body: bytes) -> str | None:
    try:
        return str(json.loads(body).get("code"))
    except (ValueError, AttributeError):
        return None
