"""Truth where others built the network: a master with habits, and the answers of another VM."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.benchmarks import figures
from sinemora.measurements.ingest.agent_pb2 import MeshWindow

from agents import HERE, Agent, Fleet, peer
from laboratory import Lab

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
# No packet takes as long on a busy machine, whose master reads its clock before it sends; the smallest step is longer.
LONGEST_NS = 150_000_000


def run() -> None:
    """Measure one master through all of its habits, and a peer in whose place another VM answers."""
    with Lab() as lab:
        fleet = Fleet(lab)
        client, other, host = fleet.agent(lab.host("client")), fleet.agent(lab.host("other")), lab.host("master")
        file = lab.folder / "habits.json"
        write(file, {})
        host.start([sys.executable, HERE / "master.py", host.address, file], "master")
        master = peer(MASTER_KEY, host.address, "client", protocol="ieee1588")
        other.follow([client.peer("responder", vm_tag=6)], RATE_HZ)
        client.follow([master, other.peer("client", vm_tag=5)], RATE_HZ)
        since_s = client.await_answers([MASTER_KEY])
        for habits in HABITS:
            write(file, habits)
            time.sleep(HABIT_S)
        write(file, {})
        windows = client.await_windows(int(HABIT_S * len(HABITS)), since_s, 120)
        report(client, other, windows)


def write(file: Path, habits: dict[str, float]) -> None:
    """Replace the master's habits."""
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(habits), "utf-8")
    fresh.replace(file)


def report(client: Agent, other: Agent, windows: Sequence[MeshWindow]) -> None:
    """Print the figures of the windows."""
    false, negative, sent, lost, unmeasured = 0, 0, 0, 0, 0
    for window in windows:
        if MASTER_KEY not in window.peer_keys:
            continue
        at = list(window.peer_keys).index(MASTER_KEY)
        for columns in (window.outbound, window.inbound):
            if is_false(columns, at):
                false += 1
                error_ns = columns.clock_error_ns[at]
                figures.comment(f"false: {columns.min_ns[at]} to {columns.max_ns[at]} ns, error {error_ns} ns")
        unmeasured += window.inbound.count[at] == 0
        negative += window.round_trip.count[at] > 0 and window.round_trip.min_ns[at] < 0
        for columns in (window.outbound, window.inbound, window.round_trip):
            if columns.lost[at] >= 0:
                sent, lost = sent + columns.sent[at], lost + columns.lost[at]
    wrong = sum(other.key in window.peer_keys for window in windows)
    told = sum("another VM answers" in json.dumps(event) for event in client.events())
    steps = sum(event["kind"] == "clock_step" for event in client.events())
    figures.comment(
        f"{len(windows)} windows, {unmeasured} without Syncs; {steps} events of steps, {told} of another VM"
    )
    figures.report("agent_field_false_delay_windows", false, windows=len(windows))
    figures.report("agent_field_negative_round_trips", negative, windows=len(windows))
    figures.report("agent_field_wrong_vm_windows", wrong, windows=len(windows))
    figures.report("agent_field_false_loss_percent", round(100 * lost / max(sent, 1), 3), packets=sent)


def is_false(columns: Any, at: int) -> bool:
    """Return whether the true delays of a peer lie outside what is reported and its error."""
    error_ns = columns.clock_error_ns[at]
    is_measured = columns.count[at] > 0
    return bool(is_measured and (columns.max_ns[at] > LONGEST_NS + error_ns or columns.min_ns[at] < -error_ns))
