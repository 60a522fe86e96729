"""From a report to windows that can be stored: checked and clamped.

The native module reads and checks the columns where they are in the bytes of a report. Nothing that fails a check is
repaired. A refusal names the field, as in `windows[0].outbound.sketch`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sinemora_native as native

from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import COUNT, INT32_MAX, Sketches, Stats
from sinemora.measurements.codec.llq16 import Ints, Words
from sinemora.measurements.ingest.agent_pb2 import Evidence, Health, MeshWindow, Report
from sinemora.measurements.ingest.payload import MalformedReport, parse, rewritten, split, window_of

EVIDENCE_MAX = 64
FLOWS_MAX = 64
NO_CLOCK = -1
WINDOW_S_MAX = 60
WORD_MAX = 64
_NS = 1_000_000_000
_HEALTH = tuple(field.name for field in Health.DESCRIPTOR.fields)


@dataclass(frozen=True, slots=True)
class Spike:
    """The exchanges around a spike towards one peer; times in ns from the start of the window."""

    peer_key: int
    at_ns: Ints
    outbound_ns: Ints
    inbound_ns: Ints


@dataclass(frozen=True, slots=True)
class Clocks:
    """Clocks of the peers of a window against the agent's own, at its end; `error_ns` is `NO_CLOCK` where unknown."""

    offset_ns: Ints
    error_ns: Ints
    skew_ppb: Ints


@dataclass(frozen=True, slots=True)
class Window:
    """One window of one mesh as it will be stored. `clamped` numbers were beyond 32 bits.

    `clocks` is None when the agent says nothing of them.
    """

    mesh_key: int
    started_at_s: int
    window_s: int
    targets: Ints
    stats: Stats
    sketches: Sketches
    spikes: list[Spike]
    clocks: Clocks | None
    clamped: int


def health_of(report: Report) -> dict[str, int | str] | None:
    """What the agent says of itself, by the names of the contract; None when it says nothing."""
    _plain(report.agent_version, "agent_version")
    if not report.HasField("health"):
        return None
    _plain(report.health.timestamp_source, "health.timestamp_source")
    _plain(report.health.clock_source, "health.clock_source")
    return {name: getattr(report.health, name) for name in _HEALTH}


def _plain(word: str, path: str) -> None:
    if len(word) > WORD_MAX or not word.isprintable():
        raise MalformedReport(path, f"at most {WORD_MAX} printable characters")


def read(body: bytes, media_type: str, own_key: int) -> tuple[dict[str, int | str] | None, str, list[Window]]:
    """Read a body: the health of the agent (`health_of`), its version, and its windows (`windows_of`)."""
    parts = parse(body, media_type)
    windows = [_read(message, own_key) for message in parts.windows]
    return health_of(parts.report), parts.report.agent_version, _windows(windows)


def windows_of(report: Report, own_key: int) -> list[Window]:
    """Return the windows of a report of the VM `own_key`, all of them checked.

    Windows without peers carry nothing and are left out. MalformedReport names what is wrong.
    """
    return _windows([_read(message, own_key) for message in split(report).windows])


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of a window as they are stored: as in `Stats`, with their sketches; `clamped` numbers were cut."""

    targets: Ints
    columns: npt.NDArray[np.int32]
    quantiles: frame.Codes
    flows: frame.Codes
    lengths: Ints
    words: Words
    clamped: int


@dataclass(frozen=True, slots=True)
class _Read:
    """A window without its columns, and these: None without peers. `fault` is the field and the rule they break."""

    message: MeshWindow
    columns: _Columns | None
    fault: tuple[str, str] | None


def _read(message: bytes, own_key: int) -> _Read:
    """Read the columns of a window where they are in its bytes. MalformedReport where these are no message."""
    found = native.read_window(message, own_key) or native.read_window(rewritten(message), own_key)
    if found is None:
        raise MalformedReport("windows", "a window is not read as the protobuf library writes it")
    rest, columns, fault = found
    return _Read(window_of(rest), None if columns is None else _Columns(*columns), fault)


def _windows(read: Sequence[_Read]) -> list[Window]:
    found = []
    for i, one in enumerate(read):
        path = f"windows[{i}]"
        _check_header(one.message, path)
        if one.fault is not None:
            field, complaint = one.fault
            raise MalformedReport(f"{path}.{field}", complaint)
        if one.columns is not None:
            found.append(_window(one.message, one.columns, path))
    return found


def _check_header(message: MeshWindow, path: str) -> None:
    if not 0 < message.mesh_key <= INT32_MAX:
        raise MalformedReport(f"{path}.mesh_key", f"{message.mesh_key} is no key of a mesh")
    if not 0 < message.window_s <= WINDOW_S_MAX:
        raise MalformedReport(f"{path}.window_s", f"a window lasts 1 to {WINDOW_S_MAX} s, not {message.window_s}")
    if not 0 <= message.started_at_s < 1 << 33 or message.started_at_s % message.window_s:
        raise MalformedReport(
            f"{path}.started_at_s", f"{message.started_at_s} is not a multiple of the window's {message.window_s} s"
        )


def _window(message: MeshWindow, columns: _Columns, path: str) -> Window:
    n = columns.targets.size
    source = np.zeros(n, np.int64)
    if message.asymmetry_source:
        source = np.array(message.asymmetry_source, np.int64)
        if source.size != n or not np.isin(source, (frame.ASSUMED, frame.HARDWARE)).all():
            raise MalformedReport(f"{path}.asymmetry_source", f"{n} entries, each 0 (assumed) or 2 (hardware clocks)")
    by_flow = _by_flow(message, path, columns.flows.astype(np.int64), columns.columns[COUNT])
    return Window(
        message.mesh_key,
        message.started_at_s,
        message.window_s,
        columns.targets,
        Stats(columns.columns, columns.quantiles, columns.flows, source.astype(np.uint8), by_flow),
        Sketches(columns.lengths, columns.words),
        [
            _spike(evidence, columns.targets, message.window_s, f"{path}.evidence[{i}]")
            for i, evidence in enumerate(message.evidence)
        ],
        _clocks(message, path, n),
        columns.clamped,
    )


def _by_flow(message: MeshWindow, path: str, flows: Ints, counts: Ints) -> npt.NDArray[np.int32]:
    """`by_flow` of the stats: entries of peers with one flow only say the same again and are left out."""
    if not message.HasField("outbound_flows") and not message.HasField("inbound_flows"):
        return np.empty((3, 2, 0), np.int32)
    if int(flows.max()) > FLOWS_MAX:
        raise MalformedReport(f"{path}.flows", f"at most {FLOWS_MAX} source ports towards a peer are told apart")
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


def _clocks(message: MeshWindow, path: str, n: int) -> Clocks | None:
    columns = (message.clock_offset_ns, message.clock_offset_error_ns, message.clock_skew_ppb)
    if not any(map(len, columns)):
        return None
    for name, column in zip(("clock_offset_ns", "clock_offset_error_ns", "clock_skew_ppb"), columns, strict=True):
        if len(column) != n:
            raise MalformedReport(f"{path}.{name}", f"{len(column)} entries for {n} peers")
    error = np.array(columns[1], np.uint64)
    known = np.where(error > np.uint64(2**63 - 1), np.uint64(0), error).astype(np.int64)
    return Clocks(
        np.array(columns[0], np.int64),
        np.where(error > np.uint64(2**63 - 1), NO_CLOCK, known),
        np.array(columns[2], np.int64),
    )


def _spike(evidence: Evidence, targets: Ints, window_s: int, path: str) -> Spike:
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
    return Spike(
        evidence.peer_key,
        np.array(evidence.at_ns, np.int64),
        np.array(evidence.outbound_ns, np.int64),
        np.array(evidence.inbound_ns, np.int64),
    )
