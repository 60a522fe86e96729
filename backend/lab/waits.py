"""Waits for facts. How soon a fact holds is judged by benchmarks: a machine that runs tests may be busy."""

import time
from collections.abc import Callable

WAIT_MOST_S = 120.0
"""After this long something has stopped, s."""

_PAUSE_S = 0.02
_PAUSE_MOST_S = 0.25
_PAUSES = 5
"""Times of a look that the pause after it takes, and as many more each second: looks keep the product waiting."""


def until(true: Callable[[], object], what: str | Callable[[], str] = "", limit_s: float = WAIT_MOST_S) -> None:
    """Wait until `true()` holds; AssertionError after `limit_s`, with `what` was awaited."""
    began_s = look_s = time.monotonic()
    while not true():
        now_s = time.monotonic()
        waited_s = now_s - began_s
        if waited_s > limit_s:
            raise AssertionError(f"not within {limit_s:.0f} s: {what() if callable(what) else what}")
        time.sleep(min(_PAUSE_MOST_S, max(_PAUSE_S, _PAUSES * (1 + waited_s) * (now_s - look_s))))
        look_s = time.monotonic()
