"""A simulated fleet that reports in real time through the API of agents and keeps unacknowledged reports, as they do.

It runs in a separate thread. Each sender has one connection, or opens one for each report, and sends its next window
when the one before was acknowledged; a failed attempt is repeated with the same report after a pause.

`Fleet` sends old windows at a chosen rate, `LiveFleet` each window when it ends.
"""

import asyncio
import itertools
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import zstandard

from lab.benchmarks.alerting.stack import Agents
from lab.benchmarks.storing.load import request_of
from lab.benchmarks.storing.product import World
from lab.benchmarks.storing.worlds import peers, report, window

REFUSED, BROKEN = "connection refused", "connection broken"
_PAUSE_S = 0.2
_LIMIT_S = 30.0
UNANSWERED = f"no answer within {_LIMIT_S:.0f} s"
_WINDOW_S = 10
_KINDS = 6
"""Different windows of a live sender, in turn."""
_DECIDED_S, _PHASE_S = 1.2, 1.0
"""Time after the end of a window until its last exchange is decided, and the longest wait of an agent after that."""


@dataclass
class Record:
    """Fate of the reports: acknowledged windows (VM key, start) with the time, and failed attempts by kind.

    `latencies`: when a report was first sent (Unix s), and the seconds until its acknowledgement. `failures`: when an
    attempt failed, and why: `REFUSED`, `BROKEN`, `UNANSWERED` or the status.
    """

    acknowledged: dict[tuple[int, int], float] = field(default_factory=dict)
    latencies: list[tuple[float, float]] = field(default_factory=list)
    failures: list[tuple[float, str]] = field(default_factory=list)
    slowest_s: float = 0.0
    sent_again: int = 0

    @property
    def refused_connections(self) -> int:
        """Return the number of connections that nothing accepted."""
        return self._count(REFUSED)

    @property
    def broken_connections(self) -> int:
        """Return the number of connections that ended without an answer, or had none in time."""
        return self._count(BROKEN) + self._count(UNANSWERED)

    @property
    def refused_reports(self) -> int:
        """Return the number of attempts that were answered with an error."""
        return len(self.failures) - self.refused_connections - self.broken_connections

    def _count(self, why: str) -> int:
        return sum(each == why for _, each in self.failures)


class Fleet:
    """Senders of a mesh, each with a window every `every_s` of real time; windows go back in time from `newest_s`.

    With `reconnect` each report opens a connection.
    """

    def __init__(
        self, port: int, world: World, senders: int, every_s: float, newest_s: int, *, reconnect: bool = False
    ) -> None:
        self.record = Record()
        self._reconnect = reconnect
        self.port = port
        self._world = world
        self._every_s = every_s
        self._newest_s = newest_s // _WINDOW_S * _WINDOW_S
        self._messages = self._bodies(senders)
        self._stopped = threading.Event()
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self, *, give_up: bool = False) -> Record:
        """End after the reports that are under way are acknowledged, or at once. Return the record."""
        self._stopped.set()
        if give_up:
            self._given_up.set()
        self._thread.join(120)
        if self._thread.is_alive():
            raise RuntimeError("the fleet still waits for acknowledgements after 120 s")
        return self.record

    def _bodies(self, senders: int) -> list[list[bytes]]:
        """Return the reports that each sender repeats, in turn, with other windows."""
        keys = self._world.vm_keys
        windows = (window(np.random.default_rng(i), keys[i], peers(keys, i)) for i in range(senders))
        return [[report(frame, self._world.mesh_key).SerializeToString()] for frame in windows]

    async def _run(self) -> None:
        began_s = time.monotonic()
        await asyncio.gather(*(self._send(number, began_s) for number in range(len(self._messages))))

    def _start(self, count: int) -> int:
        """Return the start of the window with this number, from 0, Unix s."""
        return self._newest_s - _WINDOW_S * (count + 1)

    def _due_in_s(self, number: int, count: int, began_s: float) -> float:
        """Return the time until a sender sends its window number `count`; negative when it is late."""
        return began_s + self._every_s * (number / len(self._messages) + count) - time.monotonic()

    async def _send(self, number: int, began_s: float) -> None:
        from sinemora.measurements.ingest.agent_pb2 import Report

        messages = [Report.FromString(body) for body in self._messages[number]]
        credential, vm_key = self._world.credentials[number], self._world.vm_keys[number]
        compressor, line = zstandard.ZstdCompressor(level=3), _Line(self.port)
        for count in itertools.count():
            if not await self._until_due(number, count, began_s):
                break
            message, start = messages[count % len(messages)], self._start(count)
            message.sequence = count + 2
            message.windows[0].started_at_s = start
            request = request_of(credential, compressor.compress(message.SerializeToString()))
            sent_at, sent_s, attempts = time.time(), time.monotonic(), 0
            while not self._given_up.is_set() and not await self._attempt(line, request):
                attempts += 1
                await asyncio.sleep(_PAUSE_S)
            if self._given_up.is_set():
                break
            taken_s = time.monotonic() - sent_s
            self.record.sent_again += attempts > 0
            self.record.slowest_s = max(self.record.slowest_s, taken_s)
            self.record.latencies.append((sent_at, taken_s))
            self.record.acknowledged[vm_key, start] = time.time()
        line.close()

    async def _until_due(self, number: int, count: int, began_s: float) -> bool:
        """Wait until a window is due. Return whether the fleet still sends then."""
        while not self._stopped.is_set():
            due_in_s = self._due_in_s(number, count, began_s)
            if due_in_s <= 0:
                return True
            await asyncio.sleep(min(due_in_s, 1.0))
        return False

    async def _attempt(self, line: "_Line", request: bytes) -> bool:
        """Send a report once. Return whether it was acknowledged."""
        why = await line.attempt(request)
        if why is not None:
            self.record.failures.append((time.time(), why))
        elif self._reconnect:
            line.close()
        return why is None


class LiveFleet(Fleet):
    """Senders of a mesh as agents are: each sends a window when it has ended, and after an outage all that it missed.

    Delays vary by one percent around those of each path, and nothing is lost.
    """

    def __init__(self, port: int, world: World) -> None:
        super().__init__(port, world, len(world.vm_keys), _WINDOW_S, int(time.time()) - _WINDOW_S)

    def _bodies(self, senders: int) -> list[list[bytes]]:
        agents = Agents(self._world, seed=1)
        return [[agents.quiet(i).SerializeToString() for _ in range(_KINDS)] for i in range(senders)]

    def _start(self, count: int) -> int:
        return self._newest_s + _WINDOW_S * count

    def _due_in_s(self, number: int, count: int, began_s: float) -> float:
        phase_s = _PHASE_S * number / len(self._messages)
        return self._start(count) + _WINDOW_S + _DECIDED_S + phase_s - time.time()


class _Line:
    """A connection that is opened when it is needed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def attempt(self, request: bytes) -> str | None:
        """Send a report. Return None when it is acknowledged, else why not; the connection is closed then."""
        try:
            status = await asyncio.wait_for(self._ask(request), _LIMIT_S)
        except ConnectionRefusedError:
            why = REFUSED
        except TimeoutError:
            why = UNANSWERED
        except (OSError, EOFError):
            why = BROKEN
        else:
            if status == 204:
                return None
            why = str(status)
        self.close()
        return why

    async def _ask(self, request: bytes) -> int:
        """Send a request and return the status of the response."""
        if self._streams and self._streams[0].at_eof():
            self.close()  # the server closed it while nothing was asked
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        await reader.readexactly(length[0] if length else 0)
        if b"\r\nconnection: close" in head.lower():
            self.close()
        return int(head.split(b" ", 2)[1])

    def close(self) -> None:
        """Close it."""
        if self._streams:
            self._streams[1].close()
        self._streams = None


class Burst:
    """Reports sent all at once, each over a separate connection and again until it is acknowledged.

    `requests` by their windows (VM key, start); `record` gets their fate.
    """

    def __init__(self, port: int, requests: Mapping[tuple[int, int], bytes], record: Record) -> None:
        self._port, self._requests, self._record = port, requests, record
        self._refused = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(120)
        if self._thread.is_alive():
            raise RuntimeError("reports of a burst still wait for acknowledgements after 120 s")

    def wait_for_refusal(self, seconds: float) -> bool:
        """Return whether one was refused by its status within a time."""
        return self._refused.wait(seconds)

    async def _run(self) -> None:
        await asyncio.gather(*(self._send(window, request) for window, request in self._requests.items()))

    async def _send(self, window: tuple[int, int], request: bytes) -> None:
        line = _Line(self._port)
        while (why := await line.attempt(request)) is not None:
            self._record.failures.append((time.time(), why))
            if why not in (REFUSED, BROKEN, UNANSWERED):
                self._refused.set()
            await asyncio.sleep(_PAUSE_S)
        self._record.acknowledged[window] = time.time()
        line.close()


def lost(acknowledged: Sequence[tuple[int, int]], stored: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the acknowledged windows that are not stored."""
    return [window for window in acknowledged if window not in stored]
