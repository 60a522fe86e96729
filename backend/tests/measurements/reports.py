"""Reports as agents make them, from raw values."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from uuid import UUID

import numpy as np
import zstandard
from google.protobuf import json_format
from httpx2 import Response

from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.measurements.codec import llq16
from sinemora.measurements.ingest import validation
from sinemora.measurements.ingest.agent_pb2 import Columns, MeshWindow, Report
from sinemora.measurements.ingest.key_cache import TenantKeys
from sinemora.measurements.ingest.payload import PROTOBUF as MEDIA_TYPE
from sinemora.measurements.ingest.report import Report as ArrivedReport
from sinemora.measurements.ingest.report import ReportedWindow
from tests.api_clients import AgentCaller, MeshWorld
from tests.measurements.worlds import Raw

PROTOBUF = {"Content-Type": MEDIA_TYPE}
ZSTD = {**PROTOBUF, "Content-Encoding": "zstd"}
GOLDEN = Path(__file__).parents[3] / "agent/wire/golden"


@cache
def now_s() -> float:
    """The time that windows are counted back from, one for each test: a minute may end while a test runs."""
    return time.time()


def window_start(windows_ago: int = 1, window_s: int = 10) -> int:
    """Start of a window that ended lately: 1 is the newest that was over when the test first asked."""
    return (int(now_s()) // window_s - windows_ago) * window_s


def window_starts(windows_ago: Iterable[int]) -> list[int]:
    """Starts of several windows of ten seconds."""
    return [window_start(ago) for ago in windows_ago]


def report_of(
    mesh_key: int, peers: dict[int, Raw], started_at_s: int | None = None, window_s: int = 10, sequence: int = 1
) -> Report:
    """Return a report of one window."""
    report = Report(sequence=sequence, made_at_ns=time.time_ns(), agent_version="0.1.0")
    report.health.timestamp_source = "kernel"
    report.health.packets_sent = 1000
    add_window(report, mesh_key, peers, started_at_s, window_s)
    return report


def add_window(
    report: Report, mesh_key: int, peers: dict[int, Raw], started_at_s: int | None = None, window_s: int = 10
) -> MeshWindow:
    """Add a window to a report."""
    window = report.windows.add()
    window.mesh_key, window.window_s = mesh_key, window_s
    window.timestamp_source = 2
    window.started_at_s = window_start(1, window_s) if started_at_s is None else started_at_s
    keys = sorted(peers)
    window.peer_keys.extend(keys)
    window.flows.extend([peers[key].flows for key in keys])
    for direction, columns in enumerate((window.outbound, window.inbound, window.round_trip)):
        for key in keys:
            _add(columns, direction, peers[key])
    return window


def golden(name: str) -> Report:
    """Return a report of the agent's tests, whose JSON says the same."""
    report = Report.FromString((GOLDEN / f"{name}.bin").read_bytes())
    assert json_format.Parse((GOLDEN / f"{name}.json").read_text(), Report()) == report
    return report


def add_traffic(
    report: Report, started_at_s: int, bytes_sent: int, bytes_received: int = 0, elapsed_s: float = 10.0
) -> None:
    """Add a window of traffic to a report, in packets of 1,000 bytes."""
    report.traffic.add(
        started_at_s=started_at_s,
        window_s=10,
        elapsed_ns=round(elapsed_s * 1e9),
        interface="eth0",
        bytes_sent=bytes_sent,
        packets_sent=bytes_sent // 1_000,
        bytes_received=bytes_received,
        packets_received=bytes_received // 1_000,
    )


def traffic_of(windows: dict[int, int], bytes_received: int = 0) -> Report:
    """Return a report without peers: bytes sent by start of the window."""
    report = Report(sequence=1, made_at_ns=time.time_ns(), agent_version="0.1.0")
    for started_at_s, bytes_sent in windows.items():
        add_traffic(report, started_at_s, bytes_sent, bytes_received)
    return report


def host_of(windows: dict[int, int]) -> Report:
    """Return a report without peers: the latest wake-up of the agent, us, by start of the window."""
    report = Report(sequence=1, made_at_ns=time.time_ns(), agent_version="0.1.0")
    for started_at_s, latest_us in windows.items():
        window = report.host.add(started_at_s=started_at_s, window_s=10, elapsed_ns=10_000_000_000)
        window.wake.count, window.wake.p50_us = 100, 80
        window.wake.p99_us, window.wake.max_us = latest_us // 2, latest_us
    return report


def connections_of(windows: dict[int, dict[int, tuple[int, int, int]]]) -> Report:
    """Return a report of connections: by start of the window and peer (segments sent, timeouts, those in the band)."""
    report = Report(sequence=1, made_at_ns=time.time_ns(), agent_version="0.1.0")
    for started_at_s, peers in windows.items():
        window = report.connections.add(started_at_s=started_at_s, window_s=60)
        for vm_key, (segments, timeouts, in_band) in peers.items():
            window.peers.add(
                vm_key=vm_key,
                connections=2,
                segments_sent=segments,
                segments_retransmitted=2 * timeouts,
                timeouts=timeouts,
                timeouts_in_band=in_band,
                stalled_ms=210 * timeouts,
                rto_us=204_000 if timeouts else 0,
            )
    return report


def services_of(windows: dict[int, list[tuple[int, int, bool, int, int, int]]]) -> Report:
    """Return a report of services: by start of the window (peer, port, serves, connections, bytes sent, received)."""
    report = Report(sequence=1, made_at_ns=time.time_ns(), agent_version="0.1.0")
    names = ("vm_key", "port", "serves", "connections", "bytes_sent", "bytes_received")
    for started_at_s, rows in windows.items():
        window = report.services.add(started_at_s=started_at_s, window_s=30)
        for row in sorted(rows):
            window.peers.add(**dict(zip(names, row, strict=True)))
    return report


def _add(columns: Columns, direction: int, raw: Raw) -> None:
    delays = raw.delays_ns[direction]
    columns.count.append(len(delays))
    columns.sent.append(raw.sent[direction])
    columns.lost.append(raw.lost[direction])
    columns.min_ns.append(min(delays, default=0))
    columns.mean_ns.append(round(sum(delays) / len(delays)) if delays else 0)
    columns.max_ns.append(max(delays, default=0))
    columns.m2.append(float(np.var(np.array(delays, np.float64)) * len(delays)) if delays else 0.0)
    columns.clock_error_ns.append(raw.clock_error_ns if delays and direction < 2 else 0)
    words = llq16.encode(delays)
    columns.sketch_words.append(words.size)
    columns.sketch += words.astype("<u2").tobytes()


def send(agent: AgentCaller, report: Report) -> Response:
    """Send a report as the agent does."""
    body = zstandard.ZstdCompressor(level=3).compress(report.SerializeToString())
    return agent.post("/v1/agents/self/reports", content=body, headers=ZSTD)


def sent(agent: AgentCaller, report: Report) -> None:
    """Send a report that must be acknowledged."""
    answer = send(agent, report)
    assert answer.status_code == 204, answer.text


WINDOWS_MAX = 60
"""Windows of one report."""
AgentWindow = tuple[AgentCaller, dict[int, Raw], int]
"""A window of an agent: its peers by VM key, and its start (Unix s)."""


def whole_mesh(
    mesh: MeshWorld, started_at_s: int, raw_of: Callable[[AgentCaller, AgentCaller], Raw]
) -> Iterator[AgentWindow]:
    """Yield a window of every pair of a mesh, whose client is the agent that comes first."""
    for n, agent in enumerate(mesh.agents[:-1]):
        yield agent, {peer.vm_key: raw_of(agent, peer) for peer in mesh.agents[n + 1 :]}, started_at_s


def sent_together(mesh_key: int, windows: Iterable[AgentWindow]) -> None:
    """Send many windows of 10 s, as many of an agent in one report as it may have, which must be acknowledged."""
    reports: dict[int, tuple[AgentCaller, Report]] = {}
    for agent, peers, started_at_s in windows:
        if not peers:
            continue
        if agent.vm_key in reports and len(reports[agent.vm_key][1].windows) == WINDOWS_MAX:
            sent(*reports.pop(agent.vm_key))
        if agent.vm_key in reports:
            add_window(reports[agent.vm_key][1], mesh_key, peers, started_at_s)
        else:
            reports[agent.vm_key] = (agent, report_of(mesh_key, peers, started_at_s))
    for agent, report in reports.values():
        sent(agent, report)


def arrived(content: bytes, vm_key: int, media_type: str = MEDIA_TYPE, encoding: str = "") -> ArrivedReport:
    """Return a report as it arrived from the agent of a VM."""
    nobody = UUID(int=0)
    agent = AgentIdentity(nobody, 1, nobody, nobody, vm_key)
    return ArrivedReport(agent, content, media_type, encoding, now_s(), TenantKeys(0, {}, np.zeros(0, np.int64), 1e9))


def windows_of(message: Report, vm_key: int) -> list[ReportedWindow]:
    """Return the windows of a report of a VM, all of them checked. ProductError names what is wrong."""
    arrived_report = arrived(message.SerializeToString(), vm_key)
    (refusal,) = validation.read([arrived_report], len(arrived_report.content))
    if refusal is not None:
        raise refusal
    return arrived_report.windows
