"""The time of windows while answers of the backend are late: a cut way back, and a stopped agent."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

from lab.benchmarks import figures

from agents import Agent, Fleet
from laboratory import Host, Lab

RATE_HZ = 16
CUT_S, STOPPED_S = 12, 20


def run() -> None:
    """Measure the error of the agent's backend time through both; all hosts share one clock, so the truth is 0."""
    with Lab() as lab:
        fleet = Fleet(lab)
        client, responder = fleet.agent(lab.host("client")), fleet.agent(lab.host("responder"))
        responder.follow([client.peer("responder")], RATE_HZ)
        client.follow([responder.peer("client")], RATE_HZ)
        began_s = time.time()
        client.await_windows(2, began_s + 2)
        with sampled(client) as errors_s:
            cut_backend(client, responder)
            time.sleep(2)
            stop(client)
            time.sleep(3)
        starts = [window.started_at_s for window in client.windows(began_s + 2)]
        figures.report(
            "agent_window_time_error_ms_outage",
            round(1000 * max(map(abs, errors_s)), 2),
            cut_s=CUT_S,
            stopped_s=STOPPED_S,
            windows=len(starts),
            windows_twice=len(starts) - len(set(starts)),
        )


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


def stop(client: Agent) -> None:
    """Stop the process of an agent for `STOPPED_S`, and continue it."""
    client.process.signal(signal.SIGSTOP)
    time.sleep(STOPPED_S)
    client.process.signal(signal.SIGCONT)


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
