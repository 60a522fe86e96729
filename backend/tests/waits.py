"""Waits of tests for facts. How soon a fact holds is judged by benchmarks: a machine that runs tests may be busy.

A test that judges an end brought about, not run out, lets the product wait `LONGEST_WAIT_S` and asks for less.
"""

import time
from collections.abc import Callable

import pytest

WAIT_MOST_S = 120.0
"""After this long something has stopped, s."""
LONGEST_WAIT_S = 30.0
"""The longest wait that a request may ask for, s."""


_PAUSE_S = 0.02
_PAUSE_MOST_S = 0.25
_PAUSES = 5
"""Times of a look that the pause after it takes: looks that take long would keep a processor from the product."""


def until(true: Callable[[], object], what: str | Callable[[], str] = "", limit_s: float = WAIT_MOST_S) -> None:
    """Wait until `true()` holds; after `limit_s` the test fails and names `what` was awaited."""
    began_s = time.monotonic()
    ends_s = began_s + limit_s
    while not true():
        now_s = time.monotonic()
        if now_s > ends_s:
            named = what() if callable(what) else what
            pytest.fail(f"not within {limit_s:.0f} s: {named}")
        time.sleep(min(_PAUSE_MOST_S, max(_PAUSE_S, _PAUSES * (now_s - began_s))))
        began_s = time.monotonic()
