"""Browser sessions of a person: opened at sign-in, listed, ended."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.signin import notices, queries, throttle
from sinemora.access.signin.user_agents import browser_name
from sinemora.access.tenants import audit
from sinemora.access.tenants import queries as tenant_queries
from sinemora.access.tenants.access import Actor, is_factor_due
from sinemora.access.tenants.models import BrowserSession, Membership, Method, Role, Tenant, User
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import NotFound
from sinemora.kit.http.paging import PageQuery, Slice, paginate
from sinemora.kit.security import digest

_SESSIONS_MAX = 50
_FIRST_BROWSERS = timedelta(hours=1)  # a person who has just got the account knows who signs in


@dataclass(frozen=True)
class Browser:
    """Sender of a request: its address, its `User-Agent`, and its device token if it has one."""

    address: str
    user_agent: str
    device: str | None = None

    def described(self) -> dict[str, str]:
        """Return the fields of an audit entry."""
        return {"address": self.address, "user_agent": self.user_agent[:200]}

    def device_of(self, user: User) -> str | None:
        """Return the device token if `user` signed in from this browser before."""
        known = self.device is not None and throttle.is_known_device(user.password_hash, self.device)
        return self.device if known else None

    def named(self) -> str:
        """Return browser and address for a mail."""
        return f"{browser_name(self.user_agent)}, address {self.address}"


@dataclass(frozen=True)
class Opened:
    """New browser session: user, tenant, role, the secret for its cookie, and a token of the browser.

    A session of one tenant has no `device`: such a token lets the browser try passwords of the account.
    """

    user: User
    tenant: Tenant
    role: Role
    secret: str
    device: str | None
    second_factor_due: bool


def open_session(
    session: Session,
    user: User,
    membership: Membership,
    browser: Browser,
    method: Method,
    *,
    second_factor: bool,
    known: bool,
) -> Opened:
    """Open a browser session in a system session, record it, and notify the person of a new browser (`known` false).

    A person has at most 50 sessions, and 50 by the identity provider of each tenant: the oldest one ends.
    """
    now = datetime.now(UTC)
    of_one_tenant = membership.tenant_id if method == Method.identity_provider else None
    for old in queries.oldest_sessions(session, user.id, of_one_tenant, _SESSIONS_MAX - 1):
        session.delete(old)
    secret = secrets.token_urlsafe(32)
    row = BrowserSession(
        tenant_id=membership.tenant_id,
        user_id=user.id,
        secret_digest=digest(secret),
        expires_at=now + timedelta(hours=settings().session_hours),
        method=method,
        second_factor=second_factor,
        address=browser.address,
        user_agent=browser.user_agent[:200],
        authenticated_at=now,
        last_used_at=now,
    )
    session.add(row)
    fields = {"method": method.value, "second_factor": second_factor, **browser.described()}
    audit.record_session(session, membership.tenant_id, user, "session.created", fields)
    if not known and of_one_tenant is None and now - user.created_at > _FIRST_BROWSERS:
        notices.new_browser(session, user, browser.named(), now)
    tenant = session.get_one(Tenant, membership.tenant_id)
    device = None if of_one_tenant else throttle.device_token(user.password_hash)
    return Opened(user, tenant, membership.role, secret, device, is_factor_due(tenant, row))


def sign_out(secret: str, browser: Browser) -> None:
    """End the browser session with this cookie. An expired session is no error."""
    with system_session() as session:
        row = tenant_queries.signed_in(session, digest(secret), datetime.now(UTC))
        tenant_queries.end_session(session, digest(secret))
        if row is not None:
            _, membership, tenant = row
            audit.record_session(session, tenant.id, membership.user, "session.ended", dict(browser.described()))


def list_sessions(actor: Actor, page: PageQuery) -> Slice[tuple[BrowserSession, str]]:
    """Return the unexpired sessions of a person in all tenants, newest first, each with the name of its tenant.

    A session of one tenant shows those of this tenant.
    """
    with system_session() as session:
        statement = queries.sessions(actor.id, datetime.now(UTC))
        if actor.of_one_tenant:
            statement = statement.where(BrowserSession.tenant_id == actor.tenant_id)
        rows = paginate(session, statement, page, BrowserSession.created_at, BrowserSession.id, descending=True)
        names = {tenant.id: tenant.name for tenant in queries.tenants(session, actor.id)}
    return Slice([(row, names.get(row.tenant_id, "")) for row in rows.items], rows.next_cursor)


def end_session(actor: Actor, session_id: UUID, browser: Browser) -> None:
    """End one session of the caller. ProductError `session_unknown`."""
    with system_session() as session:
        row = session.get(BrowserSession, session_id)
        is_elsewhere = row is not None and actor.of_one_tenant and row.tenant_id != actor.tenant_id
        if row is None or row.user_id != actor.id or is_elsewhere:
            raise NotFound("session")
        session.delete(row)
        user = session.get_one(User, actor.id)
        audit.record_session(session, row.tenant_id, user, "session.ended", dict(browser.described()))


def end_sessions(actor: Actor, browser: Browser, *, keep_this: bool) -> None:
    """End all sessions of the caller in all tenants, or in the one of the session; `keep_this` keeps this session."""
    with system_session() as session:
        tenant_id = actor.tenant_id if actor.of_one_tenant else None
        ended = queries.end_sessions(session, actor.id, actor.session_id if keep_this else None, tenant_id)
        user = session.get_one(User, actor.id)
        if tenant_id is None:
            record(session, user, "session.all_ended", browser, sessions=ended)
        else:
            fields = {"sessions": ended, **browser.described()}
            audit.record_session(session, tenant_id, user, "session.all_ended", fields)


def record(session: Session, user: User, action: str, browser: Browser | None, **detail: object) -> None:
    """Record what a user did to their account in the audit log of each of their tenants; `detail` is JSON."""
    fields = {**detail, **(browser.described() if browser else {})}
    for membership in tenant_queries.memberships(session, user.id):
        audit.record_session(session, membership.tenant_id, user, action, fields)
