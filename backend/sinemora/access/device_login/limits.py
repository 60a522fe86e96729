"""Limits of device logins: how many a network may begin, and how many wrong codes a person may try."""

from uuid import UUID

from sinemora.kit.config import settings
from sinemora.kit.errors import too_many
from sinemora.kit.http import rate_limit

_BEGUN_MAX = 30
# A code has 34 bits: after 10 wrong ones in a window, a guess among 1,000 waiting codes has a chance of 6e-7.
_WRONG_MAX = 10


def count_begun(address: str) -> None:
    """Count a login that a device of a network begins. ProductError `too_many_attempts` (429)."""
    _count(f"device-login:{rate_limit.network_of(address)}", _BEGUN_MAX, "logins of devices")


def count_code(person: UUID) -> str:
    """Count a code that a person enters, before it is looked up. Return the key of the count.

    ProductError `too_many_attempts` (429).
    """
    key = f"device-code:{person}"
    _count(key, _WRONG_MAX, "wrong codes")
    return key


def forgive(counted: str) -> None:
    """Undo the count of a code that was right."""
    rate_limit.uncount(counted)


def _count(key: str, most: int, what: str) -> None:
    window_s = settings().sign_in_window_s
    if rate_limit.count(key, window_s) > most:
        detail = f"Too many {what}: wait {max(1, window_s // 60)} minutes."
        raise too_many("too_many_attempts", detail, window_s)
