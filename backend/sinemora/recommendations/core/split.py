"""Windows that train the optimiser, and separated blocks of time that are held out.

Round trips of neighbouring windows resemble one another: what was chosen on one would be confirmed by the next whatever
the truth. Held-out windows are therefore at least `GAP_S` away from those that train (a fifth of a history shorter than
a quarter of an hour), and in other hours when the history has two of them. Held-out time is cut into blocks of equal
length. Their means are nearly independent, windows within a block are not.
"""

from dataclasses import dataclass

import numpy as np

from sinemora.applications.performance import Flags, Indices
from sinemora.measurements.codec.llq16 import Ints

GAP_S = 180
"""Least time between a window that trains and one that is held out, in histories of at least 15 minutes."""
_GAP_LEAST_S = 60
HOUR_S = 3600
SPAN_LEAST_S = 180
"""Shortest history that is split."""
BLOCKS_LEAST = 3
WINDOWS_LEAST = BLOCKS_LEAST + 1
_TRAINING = 0.4
_BLOCK_LEAST_S = 20
_BLOCKS_OF_STRETCH = 6


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Flags of windows, shape (windows,): `training` or `holdout`, or neither. `blocks` numbers every window.

    Both are at least `gap_s` apart. `shortage` is the reason if no window is held out.
    """

    training: Flags
    holdout: Flags
    blocks: Indices
    gap_s: int
    shortage: str | None = None


def split(started_at_s: Ints, window_s: Ints) -> Split:
    """Return which windows train and which are held out; the newest time is always held out.

    A history shorter than `SPAN_LEAST_S`, or of fewer than `WINDOWS_LEAST` windows, only trains.
    """
    first, last = int(started_at_s.min()), int((started_at_s + window_s).max())
    if last - first < SPAN_LEAST_S or started_at_s.size < WINDOWS_LEAST:
        everything = np.ones(started_at_s.size, np.bool_)
        shortage = (
            f"too few windows to evaluate moves: {started_at_s.size} over {(last - first) / 60:.1f} minutes,"
            f" at least {WINDOWS_LEAST} over {SPAN_LEAST_S // 60} minutes are needed"
        )
        return Split(everything, ~everything, _blocks(started_at_s, first, last), 0, shortage)
    gap_s = int(np.clip((last - first) // 5, _GAP_LEAST_S, GAP_S))
    if last - first >= 2 * HOUR_S:
        # Hours counted back from the newest window: even ones are held out.
        hour = (last - 1 - started_at_s) // HOUR_S
        holdout = hour % 2 == 0
        blocks = hour * _BLOCKS_OF_STRETCH + (last - 1 - started_at_s) % HOUR_S * _BLOCKS_OF_STRETCH // HOUR_S
    else:
        start = first + round(_TRAINING * (last - first - gap_s)) + gap_s
        holdout = started_at_s >= start
        blocks = _blocks(started_at_s, start, last)
    training = ~holdout & (_distance_s(started_at_s, window_s, holdout) >= gap_s)
    return Split(training, holdout, blocks, gap_s)


def _blocks(started_at_s: Ints, start: int, end: int) -> Indices:
    """Return the number of the block of each window; blocks of `start` … `end` have equal lengths."""
    count = int(np.clip((end - start) // _BLOCK_LEAST_S, 1, _BLOCKS_OF_STRETCH))
    return np.asarray((started_at_s - start) * count // max(end - start, 1), np.intp)


def _distance_s(started_at_s: Ints, window_s: Ints, holdout: Flags) -> Ints:
    """Return the time between each window and the nearest held-out one (0 if they touch)."""
    starts, ends = started_at_s[holdout], (started_at_s + window_s)[holdout]
    after = np.searchsorted(starts, started_at_s)
    far = np.iinfo(np.int64).max // 2
    to_next = np.append(starts, far)[after] - (started_at_s + window_s)
    to_previous = started_at_s - np.insert(ends, 0, -far)[after]
    return np.asarray(np.maximum(np.minimum(to_next, to_previous), 0))
