"""The time of windows while answers of the backend are late: a cut way back."""

import contextlib
import threading
import time
from collections.abc import Iterator

from agents import Agent
from laboratory import Host

RATE_HZ = 16
CUT_S = 12


def cut_backend(client: Agent, responder: Agent) -> None:
    """Lose what the backend sends to the client for `CUT_S`, and publish a plan meanwhile: its answer arrives late."""
    with unreachable(client.host):
        client.follow([responder.peer("client")], RATE_HZ, spike_threshold_ns=time.time_ns() % 1_000_000 + 500_000)
        time.sleep(CUT_S)


@contextlib.contextmanager
def unreachable(host: Host) -> Iterator[None]:
    """Drop what the backend's host sends to a host. What hosts send to each other is bridged and not affected."""
    route = ("ip", "route", "add", "blackhole", f"{host.address}/32")
    host.lab.run(*route)
    try:
        yield
    finally:
        host.lab.run(*(part if part != "add" else "del" for part in route))


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
