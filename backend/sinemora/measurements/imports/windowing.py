"""From exchanges of a trace to the windows an agent would have reported."""

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
    """One VM's window."""

    started_at_s: int
    frame: Frame


def windows(exchanges: Sequence[Exchange], keys: dict[str, int], window_s: int, shift_s: int = 0) -> list[WindowFrame]:
    """Return the windows of exchanges in any order, the source being client; `keys` of VMs by name; `shift_s` moves
    them all.

    An exchange without a delay counts as lost in the round trip; which direction lost it nobody knows.
    """
    if not exchanges:
        return []
    at_s = np.array([one.at_ns // 1_000_000_000 for one in exchanges], np.int64) + shift_s
    starts = at_s // window_s * window_s
    clients = np.array([keys[one.source] for one in exchanges], np.int64)
    targets = np.array([keys[one.target] for one in exchanges], np.int64)
    delays = np.array(
        [
            [_UNKNOWN if delay is None else delay for delay in (one.outbound_ns, one.inbound_ns, one.round_trip_ns)]
            for one in exchanges
        ],
        np.int64,
    ).T
    errors = np.array([one.clock_error_ns for one in exchanges], np.int64)
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
    """Stats and sketches of groups from single exchanges; `delays` has shape (3, m)."""
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
    # A direction the trace does not speak of knows nothing of losses either; one that stands for both was answered.
    single[SENT, ROUND_TRIP] = 1
    single[LOST, ROUND_TRIP] = ~arrived
    single[SENT, :ROUND_TRIP][~known[:ROUND_TRIP]] = -1
    single[LOST, :ROUND_TRIP][~known[:ROUND_TRIP]] = -1
    directed = (np.arange(3)[:, None] * size + groups).reshape(-1)
    columns = rollup.merge_columns(single.reshape(8, -1), directed, 3 * size).reshape(8, 3, size)
    heard = known.reshape(-1)
    words = (llq16.bins_of(values.reshape(-1)[heard]) << 5).astype(np.uint16)
    merged, lengths = llq16.merge(words, directed[heard], 3 * size)
    sketches = Sketches(lengths.reshape(3, size), merged)
    empty = frame.nothing(size)
    flows = np.ones(size, np.uint16)
    stats = frame.Stats(columns, frame.quantile_codes(sketches), flows, empty.asymmetry_source, empty.by_flow)
    return stats, sketches
