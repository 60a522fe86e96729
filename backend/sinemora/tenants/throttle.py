"""How often somebody may fail to sign in.

Counted for the account as tried from one address, and ten times as generously for the account and for the address
alone: a stranger who guesses locks himself out, not the owner, and one forgetful colleague not the office.
"""

import hashlib

from sinemora.kit import rate_limit
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError

_WIDE = 10


def begin(email: str, address: str) -> list[str]:
    """Count an attempt before it is made, so that many at once cannot slip through; returns what was counted.

    ProductError `too_many_attempts` (429). Without Redis nothing is counted: hashing alone slows a guesser down.
    """
    allowed = settings().sign_in_attempts
    window_s = settings().sign_in_window_s
    limits = {
        _key("pair", email, address): allowed,
        _key("account", email): allowed * _WIDE,
        _key("address", address): allowed * _WIDE,
    }
    for key, most in limits.items():
        attempts = rate_limit.count(key, window_s)
        if attempts is not None and attempts > most:
            raise ProductError(
                "too_many_attempts",
                429,
                f"Too many attempts to sign in. Wait {max(1, window_s // 60)} minutes.",
                headers={"Retry-After": str(window_s)},
            )
    return list(limits)


def forgive(counted: list[str]) -> None:
    """Take back the attempt that succeeded."""
    for key in counted:
        rate_limit.uncount(key)


def _key(*words: str) -> str:
    # Hashed: what people type into the wrong field is nobody's business.
    return "sign-in:" + hashlib.sha256("\0".join(words).encode()).hexdigest()
