"""Sends reports from a separate process: prepared bodies, many connections, counted responses.

It shares the processors with what it measures, which agents do not: it only writes prepared bytes and reads statuses.
"""

import asyncio
import multiprocessing as mp
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event as Flag
from queue import Empty
from typing import Any, cast

import uvloop

CONNECTIONS = 64
"""The default. With this few connections the figure shows the waiting time of batches as much as their cost."""


@dataclass(frozen=True)
class Outcome:
    """Result of a load: reports acknowledged and refused, its duration, and processor time of the generator."""

    acknowledged: int
    refused: int
    seconds: float
    generator_cpu_s: float


class Load:
    """Sends every request once, as fast as responses arrive or at `per_s`, until done or `stop`.

    Connections are spread evenly over `ports`, the API processes of a product.
    """

    def __init__(
        self, ports: Sequence[int], requests: list[bytes], per_s: float | None = None, connections: int = CONNECTIONS
    ) -> None:
        context = mp.get_context("spawn")
        self._stop = context.Event()
        self._outcome: mp.Queue[Outcome] = context.Queue()
        sending = (ports, requests, per_s, connections, self._stop)
        self._process = context.Process(target=_send, args=(self._outcome, *sending), daemon=True)
        self._process.start()

    def stop(self) -> Outcome:
        """End the load now and return its outcome."""
        self._stop.set()
        return self.wait()

    def wait(self) -> Outcome:
        """Wait for the end of the load and return its outcome."""
        while True:
            try:
                outcome = self._outcome.get(timeout=1)
                self._process.join()
                return outcome
            except Empty:
                if not self._process.is_alive():
                    raise RuntimeError("the load generator died") from None


def request_of(credential: str, body: bytes) -> bytes:
    """Return a report as the bytes of an HTTP request."""
    head = (
        "POST /v1/agents/self/reports HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {credential}\r\nContent-Type: application/x-protobuf\r\n"
        f"Content-Encoding: zstd\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _send(outcome: "mp.Queue[Outcome]", *sending: Any) -> None:
    outcome.put(uvloop.run(_run(*sending)))


@dataclass(slots=True)
class _Progress:
    """Requests that wait, and what became of the others."""

    waiting: Iterator[bytes]
    per_s: float | None
    stop: Flag
    began_s: float = field(default_factory=time.monotonic)
    sent: int = 0
    acknowledged: int = 0
    refused: int = 0


class _Connection(asyncio.Protocol):
    """A connection that sends a request after each response, until there is none left; then `done` is set."""

    def __init__(self, progress: _Progress) -> None:
        self._progress = progress
        self._loop = asyncio.get_running_loop()
        self._received, self._awaits = b"", True
        self.done: asyncio.Future[None] = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own class
        self._send()

    def _send(self) -> None:
        progress = self._progress
        request = None if progress.stop.is_set() else next(progress.waiting, None)
        if request is None:
            self._awaits = False
            self._transport.close()
            return
        progress.sent += 1
        if progress.per_s:
            due_s = progress.began_s + progress.sent / progress.per_s - time.monotonic()
            self._loop.call_later(max(0.0, due_s), self._transport.write, request)
        else:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        if head.startswith(b"HTTP/1.1 204"):
            self._progress.acknowledged += 1
        else:
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-le"))
            if len(body) < length:
                return
            self._progress.refused += 1
        self._received = b""
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is None and not self._awaits:
            self.done.set_result(None)
        else:
            self.done.set_exception(exc or ConnectionError("the API closed a connection"))


async def _run(
    ports: Sequence[int], requests: list[bytes], per_s: float | None, connections: int, stop: Flag
) -> Outcome:
    cpu_s = time.process_time()
    progress = _Progress(iter(requests), per_s, stop)

    async def connection(port: int) -> None:
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_connection(lambda: _Connection(progress), "127.0.0.1", port)
        await protocol.done

    await asyncio.gather(*(connection(ports[n % len(ports)]) for n in range(min(connections, len(requests)))))
    spent_s = time.monotonic() - progress.began_s
    return Outcome(progress.acknowledged, progress.refused, spent_s, time.process_time() - cpu_s)
