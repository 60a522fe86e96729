"""Sends reports from a separate process: prepared bodies, many connections, counted responses."""

import asyncio
import multiprocessing as mp
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Event as Flag
from queue import Empty

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
        self._process = context.Process(
            target=_send, args=(ports, requests, per_s, connections, self._stop, self._outcome), daemon=True
        )
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


def _send(
    ports: Sequence[int],
    requests: list[bytes],
    per_s: float | None,
    connections: int,
    stop: Flag,
    outcome: "mp.Queue[Outcome]",
) -> None:
    outcome.put(asyncio.run(_run(ports, requests, per_s, connections, stop)))


async def _run(
    ports: Sequence[int], requests: list[bytes], per_s: float | None, connections: int, stop: Flag
) -> Outcome:
    waiting = iter(requests)
    counts = [0, 0]
    began_s, cpu_s, sent = time.monotonic(), time.process_time(), 0

    async def connection(port: int) -> None:
        nonlocal sent
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in waiting:
            if stop.is_set():
                break
            sent += 1
            if per_s:
                await asyncio.sleep(max(0.0, began_s + sent / per_s - time.monotonic()))
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            good = head.startswith(b"HTTP/1.1 204")
            counts[not good] += 1
            if not good:
                length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-le"))
                await reader.readexactly(length)
        writer.close()

    await asyncio.gather(*(connection(ports[n % len(ports)]) for n in range(min(connections, len(requests)))))
    return Outcome(counts[0], counts[1], time.monotonic() - began_s, time.process_time() - cpu_s)
