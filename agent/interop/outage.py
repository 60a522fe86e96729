"""The clock of windows while the backend is away."""

import contextlib
import threading
from collections.abc import Iterator

from agents import Agent


@contextlib.contextmanager
def sampled(agent: Agent) -> Iterator[list[float]]:
    """Sample the agent's backend time minus the shared clock, s, until the context ends."""
    errors_s: list[float] = []
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(0.3):
            # The agent does not answer while it is stopped.
            with contextlib.suppress(Exception):
                errors_s.append(agent.metrics()["sinemora_agent_backend_clock_offset_seconds"])

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield errors_s
    finally:
        ended.set()
        thread.join()
