"""A simulated fleet that reports in real time through the API of agents and keeps unacknowledged reports, as they do.

It runs in a separate thread. Each sender has one connection, or opens one for each report, and sends its next window
when the one before was acknowledged; a failed attempt is repeated with the same report after a pause.
"""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import zstandard

from lab.benchmarks.storing.load import request_of
from lab.benchmarks.storing.product import World
from lab.benchmarks.storing.worlds import peers, report, window

_PAUSE_S = 0.2
_LIMIT_S = 30.0


@dataclass
class Record:
    """Fate of the reports: acknowledged windows (VM key, start) with the time, and failed attempts by kind."""

    acknowledged: dict[tuple[int, int], float] = field(default_factory=dict)
    refused_connections: int = 0
    broken_connections: int = 0
    refused_reports: int = 0
    slowest_s: float = 0.0
    sent_again: int = 0


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
        self._newest_s = newest_s // 10 * 10
        self._messages = [self._message(i) for i in range(senders)]
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

    def _message(self, i: int) -> tuple[str, int, bytes]:
        keys = self._world.vm_keys
        message = report(window(np.random.default_rng(i), keys[i], peers(keys, i)), self._world.mesh_key)
        return self._world.credentials[i], keys[i], message.SerializeToString()

    async def _run(self) -> None:
        await asyncio.gather(*(self._send(number, *message) for number, message in enumerate(self._messages)))

    async def _send(self, number: int, credential: str, vm_key: int, body: bytes) -> None:
        from sinemora.measurements.ingest.agent_pb2 import Report

        message, compressor = Report.FromString(body), zstandard.ZstdCompressor(level=3)
        line = _Line(self.port)
        next_s = time.monotonic() + self._every_s * number / len(self._messages)
        start = self._newest_s
        while not self._stopped.is_set():
            await asyncio.sleep(max(0.0, next_s - time.monotonic()))
            next_s += self._every_s
            message.sequence += 1
            start -= 10
            message.windows[0].started_at_s = start
            request = request_of(credential, compressor.compress(message.SerializeToString()))
            began_s, attempts = time.monotonic(), 0
            while not self._given_up.is_set() and not await self._attempt(line, request):
                attempts += 1
                await asyncio.sleep(_PAUSE_S)
            if self._given_up.is_set():
                break
            self.record.sent_again += attempts > 0
            self.record.slowest_s = max(self.record.slowest_s, time.monotonic() - began_s)
            self.record.acknowledged[vm_key, start] = time.time()
        line.close()

    async def _attempt(self, line: "_Line", request: bytes) -> bool:
        """Send a report once. Return whether it was acknowledged."""
        try:
            status = await asyncio.wait_for(line.ask(request), _LIMIT_S)
        except ConnectionRefusedError:
            self.record.refused_connections += 1
        except (OSError, EOFError, TimeoutError):
            self.record.broken_connections += 1
        else:
            if status == 204:
                if self._reconnect:
                    line.close()
                return True
            self.record.refused_reports += 1
        line.close()
        return False


class _Line:
    """A connection that is opened when it is needed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> int:
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


def lost(acknowledged: Sequence[tuple[int, int]], stored: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the acknowledged windows that are not stored."""
    return [window for window in acknowledged if window not in stored]
