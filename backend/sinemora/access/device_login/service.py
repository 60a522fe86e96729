"""Use cases of device logins (RFC 8628): begin, look up, decide, hand the key over."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.api_keys import service as api_keys
from sinemora.access.api_keys.schemas import ApiKeyCreate
from sinemora.access.api_keys.scopes import KeyScope, role_of
from sinemora.access.device_login import limits, queries
from sinemora.access.device_login.schemas import Access
from sinemora.access.signin import tokens
from sinemora.access.signin.models import OneTimeToken, Purpose
from sinemora.access.signin.sessions import Browser
from sinemora.access.signin.user_agents import browser_name
from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Membership, Role, Tenant, User
from sinemora.kit.config import settings
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.security import digest

LIFE = timedelta(minutes=10)
KEY_LIFE = timedelta(days=90)
INTERVAL_S = 5
_SLOWER_S = 5
_SHOWN_MAX = 200
# Codes that people compare and type: 8 consonants, so that they make no words (RFC 8628, 6.1).
_SIGNS = "BCDFGHJKLMNPQRSTVWXZ"
_HALF = 4


@dataclass(frozen=True)
class BegunLogin:
    """Login that a device has begun: its secret, and the code for the person."""

    device_code: str
    user_code: str


@dataclass(frozen=True)
class PendingLogin:
    """Login that waits for a decision, as it is shown to a person, and the role that its key would act as."""

    user_code: str
    device_name: str
    scope: Access
    address: str
    program: str
    created_at: datetime
    expires_at: datetime
    role: Role


@dataclass(frozen=True)
class Granted:
    """Key of a confirmed device, and what it is for."""

    secret: str
    expires_at: datetime
    scope: Access
    email: str
    tenant_name: str


def begin(device_name: str, scope: Access, browser: Browser) -> BegunLogin:
    """Store a login that waits for a person. ProductError `too_many_attempts` (429)."""
    limits.count_begun(browser.address)
    now = datetime.now(UTC)
    user_code = new_code()
    with system_session() as session:
        device_code = tokens.create(
            session,
            Purpose.device_login,
            None,
            LIFE,
            now,
            user_code=user_code,
            state="waiting",
            device_name=device_name,
            scope=scope.value,
            address=browser.address,
            user_agent=browser.user_agent[:_SHOWN_MAX],
            interval_s=INTERVAL_S,
            polled_at=None,
        )
    return BegunLogin(device_code, user_code)


def look_up(actor: Actor, user_code: str) -> PendingLogin:
    """Return what waits under a code. ProductError `device_login_unknown` (404), `too_many_attempts` (429)."""
    with system_session() as session:
        return _shown(_waiting(session, actor, user_code), actor)


def approve(actor: Actor, user_code: str) -> PendingLogin:
    """Let a device act for a person in their tenant; record it there.

    ProductError `device_login_unknown` (404), `too_many_attempts` (429).
    """
    return _decide(actor, user_code, "approved")


def deny(actor: Actor, user_code: str) -> PendingLogin:
    """Refuse a device; record it. ProductError `device_login_unknown` (404), `too_many_attempts` (429)."""
    return _decide(actor, user_code, "denied")


def take_key(device_code: str) -> Granted:
    """Return the key of a device whose login was approved; the code is used up.

    ProductError `authorization_pending`, `slow_down`, `access_denied`, `expired_token` (400; RFC 8628, 3.5).
    """
    now = datetime.now(UTC)
    refusal: ProductError | None = None
    with system_session() as session:
        row = queries.by_device_code(session, digest(device_code))
        if row is None or row.expires_at <= now:
            refusal = _refusal("expired_token", "Login expired: the code is used or older than 10 minutes.")
        elif row.data["state"] == "waiting":
            refusal = _still_waiting(row, now)
        else:
            session.delete(row)
            if row.data["state"] == "denied":
                refusal = _refusal("access_denied", "Login refused: the person refused this device.")
        approved = (row.user_id, dict(row.data)) if row is not None and refusal is None else None
    # After the commit: a poll that is refused has to be counted too.
    if approved is None or approved[0] is None:
        raise refusal or _refusal("expired_token", "Login expired: the code is used or older than 10 minutes.")
    return _key_of(approved[0], approved[1], now)


def _key_of(user_id: UUID, data: dict[str, Any], now: datetime) -> Granted:
    """Create the key in a transaction of its tenant. ProductError `access_denied` for who is no member any more."""
    tenant_id, scope = UUID(data["tenant_id"]), Access(data["scope"])
    with tenant_session(tenant_id) as session:
        membership = session.get(Membership, (tenant_id, user_id))
        if membership is None:
            raise _refusal("access_denied", "Login refused: the person is no longer a member of the tenant.")
        tenant = session.get_one(Tenant, tenant_id)
        actor = Actor(tenant.id, tenant.key, tenant.name, "user", user_id, membership.user.email, Role(membership.role))
        body = ApiKeyCreate(
            name=f"{data['device_name']}, {now:%Y-%m-%d %H:%M} {secrets.token_hex(2)}",
            scopes=[KeyScope(scope.value)],
            expires_at=now + KEY_LIFE,
        )
        key, secret = api_keys.create_api_key(session, actor, body)
        return Granted(secret, key.expires_at, scope, actor.name, tenant.name)


def _still_waiting(row: OneTimeToken, now: datetime) -> ProductError:
    """Store the time of a poll and return its answer: a device that polls too fast has to wait longer from now on."""
    polled_at, interval_s = row.data["polled_at"], int(row.data["interval_s"])
    too_fast = polled_at is not None and (now - datetime.fromisoformat(polled_at)).total_seconds() < interval_s - 1
    if too_fast:
        interval_s += _SLOWER_S
    row.data = row.data | {"polled_at": now.isoformat(), "interval_s": interval_s}
    if too_fast:
        return _refusal("slow_down", f"Too fast: wait {interval_s} s between questions.", interval_s)
    return _refusal("authorization_pending", "Not decided yet: the person has not confirmed the code.", interval_s)


def _refusal(code: str, detail: str, interval_s: int | None = None) -> ProductError:
    """Return a refusal as problem details that has the members of OAuth 2.0 too (RFC 6749, 5.2)."""
    headers = {} if interval_s is None else {"Retry-After": str(interval_s)}
    return ProductError(code, 400, detail, headers=headers, error=code, error_description=detail)


def _decide(actor: Actor, user_code: str, state: str) -> PendingLogin:
    with system_session() as session:
        row = _waiting(session, actor, user_code)
        shown = _shown(row, actor)
        row.user_id = actor.id
        row.data = row.data | {"state": state, "tenant_id": str(actor.tenant_id)}
        detail = {
            "device_name": shown.device_name,
            "device_address": shown.address,
            "program": shown.program,
            "scope": shown.scope.value,
        }
        user = session.get_one(User, actor.id)
        audit.record_session(session, actor.tenant_id, user, f"device_login.{state}", detail)
    return shown


def _waiting(session: Session, actor: Actor, user_code: str) -> OneTimeToken:
    counted = limits.count_code(actor.id)
    row = existing(queries.waiting(session, normal_form(user_code), datetime.now(UTC)), "device login")
    limits.forgive(counted)
    return row


def _shown(row: OneTimeToken, actor: Actor) -> PendingLogin:
    scope = Access(row.data["scope"])
    user_agent = row.data["user_agent"]
    # Programs of ours name themselves; others are named as browsers are.
    program = user_agent if user_agent.startswith("sinemora-client/") else browser_name(user_agent)
    return PendingLogin(
        user_code=row.data["user_code"],
        device_name=row.data["device_name"],
        scope=scope,
        address=row.data["address"],
        program=program,
        created_at=row.created_at,
        expires_at=row.expires_at,
        role=min(role_of([scope.value]), actor.role, key=lambda one: one.rank),
    )


def verification_uri() -> str:
    """Return the address of the page on which people enter codes."""
    return f"{settings().public_url}/device"


def new_code() -> str:
    """Return a random code of 34 bits, such as `WDJB-MJHT`."""
    signs = [secrets.choice(_SIGNS) for _ in range(2 * _HALF)]
    return f"{''.join(signs[:_HALF])}-{''.join(signs[_HALF:])}"


def normal_form(typed: str) -> str:
    """Return a code as `new_code` writes it: upper case, one hyphen, whatever else was typed left out."""
    signs = "".join(sign for sign in typed.upper() if sign in _SIGNS)
    return f"{signs[:_HALF]}-{signs[_HALF:]}"
