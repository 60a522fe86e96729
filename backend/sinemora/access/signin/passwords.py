"""Passwords of people: change, reset by a link, the rules a new one has to meet."""

from datetime import UTC, datetime, timedelta

import structlog
from kombu.exceptions import OperationalError
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from sinemora.access.signin import notices, queries, sessions, throttle, tokens
from sinemora.access.signin.models import Purpose
from sinemora.access.signin.sessions import Browser
from sinemora.access.tenants import queries as tenant_queries
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import User
from sinemora.kit import mail
from sinemora.kit.celery import FAST, ROUTES, celery
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError
from sinemora.kit.password_rules import refuse_weak
from sinemora.kit.security import check_password_in_turn, digest, hash_password_in_turn

log = structlog.get_logger(__name__)

_LINKS_AN_HOUR = 3


async def change(actor: Actor, current: str, new: str, browser: Browser) -> str:
    """Change the caller's password, end other sessions and notify. Return the new token of this browser.

    ProductError `password_wrong` (403), `password_weak` (422), `password_unchanged` (409), `too_many_attempts` (429).
    """
    user, tenants = await run_in_threadpool(_user_of, actor)
    counted = await run_in_threadpool(throttle.begin, user.email, browser.address, browser.device_of(user))
    if not await check_password_in_turn(user.password_hash, current):
        await run_in_threadpool(_record_refused, user, browser)
        raise ProductError(
            "password_wrong",
            403,
            "Current password wrong: the password is unchanged.",
            errors=[{"pointer": "#/current_password", "message": "This is not your current password."}],
        )
    await run_in_threadpool(throttle.forgive, counted)
    if new == current:
        raise ProductError("password_unchanged", 409, "Password unchanged: the new password is the present one.")
    await run_in_threadpool(refuse_weak, new, [user.email, *tenants], "new_password")
    password_hash = await hash_password_in_turn(new)
    await run_in_threadpool(_store, user, password_hash, "password.changed", browser, kept=actor)
    return throttle.device_token(password_hash)


def send_reset_later(email: str) -> None:
    """Have a worker send a link to a new password: the time of the answer depends on no account."""
    try:
        send_reset.apply_async(kwargs={"email": email}, retry=False)
    except OperationalError as error:
        log.warning("link to a new password not sent", error=str(error))


@celery.task(name="signin.send_reset")
def send_reset(email: str) -> None:
    """Send a link to a new password, if somebody has this address: at most three in an hour."""
    now = datetime.now(UTC)
    with system_session() as session:
        user = tenant_queries.user_by_email(session, email.strip().lower())
        if user is None or not mail.is_configured():
            return
        if user.password_changed_at is None and queries.has_identity(session, user.id):
            return  # who never had a password signs in at the provider, which must be able to end that
        hour_ago = now - timedelta(hours=1)
        if queries.tokens_since(session, user.id, Purpose.password_reset, hour_ago) < _LINKS_AN_HOUR:
            notices.password_reset(session, user, reset_link(session, user, now))


ROUTES[send_reset.name] = {"queue": FAST}


def reset_link(session: Session, user: User, now: datetime) -> str:
    """Return a new link with which a person sets a password: valid once, for 30 minutes."""
    secret = tokens.create(session, Purpose.password_reset, user.id, notices.RESET_VALID_FOR, now)
    # A fragment: browsers send it to no server, so it is in no log.
    return f"{settings().public_url}/reset-password#{secret}"


async def redeem(token: str, new: str, browser: Browser) -> None:
    """Set a new password by the token of a link, end all sessions and notify.

    ProductError `reset_link_invalid` (409), `password_weak` (422): a refused password leaves the link valid.
    """
    user, tenants = await run_in_threadpool(_user_of_token, token)
    await run_in_threadpool(refuse_weak, new, [user.email, *tenants], "password")
    password_hash = await hash_password_in_turn(new)
    await run_in_threadpool(_redeem, token, user, password_hash, browser)


def _user_of(actor: Actor) -> tuple[User, list[str]]:
    with system_session() as session:
        user = session.get_one(User, actor.id)
        return user, [tenant.name for tenant in queries.tenants(session, user.id)]


def _user_of_token(token: str) -> tuple[User, list[str]]:
    with system_session() as session:
        row = queries.token(session, digest(token), Purpose.password_reset, datetime.now(UTC))
        if row is None or row.user_id is None:
            raise _link_invalid()
        user = session.get_one(User, row.user_id)
        return user, [tenant.name for tenant in queries.tenants(session, user.id)]


def _redeem(token: str, user: User, password_hash: str, browser: Browser) -> None:
    with system_session() as session:
        if queries.token(session, digest(token), Purpose.password_reset, datetime.now(UTC)) is None:
            raise _link_invalid()  # another request was faster
        _replace(session, user, password_hash, "password.reset", browser, kept=None)


def _store(user: User, password_hash: str, action: str, browser: Browser, *, kept: Actor) -> None:
    with system_session() as session:
        _replace(session, user, password_hash, action, browser, kept=kept)


def _replace(
    session: Session, user: User, password_hash: str, action: str, browser: Browser, *, kept: Actor | None
) -> None:
    now = datetime.now(UTC)
    row = session.get_one(User, user.id, with_for_update=True)
    row.password_hash, row.password_changed_at = password_hash, now
    queries.delete_tokens(session, row.id, Purpose.password_reset)
    queries.delete_tokens(session, row.id, Purpose.second_factor)
    ended = queries.end_sessions(session, row.id, kept.session_id if kept else None)
    sessions.record(session, row, action, browser, sessions_ended=ended)
    notices.password_changed(session, row, browser.named(), now)


def _record_refused(user: User, browser: Browser) -> None:
    with system_session() as session:
        sessions.record(session, user, "password.refused", browser)


def _link_invalid() -> ProductError:
    return ProductError("reset_link_invalid", 409, "Link invalid: it is used, or older than 30 minutes. Ask for one.")
