"""New windows as server-sent events: one subscription to Redis per process, one queue per listener.

Agents report the same window within a second or two of one another. A window is announced when no agent has reported
it for a moment; later reports cause one more event. While Redis is away streams stay open and silent.

An event carries the id of the newest entry of the mesh's Redis stream (`publisher`) that went into it. A browser that
reconnects sends it as `Last-Event-ID` and receives the windows it missed, each once. When the entry has left the stream
or Redis was restarted or is away, it receives `event: reset` and has to read everything again.
"""

import asyncio
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import structlog
from redis import RedisError
from redis.asyncio import Redis

from sinemora.kit.errors import ProductError
from sinemora.kit.redis import async_client
from sinemora.measurements import metrics
from sinemora.measurements.live.publisher import CHANNELS, KEPT_EVENTS, STREAMS

log = structlog.get_logger(__name__)

QUIET_S = 0.5
LONGEST_WAIT_S = 2.0
# Also the interval of comments, which keep proxies from closing a silent stream.
CHECK_S = 10.0
STREAMS_MAX = 50
"""Open streams of one session or key, in each process."""
# Streams end after this time; browsers reconnect automatically.
STREAM_S = 1800.0
_QUEUE_MAX = 32
_BACK_OFF_S = (0.2, 5.0)
_ID = re.compile(r"(\d{1,20})-(\d{1,20})")

Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream. `position` orders the events of a mesh; None when a listener cannot resume after it."""

    position: Position | None
    name: str
    data: dict[str, object]

    def __str__(self) -> str:
        """Return the event as `text/event-stream`."""
        id_line = "" if self.position is None else f"id: {_id(self.position)}\n"
        return f"{id_line}event: {self.name}\ndata: {json.dumps(self.data)}\n\n"


class LiveHub:
    """Event streams of all listeners; one object a process, on its event loop."""

    def __init__(self) -> None:
        self._streams: Counter[str] = Counter()
        self._listeners: dict[str, set[asyncio.Queue[Event | None]]] = defaultdict(set)
        self._pending: dict[tuple[str, str], tuple[float, asyncio.TimerHandle]] = {}
        self._task = asyncio.create_task(self._listen())

    def admit(self, caller: str) -> None:
        """Refuse a caller with too many streams. ProductError `streams_too_many` (429)."""
        if self._streams[caller] >= STREAMS_MAX:
            raise ProductError(
                "streams_too_many",
                429,
                f"Too many live streams: {STREAMS_MAX} are open. Close one, or use another API key.",
                headers={"Retry-After": "10"},
            )

    async def events(
        self, mesh_id: UUID, caller: str, is_signed_in: Callable[[], Awaitable[bool]], last_event_id: str | None = None
    ) -> AsyncIterator[str]:
        """Yield the stream of one listener: the events missed since `last_event_id`, then new ones.

        It ends within `CHECK_S` of the end of the caller's session or key.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue(_QUEUE_MAX)
        self._listeners[str(mesh_id)].add(queue)
        metrics.LISTENERS.inc()
        self._streams[caller] += 1
        ends_s = time.monotonic() + STREAM_S
        checked_s = time.monotonic()
        try:
            yield "retry: 2000\n\n: listening\n\n"
            # New events already wait in the queue, so none is lost between the two.
            missed, resumed_at = await _events_since(mesh_id, last_event_id)
            for event in missed:
                yield str(event)
            if resumed_at is not None:
                yield f"id: {_id(resumed_at)}\n\n"
            while time.monotonic() < ends_s:
                if time.monotonic() - checked_s >= CHECK_S:
                    if not await is_signed_in():
                        return
                    checked_s = time.monotonic()
                try:
                    new_event = await asyncio.wait_for(queue.get(), CHECK_S)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if new_event is None:
                    return
                if resumed_at is None or new_event.position is None or new_event.position > resumed_at:
                    yield str(new_event)
        finally:
            metrics.LISTENERS.dec()
            self._streams[caller] -= 1
            if not self._streams[caller]:
                del self._streams[caller]
            listeners = self._listeners[str(mesh_id)]
            listeners.discard(queue)
            if not listeners:
                self._listeners.pop(str(mesh_id), None)

    async def close(self) -> None:
        """End all streams."""
        while not self._task.done():
            # Repeated, since redis-py 8.1 loses a cancellation while it connects.
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=0.5)
        for _, timer in self._pending.values():
            timer.cancel()
        for listeners in self._listeners.values():
            for queue in listeners:
                _enqueue(queue, None)

    async def _listen(self) -> None:
        wait_s = _BACK_OFF_S[0]
        while True:
            try:
                async with async_client() as client, client.pubsub() as subscription:
                    await subscription.psubscribe(f"{CHANNELS}*")
                    async for message in subscription.listen():
                        wait_s = _BACK_OFF_S[0]
                        if message["type"] == "pmessage":
                            self._receive(message["channel"].decode().removeprefix(CHANNELS), message["data"])
            except (RedisError, OSError) as error:
                log.info("live events wait for Redis", error=str(error))
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _BACK_OFF_S[1])

    def _receive(self, mesh_id: str, data: bytes) -> None:
        """Announce a window to the listeners of its mesh when no agent has reported it for a moment."""
        if mesh_id not in self._listeners:
            return
        event_id, text = data.decode().split(" ", 1)
        position, content = _position(event_id), json.loads(text)
        if "event" in content:  # published once, so there is nothing to wait for
            for queue in self._listeners[mesh_id]:
                _enqueue(queue, Event(position, content["event"], content["data"]))
            return
        event = _window(position, content)
        key, now_s = (mesh_id, str(event.data["started_at"])), time.monotonic()
        first_s, timer = self._pending.get(key, (now_s, None))
        if timer is not None:
            timer.cancel()
        delay_s = max(0.0, min(QUIET_S, first_s + LONGEST_WAIT_S - now_s))
        self._pending[key] = (first_s, asyncio.get_running_loop().call_later(delay_s, self._send, key, event))

    def _send(self, key: tuple[str, str], event: Event) -> None:
        del self._pending[key]
        for queue in self._listeners.get(key[0], ()):
            _enqueue(queue, event)


async def _events_since(mesh_id: UUID, last_event_id: str | None) -> tuple[Iterable[Event], Position | None]:
    """Return the events after `last_event_id` and the position they end at; without an id only the newest position."""
    after = None if last_event_id is None else _position(last_event_id)
    key = f"{STREAMS}{mesh_id}"
    try:
        async with async_client() as client:
            if last_event_id is None:
                return (), await _newest(client, key)
            entries: Any = [] if after is None else await client.xrange(key, _id(after), "+", count=2 * KEPT_EVENTS)
            newest = await _newest(client, key)
    except (RedisError, OSError) as error:
        log.info("missed events cannot be read", error=str(error))
        return ((_reset(None),) if last_event_id is not None else ()), None
    events = [(_position(at.decode()), json.loads(fields[b"data"])) for at, fields in entries]
    if not events or events[0][0] != after:  # no longer in the stream, nor perhaps its successors
        return (_reset(newest),), newest
    # Only the newest entry of each window, in the order of the stream.
    windows = {
        content["started_at_s"]: _window(position, content)
        for position, content in events[1:]
        if "event" not in content
    }
    others = [
        Event(position, content["event"], content["data"]) for position, content in events[1:] if "event" in content
    ]
    return sorted([*windows.values(), *others], key=lambda event: event.position or (0, 0)), events[-1][0]


async def _newest(client: Redis, key: str) -> Position | None:
    entries: Any = await client.xrevrange(key, count=1)
    return _position(entries[0][0].decode()) if entries else None


def _window(position: Position | None, content: dict[str, int]) -> Event:
    started_at = datetime.fromtimestamp(content["started_at_s"], UTC).isoformat().replace("+00:00", "Z")
    data = {"started_at": started_at, "window_s": content["window_s"], "revision": content["revision"]}
    return Event(position, "window", data)


def _reset(position: Position | None) -> Event:
    return Event(position, "reset", {"detail": "Missed events are no longer stored: read all data again."})


def _position(event_id: str) -> Position | None:
    """Parse an event id; None when it is malformed."""
    match = _ID.fullmatch(event_id)
    return (int(match[1]), int(match[2])) if match else None


def _id(position: Position) -> str:
    return f"{position[0]}-{position[1]}"


def _enqueue(queue: asyncio.Queue[Event | None], event: Event | None) -> None:
    """Add an event to a queue. A slow listener loses the oldest event."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(event)
