"""New windows as server-sent events: one subscription to Redis per process, one queue per listener.

Agents report the same window within a second or two of one another. A window is announced when no agent has reported
it for a moment; later reports cause one more event. While Redis is away streams stay open and silent.

An event carries the id of the newest entry of the mesh's Redis stream (`publisher`) that went into it. A browser that
reconnects sends it as `Last-Event-ID` and receives the windows it missed, each once. Events leave in the order of their
ids, so that no event before an id is outstanding when a listener stores it. When the entry has left the stream or Redis
was restarted or is away, it receives `event: reset` and has to read everything again.

Pub/sub has no memory. After each (re)subscription the hub therefore reads what the streams got since it last heard of
them, and a listener reads its position only while the subscription stands.
"""

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import structlog
from redis import RedisError
from redis.asyncio import Redis

from sinemora.access.tenants.quotas import AT_ONCE, Concurrency
from sinemora.kit.errors import ProductError
from sinemora.kit.redis import async_client
from sinemora.measurements import metrics
from sinemora.measurements.live.publisher import CHANNELS
from sinemora.measurements.live.stream import (
    START,
    Event,
    Position,
    StreamEntry,
    each_window_once,
    entries_after,
    id_of,
    newest,
    position_of,
    reset,
)

log = structlog.get_logger(__name__)

QUIET_S = 0.5
LONGEST_WAIT_S = 2.0
# Also the interval of comments, which keep proxies from closing a silent stream.
CHECK_S = 10.0
STREAMS_MAX = 50
"""Open streams of one session or key, in each process."""
TENANT_STREAMS_MAX = AT_ONCE[Concurrency.LIVE_STREAMS]
# Streams end after this time; browsers reconnect automatically.
STREAM_S = 1800.0
# A stream that is opened while Redis is away waits this long for it.
_SUBSCRIPTION_S = 2.0
_QUEUE_MAX = 32
_BACK_OFF_S = (0.2, 5.0)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A window that agents still report: its newest entry, when the first arrived, and when it is sent."""

    entry: StreamEntry
    first_s: float
    timer: asyncio.TimerHandle


class LiveHub:
    """Event streams of all listeners; one object a process, on its event loop."""

    def __init__(self) -> None:
        self._streams: Counter[str] = Counter()
        self._listeners: dict[str, set[asyncio.Queue[Event | None]]] = defaultdict(set)
        # By mesh and start; in each mesh ordered by position.
        self._waiting: dict[str, dict[int, _Waiting]] = defaultdict(dict)
        # Up to where the stream of each mesh with listeners was received.
        self._received: dict[str, Position] = {}
        self._subscribed = asyncio.Event()
        self._closed = False
        self._task = asyncio.create_task(self._listen())

    def open_of(self, tenant_id: UUID) -> int:
        """Return the number of open streams of a tenant."""
        return self._streams[str(tenant_id)]

    def admit(self, caller: str, tenant_id: UUID) -> None:
        """Refuse a caller, or a tenant, with too many streams. ProductError `streams_too_many` (429)."""
        if self._streams[caller] >= STREAMS_MAX:
            refusal = f"{STREAMS_MAX} are open. Close one, or use another API key."
        elif self._streams[str(tenant_id)] >= TENANT_STREAMS_MAX:
            refusal = f"{TENANT_STREAMS_MAX} of this tenant are open. Close some."
        else:
            return
        raise ProductError("streams_too_many", 429, f"Too many live streams: {refusal}", headers={"Retry-After": "10"})

    async def events(
        self,
        mesh_id: UUID,
        caller: str,
        tenant_id: UUID,
        is_signed_in: Callable[[], Awaitable[bool]],
        last_event_id: str | None = None,
    ) -> AsyncIterator[str]:
        """Yield the stream of one listener: the events missed since `last_event_id`, then new ones.

        It ends within `CHECK_S` of the end of the caller's session or key.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue(_QUEUE_MAX)
        metrics.LISTENERS.inc()
        counted = (caller, str(tenant_id))
        self._streams.update(counted)
        ends_s = time.monotonic() + STREAM_S
        checked_s = time.monotonic()
        try:
            yield "retry: 2000\n\n"
            with suppress(TimeoutError):
                await asyncio.wait_for(self._subscribed.wait(), _SUBSCRIPTION_S)
            if self._closed:
                return
            # From here on new events wait in the queue, so none is lost between those missed and the new ones.
            self._listeners[str(mesh_id)].add(queue)
            missed, resumed_at = await self._resume(str(mesh_id), last_event_id)
            for event in missed:
                yield str(event)
            if resumed_at is not None:
                yield f"id: {id_of(resumed_at)}\n\n"
            yield ": listening\n\n"
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
                if new_event.name == "reset" or _is_after(new_event, resumed_at):
                    yield str(new_event)
        finally:
            metrics.LISTENERS.dec()
            self._streams.subtract(counted)
            self._streams = +self._streams
            self._leave(str(mesh_id), queue)

    async def close(self) -> None:
        """End all streams."""
        self._closed = True
        self._subscribed.set()
        while not self._task.done():
            # Repeated, since redis-py 8.1 loses a cancellation while it connects.
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=0.5)
        for waiting in self._waiting.values():
            for window in waiting.values():
                window.timer.cancel()
        for mesh_id in list(self._listeners):
            self._send(mesh_id, None)

    async def _resume(self, mesh_id: str, last_event_id: str | None) -> tuple[Iterable[Event], Position | None]:
        """Return the events after `last_event_id` and the position they end at; without an id only the newest position.

        The position is None while Redis is away.
        """
        after = None if last_event_id is None else position_of(last_event_id)
        try:
            async with async_client() as client:
                at = await newest(client, mesh_id)
                entries = None if after is None else await entries_after(client, mesh_id, after)
        except (RedisError, OSError) as error:
            log.info("missed events cannot be read", error=str(error))
            return ((reset(None),) if last_event_id is not None else ()), None
        if entries:
            at = max(at, entries[-1].position)
        # The first listener says where the mesh begins; later ones must not skip what others still wait for.
        self._received.setdefault(mesh_id, at)
        if last_event_id is None:
            return (), at
        return ((reset(at),) if entries is None else each_window_once(entries)), at

    def _leave(self, mesh_id: str, queue: asyncio.Queue[Event | None]) -> None:
        listeners = self._listeners[mesh_id]
        listeners.discard(queue)
        if not listeners:
            del self._listeners[mesh_id]
            self._received.pop(mesh_id, None)

    async def _listen(self) -> None:
        wait_s = _BACK_OFF_S[0]
        while True:
            try:
                async with async_client() as client, client.pubsub() as subscription:
                    await subscription.psubscribe(f"{CHANNELS}*")
                    async for message in subscription.listen():
                        wait_s = _BACK_OFF_S[0]
                        if message["type"] == "psubscribe":  # also after each reconnection of the client
                            await self._catch_up(client)
                            self._subscribed.set()
                        elif message["type"] == "pmessage":
                            event_id, text = message["data"].decode().split(" ", 1)
                            mesh_id = message["channel"].decode().removeprefix(CHANNELS)
                            if position := position_of(event_id):
                                self._receive(mesh_id, StreamEntry(position, json.loads(text)))
            except (RedisError, OSError) as error:
                log.info("live events wait for Redis", error=str(error))
            self._subscribed.clear()
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _BACK_OFF_S[1])

    async def _catch_up(self, client: Redis) -> None:
        """Receive what was published while there was no subscription."""
        for mesh_id in list(self._listeners):
            received = self._received.get(mesh_id)
            entries = None if received is None else await entries_after(client, mesh_id, received)
            if entries is None:
                self._received[mesh_id] = await newest(client, mesh_id)
                self._send(mesh_id, reset(self._received[mesh_id]))
            for entry in entries or ():
                self._receive(mesh_id, entry)

    def _receive(self, mesh_id: str, entry: StreamEntry) -> None:
        """Announce a window to the listeners of its mesh when no agent has reported it for a moment."""
        if mesh_id not in self._listeners or entry.position <= self._received.get(mesh_id, START):
            return
        self._received[mesh_id] = entry.position
        started_at_s = entry.started_at_s
        if started_at_s is None:  # published once, so there is nothing to wait for
            self._send_until(mesh_id, entry.position)
            self._send(mesh_id, entry.event())
            return
        earlier, now_s = self._waiting[mesh_id].pop(started_at_s, None), time.monotonic()
        first_s = now_s if earlier is None else earlier.first_s
        if earlier is not None:
            earlier.timer.cancel()
        delay_s = max(0.0, min(QUIET_S, first_s + LONGEST_WAIT_S - now_s))
        timer = asyncio.get_running_loop().call_later(delay_s, self._send_until, mesh_id, entry.position)
        self._waiting[mesh_id][started_at_s] = _Waiting(entry, first_s, timer)

    def _send_until(self, mesh_id: str, position: Position) -> None:
        """Send the waiting windows up to a position, in the order of their entries."""
        waiting = self._waiting[mesh_id]
        for started_at_s, window in list(waiting.items()):
            if window.entry.position > position:
                break
            window.timer.cancel()
            del waiting[started_at_s]
            self._send(mesh_id, window.entry.event())
        if not waiting:
            del self._waiting[mesh_id]

    def _send(self, mesh_id: str, event: Event | None) -> None:
        for queue in self._listeners.get(mesh_id, ()):
            _enqueue(queue, event)


def _is_after(event: Event, position: Position | None) -> bool:
    return position is None or event.position is None or event.position > position


def _enqueue(queue: asyncio.Queue[Event | None], event: Event | None) -> None:
    """Add an event to a queue. A listener too slow for its events reads all data again instead."""
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        event = None if event is None else reset(event.position)
    queue.put_nowait(event)
