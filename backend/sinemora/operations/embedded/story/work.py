"""Work of the demonstration's applications: real requests and answers over its network.

Each client asks its server in a closed loop of one request at a time, with pauses. One connection could reach the share
of requests that are answered, divided by their median round trip: a mean would show how busy this machine is.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import cast

from sinemora.operations.embedded.demo.machines import Machine

_PAUSE_S = 0.05
_PATIENCE_S = 0.25
_REQUEST, _ANSWER = b"?", b"!"
RECENT_S = 20.0
KEPT_S = 120.0


class Work:
    """Requests of clients to servers; `rate_per_s` has the result of each application."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self._machines = {machine.name: machine for machine in machines}
        self._ends: dict[str, _End] = {}
        self._trips: dict[str, list[tuple[float, float | None]]] = defaultdict(list)

    async def open(self) -> None:
        """Open the socket of every machine."""
        loop = asyncio.get_running_loop()
        for machine in self._machines.values():
            _, end = await loop.create_datagram_endpoint(_End, local_addr=(machine.address, machine.work_port))
            self._ends[machine.name] = end

    async def run(self, application: str, client: str, server: str) -> None:
        """Ask without end."""
        target = self._machines[server]
        address = (target.probe_address, target.work_port)
        while True:
            trip_s = await self._ends[client].ask(address)
            self._trips[application].append((time.monotonic(), trip_s))
            await asyncio.sleep(_PAUSE_S)

    def rate_per_s(self, application: str, span_s: float = RECENT_S) -> float | None:
        """Return the requests per second that one connection reaches, over the last seconds (`KEPT_S` at most).

        None without a request; 0 without an answer.
        """
        now = time.monotonic()
        trips = self._trips[application]
        trips[:] = [trip for trip in trips if trip[0] >= now - KEPT_S]
        recent = [trip_s for at, trip_s in trips if at >= now - span_s]
        if not recent:
            return None
        answered = [trip_s for trip_s in recent if trip_s is not None]
        return len(answered) / len(recent) / median(answered) if answered else 0.0


class _End(asyncio.DatagramProtocol):
    """Socket of a machine: answers requests, and sends its own."""

    def __init__(self) -> None:
        self._transport: asyncio.DatagramTransport | None = None
        self._number = 0
        self._waiting: dict[bytes, asyncio.Future[None]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        kind, number = data[:1], data[1:9]
        if kind == _REQUEST and self._transport is not None:
            self._transport.sendto(_ANSWER + number, addr)
        elif kind == _ANSWER and (waiting := self._waiting.pop(number, None)) and not waiting.done():
            waiting.set_result(None)

    async def ask(self, address: tuple[str, int]) -> float | None:
        """Send a request and return the seconds until its answer, or None without one."""
        assert self._transport is not None
        self._number += 1
        number = self._number.to_bytes(8, "little")
        answered = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        began_s = time.perf_counter()
        self._transport.sendto(_REQUEST + number, address)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await answered
        except TimeoutError:
            self._waiting.pop(number, None)
            return None
        return time.perf_counter() - began_s
