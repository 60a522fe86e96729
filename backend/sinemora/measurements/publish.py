"""Telling watchers of a mesh that it has a new window: Redis pub/sub after the commit, best effort.

Publishing has a thread of its own: a Redis that hangs must delay nobody's report. While it is away nothing is kept for
it; the next window is never far.
"""

import json
import threading
from collections.abc import Iterable

import structlog
from redis import RedisError

from sinemora.kit.redis import client
from sinemora.measurements.ingest import WindowSeen

log = structlog.get_logger(__name__)

_WAITING_MAX = 10_000
CHANNELS = "sinemora:windows:"


class Publisher:
    """Publishes each mesh and window once, however many agents reported it since the last time."""

    def __init__(self) -> None:
        self._waiting: set[WindowSeen] = set()
        self._changed = threading.Condition()
        self._stopping = False
        self._away = False
        self._thread = threading.Thread(target=self._run, name="live-publisher", daemon=True)
        self._thread.start()

    def publish(self, seen: Iterable[WindowSeen]) -> None:
        """Tell soon, or never."""
        with self._changed:
            if len(self._waiting) < _WAITING_MAX:
                self._waiting.update(seen)
                self._changed.notify()

    def close(self) -> None:
        """End without telling the rest."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(2)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._stopping:
                    self._changed.wait()
                if self._stopping:
                    return
                seen, self._waiting = self._waiting, set()
            self._send(seen)

    def _send(self, seen: set[WindowSeen]) -> None:
        try:
            with client().pipeline(transaction=False) as pipe:
                for window in seen:
                    pipe.publish(f"{CHANNELS}{window.mesh.id}", message(window))
                pipe.execute()
        except RedisError as error:
            if not self._away:
                log.warning("new windows are not announced while Redis is away", error=str(error))
            self._away = True
        else:
            self._away = False


def message(window: WindowSeen) -> str:
    """What is published on the channel of the window's mesh."""
    return json.dumps(
        {"started_at_s": window.started_at_s, "window_s": window.window_s, "revision": window.mesh.revision}
    )
