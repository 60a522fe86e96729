"""Sends reports as agents do, each at its own time after the end of a window, from a thread of this process."""

import asyncio
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

from lab.soak.fleet import Line

AT_ONCE = 64

Timed = tuple[float, bytes]
"""Time at which a request is sent (Unix s), and its bytes."""


@dataclass
class Outcome:
    """Number of reports acknowledged and refused, and the largest delay of a report after its due time (s)."""

    acknowledged: int = 0
    refused: int = 0
    late_s: float = 0.0


class TimedLoad:
    """Sends every request once, when it is due."""

    def __init__(self, port: int, requests: list[Timed]) -> None:
        self._port, self._outcome = port, Outcome()
        self._waiting = iter(sorted(requests, key=lambda timed: timed[0]))
        self._loop = asyncio.new_event_loop()
        self._senders = self._loop.create_task(self._run())
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> Outcome:
        """End the load now and return its outcome."""
        self._loop.call_soon_threadsafe(self._senders.cancel)
        self._thread.join(60)
        return self._outcome

    def _serve(self) -> None:
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._senders)

    async def _run(self) -> None:
        await asyncio.gather(*(self._send() for _ in range(AT_ONCE)))
        await asyncio.Event().wait()  # until `stop`

    async def _send(self) -> None:
        outcome = self._outcome
        for at_s, request in self._waiting:
            await asyncio.sleep(max(0.0, at_s - time.time()))
            outcome.late_s = round(max(outcome.late_s, time.time() - at_s), 3)
            line = Line(self._port)  # one connection per report: between two windows the server closes idle ones
            if await line.attempt(request) is None:
                outcome.acknowledged += 1
            else:
                outcome.refused += 1
            line.close()
