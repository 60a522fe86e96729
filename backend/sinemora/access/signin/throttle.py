"""Limits of failed sign-ins.

Attempts are counted for the pair of account and network, and with a ten times higher limit for the account and for the
network alone. So a stranger who guesses is locked out, not a whole office: from a network with many failures each
account still has one attempt.

A browser from which the account signed in before has a cookie (`device_token`) and a separate count, so that nobody can
lock people out of their own browsers (OWASP, "Device cookies"). Second factors are counted alike, but apart: only those
who know the password reach them.
"""

import hashlib
import hmac
import secrets

from sinemora.kit.config import settings
from sinemora.kit.errors import too_many
from sinemora.kit.http import rate_limit

_WIDE_FACTOR = 10
SECOND_FACTOR = "second factor"


def begin(email: str, address: str, device: str | None = None, what: str = "") -> list[str]:
    """Count an attempt before it is made, so that parallel attempts count too. Return the keys counted.

    `device` is a token that `is_known_device` accepted; `what` separates the counts of second factors. ProductError
    `too_many_attempts` (429).
    """
    allowed = settings().sign_in_attempts
    window_s = settings().sign_in_window_s
    network = rate_limit.network_of(address)
    if device is not None:
        limits = {_key("device", email, device, what): allowed}
    else:
        of_network = _key("address", network, what)
        is_loud = rate_limit.count(of_network, window_s) > allowed * _WIDE_FACTOR
        limits = {
            _key("pair", email, network, what): 1 if is_loud else allowed,
            _key("account", email, what): allowed * _WIDE_FACTOR,
        }
    for key, most in limits.items():
        attempts = rate_limit.count(key, window_s)
        if attempts > most:
            raise too_many(
                "too_many_attempts",
                f"Too many sign-in attempts: wait {max(1, window_s // 60)} minutes,"
                " or use a browser in which you signed in before.",
                window_s,
            )
    return [*limits, of_network] if device is None else [*limits]


def begin_reset(address: str) -> None:
    """Count a request for a link to a new password by its network. ProductError `too_many_attempts` (429)."""
    window_s = settings().sign_in_window_s
    asked = rate_limit.count(_key("reset", rate_limit.network_of(address)), window_s)
    if asked > settings().sign_in_attempts * _WIDE_FACTOR:
        detail = f"Too many requests for a new password: wait {max(1, window_s // 60)} minutes."
        raise too_many("too_many_attempts", detail, window_s)


def forgive(counted: list[str]) -> None:
    """Undo the count of an attempt that succeeded."""
    for key in counted:
        rate_limit.uncount(key)


def is_first_refusal(email: str, what: str = "") -> bool:
    """Return whether this is the first refused attempt at an account in the window: only that one is recorded."""
    return rate_limit.count(_key("refused", email, what), settings().sign_in_window_s) == 1


def device_token(password_hash: str) -> str:
    """Return the token of a browser from which the account signed in. It ends with the password."""
    nonce = secrets.token_urlsafe(12)
    return f"{nonce}.{_mac(password_hash, nonce)}"


def is_known_device(password_hash: str, token: str) -> bool:
    """Return whether `device_token` made a token for this account and its present password."""
    nonce, _, mac = token.partition(".")
    return hmac.compare_digest(_mac(password_hash, nonce).encode(), mac.encode())


def _mac(password_hash: str, nonce: str) -> str:
    # The salted hash never leaves the database, so it serves as the key.
    return hmac.new(password_hash.encode(), f"sinemora device {nonce}".encode(), hashlib.sha256).hexdigest()


def _key(*words: str) -> str:
    # Hashed: people may type a password into the wrong field.
    return "sign-in:" + hashlib.sha256("\0".join(words).encode()).hexdigest()
