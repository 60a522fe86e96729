"""Second factors that a person sets up and removes, and confirmation before sensitive changes."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from sinemora.access.signin import factors, notices, queries, recovery, sessions, throttle, totp
from sinemora.access.signin.models import Passkey, RecoveryCode, TotpSecret
from sinemora.access.signin.sessions import Browser
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import BrowserSession, Tenant, User
from sinemora.kit.db import system_session
from sinemora.kit.errors import NotFound, ProductError, existing
from sinemora.kit.security import check_password_in_turn

_ISSUER = "Sinemora"


@dataclass(frozen=True)
class Account:
    """Account of a person: the user, the authenticator app if confirmed, passkeys, number of unused recovery codes.

    `password_changed_at`: None without a password.
    """

    user: User
    password_changed_at: datetime | None
    totp: TotpSecret | None
    passkeys: list[Passkey]
    recovery_codes_left: int
    required_by: list[str]


@dataclass(frozen=True)
class TotpSetup:
    """Secret of an authenticator app that waits for a first code."""

    secret: str
    uri: str
    qr_code: str


def read(actor: Actor) -> Account:
    """Return the account of a person; in a session of one tenant, without credentials and names of other tenants."""
    with system_session() as session:
        user = session.get_one(User, actor.id)
        if actor.of_one_tenant:
            return Account(user, None, None, [], 0, [])
        return Account(
            user,
            user.password_changed_at,
            queries.confirmed_totp(session, user.id),
            list(queries.passkeys(session, user.id)),
            queries.unused_codes(session, user.id),
            [tenant.name for tenant in queries.tenants(session, user.id) if tenant.second_factor_required],
        )


def rename(actor: Actor, name: str, browser: Browser) -> None:
    """Give the caller another name; the audit log of each of their tenants has both."""
    with system_session() as session:
        user = session.get_one(User, actor.id)
        if user.name != name:
            sessions.record(session, user, "account.renamed", browser, name_before=user.name, name_after=name)
            user.name = name


async def confirm(actor: Actor, password: str | None, code: str | None, browser: Browser) -> None:
    """Prove who is using the session, by the password or a second factor, before sensitive changes.

    A person with a second factor proves that one: a stolen password does not suffice. ProductError
    `confirmation_refused` (403), `second_factor_needed` (409), `too_many_attempts` (429).
    """
    user, has_factor = await run_in_threadpool(_user_of, actor)
    what = throttle.SECOND_FACTOR if code is not None else ""
    counted = await run_in_threadpool(throttle.begin, user.email, browser.address, browser.device_of(user), what)
    if code is not None:
        proved = await run_in_threadpool(_prove, user, code)
    elif has_factor:
        raise ProductError("second_factor_needed", 409, "Second factor needed: confirm with a code or a passkey.")
    else:
        proved = await check_password_in_turn(user.password_hash, password or "")
    await run_in_threadpool(_finish_confirmation, actor, user, browser, proved=proved)
    if not proved:
        raise ProductError("confirmation_refused", 403, "Confirmation refused: the password or code is wrong.")
    await run_in_threadpool(throttle.forgive, counted)


def mark_confirmed(session: Session, actor: Actor, now: datetime, *, second_factor: bool) -> None:
    """Store that the person behind a session has just proved who they are."""
    row = session.get(BrowserSession, actor.session_id)
    if row is not None:
        row.authenticated_at = now
        row.second_factor = row.second_factor or second_factor


def begin_totp(actor: Actor) -> TotpSetup:
    """Return a new secret for an authenticator app; it replaces one that no code has confirmed.

    ProductError `totp_exists` (409), `secret_key_missing` (409).
    """
    with system_session() as session:
        if queries.confirmed_totp(session, actor.id) is not None:
            raise ProductError("totp_exists", 409, "Authenticator app exists: remove it before you set up another.")
        secret = totp.new_secret()
        row = session.get(TotpSecret, actor.id) or TotpSecret(user_id=actor.id)
        row.encrypted_secret = factors.encrypted(secret)
        session.add(row)
    uri = totp.uri(secret, actor.name, _ISSUER)
    return TotpSetup(totp.in_base32(secret), uri, totp.qr_code(uri))


def confirm_totp(actor: Actor, code: str, browser: Browser) -> list[str] | None:
    """Confirm the app by its first code. Return recovery codes if this is the first second factor, else None.

    ProductError `totp_unknown` (404), `second_factor_wrong` (409), `too_many_attempts` (429).
    """
    counted = throttle.begin(actor.name, browser.address, what=throttle.SECOND_FACTOR)
    now = datetime.now(UTC)
    with system_session() as session:
        row = session.get(TotpSecret, actor.id, with_for_update=True)
        if row is None or row.confirmed_at is not None:
            raise NotFound("totp")
        secret = factors.secret_of(row.encrypted_secret)
        step = totp.accepted_step(secret, factors.digits(code), now.timestamp(), row.last_step)
        if step is None:
            raise ProductError(
                "second_factor_wrong",
                409,
                "Wrong code: compare the clock of this device, and enter the code that the app shows now.",
                errors=[{"pointer": "#/code", "message": "This code does not fit."}],
            )
        row.confirmed_at, row.last_step, row.last_used_at = now, step, now
        throttle.forgive(counted)
        return added(session, actor, "totp.created", "An authenticator app was added", browser, now)


def added(
    session: Session, actor: Actor, action: str, change: str, browser: Browser, now: datetime
) -> list[str] | None:
    """Record and notify that a second factor was added, in this session proved. Return first recovery codes."""
    session.flush()
    user = session.get_one(User, actor.id)
    mark_confirmed(session, actor, now, second_factor=True)
    sessions.record(session, user, action, browser)
    notices.factor_changed(session, user, change, browser.named(), now)
    return None if queries.unused_codes(session, user.id) else _new_codes(session, user)


def delete_totp(actor: Actor, browser: Browser) -> None:
    """Remove the authenticator app. ProductError `totp_unknown` (404), `last_second_factor` (409)."""
    with system_session() as session:
        row = existing(queries.confirmed_totp(session, actor.id), "totp")
        session.delete(row)
        _removed(session, actor, "totp.deleted", "The authenticator app was removed", browser)


def delete_passkey(actor: Actor, passkey_id: UUID, browser: Browser) -> None:
    """Remove a passkey. ProductError `passkey_unknown` (404), `last_second_factor` (409)."""
    with system_session() as session:
        row = session.get(Passkey, passkey_id)
        if row is None or row.user_id != actor.id:
            raise NotFound("passkey")
        session.delete(row)
        _removed(session, actor, "passkey.deleted", f"The passkey {row.name} was removed", browser)


def _removed(session: Session, actor: Actor, action: str, change: str, browser: Browser) -> None:
    session.flush()
    user = session.get_one(User, actor.id)
    if not factors.available(session, user):
        requiring = [tenant.name for tenant in queries.tenants(session, user.id) if tenant.second_factor_required]
        if requiring:
            raise ProductError(
                "last_second_factor",
                409,
                f"Last second factor: {', '.join(requiring)} requires one. Add another before you remove this one.",
            )
        queries.delete_codes(session, user.id)
    sessions.record(session, user, action, browser)
    notices.factor_changed(session, user, change, browser.named(), datetime.now(UTC))


def renew_codes(actor: Actor, browser: Browser) -> list[str]:
    """Replace the recovery codes. ProductError `no_second_factor` (409)."""
    with system_session() as session:
        user = session.get_one(User, actor.id)
        if not factors.available(session, user):
            raise ProductError(
                "no_second_factor", 409, "No second factor yet: recovery codes replace one. Set one up first."
            )
        sessions.record(session, user, "recovery_codes.created", browser)
        notices.factor_changed(session, user, "New recovery codes were created", browser.named(), datetime.now(UTC))
        return _new_codes(session, user)


def drop_factors(session: Session, user: User) -> None:
    """Remove all second factors of a person who lost them; an operator has made sure who they are."""
    row = session.get(TotpSecret, user.id)
    if row is not None:
        session.delete(row)
    for passkey in queries.passkeys(session, user.id):
        session.delete(passkey)
    queries.delete_codes(session, user.id)
    sessions.record(session, user, "second_factors.deleted", None)


def require_second_factor(session: Session, actor: Actor, required: bool) -> None:
    """Set whether members of the tenant need a second factor, in the tenant's session.

    ProductError `second_factor_missing` (409): the caller signed in without one and would be locked out.
    """
    tenant = session.get_one(Tenant, actor.tenant_id)
    own = session.get_one(BrowserSession, actor.session_id)
    if required and not own.second_factor:
        raise ProductError(
            "second_factor_missing", 409, "Second factor missing: set one up for yourself, then require it of others."
        )
    tenant.second_factor_required = required


def _new_codes(session: Session, user: User) -> list[str]:
    queries.delete_codes(session, user.id)
    codes = recovery.new_codes()
    session.add_all(RecoveryCode(user_id=user.id, secret_digest=recovery.digest(user.id, code)) for code in codes)
    return codes


def _user_of(actor: Actor) -> tuple[User, bool]:
    with system_session() as session:
        user = session.get_one(User, actor.id)
        return user, bool(factors.available(session, user))


def _prove(user: User, code: str) -> bool:
    with system_session() as session:
        return factors.prove_code(session, user, code, datetime.now(UTC)) is not None


def _finish_confirmation(actor: Actor, user: User, browser: Browser, *, proved: bool) -> None:
    with system_session() as session:
        if proved:
            mark_confirmed(session, actor, datetime.now(UTC), second_factor=False)
        sessions.record(session, user, "session.confirmed" if proved else "confirmation.refused", browser)
