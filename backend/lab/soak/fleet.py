"""A simulated fleet that reports in real time through the API of agents and keeps unacknowledged reports, as they do.

It runs in a separate thread. Each sender has one connection, or opens one for each report, and sends its next window
when the one before was acknowledged; a failed attempt is repeated with the same report after a pause.
"""

import asyncio
import itertools
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Self

from lab.benchmarks.storing.product import World
from lab.benchmarks.storing.worlds import reports, request_at
from sinemora.measurements.ingest.agent_pb2 import Report

REFUSED, BROKEN = "connection refused", "connection broken"
PAUSE_S = 0.2
_LIMIT_S = 30.0
UNANSWERED = f"no answer within {_LIMIT_S:.0f} s"
WINDOW_S = 10


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
    """All VMs of a mesh, each with a window every `every_s` of real time.

    Windows go back in time from `newest_s`, by default from ten minutes ago. With `reconnect` each report opens a
    connection.
    """

    def __init__(
        self,
        port: int,
        world: World,
        every_s: float = 1.0,
        newest_s: int | None = None,
        *,
        reconnect: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.record = Record()
        self._reconnect, self._tls = reconnect, tls
        self.port = port
        self._world = world
        self._every_s = every_s
        newest_s = int(time.time()) - 600 if newest_s is None else newest_s
        self._newest_s = newest_s // WINDOW_S * WINDOW_S
        self._messages = self._reports()
        self._stopped = threading.Event()
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def start(self) -> Self:
        """Begin to send."""
        self._thread.start()
        return self

    def stop(self, *, give_up: bool = False) -> Record:
        """End after the reports that are under way are acknowledged, or at once. Return the record."""
        self._stopped.set()
        if give_up:
            self._given_up.set()
        self._thread.join(120)
        if self._thread.is_alive():
            raise RuntimeError("the fleet still waits for acknowledgements after 120 s")
        return self.record

    def _reports(self) -> list[list[Report]]:
        """Return the reports that each sender repeats, in turn, with other windows."""
        return [[message] for message in reports(self._world)]

    def _message(self, number: int, count: int) -> Report | None:
        """Return the report of a sender about a window by its number; None when it reports no more."""
        messages = self._messages[number]
        return messages[count % len(messages)]

    async def _run(self) -> None:
        began_s = time.monotonic()
        await asyncio.gather(*(self._send(number, began_s) for number in range(len(self._messages))))

    def _start(self, count: int) -> int:
        """Return the start of the window with this number, from 0, Unix s."""
        return self._newest_s - WINDOW_S * (count + 1)

    def _due_in_s(self, number: int, count: int, began_s: float) -> float:
        """Return the time until a sender sends its window number `count`; negative when it is late."""
        return began_s + self._every_s * (number / len(self._messages) + count) - time.monotonic()

    async def _send(self, number: int, began_s: float) -> None:
        credential, vm_key = self._world.credentials[number], self._world.vm_keys[number]
        line = Line(self.port, self._tls)
        for count in itertools.count():
            message, start = self._message(number, count), self._start(count)
            if message is None:
                break
            request = request_at(credential, message, start)
            if not await self._until_due(number, count, began_s):
                break
            sent_at, sent_s, attempts = time.time(), time.monotonic(), 0
            while not self._given_up.is_set() and not await self._attempt(line, request):
                attempts += 1
                await asyncio.sleep(PAUSE_S)
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

    async def _attempt(self, line: "Line", request: bytes) -> bool:
        """Send a report once. Return whether it was acknowledged."""
        why = await line.attempt(request)
        if why is not None:
            self.record.failures.append((time.time(), why))
        elif self._reconnect:
            line.close()
        return why is None


class Line:
    """A connection that is opened when it is needed."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._port, self._tls = port, tls
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def attempt(self, request: bytes) -> str | None:
        """Send a report. Return None when it is acknowledged, else why not; the connection is closed then."""
        try:
            status, _ = await asyncio.wait_for(self.ask(request), _LIMIT_S)
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

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Send a request and return the status and the body of the response."""
        if self._streams and self._streams[0].at_eof():
            self.close()  # the server closed it while nothing was asked
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._tls)
        reader, writer = self._streams
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        body = await reader.readexactly(length[0] if length else 0)
        if b"\r\nconnection: close" in head.lower():
            self.close()
        return int(head.split(b" ", 2)[1]), body

    def close(self) -> None:
        """Close it."""
        if self._streams:
            self._streams[1].close()
        self._streams = None
