"""Sends reports as agents do: each at its own time after the end of each window.

A separate program with few imports: it starts quickly and hardly disturbs the measurement.
`python load.py PORT FILE` reads a pickled list of `Timed`. At its end, or at SIGTERM, it prints the results.
"""

import asyncio
import json
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

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

    def __init__(self, port: int, requests: list[Timed], folder: Path) -> None:
        file = folder / "requests"
        file.write_bytes(pickle.dumps(sorted(requests, key=lambda timed: timed[0])))
        command = [sys.executable, __file__, str(port), str(file)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)

    def stop(self) -> Outcome:
        """End the load now and return its outcome."""
        self._process.terminate()
        output, _ = self._process.communicate(timeout=60)
        return Outcome(**json.loads(output))


async def _run(port: int, requests: list[Timed]) -> None:
    waiting, outcome = iter(requests), Outcome()

    async def agents() -> None:
        for at_s, request in waiting:
            await asyncio.sleep(max(0.0, at_s - time.time()))
            outcome.late_s = round(max(outcome.late_s, time.time() - at_s), 3)
            # One connection per report: between two windows the server closes idle connections.
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"HTTP/1.1 204"):
                outcome.acknowledged += 1
            else:
                outcome.refused += 1
            writer.close()

    def print_outcome() -> None:
        sys.stdout.write(json.dumps(outcome.__dict__))
        sys.stdout.flush()
        sys.exit(0)

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, print_outcome)
    await asyncio.gather(*(agents() for _ in range(AT_ONCE)))
    await asyncio.Event().wait()  # until SIGTERM


if __name__ == "__main__":
    asyncio.run(_run(int(sys.argv[1]), pickle.loads(Path(sys.argv[2]).read_bytes())))
