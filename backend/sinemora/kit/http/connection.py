"""Connections of callers: long work for a request ends when its caller has gone."""

import time
from collections.abc import Callable

from anyio import from_thread
from fastapi import Request

from sinemora.kit.errors import CallerGone

CHECK_S = 0.25
"""Time between two looks at the connection, s: each waits for a turn of the event loop."""


def while_connected(request: Request) -> Callable[[], None]:
    """Return a check for the thread of an endpoint. It raises `CallerGone` once the caller has gone."""
    due = time.monotonic() + CHECK_S

    def check() -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        if from_thread.run(request.is_disconnected):
            raise CallerGone
        due = time.monotonic() + CHECK_S

    return check
