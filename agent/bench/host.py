"""Host or network: what the agents' waits say about faults of which the truth is known.

Pairs of agents have a window without a fault, then windows with one at the responder: its host is busy (its agent is
stopped for 50 to 500 ms, shares a quota or a processor with busy loops), the network towards it has a queue that delays
and loses packets, or both. The product's own judgement (`alerts.evaluation.host`) is asked about each window.
"""

import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from lab.benchmarks import figures
from sinemora.alerts.evaluation.host import HostEvidence, explains
from sinemora.measurements.ingest.agent_pb2 import HostWindow, MeshWindow

from agents import Agent, Fleet, quantiles_ns
from laboratory import Lab, LabError, Process, wait_until

PAIRS, ROUNDS, RATE_HZ, WINDOW_S = 6, 20, 32, 10
QUIET = 12
# A queue shows as a delay of the median, or as loss.
_RISE_NS, _LOSS = 2e6, 0.02
_HOST_FAULTS = ("stopped", "quota", "loops")
_GROUP = Path("/sys/fs/cgroup/cpu") if Path("/sys/fs/cgroup/cpu").exists() else Path("/sys/fs/cgroup")
_LOOP = "while True: pass"
_FLOOD = (
    "import socket, sys, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); at = time.monotonic()\n"
    "while True:\n"
    " s.sendto(bytes(972), (sys.argv[1], 9)); at += 8e3 / float(sys.argv[2]); time.sleep(max(0, at - time.monotonic()))"
)


@dataclass(frozen=True)
class Pair:
    """A client that measures the path to a responder."""

    client: Agent
    responder: Agent


def run() -> None:
    """Print the share of each truth that was named; HOST_ROUNDS shortens the 20 windows of each, TRUTH names some."""
    rounds = int(os.environ.get("HOST_ROUNDS", ROUNDS))
    chance = random.Random(45)
    with Lab() as lab:
        pairs = _pairs(lab)
        quiet = _end_of_window(QUIET)
        usual = [_usual(pair, quiet) for pair in pairs]
        for truth in os.environ.get("TRUTH", "host network both").split():
            found: Counter[str] = Counter()
            for _ in range(rounds):
                at_s = _faulty_window(lab, pairs, truth, chance)
                found.update(_called(pair, at_s, of_pair) for pair, of_pair in zip(pairs, usual, strict=True))
            trials = found.total()
            figures.comment(f"truth {truth}: {dict(found)}")
            figures.report(f"agent_{truth}_called_{truth}_percent", 100 * found[truth] / trials, trials=trials)


def _pairs(lab: Lab) -> list[Pair]:
    fleet, pairs = Fleet(lab), []
    for nth in range(PAIRS):
        client, responder = (fleet.agent(lab.host(f"{role}{nth}")) for role in ("a", "b"))
        client.measure(responder, RATE_HZ, window_s=WINDOW_S)
        pairs.append(Pair(client, responder))
    for pair in pairs:
        pair.client.await_answers([pair.responder.key])
    return pairs


def _end_of_window(windows: int = 1) -> int:
    """Wait until the next windows are over; return the start of the first of them."""
    start_s = (int(time.time()) // WINDOW_S + 1) * WINDOW_S
    time.sleep(start_s + windows * WINDOW_S - time.time())
    return start_s


def _faulty_window(lab: Lab, pairs: list[Pair], truth: str, chance: random.Random) -> int:
    """Let all pairs have a fault for one window; return its start."""
    with ExitStack() as faults:
        for pair in pairs:
            if truth != "network":
                faults.enter_context(_busy(pair.responder, chance.choice(_HOST_FAULTS), chance))
            if truth != "host":
                faults.enter_context(_queue(lab, pair.responder, chance))
        time.sleep(1)  # The queue fills.
        return _end_of_window()


@contextmanager
def _busy(agent: Agent, fault: str, chance: random.Random) -> Iterator[None]:
    pid, ended = agent.process.pid, threading.Event()
    others: list[Process] = []

    def stop_sometimes() -> None:
        while not ended.wait(chance.uniform(0.5, 1.5)):
            agent.process.signal(signal.SIGSTOP)
            ended.wait(chance.uniform(0.05, 0.5))
            agent.process.signal(signal.SIGCONT)

    thread = threading.Thread(target=stop_sometimes)
    undo: Callable[[], None] | None = None
    try:
        if fault == "stopped":
            thread.start()
        else:
            command, loops = [sys.executable, "-c", _LOOP], 1 if fault == "quota" else 8
            others = [agent.host.start(command, "loop") for _ in range(loops)]
            processes = [pid, *(one.pid for one in others)]
            undo = _limited(processes) if fault == "quota" else _together(processes)
        yield
    finally:
        ended.set()
        if thread.is_alive():
            thread.join()
        for one in others:
            one.stop()
        if undo:
            undo()


def _together(pids: list[int]) -> Callable[[], None]:
    """Let processes share one processor; return what ends that."""
    allowed = os.sched_getaffinity(0)
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(task), {min(allowed)})

    def undo() -> None:
        for task in os.listdir(f"/proc/{pids[0]}/task"):
            os.sched_setaffinity(int(task), allowed)

    return undo


def _limited(pids: list[int]) -> Callable[[], None]:
    """Let processes share a fifth of a processor by the quota of a control group; return what ends that."""
    group = _GROUP / f"sinemora-bench-{pids[0]}"
    try:
        group.mkdir()
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text("20000 100000")
        else:
            (group / "cpu.cfs_quota_us").write_text("20000")
        for pid in pids:
            (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        raise LabError(f"no control group: {error}\nWhat to do: run as root, with the controller cpu") from None

    def undo() -> None:
        (_GROUP / "cgroup.procs").write_text(str(pids[0]))
        wait_until("the end of the busy loops", lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()

    return undo


@contextmanager
def _queue(lab: Lab, agent: Agent, chance: random.Random) -> Iterator[None]:
    """Queue of 16 to 80 ms towards an agent that is always full, so that it loses packets, too."""
    shape = ["tbf", "rate", "2mbit", "burst", "2kb", "limit", str(chance.randrange(4_000, 20_000))]
    lab.run("tc", "qdisc", "add", "dev", agent.host.port, "root", *shape)
    flood = lab.start([sys.executable, "-c", _FLOOD, agent.host.address, "2.2e6"], "flood")
    try:
        yield
    finally:
        flood.stop()
        lab.run("tc", "qdisc", "del", "dev", agent.host.port, "root")


def _window(agent: Agent, start_s: int) -> MeshWindow:
    def found() -> list[MeshWindow]:
        return [window for window in agent.windows(start_s) if window.started_at_s == start_s]

    wait_until(f"the window of {agent.host.name}", found)
    return found()[0]


@dataclass(frozen=True)
class Usual:
    """Medians of the windows without a fault: the delay, and by agent the waits on its host."""

    delay_ns: float
    waiting: dict[int, float]
    longest_ns: dict[int, int]


def _usual(pair: Pair, start_s: int) -> Usual:
    starts = [start_s + WINDOW_S * nth for nth in range(QUIET)]
    delays = [_window(pair.client, start).outbound for start in starts]
    hosts = {agent.key: [_evidence(agent, start) for start in starts] for agent in (pair.client, pair.responder)}
    return Usual(
        quantiles_ns(delays, 0.5)[0],
        {key: median(one.waiting for one in found) for key, found in hosts.items()},
        {key: round(median(one.longest_ns for one in found)) for key, found in hosts.items()},
    )


def _called(pair: Pair, start_s: int, usual: Usual) -> str:
    """Return what the window of a pair is called: host, network, both or neither."""
    outbound = _window(pair.client, start_s).outbound
    rise_ns = quantiles_ns([outbound], 0.5)[0] - usual.delay_ns if outbound.count[0] else None
    loss = outbound.lost[0] / max(outbound.sent[0], 1) if outbound.lost[0] >= 0 else 0.0
    hosts = [
        replace(_evidence(agent, start_s), usual=usual.waiting[agent.key], usual_longest_ns=usual.longest_ns[agent.key])
        for agent in (pair.responder, pair.client)
    ]
    shown = loss > _LOSS or rise_ns is None or rise_ns > _RISE_NS
    network = shown and not any(explains(host, spikes=False, rise_ns=rise_ns, loss=loss) for host in hosts)
    host = any(one.waits for one in hosts)
    return {(True, True): "both", (True, False): "host", (False, True): "network"}.get((host, network), "neither")


def _evidence(agent: Agent, start_s: int) -> HostEvidence:
    def found() -> list[HostWindow]:
        return [window for report in agent.reports() for window in report.host if window.started_at_s == start_s]

    wait_until(f"the waits of {agent.host.name}", found)
    window = found()[0]
    elapsed_us = window.elapsed_ns / 1e3
    stolen_us = 1e3 * window.steal_ms / window.processors if window.processors else 0.0
    return HostEvidence(
        window.stalled_us / elapsed_us,
        longest_ns=1_000 * window.wake.max_us,
        wake_p50_ns=1_000 * window.wake.p50_us,
        stolen=stolen_us / elapsed_us,
        throttled=window.throttled_us / elapsed_us,
        receive_drops=window.receive_drops,
    )
