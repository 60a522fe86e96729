"""Conversion of the exchanges of a trace to windows as an agent reports them, at a cost linear in their number."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sinemora.measurements.aggregate import rollup
from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import (
    CLOCK_ERROR,
    COUNT,
    LOST,
    MAX,
    MEAN,
    MIN,
    ROUND_TRIP,
    SENT,
    Frame,
    Sketches,
)
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.imports.readers import Exchange

_UNKNOWN = -(1 << 62)
_COLUMNS = 7
_AT_NS, _SOURCE, _TARGET, _CLOCK_ERROR = 0, 1, 2, 6
_DELAYS = slice(3, 6)
_ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """Window of one VM."""

    started_at_s: int
    frame: Frame


class Trace:
    """Exchanges of a trace in any order, kept as seven numbers each: a file of millions of lines fits into memory.

    `names` has the position of each name of a VM.
    """

    def __init__(self, exchanges: Iterable[Exchange] = ()) -> None:
        self.names: dict[str, int] = {}
        self._numbers = array("q")
        for exchange in exchanges:
            self.add(exchange)

    def __len__(self) -> int:
        return len(self._numbers) // _COLUMNS

    def add(self, exchange: Exchange) -> None:
        names = self.names
        source = names.setdefault(exchange.source, len(names))
        target = names.setdefault(exchange.target, len(names))
        delays = (exchange.outbound_ns, exchange.inbound_ns, exchange.round_trip_ns)
        known = [_UNKNOWN if delay is None else delay for delay in delays]
        self._numbers.extend((exchange.at_ns, source, target, *known, exchange.clock_error_ns))

    def span_ns(self) -> tuple[int, int]:
        """Return the times of the first and the last exchange, ns since 1970. ValueError without exchanges."""
        at_ns = self._rows()[:, _AT_NS]
        return int(at_ns.min()), int(at_ns.max())

    def slices(self, window_s: int, shift_s: int = 0) -> Iterator[Ints]:
        """Yield the exchanges by time in slices of whole windows; `shift_s` is added to all times."""
        rows = self._rows()
        rows = rows[np.argsort(rows[:, _AT_NS], kind="stable")]
        # From here on whole seconds: `_AT_NS` is the start of the window.
        starts = (rows[:, _AT_NS] // 1_000_000_000 + shift_s) // window_s * window_s
        rows[:, _AT_NS] = starts
        first = 0
        while first < starts.size:
            end = min(first + _ROWS_AT_ONCE, starts.size)
            end = int(np.searchsorted(starts, starts[end - 1], side="right"))
            yield rows[first:end]
            first = end

    def _rows(self) -> Ints:
        return np.frombuffer(self._numbers, np.int64).reshape(-1, _COLUMNS)


def windows(exchanges: Iterable[Exchange], keys: dict[str, int], window_s: int, shift_s: int = 0) -> list[WindowFrame]:
    """Return the windows of exchanges in any order; the source is the client. `keys` are VM keys by name.

    `shift_s` is added to all times. An exchange without a delay counts as lost in the round trip; the direction that
    lost it is unknown.
    """
    trace = Trace(exchanges)
    of_names = np.array([keys[name] for name in trace.names], np.int64)
    return [one for rows in trace.slices(window_s, shift_s) for one in windows_of_slice(rows, of_names)]


def windows_of_slice(rows: Ints, keys: Ints) -> list[WindowFrame]:
    """Return the windows of a slice of a trace (`Trace.slices`). `keys` are VM keys by the position of their names."""
    starts, at = np.unique(rows[:, _AT_NS], return_inverse=True)
    clients, by_client = np.unique(keys[rows[:, _SOURCE]], return_inverse=True)
    targets, by_target = np.unique(keys[rows[:, _TARGET]], return_inverse=True)
    # One number an exchange sorts faster than three.
    ends, groups = np.unique((at * clients.size + by_client) * targets.size + by_target, return_inverse=True)
    stats, sketches = _merged(rows[:, _DELAYS].T, rows[:, _CLOCK_ERROR], groups, ends.size)
    of_frames = ends // targets.size
    bounds = [0, *(np.flatnonzero(np.diff(of_frames)) + 1).tolist(), ends.size]
    return [
        WindowFrame(
            int(starts[of_frames[first] // clients.size]),
            Frame(
                int(clients[of_frames[first] % clients.size]),
                targets[ends[first:last] % targets.size],
                stats.take(slice(first, last)),
                part,
            ),
        )
        for (first, last), part in zip(pairwise(bounds), sketches.split(bounds), strict=True)
    ]


def _merged(delays: Ints, errors: Ints, groups: Ints, size: int) -> tuple[frame.Stats, Sketches]:
    """Return stats and sketches of groups from single exchanges; `delays` has shape (3, m)."""
    known = delays != _UNKNOWN
    m = groups.size
    single = np.zeros((8, 3, m), np.int32)
    single[COUNT] = known
    values = np.where(known, delays, 0)
    single[[MIN, MEAN, MAX]] = values
    single[CLOCK_ERROR, :ROUND_TRIP] = np.where(known[:ROUND_TRIP], errors, 0)
    arrived = known.any(axis=0)
    single[SENT], single[LOST] = known, 0
    single[SENT, :ROUND_TRIP, ~arrived] = single[LOST, :ROUND_TRIP, ~arrived] = -1
    # Losses of a direction without delays are unknown. Every exchange counts as sent in the round trip.
    single[SENT, ROUND_TRIP] = 1
    single[LOST, ROUND_TRIP] = ~arrived
    single[SENT, :ROUND_TRIP][~known[:ROUND_TRIP]] = -1
    single[LOST, :ROUND_TRIP][~known[:ROUND_TRIP]] = -1
    directed = (np.arange(3)[:, None] * size + groups).reshape(-1)
    columns = rollup.merge_columns(single.reshape(8, -1), directed, 3 * size).reshape(8, 3, size)
    has_delay = known.reshape(-1)
    words = (llq16.bins_of(values.reshape(-1)[has_delay]) << 5).astype(np.uint16)
    merged, lengths = llq16.merge(words, directed[has_delay], 3 * size)
    sketches = Sketches(lengths.reshape(3, size), merged)
    empty = frame.nothing(size)
    flows = np.ones(size, np.uint16)
    stats = frame.Stats(columns, frame.quantile_codes(sketches), flows, empty.asymmetry_source, empty.by_flow)
    return stats, sketches
