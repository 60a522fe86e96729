"""The slowest flows of pairs with several source ports: the delay of a connection on an unlucky route."""

from dataclasses import replace
from enum import StrEnum

import numpy as np

from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import COUNT, FLOW_COUNT, FLOW_P50, INBOUND, MAX, OUTBOUND, ROUND_TRIP, Stats
from sinemora.measurements.codec.llq16 import Ints

_UNKNOWN = np.iinfo(np.int64).min


class Flows(StrEnum):
    """The source ports of a path that count: all of them together, or the slowest one of each direction."""

    ALL = "all"
    SLOWEST = "slowest"


def slowest(stats: Stats) -> Stats:
    """Return the same with percentiles no smaller than what the slowest flow of each pair takes at the median.

    Of a round trip that is the slowest flow there and the slowest one back, since routing chooses each for itself.
    Pairs with one flow stay as they are, and so do all numbers but the percentiles and the largest delay.
    """
    if not stats.by_flow.shape[2]:
        return stats
    slow = _medians(stats)
    both = np.where((slow == _UNKNOWN).any(axis=0), _UNKNOWN, slow[OUTBOUND] + slow[INBOUND])
    columns, quantiles = stats.columns.copy(), stats.quantiles.copy()
    for direction, least in ((OUTBOUND, slow[OUTBOUND]), (INBOUND, slow[INBOUND]), (ROUND_TRIP, both)):
        at = np.flatnonzero((least != _UNKNOWN) & (columns[COUNT, direction] > 0))
        codes = (llq16.bins_of(least[at]) + 1).astype(np.uint16)
        known = quantiles[:, direction, at]
        quantiles[:, direction, at] = np.where(known > 0, np.maximum(known, codes), 0)
        # No exchange need have gone the slowest way there and the slowest one back.
        largest = np.minimum(least[at], np.iinfo(columns.dtype).max)
        columns[MAX, direction, at] = np.maximum(columns[MAX, direction, at], largest)
    return replace(stats, columns=columns, quantiles=quantiles)


def _medians(stats: Stats) -> Ints:
    """Return the largest median of the flows of each target, ns, shape (2, n); `_UNKNOWN` without flows."""
    widths = frame.widths_of(stats.flows)
    several = np.flatnonzero(widths)
    medians = np.where(stats.by_flow[FLOW_COUNT] > 0, stats.by_flow[FLOW_P50].astype(np.int64), _UNKNOWN)
    largest = np.full((2, stats.targets), _UNKNOWN, np.int64)
    largest[:, several] = np.maximum.reduceat(medians, (np.cumsum(widths) - widths)[several], axis=1)
    return largest
