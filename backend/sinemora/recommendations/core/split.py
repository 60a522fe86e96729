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
_MISSING_MOST = 120
"""Longest look for the number of windows that are missing."""
_TRAINING = 0.4
_BLOCK_LEAST_S = 20
_BLOCKS_OF_STRETCH = 6


@dataclass(frozen=True, slots=True, eq=False)
class WindowSplit:
    """Flags of windows, shape (windows,): `training` or `holdout`, or neither. `blocks` numbers every window.

    Both are at least `gap_s` apart. `shortage` is the reason if no window is held out.
    """

    training: Flags
    holdout: Flags
    blocks: Indices
    gap_s: int
    shortage: str | None = None


def split(started_at_s: Ints, window_s: Ints) -> WindowSplit:
    """Return which windows train and which are held out; the newest time is always held out.

    A history of which fewer than `BLOCKS_LEAST` blocks could be held out only trains; `shortage` says how many windows
    it lacks.
    """
    parts = _cut(started_at_s, window_s)
    if is_enough(parts):
        return parts
    first, last = int(started_at_s.min()), int((started_at_s + window_s).max())
    everything = np.ones(started_at_s.size, np.bool_)
    shortage = (
        f"too few windows to evaluate moves: {started_at_s.size} over {(last - first) / 60:.1f} minutes,"
        f" {_missing(started_at_s, window_s)}"
    )
    return WindowSplit(everything, ~everything, _blocks(started_at_s, first, last), 0, shortage)


def is_enough(parts: WindowSplit) -> bool:
    """Return whether some windows train, and enough blocks of time are held out to judge a move."""
    return bool(parts.training.any()) and np.unique(parts.blocks[parts.holdout]).size >= BLOCKS_LEAST


def _missing(started_at_s: Ints, window_s: Ints) -> str:
    """Return how many more windows are needed if they come as the newest ones came."""
    steps = np.diff(started_at_s)
    length = int(window_s[-1])
    step = max(int(np.median(steps)) if steps.size else length, length)
    for more in range(1, _MISSING_MOST + 1):
        later = started_at_s[-1] + step * np.arange(1, more + 1)
        if is_enough(_cut(np.append(started_at_s, later), np.append(window_s, np.full(more, length)))):
            return f"{more} more {'window is' if more == 1 else 'windows are'} needed, one every {step} s"
    return f"at least {BLOCKS_LEAST} blocks of time after a gap of {GAP_S} s are needed"


def _cut(started_at_s: Ints, window_s: Ints) -> WindowSplit:
    first, last = int(started_at_s.min()), int((started_at_s + window_s).max())
    nothing = np.zeros(started_at_s.size, np.bool_)
    if last - first < SPAN_LEAST_S:
        return WindowSplit(~nothing, nothing, _blocks(started_at_s, first, last), 0)
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
    return WindowSplit(training, holdout, blocks, gap_s)


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
