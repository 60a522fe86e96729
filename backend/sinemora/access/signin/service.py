"""Sign-in in one or two steps: a password, then a second factor of those who have one."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from sinemora.access.signin import factors, notices, queries, sessions, throttle, tokens
from sinemora.access.signin.models import Factor, OneTimeToken, Purpose
from sinemora.access.signin.sessions import Browser, Opened
from sinemora.access.tenants import queries as tenant_queries
from sinemora.access.tenants.models import Membership, Method, User
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError
from sinemora.kit.security import digest

STEP_LIFE = timedelta(minutes=5)
_STEP_ATTEMPTS = 5


@dataclass(frozen=True)
class Attempt:
    """Counted attempt to sign in; `user` is None for an unknown address, `known` for a browser used before."""

    user: User | None
    known: bool
    counted: list[str]


@dataclass(frozen=True)
class Pending:
    """Sign-in that lacks a second factor: the secret of its cookie, and the factors that the person has."""

    secret: str
    factors: list[Factor]


def begin(email: str, browser: Browser) -> Attempt:
    """Count an attempt to sign in. ProductError `too_many_attempts` (429)."""
    email = email.strip().lower()
    with system_session() as session:
        user = tenant_queries.user_by_email(session, email)
    known = user is not None and browser.device_of(user) is not None
    counted = _count(user, email, browser, known=known)
    return Attempt(user, known, counted)


def finish(attempt: Attempt, fits: bool, browser: Browser) -> Opened | Pending:
    """Open a session for an attempt whose password `fits`, or ask for a second factor.

    ProductError `bad_credentials` (401), `single_sign_on_required` (403).
    """
    user = attempt.user
    with system_session() as session:
        if user is not None and not fits:
            sessions.record(session, user, "session.refused", browser)
        membership = way_in(session, user, Method.password) if user and fits else None
        if user is not None and membership is not None:
            throttle.forgive(attempt.counted)
            return after_first_factor(session, user, membership, browser, Method.password, known=attempt.known)
    raise ProductError("bad_credentials", 401, "Bad credentials: e-mail address or password is wrong.")


def way_in(session: Session, user: User, method: Method) -> Membership | None:
    """Return the membership that a proved credential opens; None without any.

    ProductError `single_sign_on_required` (403).
    """
    now = datetime.now(UTC)
    rows = tenant_queries.ways_in(session, user.id)
    opened = next((membership for membership, tenant in rows if membership.opens_by(method, tenant, now)), None)
    if rows and opened is None:
        raise single_sign_on_required()
    return opened


def single_sign_on_required() -> ProductError:
    """Return the refusal of a person whom the identity provider of the tenant has to let in."""
    return ProductError(
        "single_sign_on_required",
        403,
        "Single sign-on required: enter your e-mail address on the sign-in page, and continue at your provider.",
    )


def after_first_factor(
    session: Session, user: User, membership: Membership, browser: Browser, method: Method, *, known: bool
) -> Opened | Pending:
    """Open a session, or ask for a second factor if the person has one: after a password, or a provider."""
    available = factors.available(session, user)
    if not available:
        return sessions.open_session(session, user, membership, browser, method, second_factor=False, known=known)
    now = datetime.now(UTC)
    secret = tokens.create(session, Purpose.second_factor, user.id, STEP_LIFE, now, known=known, method=method.value)
    return Pending(secret, available)


def second_factor(step_secret: str | None, code: str, browser: Browser) -> Opened:
    """Finish a sign-in with a code of the app or a recovery code.

    ProductError `sign_in_expired` (401), `second_factor_wrong` (401), `too_many_attempts` (429).
    """
    now = datetime.now(UTC)
    with system_session() as session:
        step, user = pending_step(session, step_secret, now)
        known = bool(step.data["known"])
    counted = _count(user, user.email, browser, known=known, what=throttle.SECOND_FACTOR)
    with system_session() as session:
        step, user = pending_step(session, step_secret, now)
        used = factors.prove_code(session, user, code, now)
        if used is None:
            fail_step(session, step, user, browser)
        else:
            throttle.forgive(counted)
            if used.codes_left is not None:
                sessions.record(session, user, "recovery_code.used", browser, left=used.codes_left)
                change = f"A recovery code was used to sign in, {used.codes_left} are left"
                notices.factor_changed(session, user, change, browser.named(), now)
            return open_after_step(session, step, user, browser)
    raise ProductError("second_factor_wrong", 401, "Wrong code: it is wrong, expired or used already.")


def pending_step(session: Session, step_secret: str | None, now: datetime) -> tuple[OneTimeToken, User]:
    """Return the sign-in that waits for a second factor, and its user. ProductError `sign_in_expired` (401)."""
    step = queries.token(session, digest(step_secret), Purpose.second_factor, now) if step_secret else None
    if step is None or step.user_id is None:
        raise ProductError("sign_in_expired", 401, "Sign-in expired: enter e-mail address and password again.")
    return step, session.get_one(User, step.user_id)


def fail_step(session: Session, step: OneTimeToken, user: User, browser: Browser) -> None:
    """Count a wrong second factor; the fifth ends the sign-in."""
    step.attempts += 1
    if step.attempts >= _STEP_ATTEMPTS:
        session.delete(step)
    sessions.record(session, user, "second_factor.refused", browser)


def open_after_step(session: Session, step: OneTimeToken, user: User, browser: Browser) -> Opened:
    """Open the session of a sign-in whose second factor is proved. ProductError `bad_credentials` (401)."""
    session.delete(step)
    membership = way_in(session, user, Method(step.data["method"]))
    if membership is None:
        raise ProductError("bad_credentials", 401, "Bad credentials: this person is no member of a tenant.")
    return sessions.open_session(
        session,
        user,
        membership,
        browser,
        Method(step.data["method"]),
        second_factor=True,
        known=bool(step.data["known"]),
    )


def _count(user: User | None, email: str, browser: Browser, *, known: bool, what: str = "") -> list[str]:
    """Count an attempt; record the first refused one of an account. ProductError `too_many_attempts` (429)."""
    try:
        return throttle.begin(email, browser.address, browser.device if known else None, what)
    except ProductError:
        if user is not None and throttle.is_first_refusal(email, what):
            with system_session() as session:
                sessions.record(session, user, "session.locked", browser)
        raise
