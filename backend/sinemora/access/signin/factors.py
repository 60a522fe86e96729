"""Second factors of a person: an authenticator app, passkeys, recovery codes."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from sinemora.access.signin import queries, recovery, totp
from sinemora.access.signin.models import Factor
from sinemora.access.tenants.models import User
from sinemora.kit import encryption


@dataclass(frozen=True)
class Used:
    """Second factor that a person proved; `codes_left` after a recovery code."""

    factor: Factor
    codes_left: int | None = None


def available(session: Session, user: User) -> list[Factor]:
    """Return the second factors that a person can prove; empty for one who signs in with the password alone."""
    factors = []
    if queries.confirmed_totp(session, user.id) is not None:
        factors.append(Factor.totp)
    if queries.passkeys(session, user.id):
        factors.append(Factor.passkey)
    if factors and queries.unused_codes(session, user.id):
        factors.append(Factor.recovery_code)
    return factors


def prove_code(session: Session, user: User, code: str, now: datetime) -> Used | None:
    """Use a code of the app or a recovery code; None for a wrong or used one."""
    if recovery.looks_like_one(code):
        row = queries.unused_code(session, user.id, recovery.digest(user.id, code))
        if row is None:
            return None
        row.used_at = now
        session.flush()
        return Used(Factor.recovery_code, queries.unused_codes(session, user.id))
    secret = queries.confirmed_totp(session, user.id)
    if secret is None:
        return None
    step = totp.accepted_step(secret_of(secret.encrypted_secret), digits(code), now.timestamp(), secret.last_step)
    if step is None:
        return None
    secret.last_step, secret.last_used_at = step, now
    return Used(Factor.totp)


def digits(code: str) -> str:
    """Return a code without the spaces that apps show in it."""
    return "".join(code.split())


def secret_of(encrypted: bytes) -> bytes:
    """Return the secret of an authenticator app. ProductError `secret_unreadable`, `secret_key_missing`."""
    return bytes.fromhex(encryption.decrypt(encrypted)["secret"])


def encrypted(secret: bytes) -> bytes:
    """Return the encrypted secret of an authenticator app. ProductError `secret_key_missing`."""
    return encryption.encrypt({"secret": secret.hex()})
