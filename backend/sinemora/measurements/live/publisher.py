"""Publisher of new windows: Redis pub/sub after the commit, best effort.

Events are also kept for a while in a short Redis stream per mesh. The id of the entry is published with the event, so
that a listener can resume after the last event it received (`hub`).

Publishing has a separate thread: a hanging Redis must not delay reports. While Redis is away windows wait for it, the
newest `_WAITING_MAX` of them.
"""

import json
import threading
from collections.abc import Iterable
from uuid import UUID

import structlog
from redis import RedisError

from sinemora.kit.redis import client
from sinemora.kit.vital_thread import VitalThread
from sinemora.measurements.live.events import WindowSeen

log = structlog.get_logger(__name__)

_WAITING_MAX = 10_000
_RETRY_S = 1.0
CHANNELS = "sinemora:windows:"
STREAMS = "sinemora:events:"
# A mesh of 1,000 agents that report one after the other in each window of 10 s: some minutes.
KEPT_EVENTS = 2000
_KEPT_S = 3600

# Atomic, so that a listener that receives an id finds its entry.
_PUBLISH = """
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', 'data', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[1], id .. ' ' .. ARGV[2])
"""


class Publisher:
    """Publisher that publishes each window of a mesh once, however many agents reported it since the last time."""

    def __init__(self) -> None:
        # Ordered: a window must not be announced before one that was stored earlier.
        self._waiting: dict[WindowSeen, None] = {}
        self._changed = threading.Condition()
        self._stopping = False
        self._unavailable = False
        self._thread = VitalThread(target=self._run, name="live-publisher", daemon=True)
        self._thread.start()

    def publish(self, seen: Iterable[WindowSeen]) -> None:
        """Queue windows to be published, best effort."""
        with self._changed:
            self._waiting.update(dict.fromkeys(seen))
            self._waiting = _newest(self._waiting)
            self._changed.notify()

    def close(self) -> None:
        """Stop without publishing the rest."""
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
                seen, self._waiting = self._waiting, {}
            if self._send(seen):
                continue
            with self._changed:
                self._waiting = _newest(seen | self._waiting)
                self._changed.wait_for(lambda: self._stopping, _RETRY_S)

    def _send(self, seen: Iterable[WindowSeen]) -> bool:
        """Publish windows; return whether Redis took them."""
        try:
            with client().pipeline(transaction=False) as pipe:
                for window in seen:
                    at = window.mesh.id
                    pipe.eval(
                        _PUBLISH,
                        1,
                        f"{STREAMS}{at}",
                        f"{CHANNELS}{at}",
                        message(window),
                        str(KEPT_EVENTS),
                        str(_KEPT_S),
                    )
                pipe.execute()
        except RedisError as error:
            if not self._unavailable:
                log.warning("new windows not announced: Redis is unavailable", error=str(error))
            self._unavailable = True
        else:
            self._unavailable = False
        return not self._unavailable


def _newest(waiting: dict[WindowSeen, None]) -> dict[WindowSeen, None]:
    """Return the newest windows that may wait."""
    return dict.fromkeys(list(waiting)[-_WAITING_MAX:]) if len(waiting) > _WAITING_MAX else waiting


def announce(mesh_id: UUID, name: str, data: dict[str, object]) -> None:
    """Publish an event other than a window to the listeners of a mesh, after the commit, best effort."""
    event = json.dumps({"event": name, "data": data})
    try:
        client().eval(_PUBLISH, 1, f"{STREAMS}{mesh_id}", f"{CHANNELS}{mesh_id}", event, str(KEPT_EVENTS), str(_KEPT_S))
    except RedisError as error:
        log.warning("event not announced: Redis is unavailable", event_name=name, error=str(error))


def message(window: WindowSeen) -> str:
    """Return the entry of the mesh's stream; it is published on the channel after its id and a space."""
    return json.dumps(
        {"started_at_s": window.started_at_s, "window_s": window.window_s, "revision": window.mesh.revision}
    )
