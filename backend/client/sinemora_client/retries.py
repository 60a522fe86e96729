"""When a request is repeated, and after which wait."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx2

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
# The API changes nothing before it answers with one of these.
_UNCHANGED = (429, 503)
# Of a proxy: the request may have arrived.
_UNCERTAIN = (502, 504)


@dataclass(frozen=True)
class Retries:
    """Repetition of requests that fail for a while.

    A request is sent at most `attempts` times. The waits follow `Retry-After`, else double from `first_wait_s` with
    jitter. Where the API asks for a longer wait than `wait_max_s`, the error is raised at once.
    """

    attempts: int = 4
    first_wait_s: float = 0.5
    wait_max_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def wait_after_status(
        self, attempt: int, status: int, retry_after_s: float | None, repeatable: bool
    ) -> float | None:
        """Return the seconds to wait before the next attempt; None when the response stands."""
        if status not in _UNCHANGED and not (status in _UNCERTAIN and repeatable):
            return None
        return self._wait_s(attempt, retry_after_s)

    def wait_after_failure(self, attempt: int, error: httpx2.TransportError, repeatable: bool) -> float | None:
        """Return the seconds to wait before the next attempt; None when the failure stands."""
        if not isinstance(error, _NEVER_SENT) and not repeatable:
            return None
        return self._wait_s(attempt, None)

    def _wait_s(self, attempt: int, retry_after_s: float | None) -> float | None:
        if attempt >= self.attempts:
            return None
        if retry_after_s is not None:
            return retry_after_s if retry_after_s <= self.wait_max_s else None
        # Full jitter: clients that failed together do not come back together.
        doubled_s: float = self.first_wait_s * 2 ** (attempt - 1)
        return min(self.wait_max_s, doubled_s) * random.uniform(0.5, 1.0)


NO_RETRIES = Retries(attempts=1)
