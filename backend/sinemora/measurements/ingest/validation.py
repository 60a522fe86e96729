"""From a report to windows that can be stored: checked as a whole column at a time, clamped.

Nothing that fails a check is repaired. A refusal names the field, as in `windows[0].outbound.sketch`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec import fast, frame, llq16
from sinemora.measurements.codec.frame import (
    CLOCK_ERROR,
    COUNT,
    INT32_MAX,
    LOST,
    M2,
    MAX,
    MEAN,
    MIN,
    ROUND_TRIP,
    SENT,
    Sketches,
    Stats,
)
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.ingest import packed_columns
from sinemora.measurements.ingest.agent_pb2 import Columns, Evidence, Health, MeshWindow, Report
from sinemora.measurements.ingest.packed_columns import Table
from sinemora.measurements.ingest.payload import PROTOBUFS, MalformedReport, parse

DIRECTIONS = ("outbound", "inbound", "round_trip")
EVIDENCE_MAX = 64
FLOWS_MAX = 64
NO_CLOCK = -1
WINDOW_S_MAX = 60
WORD_MAX = 64
_NAMES = {
    COUNT: "count",
    SENT: "sent",
    LOST: "lost",
    MIN: "min_ns",
    MEAN: "mean_ns",
    MAX: "max_ns",
    M2: "m2",
}
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
    """What a body says: the health of the agent (`health_of`), its version, and its windows (`windows_of`)."""
    if media_type in PROTOBUFS and (told := packed_columns.read(body)):
        message, windows = told
        return health_of(message), message.agent_version, _windows(windows, own_key)
    message = parse(body, media_type)
    return health_of(message), message.agent_version, windows_of(message, own_key)


def windows_of(report: Report, own_key: int) -> list[Window]:
    """The windows of a report of the VM `own_key`, all of them checked; MalformedReport names what is wrong.

    Windows without peers carry nothing and are left out.
    """
    return _windows([(message, None) for message in report.windows], own_key)


def _windows(told: Sequence[tuple[MeshWindow, Table | None]], own_key: int) -> list[Window]:
    found = []
    for i, (message, table) in enumerate(told):
        path = f"windows[{i}]"
        _check_header(message, path)
        if table or message.peer_keys:
            found.append(_window(message, table, path, own_key))
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


def _window(message: MeshWindow, table: Table | None, path: str, own_key: int) -> Window:
    table = table or _table(message, path)
    flows, n = table.flows, table.targets.size
    settled = _settled(table, own_key) or _checked(table, path, own_key)
    source = np.zeros(n, np.int64)
    if message.asymmetry_source:
        source = np.array(message.asymmetry_source, np.int64)
        if source.size != n or not np.isin(source, (frame.ASSUMED, frame.HARDWARE)).all():
            raise MalformedReport(f"{path}.asymmetry_source", f"{n} entries, each 0 (assumed) or 2 (hardware clocks)")
    by_flow = _by_flow(message, path, flows, table.values[COUNT])
    return Window(
        message.mesh_key,
        message.started_at_s,
        message.window_s,
        table.targets,
        Stats(settled.columns, settled.quantiles, settled.flows, source.astype(np.uint8), by_flow),
        settled.sketches,
        [
            _spike(evidence, table.targets, message.window_s, f"{path}.evidence[{i}]")
            for i, evidence in enumerate(message.evidence)
        ],
        _clocks(message, path, n),
        settled.clamped,
    )


@dataclass(frozen=True, slots=True)
class _Sorted:
    """What is stored of a window's columns: as in `Stats`, with their sketches; `clamped` numbers were cut."""

    columns: npt.NDArray[np.int32]
    quantiles: frame.Codes
    flows: frame.Codes
    sketches: Sketches
    clamped: int


def _settled(table: Table, own_key: int) -> _Sorted | None:
    """Columns of a window that breaks no rule; None where it may, or while there are no compiled loops."""
    if not (loops := fast.intake()):
        return None
    n = table.targets.size
    columns, flows = np.empty((8, 3, n), np.int32), np.empty(n, np.uint16)
    quantiles = np.empty((len(frame.QUANTILES), 3, n), np.uint16)
    clamped = loops.settle(
        own_key, table.targets, table.flows, table.values, table.m2, table.lengths, table.words, columns, quantiles,
        flows,
    )  # fmt: skip
    return None if clamped < 0 else _Sorted(columns, quantiles, flows, Sketches(table.lengths, table.words), clamped)


def _checked(table: Table, path: str, own_key: int) -> _Sorted:
    """The same by numpy, for any window. MalformedReport names the first rule that is broken."""
    targets, values, m2, n = table.targets, table.values, table.m2, table.targets.size
    if targets[0] <= 0 or targets[-1] > INT32_MAX or not (targets[1:] > targets[:-1]).all():
        raise MalformedReport(f"{path}.peer_keys", "keys of VMs are above 0 and strictly ascending")
    if (targets == own_key).any():
        raise MalformedReport(f"{path}.peer_keys", f"{own_key} is the reporting VM itself")
    sketches = Sketches(table.lengths, table.words)
    flat = table.lengths.reshape(-1)
    if int(flat.max()) >= 1 << 16 or not llq16.is_ordered(table.words, flat):
        words, flat = llq16.canonical(table.words, flat)
        sketches = Sketches(flat.reshape(3, n), words)
    totals, quantiles = frame.summarise(sketches)
    for wrong, name, complaint in _complaints(values, m2, totals, _ends(sketches)):
        if wrong.any():
            direction, i = np.argwhere(wrong)[0].tolist()
            raise MalformedReport(f"{path}.{DIRECTIONS[direction]}.{name}", f"{complaint} (peer {targets[i]})")
    columns = np.empty((8, 3, n), np.int32)
    columns[:M2] = np.clip(values, -INT32_MAX, INT32_MAX)
    columns[M2] = frame.m2_bits(m2)
    clamped = int(np.count_nonzero(columns[:M2] != values))
    return _Sorted(columns, quantiles, np.minimum(table.flows, 0xFFFF).astype(np.uint16), sketches, clamped)


def _table(message: MeshWindow, path: str) -> Table:
    """The columns of a window. MalformedReport."""
    targets = np.array(message.peer_keys, np.int64)
    n = targets.size
    if len(message.flows) != n:
        raise MalformedReport(f"{path}.flows", f"{len(message.flows)} entries for {n} peers")
    values, m2 = np.empty((7, 3, n), np.int64), np.empty((3, n), np.float64)
    lengths = np.empty((3, n), np.int64)
    words = [
        _read(getattr(message, name), f"{path}.{name}", values[:, direction], m2[direction], lengths[direction])
        for direction, name in enumerate(DIRECTIONS)
    ]
    return Table(targets, np.array(message.flows, np.int64), values, m2, lengths, np.concatenate(words))


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


def _read(
    columns: Columns, path: str, values: Ints, m2: npt.NDArray[np.float64], lengths: Ints
) -> npt.NDArray[np.uint16]:
    """Copy one direction's columns into `values` (7, n), `m2` (n) and `lengths` (n); returns its words."""
    n = m2.size
    # Repeated fields offer their memory to numpy, so no number becomes a Python object.
    for name, target in (*((name, values[which]) for which, name in _INTEGERS), ("m2", m2), ("sketch_words", lengths)):
        column = getattr(columns, name)
        if len(column) != n:
            raise MalformedReport(f"{path}.{name}", f"{len(column)} entries for {n} peers")
        target[:] = np.asarray(column)
    if len(columns.clock_error_ns) != n:
        raise MalformedReport(f"{path}.clock_error_ns", f"{len(columns.clock_error_ns)} entries for {n} peers")
    # Unsigned 64 bits: cut before they become signed.
    values[CLOCK_ERROR] = np.minimum(np.asarray(columns.clock_error_ns), np.uint64(INT32_MAX + 1))
    if 2 * int(lengths.sum()) != len(columns.sketch):
        raise MalformedReport(
            f"{path}.sketch", f"{len(columns.sketch)} bytes, but sketch_words add up to {int(lengths.sum())} words"
        )
    return np.frombuffer(columns.sketch, "<u2")


def _ends(sketches: Sketches) -> tuple[Ints, Ints]:
    """The first and last bin of every sketch, shape (3, n); of an empty one they mean nothing."""
    flat = sketches.lengths.reshape(-1)
    ends = np.cumsum(flat)
    if not sketches.words.size:
        nothing = np.zeros(sketches.lengths.shape, np.int64)
        return nothing, nothing
    bins = (sketches.words >> 5).astype(np.int64)
    first = bins[np.minimum(ends - flat, bins.size - 1)]
    return first.reshape(sketches.lengths.shape), bins[np.maximum(ends - 1, 0)].reshape(sketches.lengths.shape)


_INTEGERS = tuple((which, name) for which, name in _NAMES.items() if which != M2)


def _complaints(
    values: Ints, m2: npt.NDArray[np.float64], totals: Ints, ends: tuple[Ints, Ints]
) -> Iterator[tuple[npt.NDArray[np.bool_], str, str]]:
    """What could be wrong: where it is, in which column, and the rule that is broken."""
    count, sent, lost = values[COUNT], values[SENT], values[LOST]
    low, mean, high = values[MIN], values[MEAN], values[MAX]
    empty = count == 0
    yield count > INT32_MAX, "count", "more than 2^31 - 1"
    yield (sent < -1) | (sent > INT32_MAX), "sent", "packets sent are -1 (not known), 0 or more"
    yield lost < -1, "lost", "packets lost are -1 (not known), 0 or more"
    yield (lost > sent) & (lost >= 0), "lost", "more packets lost than sent, or lost known and sent not"
    yield empty & ((low | high) != 0), "min_ns", "delays of a peer with count 0 are 0"
    yield low > mean, "mean_ns", "the mean is below the minimum"
    yield mean > high, "mean_ns", "the mean is above the maximum"
    yield ~((m2 >= 0) & np.isfinite(m2)), "m2", "a sum of squares is a finite number, 0 or more"
    yield totals != count, "sketch", "the sketch holds another number of delays than count"
    first, last = ends
    yield ~empty & (first != llq16.bins_of(low)), "sketch", "its smallest delay is not in the bin of min_ns"
    yield ~empty & (last != llq16.bins_of(high)), "sketch", "its largest delay is not in the bin of max_ns"
    clocks = np.zeros(count.shape, bool)
    clocks[ROUND_TRIP] = values[CLOCK_ERROR, ROUND_TRIP] != 0
    yield clocks, "clock_error_ns", "a round trip has no clock error"


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
