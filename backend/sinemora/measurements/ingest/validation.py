"""From a report to windows that can be stored: checked and clamped.

The native module reads and checks the columns where they are in the bytes of a report. Nothing that fails a check is
repaired. A refusal names the field, as in `windows[0].outbound.sketch`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import sinemora_native as native
from google.protobuf.message import DecodeError

from sinemora.kit.errors import ProductError
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import COUNT, INT32_MAX
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.ingest import agent_pb2
from sinemora.measurements.ingest.agent_pb2 import (
    ConnectionWindow,
    Evidence,
    Health,
    HostWindow,
    MeshWindow,
    ServiceWindow,
    TrafficWindow,
)
from sinemora.measurements.ingest.payload import (
    PROTOBUFS,
    ZSTD,
    MalformedReport,
    decompress,
    message_of,
    not_protobuf,
    rewritten,
)
from sinemora.measurements.ingest.report import (
    Report,
    ReportedClocks,
    ReportedConnections,
    ReportedHost,
    ReportedPeer,
    ReportedSpike,
    ReportedTraffic,
    ReportedWindow,
)
from sinemora.measurements.store import host_waits
from sinemora.measurements.store.traffic_edges import ServiceRow, ServiceWindowRow

EVIDENCE_MAX = 64
FIELDS_MAX = 100_000
FLOWS_MAX = 64
INT64_MAX = 2**63 - 1
NO_CLOCK = -1
TRAFFIC_MAX = 1_000
CONNECTION_WINDOWS_MAX = 400
HOST_STALLS_MAX = 32
PORT_MAX = 65_535
# A day of the largest windows fits into 64 bits.
SERVICE_BYTES_MAX = 1 << 42
M = TypeVar("M")
R = TypeVar("R")
_HOST_ELAPSED_MAX_NS = 3_600 * 1_000_000_000
CONNECTION_PEERS_MAX = 65
"""Rows of a window of connections: 64 peers and the others together."""
SERVICE_ROWS_MAX = 258
"""Rows of a window of services: 256 of peers, and the others as servers and as clients."""
# user, kernel, hardware.
TIMESTAMP_SOURCE_MAX = 3
WINDOW_S_MAX = 60
WORD_MAX = 64
_NS = 1_000_000_000
# Content codings that the native module reads.
_DIRECT = ("", "identity", ZSTD)
# Fields of the offsets of a window, and their sign: older agents send the peer's clock minus their own.
_OFFSET_FIELDS = (
    (("offset_from_peer_ns", "offset_error_ns", "skew_from_peer_ppb"), 1),
    (("clock_offset_ns", "clock_offset_error_ns", "clock_skew_ppb"), -1),
)
_HEALTH = tuple(field.name for field in Health.DESCRIPTOR.fields)


def _health(report: agent_pb2.Report) -> dict[str, int | str] | None:
    """Return the health that an agent reports, by the names of the contract, or None."""
    _plain(report.agent_version, "agent_version")
    if not report.HasField("health"):
        return None
    _plain(report.health.timestamp_source, "health.timestamp_source")
    _plain(report.health.clock_source, "health.clock_source")
    return {name: getattr(report.health, name) for name in _HEALTH}


def _plain(word: str, path: str) -> None:
    if len(word) > WORD_MAX or not word.isprintable():
        raise MalformedReport(path, f"at most {WORD_MAX} printable characters")


_NOTES = ("peer_marks", "outbound_residence_ns", "inbound_residence_ns")
_PEERS = tuple(ReportedPeer.__dataclass_fields__)
_SMALL = ("connections", "timeouts", "timeouts_in_band", "rto_us")
_TRAFFIC = tuple(ReportedTraffic.__dataclass_fields__)
_COUNTERS = _TRAFFIC[-4:]


def read(reports: Sequence[Report], bytes_max: int) -> list[ProductError | None]:
    """Read and check the contents of reports, at most `bytes_max` bytes each. Return the refusal of each, or None.

    Windows without peers carry nothing and are left out.
    """
    direct = [at for at, report in enumerate(reports) if report.media_type in PROTOBUFS and report.encoding in _DIRECT]
    contents = [(reports[at].content, reports[at].encoding == ZSTD, reports[at].agent.vm_key) for at in direct]
    read = dict(zip(direct, native.read_reports(contents, bytes_max, FIELDS_MAX), strict=True))
    refusals: list[ProductError | None] = [None] * len(reports)
    for at, report in enumerate(reports):
        try:
            _fill(report, read.get(at) or _read_by_library(report, bytes_max))
        except ProductError as refusal:
            refusals[at] = refusal
    return refusals


def _read_by_library(report: Report, bytes_max: int) -> "native.ReadReport | OverflowError":
    """Read JSON, or what the native module leaves to the libraries of zstd and protobuf. ProductError 413, 415, 422."""
    content = rewritten(message_of(decompress(report.content, report.encoding, bytes_max), report.media_type))
    if not content:
        return b"", []
    (read,) = native.read_reports([(content, False, report.agent.vm_key)], bytes_max, FIELDS_MAX)
    if read is None:
        raise MalformedReport("windows", "a window is not read as the protobuf library writes it")
    return read


def _fill(report: Report, read: "native.ReadReport | OverflowError") -> None:
    """Check what was read of a report, and put it into the report. MalformedReport."""
    if isinstance(read, OverflowError):
        # Each field costs a hundred times its two bytes once the protobuf library has read it.
        raise MalformedReport("windows", f"more than {FIELDS_MAX} fields in the windows of one report")
    rest, parts = read
    try:
        message = agent_pb2.Report.FromString(rest)
        headers = [MeshWindow.FromString(part) for part, _, _ in parts]
    except DecodeError as error:
        raise not_protobuf(error) from error
    windows = []
    for i, (header, (_, columns, fault)) in enumerate(zip(headers, parts, strict=True)):
        path = f"windows[{i}]"
        _check_header(header, path)
        if fault is not None:
            field, complaint = fault
            raise MalformedReport(f"{path}.{field}", complaint)
        if columns is not None:
            windows.append(_window(header, columns, path))
    report.health, report.agent_version, report.windows = _health(message), message.agent_version, windows
    report.traffic = _each(message.traffic, "traffic", "traffic", TRAFFIC_MAX, _traffic_window)
    report.host = _each(message.host, "host", "waits", TRAFFIC_MAX, _host_window)
    most = CONNECTION_WINDOWS_MAX
    report.connections = _each(message.connections, "connections", "connections", most, _connection_window)
    of_vm = partial(_service_window, vm_key=report.agent.vm_key)
    report.services = _each(message.services, "services", "services", most, of_vm)


def _each(messages: Sequence[M], name: str, what: str, most: int, read: Callable[[M, str], R]) -> list[R]:
    """Return the windows in the field `name`, at most `most`, read one by one. Raises `MalformedReport`."""
    if len(messages) > most:
        raise MalformedReport(name, f"at most {most:,} windows of {what} in one report")
    return [read(message, f"{name}[{i}]") for i, message in enumerate(messages)]


def _traffic_window(message: TrafficWindow, path: str) -> ReportedTraffic:
    _check_span(message, path)
    if not 0 < message.elapsed_ns < 2 * message.window_s * _NS:
        raise MalformedReport(f"{path}.elapsed_ns", "a window is counted over less than twice its length")
    if not message.interface:
        raise MalformedReport(f"{path}.interface", "the name of a network interface")
    _plain(message.interface, f"{path}.interface")
    for name in _COUNTERS:
        if getattr(message, name) > INT64_MAX:
            raise MalformedReport(f"{path}.{name}", "more than 2^63 - 1")
    return ReportedTraffic(*(getattr(message, name) for name in _TRAFFIC))


def _host_window(message: HostWindow, path: str) -> ReportedHost:
    _check_span(message, path)
    if not 0 < message.elapsed_ns <= _HOST_ELAPSED_MAX_NS:
        raise MalformedReport(f"{path}.elapsed_ns", "a window is counted over at most an hour")
    at_us, lengths_us = list(message.stall_at_us), list(message.stall_us)
    if len(at_us) > HOST_STALLS_MAX or len(at_us) != len(lengths_us):
        raise MalformedReport(f"{path}.stall_us", f"at most {HOST_STALLS_MAX}, one for each of stall_at_us")
    if any(abs(at) > _HOST_ELAPSED_MAX_NS // 1_000 for at in at_us):
        raise MalformedReport(f"{path}.stall_at_us", "within an hour of the window's start")
    for name in ("stalled_us", *host_waits.COUNTS):
        if getattr(message, name) > INT64_MAX:
            raise MalformedReport(f"{path}.{name}", "more than 2^63 - 1")
    # The longest waits that four octets hold last an hour.
    waits = [
        min(getattr(waits, name), INT32_MAX) if message.HasField(wait) else None
        for wait in host_waits.WAITS
        for waits in [getattr(message, wait)]
        for name in ("count", "p50_us", "p99_us", "max_us")
    ]
    given = [
        min(getattr(message, name), INT32_MAX if name == "processors" else INT64_MAX)
        if message.HasField(name)
        else None
        for name in ("processors", *host_waits.COUNTS)
    ]
    elapsed_ms = max(message.elapsed_ns // 1_000_000, 1)
    lengths_us = [min(length, INT32_MAX) for length in lengths_us]
    values = (elapsed_ms, *waits, message.stalled_us, at_us, lengths_us, *given)
    return ReportedHost(message.started_at_s, message.window_s, values)


def _connection_window(message: ConnectionWindow, path: str) -> ReportedConnections:
    _check_span(message, path)
    keys = [peer.vm_key for peer in message.peers]
    if len(keys) > CONNECTION_PEERS_MAX:
        raise MalformedReport(f"{path}.peers", f"at most {CONNECTION_PEERS_MAX} peers")
    if keys != sorted(set(keys)) or keys[-1:] > [INT32_MAX]:
        raise MalformedReport(f"{path}.peers", "keys of VMs, strictly ascending")
    for i, peer in enumerate(message.peers):
        for name in _PEERS[1:]:
            most = INT32_MAX if name in _SMALL else INT64_MAX
            if getattr(peer, name) > most:
                raise MalformedReport(f"{path}.peers[{i}].{name}", f"more than {most}")
        if peer.timeouts_in_band > peer.timeouts:
            raise MalformedReport(f"{path}.peers[{i}].timeouts_in_band", "more than all timeouts")
    peers = [ReportedPeer(*(getattr(peer, name) for name in _PEERS)) for peer in message.peers]
    return ReportedConnections(message.started_at_s, message.window_s, peers)


def _service_window(message: ServiceWindow, path: str, vm_key: int) -> ServiceWindowRow:
    _check_span(message, path)
    if message.window_s != ServiceWindowRow.window_s:
        raise MalformedReport(f"{path}.window_s", f"a window of services lasts {ServiceWindowRow.window_s} s")
    keys = [(peer.vm_key, peer.port, peer.serves) for peer in message.peers]
    if len(keys) > SERVICE_ROWS_MAX:
        raise MalformedReport(f"{path}.peers", f"at most {SERVICE_ROWS_MAX} rows")
    if keys != sorted(set(keys)) or keys[-1:] > [(INT32_MAX, PORT_MAX, True)]:
        raise MalformedReport(f"{path}.peers", "keys of VMs, ports and sides, strictly ascending")
    if any((port == 0) != (vm_key == 0) or port > PORT_MAX for vm_key, port, _ in keys):
        raise MalformedReport(f"{path}.peers", "a port from 1 to 65535 for each peer, and 0 for the others")
    if any(max(peer.bytes_sent, peer.bytes_received) > SERVICE_BYTES_MAX for peer in message.peers):
        raise MalformedReport(f"{path}.peers", f"more than {SERVICE_BYTES_MAX} bytes in one window")
    rows = [
        ServiceRow(*key, peer.connections, peer.bytes_sent, peer.bytes_received)
        for key, peer in zip(keys, message.peers, strict=True)
    ]
    return ServiceWindowRow(vm_key, message.started_at_s, rows, message.connections_left_out)


def _check_header(message: MeshWindow, path: str) -> None:
    if not 0 < message.mesh_key <= INT32_MAX:
        raise MalformedReport(f"{path}.mesh_key", f"{message.mesh_key} is no key of a mesh")
    _check_span(message, path)
    if message.timestamp_source > TIMESTAMP_SOURCE_MAX:
        complaint = f"0 (not reported), 1 (user), 2 (kernel) or 3 (hardware), not {message.timestamp_source}"
        raise MalformedReport(f"{path}.timestamp_source", complaint)


def _check_span(message: MeshWindow | TrafficWindow | ConnectionWindow | ServiceWindow | HostWindow, path: str) -> None:
    if not 0 < message.window_s <= WINDOW_S_MAX:
        raise MalformedReport(f"{path}.window_s", f"a window lasts 1 to {WINDOW_S_MAX} s, not {message.window_s}")
    if not 0 <= message.started_at_s < 1 << 33 or message.started_at_s % message.window_s:
        raise MalformedReport(
            f"{path}.started_at_s", f"{message.started_at_s} is not a multiple of the window's {message.window_s} s"
        )


def _window(message: MeshWindow, columns: native.WindowColumns, path: str) -> ReportedWindow:
    targets = columns.targets()
    return ReportedWindow(
        message.mesh_key,
        message.started_at_s,
        message.window_s,
        targets,
        columns,
        _asymmetry_source(message, targets.size, path),
        _by_flow(message, path, columns),
        [
            _spike(evidence, targets, message.window_s, f"{path}.evidence[{i}]")
            for i, evidence in enumerate(message.evidence)
        ],
        _clocks(message, path, targets.size),
        message.timestamp_source or None,
        _peer_notes(message, targets.size, path),
    )


def _peer_notes(message: MeshWindow, n: int, path: str) -> Ints | None:
    notes = np.zeros((len(_NOTES), n), np.int64)
    for row, name in zip(notes, _NOTES, strict=True):
        column = getattr(message, name)
        if column and len(column) != n:
            raise MalformedReport(f"{path}.{name}", f"{len(column)} entries for {n} peers")
        row[:] = column or 0
    return np.minimum(notes, INT32_MAX) if notes.any() else None


def _asymmetry_source(message: MeshWindow, n: int, path: str) -> frame.Bytes | None:
    if not message.asymmetry_source:
        return None
    source = np.array(message.asymmetry_source, np.int64)
    if source.size != n or not np.isin(source, (frame.ASSUMED, frame.HARDWARE)).all():
        raise MalformedReport(f"{path}.asymmetry_source", f"{n} entries, each 0 (assumed) or 2 (hardware clocks)")
    return source.astype(np.uint8)


def _by_flow(message: MeshWindow, path: str, window: native.WindowColumns) -> frame.Columns | None:
    """Return `by_flow` of the stats. The entry of a peer with one flow repeats that peer's numbers and is left out."""
    if not message.HasField("outbound_flows") and not message.HasField("inbound_flows"):
        return None
    flows, counts = window.flows().astype(np.int64), window.columns()[COUNT]
    if int(flows.max()) > FLOWS_MAX:
        raise MalformedReport(f"{path}.flows", f"at most {FLOWS_MAX} source ports towards a peer are distinguished")
    owners = np.repeat(np.arange(flows.size), flows)
    columns = np.zeros((3, 2, owners.size), np.int64)
    for direction, name in enumerate(("outbound_flows", "inbound_flows")):
        part = getattr(message, name)
        for which, column in enumerate((part.count, part.min_ns, part.p50_ns)):
            if len(column) != owners.size:
                field = ("count", "min_ns", "p50_ns")[which]
                raise MalformedReport(
                    f"{path}.{name}.{field}", f"{len(column)} entries for {owners.size} flows of {flows.size} peers"
                )
            columns[which, direction] = column
        count, low, median = columns[:, direction]
        heard = np.bincount(owners, weights=count, minlength=flows.size)
        if (heard != counts[direction]).any():
            raise MalformedReport(f"{path}.{name}.count", "the delays of a peer's flows are not as many as its own")
        if ((count == 0) & ((low | median) != 0) | (low > median)).any():
            raise MalformedReport(f"{path}.{name}.p50_ns", "a median is not below its minimum; both are 0 with count 0")
    kept: npt.NDArray[np.int32] = np.clip(columns, -INT32_MAX, INT32_MAX).astype(np.int32)[:, :, flows[owners] > 1]
    return kept


def _clocks(message: MeshWindow, path: str, n: int) -> ReportedClocks | None:
    for names, sign in _OFFSET_FIELDS:
        offset, error, skew = columns = [getattr(message, name) for name in names]
        if not any(map(len, columns)):
            continue
        for name, column in zip(names, columns, strict=True):
            if len(column) != n:
                raise MalformedReport(f"{path}.{name}", f"{len(column)} entries for {n} peers")
        error = np.array(error, np.uint64)
        known = np.where(error > np.uint64(INT64_MAX), np.uint64(0), error).astype(np.int64)
        return ReportedClocks(
            sign * np.array(offset, np.int64),
            np.where(error > np.uint64(INT64_MAX), NO_CLOCK, known),
            sign * np.array(skew, np.int64),
        )
    return None


def _spike(evidence: Evidence, targets: Ints, window_s: int, path: str) -> ReportedSpike:
    n = len(evidence.at_ns)
    if evidence.peer_key not in targets:
        raise MalformedReport(f"{path}.peer_key", f"{evidence.peer_key} is not among the peers of the window")
    if not 0 < n <= EVIDENCE_MAX:
        raise MalformedReport(f"{path}.at_ns", f"1 to {EVIDENCE_MAX} exchanges, not {n}")
    for name in ("outbound_ns", "inbound_ns"):
        if len(getattr(evidence, name)) != n:
            raise MalformedReport(f"{path}.{name}", f"{len(getattr(evidence, name))} entries for {n} exchanges")
    if max(evidence.at_ns) >= window_s * _NS:
        raise MalformedReport(f"{path}.at_ns", "an exchange starts inside its window")
    return ReportedSpike(
        evidence.peer_key,
        np.array(evidence.at_ns, np.int64),
        np.array(evidence.outbound_ns, np.int64),
        np.array(evidence.inbound_ns, np.int64),
    )
