"""Limits of failed sign-ins.

Attempts are counted for the pair of account and address, and with a ten times higher limit for the account and for the
address alone. So a stranger who guesses is locked out, not the owner; nor is a whole office for one of its members.
"""

import hashlib

from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.kit.http import rate_limit

_WIDE_FACTOR = 10


def begin(email: str, address: str) -> list[str]:
    """Count an attempt before it is made, so that parallel attempts count too. Return the keys counted.

    ProductError `too_many_attempts` (429). Without Redis nothing is counted; only hashing slows attempts down.
    """
    allowed = settings().sign_in_attempts
    window_s = settings().sign_in_window_s
    limits = {
        _key("pair", email, address): allowed,
        _key("account", email): allowed * _WIDE_FACTOR,
        _key("address", address): allowed * _WIDE_FACTOR,
    }
    for key, most in limits.items():
        attempts = rate_limit.count(key, window_s)
        if attempts is not None and attempts > most:
            raise ProductError(
                "too_many_attempts",
                429,
                f"Too many sign-in attempts: wait {max(1, window_s // 60)} minutes.",
                headers={"Retry-After": str(window_s)},
            )
    return list(limits)


def forgive(counted: list[str]) -> None:
    """Undo the count of an attempt that succeeded."""
    for key in counted:
        rate_limit.uncount(key)


def _key(*words: str) -> str:
    # Hashed: people may type a password into the wrong field.
    return "sign-in:" + hashlib.sha256("\0".join(words).encode()).hexdigest()
