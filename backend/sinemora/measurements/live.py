"""New windows as server-sent events: one subscription to Redis per process, one queue per listener.

Agents report the same window within a second or two of one another, so a window is told once it has been quiet for a
moment; those who report later cause one more event. While Redis is away streams stay open and silent.
"""

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

import structlog
from redis import RedisError

from sinemora.kit.redis import async_client
from sinemora.measurements import metrics
from sinemora.measurements.publish import CHANNELS

log = structlog.get_logger(__name__)

QUIET_S = 0.5
PATIENCE_S = 2.0
HEARTBEAT_S = 15.0
# Streams end now and then, so that a session that was ended does not listen for ever; browsers reconnect by themselves.
STREAM_S = 1800.0
_QUEUE_MAX = 32
_BACK_OFF_S = (0.2, 5.0)


class LiveHub:
    """One per process, on its event loop."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[asyncio.Queue[str | None]]] = defaultdict(set)
        self._pending: dict[tuple[str, int], tuple[float, asyncio.TimerHandle]] = {}
        self._task = asyncio.create_task(self._listen())

    async def events(self, mesh_id: UUID) -> AsyncIterator[str]:
        """The stream of one listener, in the format of `text/event-stream`."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(_QUEUE_MAX)
        self._listeners[str(mesh_id)].add(queue)
        metrics.LISTENERS.inc()
        ends_s = time.monotonic() + STREAM_S
        try:
            yield "retry: 2000\n\n: listening\n\n"
            while time.monotonic() < ends_s:
                try:
                    event = await asyncio.wait_for(queue.get(), HEARTBEAT_S)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if event is None:
                    return
                yield event
        finally:
            metrics.LISTENERS.dec()
            listeners = self._listeners[str(mesh_id)]
            listeners.discard(queue)
            if not listeners:
                self._listeners.pop(str(mesh_id), None)

    async def close(self) -> None:
        """End all streams."""
        while not self._task.done():
            # Once is not enough: redis-py 8.1 loses a cancellation that comes while it connects.
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=0.5)
        for _, timer in self._pending.values():
            timer.cancel()
        for listeners in self._listeners.values():
            for queue in listeners:
                _put(queue, None)

    async def _listen(self) -> None:
        wait_s = _BACK_OFF_S[0]
        while True:
            try:
                async with async_client() as client, client.pubsub() as subscription:
                    await subscription.psubscribe(f"{CHANNELS}*")
                    async for message in subscription.listen():
                        wait_s = _BACK_OFF_S[0]
                        if message["type"] == "pmessage":
                            self._heard(message["channel"].decode().removeprefix(CHANNELS), message["data"])
            except (RedisError, OSError) as error:
                log.info("live events wait for Redis", error=str(error))
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _BACK_OFF_S[1])

    def _heard(self, mesh_id: str, data: bytes) -> None:
        """Tell the listeners of a mesh of a window once nobody has reported it for a moment."""
        if mesh_id not in self._listeners:
            return
        said = json.loads(data)
        key, now_s = (mesh_id, said["started_at_s"]), time.monotonic()
        first_s, timer = self._pending.get(key, (now_s, None))
        if timer is not None:
            timer.cancel()
        delay_s = max(0.0, min(QUIET_S, first_s + PATIENCE_S - now_s))
        self._pending[key] = (first_s, asyncio.get_running_loop().call_later(delay_s, self._tell, key, said))

    def _tell(self, key: tuple[str, int], said: dict[str, int]) -> None:
        del self._pending[key]
        started_at = datetime.fromtimestamp(said["started_at_s"], UTC).isoformat().replace("+00:00", "Z")
        data = {"started_at": started_at, "window_s": said["window_s"], "revision": said["revision"]}
        for queue in self._listeners.get(key[0], ()):
            _put(queue, f"event: window\ndata: {json.dumps(data)}\n\n")


def _put(queue: asyncio.Queue[str | None], event: str | None) -> None:
    """Add to a queue; a listener too slow to read loses what is oldest."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(event)
