"""Waiting for what a running stack does in time that depends on the machine."""

import time
from collections.abc import Callable
from typing import Any

from debian_tree import Trouble

LIMIT_S = 300.0
"""Longer than a stack on a busy machine takes for anything; only what never happens waits so long."""


def until(holds: Callable[[], Any]) -> None:
    """Wait until `holds` returns something true; no answer and no such field count as false.

    Raises AssertionError with the last error after `LIMIT_S`.
    """
    end = time.monotonic() + LIMIT_S
    last: object = None
    while time.monotonic() < end:
        try:
            if holds():
                return
        except (OSError, KeyError, ValueError, Trouble) as error:
            last = error
        time.sleep(0.5)
    raise AssertionError(f"not within {LIMIT_S:.0f} s; last: {last!r}")
