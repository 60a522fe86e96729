"""Checks of what the product does for people, for /readyz: each is bounded in time, and none delays its caller much."""

import threading
import time
from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)

_PATIENCE_S = 1.5
_SLOW_S = 5.0
_KEPT_S = 3.0

UNANSWERED = "unknown; the database does not answer in time"


class Check:
    """Check on a thread of its own: at most one runs at a time, and its result is kept for a few seconds.

    `find` returns what is wrong in a plain sentence, None if nothing is. An exception counts as wrong.
    """

    def __init__(self, name: str, find: Callable[[], str | None]) -> None:
        self.name = name
        self._find = find
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._begun_s = self._ended_s = float("-inf")
        self._problem: str | None = None

    def begin(self) -> None:
        """Start the check, unless it runs or its result is fresh."""
        with self._lock:
            if not self._idle.is_set() or time.monotonic() - self._ended_s < _KEPT_S:
                return
            self._idle.clear()
            self._begun_s = time.monotonic()
        threading.Thread(target=self._run, name=f"check-{self.name}", daemon=True).start()

    def problem(self, until_s: float) -> str | None:
        """Return what is wrong; while a check runs on after `until_s`, its last result, or that it takes too long."""
        if self._idle.wait(max(0.0, until_s - time.monotonic())):
            return self._problem
        return UNANSWERED if time.monotonic() - self._begun_s > _SLOW_S else self._problem

    def _run(self) -> None:
        try:
            self._problem = self._find()
        except Exception as error:
            # Whoever reads /readyz learns no addresses and user names: these are in the log.
            log.warning("check failed", check=self.name, error=str(error).strip())
            self._problem = UNANSWERED
        finally:
            self._ended_s = time.monotonic()
            self._idle.set()


CHECKS: dict[str, Check] = {}


def add(name: str, find: Callable[[], str | None]) -> None:
    """Let /readyz report `name` as degraded while `find` returns what is wrong."""
    CHECKS[name] = Check(name, find)


def problems() -> dict[str, str | None]:
    """Run the checks that are due and return what is wrong by name, within two seconds."""
    until_s = time.monotonic() + _PATIENCE_S
    for check in CHECKS.values():
        check.begin()
    return {name: check.problem(until_s) for name, check in CHECKS.items()}
