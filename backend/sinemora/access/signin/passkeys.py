"""Passkeys (WebAuthn Level 3): created in an account, proved as a second factor or instead of a password.

A challenge is a one-time token: it comes back inside the signed data, so no cookie carries it.
"""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.signin import account, queries, service, sessions, throttle, tokens
from sinemora.access.signin.models import Passkey, Purpose
from sinemora.access.signin.relying_party import challenge_of, credential_id_of, relying_party
from sinemora.access.signin.sessions import Browser, Opened
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Method, User
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError
from sinemora.kit.security import digest

_CHALLENGE_LIFE = timedelta(minutes=5)
_PASSKEYS_MAX = 20


def creation_options(actor: Actor) -> dict[str, Any]:
    """Return the options of a new passkey. ProductError `passkeys_unavailable`, `too_many_passkeys` (409)."""
    party = relying_party()
    with system_session() as session:
        existing = queries.passkeys(session, actor.id)
        if len(existing) >= _PASSKEYS_MAX:
            raise ProductError(
                "too_many_passkeys", 409, f"Too many passkeys: the limit is {_PASSKEYS_MAX}. Remove one."
            )
        now = datetime.now(UTC)
        challenge = tokens.create(session, Purpose.passkey_registration, actor.id, _CHALLENGE_LIFE, now)
        ids = [passkey.credential_id for passkey in existing]
        return party.creation_options(actor.id.bytes, actor.name, challenge, ids)


def create(actor: Actor, name: str, credential: dict[str, Any], browser: Browser) -> tuple[Passkey, list[str] | None]:
    """Store a new passkey; return it, and recovery codes if it is the first second factor.

    ProductError `passkey_refused` (409).
    """
    party = relying_party()
    now = datetime.now(UTC)
    with system_session() as session:
        challenge = _used_challenge(session, credential, Purpose.passkey_registration, actor.id, now)
        verified = party.registered(credential, challenge) if challenge else None
        if verified is None or queries.passkey(session, verified.credential_id) is not None:
            raise ProductError("passkey_refused", 409, "Passkey refused: it is expired, used or not valid. Try again.")
        transports = credential.get("response", {}).get("transports", [])
        row = Passkey(
            name=name,
            user_id=actor.id,
            rp_id=party.id,
            credential_id=verified.credential_id,
            public_key=verified.credential_public_key,
            sign_count=verified.sign_count,
            transports=[str(transport)[:40] for transport in transports][:10] if isinstance(transports, list) else [],
        )
        session.add(row)
        codes = account.added(session, actor, "passkey.created", f"The passkey {name} was added", browser, now)
        session.refresh(row)
        return row, codes


def request_options(step_secret: str | None) -> dict[str, Any]:
    """Return the options of a sign-in: of the person whose second factor is due, else of anybody.

    ProductError `passkeys_unavailable` (409).
    """
    now = datetime.now(UTC)
    with system_session() as session:
        step = queries.token(session, digest(step_secret), Purpose.second_factor, now) if step_secret else None
        return _request_options(session, step.user_id if step else None, now)


def confirmation_options(actor: Actor) -> dict[str, Any]:
    """Return the options of a confirmation by the caller. ProductError `passkeys_unavailable` (409)."""
    with system_session() as session:
        return _request_options(session, actor.id, datetime.now(UTC))


def _request_options(session: Session, user_id: UUID | None, now: datetime) -> dict[str, Any]:
    party = relying_party()
    challenge = tokens.create(session, Purpose.passkey_sign_in, user_id, _CHALLENGE_LIFE, now)
    allowed = [row.credential_id for row in queries.passkeys(session, user_id)] if user_id else []
    return party.request_options(challenge, allowed, verify_user=user_id is None)


def sign_in(credential: dict[str, Any], browser: Browser) -> Opened:
    """Open a session by a passkey alone, which verifies its user: two factors in one.

    ProductError `passkey_refused` (401), `single_sign_on_required` (403), `too_many_attempts` (429).
    """
    # By the passkey: counted together, failures of strangers would refuse everybody's.
    counted = throttle.begin(str(credential.get("id")), browser.address, what="passkey")
    now = datetime.now(UTC)
    with system_session() as session:
        user = _prove(session, credential, None, now)
        membership = service.way_in(session, user, Method.passkey) if user else None
        if user is not None and membership is not None:
            throttle.forgive(counted)
            known = browser.device_of(user) is not None
            return sessions.open_session(
                session, user, membership, browser, Method.passkey, second_factor=True, known=known
            )
    raise _refused()


def second_factor(step_secret: str | None, credential: dict[str, Any], browser: Browser) -> Opened:
    """Finish a sign-in with a passkey. ProductError `sign_in_expired`, `passkey_refused` (401)."""
    now = datetime.now(UTC)
    with system_session() as session:
        step, user = service.pending_step(session, step_secret, now)
        if _prove(session, credential, user.id, now) is not None:
            return service.open_after_step(session, step, user, browser)
        service.fail_step(session, step, user, browser)
    raise _refused()


def confirm(actor: Actor, credential: dict[str, Any], browser: Browser) -> None:
    """Confirm by a passkey who is at the browser. ProductError `confirmation_refused` (403)."""
    now = datetime.now(UTC)
    with system_session() as session:
        user = session.get_one(User, actor.id)
        proved = _prove(session, credential, actor.id, now) is not None
        if proved:
            account.mark_confirmed(session, actor, now, second_factor=True)
        sessions.record(session, user, "session.confirmed" if proved else "confirmation.refused", browser)
    if not proved:
        raise ProductError("confirmation_refused", 403, "Confirmation refused: the passkey is not valid.")


def _prove(session: Session, credential: dict[str, Any], user_id: UUID | None, now: datetime) -> User | None:
    """Verify the use of a passkey and return its user; without `user_id` any user, who must be verified."""
    challenge = _used_challenge(session, credential, Purpose.passkey_sign_in, user_id, now)
    credential_id = credential_id_of(credential)
    row = queries.passkey(session, credential_id) if challenge and credential_id else None
    if challenge is None or row is None or (user_id is not None and row.user_id != user_id):
        return None
    verified = relying_party().authenticated(
        credential, challenge, row.public_key, row.sign_count, verify_user=user_id is None
    )
    if verified is None:
        return None
    row.sign_count, row.last_used_at = verified.new_sign_count, now
    return session.get_one(User, row.user_id)


def _used_challenge(
    session: Session, credential: dict[str, Any], purpose: Purpose, user_id: UUID | None, now: datetime
) -> str | None:
    """Return the challenge of a credential and end it; None unless it was issued for this purpose and user."""
    challenge = challenge_of(credential)
    token = queries.token(session, digest(challenge), purpose, now) if challenge else None
    if token is None or token.user_id != user_id:
        return None
    session.delete(token)
    return challenge


def _refused() -> ProductError:
    return ProductError("passkey_refused", 401, "Passkey refused: it is unknown here, expired or not valid.")
