"""Conversion of the exchanges of a trace to windows as an agent reports them."""

from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """Window of one VM."""

    started_at_s: int
    frame: Frame


def windows(exchanges: Sequence[Exchange], keys: dict[str, int], window_s: int, shift_s: int = 0) -> list[WindowFrame]:
    """Return the windows of exchanges in any order; the source is the client. `keys` are VM keys by name.

    `shift_s` is added to all times. An exchange without a delay counts as lost in the round trip; the direction that
    lost it is unknown.
    """
    if not exchanges:
        return []
    at_s = np.array([exchange.at_ns // 1_000_000_000 for exchange in exchanges], np.int64) + shift_s
    starts = at_s // window_s * window_s
    clients = np.array([keys[exchange.source] for exchange in exchanges], np.int64)
    targets = np.array([keys[exchange.target] for exchange in exchanges], np.int64)
    delays = np.array(
        [
            [
                _UNKNOWN if delay is None else delay
                for delay in (exchange.outbound_ns, exchange.inbound_ns, exchange.round_trip_ns)
            ]
            for exchange in exchanges
        ],
        np.int64,
    ).T
    errors = np.array([exchange.clock_error_ns for exchange in exchanges], np.int64)
    ends, groups = np.unique(np.stack((starts, clients, targets)), axis=1, return_inverse=True)
    groups = groups.reshape(-1)
    stats, sketches = _merged(delays, errors, groups, ends.shape[1])
    cuts = np.flatnonzero(np.any(ends[:2, 1:] != ends[:2, :-1], axis=0)) + 1
    bounds = [0, *cuts.tolist(), ends.shape[1]]
    return [
        WindowFrame(
            int(ends[0, first]),
            Frame(
                int(ends[1, first]),
                ends[2, first:last],
                stats.take(slice(first, last)),
                sketches.take(slice(first, last)),
            ),
        )
        for first, last in pairwise(bounds)
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
