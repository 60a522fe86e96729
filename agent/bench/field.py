"""Truth where others built the network: a master with habits, the answers of another VM, and the VM's own queue.

The queue holds 10 to 100 ms of bursts, then so much that the kernel's timestamps come too late to be used.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.benchmarks import figures
from sinemora.measurements.ingest.agent_pb2 import MeshWindow

from agents import HERE, Agent, fleet_in_lab, peer
from laboratory import wait_until

RATE_HZ = 16
MASTER_KEY = 77
# Habits of the master, one after the other, s or ns.
HABITS: Sequence[dict[str, float]] = (
    *({"step_s": step_s} for step_s in (1, 0, -1, 0, 0.2, 0, -0.2, 0, -0.3)),
    {"utc_offset_s": 36},
    {"renumber_s": 1},
    {"correction_ns": 20_000_000},
    {"correction_ns": -20_000_000},
)
HABIT_S = 6.0
# Times of both ends are the kernel's: no packet takes as long, and the smallest step is longer.
LONGEST_NS = 150_000_000
# An answer that a busy machine sends late is not lost.
DEADLINE_MS = 20_000
# Waits of bursts in the queue, ms: a packet of a thousand bytes takes one.
BURSTS_MS = (10, 40, 100)
_OWN, _AGAIN = "those of this process are used", "come again and are used again"
_BURST = (
    "import socket, sys, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "while True:\n"
    " for _ in range(int(sys.argv[2])): s.sendto(bytes(958), (sys.argv[1], 9))\n"
    " time.sleep(0.15)"
)


def run() -> None:
    """Measure one master through all of its habits, and a peer in whose place another VM answers."""
    with fleet_in_lab() as (lab, fleet):
        client, other, host = fleet.agent(lab.host("client")), fleet.agent(lab.host("other")), lab.host("master")
        plain = fleet.agent(lab.host("plain"))
        file = lab.folder / "habits.json"
        write(file, {})
        host.start([sys.executable, HERE / "master.py", host.address, file], "master")
        master = peer(MASTER_KEY, host.address, "client", protocol="ieee1588")
        other.follow([client.peer("responder", vm_tag=6)], RATE_HZ)
        plain.follow([client.peer("responder")], RATE_HZ)
        peers = [master, other.peer("client", vm_tag=5), plain.peer("client")]
        client.follow(peers, RATE_HZ, loss_deadline_ms=DEADLINE_MS)
        since_s = client.await_answers([MASTER_KEY, plain.key])
        for habits in HABITS:
            write(file, habits)
            time.sleep(HABIT_S)
        write(file, {})
        for burst_ms in BURSTS_MS:
            with queue(client, plain.host.address, "8mbit", burst_ms):
                time.sleep(HABIT_S)
        windows = client.await_windows(int(HABIT_S * (len(HABITS) + len(BURSTS_MS))), since_s, 180)
        report(client, other, plain, windows)
        recover(client, plain.host.address)


def write(file: Path, habits: dict[str, float]) -> None:
    """Replace the master's habits."""
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(habits), "utf-8")
    fresh.replace(file)


@contextmanager
def queue(agent: Agent, address: str, rate: str, packets: int) -> Iterator[None]:
    """Give the host of an agent a slow queue, in which bursts of `packets` wait."""
    agent.host.run("tc", "qdisc", "add", "dev", "e0", "root", "tbf", "rate", rate, "burst", "2kb", "limit", "300kb")
    bursts = agent.host.start([sys.executable, "-c", _BURST, address, str(packets)], "bursts")
    try:
        yield
    finally:
        bursts.stop()
        # What waits in a queue that is removed would be lost.
        time.sleep(0.5)
        agent.host.run("tc", "qdisc", "del", "dev", "e0", "root")


def recover(client: Agent, address: str) -> None:
    """Print how long after a queue of seconds the agent uses the kernel's timestamps again."""

    def lines(text: str) -> int:
        # Events wait in the same queue, the log does not.
        return client.process.output().count(text)

    before = lines(_OWN)
    with queue(client, address, "256kbit", 100):
        wait_until("the agent's own timestamps", lambda: lines(_OWN) > before, 60)
    since_s = time.monotonic()
    wait_until("the kernel's timestamps", lambda: lines(_AGAIN) >= lines(_OWN), 60)
    figures.report("agent_timestamps_recovered_s", round(time.monotonic() - since_s, 1))


def report(client: Agent, other: Agent, plain: Agent, windows: Sequence[MeshWindow]) -> None:
    """Print the figures of the windows."""
    false, negative, sent, lost = 0, 0, 0, 0
    known = ((window, key) for window in windows for key in (MASTER_KEY, plain.key) if key in window.peer_keys)
    for window, at in [(window, list(window.peer_keys).index(key)) for window, key in known]:
        for columns in (window.outbound, window.inbound):
            if is_false(columns, at):
                false += 1
                error_ns = columns.clock_error_ns[at]
                figures.comment(f"false: {columns.min_ns[at]} to {columns.max_ns[at]} ns, error {error_ns} ns")
        negative += window.round_trip.count[at] > 0 and window.round_trip.min_ns[at] < 0
        for columns in (window.outbound, window.inbound, window.round_trip):
            if columns.lost[at] >= 0:
                sent, lost = sent + columns.sent[at], lost + columns.lost[at]
            if columns.lost[at] > 0:
                second = window.started_at_s - windows[0].started_at_s
                figures.comment(f"lost: {columns.lost[at]} of VM {window.peer_keys[at]} in second {second}")
    wrong = sum(other.key in window.peer_keys for window in windows)
    named = sum("another VM answers" in json.dumps(event) for event in client.events())
    waits = [window.queue.p99_us / 1e3 for one in client.reports() for window in one.host]
    figures.report("agent_field_false_delay_windows", false, windows=len(windows), longest_wait_ms=max(waits))
    figures.report("agent_field_negative_round_trips", negative, windows=len(windows))
    figures.report("agent_field_wrong_vm_windows", wrong, windows=len(windows), events_of_another_vm=named)
    figures.report("agent_field_false_loss_percent", round(100 * lost / max(sent, 1), 3), packets=sent)


def is_false(columns: Any, at: int) -> bool:
    """Return whether the true delays of a peer lie outside what is reported and its error."""
    error_ns = columns.clock_error_ns[at]
    is_measured = columns.count[at] > 0
    return bool(is_measured and (columns.max_ns[at] > LONGEST_NS + error_ns or columns.min_ns[at] < -error_ns))
