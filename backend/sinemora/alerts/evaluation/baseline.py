"""Baselines: a robust level and spread that follow each path, for all paths at once.

The level is Huber's location (1964) and the spread the median absolute deviation, both by stochastic approximation
(Robbins and Monro, 1951): each window moves them a little, an outlier no more than a large ordinary value, so a short
event leaves no trace. A path far above its level hardly moves it: a long event becomes the new level in days, not in
minutes. There are two memories, of half an hour and of more than two days. A value that is high for the short one and
usual for the long one is a return (the end of a weekend's dip), not an event.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Counts = npt.NDArray[np.uint16]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)

SHORT, LONG = 0, 1
MEMORY = (180, 20_000)
"""Windows each level remembers."""
LEARNT = 120
"""Windows after which a baseline counts as known: twenty minutes of ten-second windows."""
# From this many windows on the short baseline is used. It shows gross rises only: its deviations count for an eighth.
_ROUGH = 30
LEARNT_LONG = 1440
# A young baseline underestimates the spread: deviations are weighted by count / (count + this).
_YOUNG = (200, 400)
_SIGMA = np.float32(0.6745)
_HUBER = np.float32(1.5)
# Deviations beyond which a value hardly moves its level, by memory: days should not follow a drift of hours.
_FAR = (np.float32(4.0), np.float32(3.0))
_SLOWER = np.float32(0.1)
_COUNT_MAX = 60_000
# Values are coded to 0.8 %, so the spread is at least that, and at least half a microsecond.
_FLOOR_SHARE, _FLOOR = np.float32(0.006), np.float32(500.0)


@dataclass(slots=True)
class Baseline:
    """Level and spread (one standard deviation of usual values) of every path, in the unit of the metric.

    `level` and `spread` have shape (2, …), by `SHORT` and `LONG`; `count`: number of windows learnt.
    """

    level: Floats
    spread: Floats
    count: Counts

    @classmethod
    def new(cls, shape: tuple[int, ...]) -> "Baseline":
        """Return a baseline that has learnt nothing."""
        return cls(np.zeros((2, *shape), np.float32), np.zeros((2, *shape), np.float32), np.zeros(shape, np.uint16))

    def known(self, memory: int) -> Flags:
        """Return the mask of paths with a learnt level."""
        mask: Flags = self.count >= (LEARNT if memory == SHORT else LEARNT_LONG)
        return mask

    def deviations(self, values: Floats, memory: int, *, floor: float = 1.0) -> Floats:
        """Return the number of deviations of each value above its level; NaN where either is unknown."""
        return self.deviations_from(self.level[memory], values, memory, floor=floor)

    def deviations_from(self, level: Floats, values: Floats, memory: int, *, floor: float = 1.0) -> Floats:
        """Return the number of deviations of each value above another level; NaN where any is unknown."""
        z: Floats = values - level
        z /= self._spread(memory, floor)
        z *= _TRUST[memory][self.count]
        return z

    def reach(self, level: Floats, deviations: float, memory: int, *, floor: float = 1.0) -> Floats:
        """Return the value a number of deviations above a level: the inverse of `deviations_from`."""
        value: Floats = level + np.float32(deviations) * self._spread(memory, floor) / _TRUST[memory][self.count]
        return value

    def learn(self, values: Floats, *, floor: float = 1.0) -> None:
        """Learn from one window; paths without a value keep their baseline. `floor` scales the least spread."""
        known = np.isfinite(values)
        if not known.all():
            values = np.where(known, values, self.level[SHORT])
        first = known & (self.count == 0)
        if first.any():
            start = values[first]
            self.level[:, first] = start
            self.spread[:, first] = np.maximum(np.abs(start) * np.float32(0.05), _FLOOR * np.float32(floor))
        for memory in (SHORT, LONG):
            level, spread = self.level[memory], self._spread(memory, floor)
            z = values - level
            z /= spread
            far = np.abs(z) > _FAR[memory]
            gain = _GAINS[memory][np.minimum(self.count, MEMORY[memory])]
            gain *= known
            slow = far & (self.count >= LEARNT)
            gain[slow] *= _SLOWER
            wider = (np.abs(z) > _SIGMA).astype(np.float32)
            wider -= np.float32(0.5)
            wider *= gain
            wider *= np.float32(2.0)
            wider += np.float32(1.0)
            np.multiply(spread, wider, out=self.spread[memory])
            np.clip(z, -_HUBER, _HUBER, out=z)
            z *= spread
            z *= gain
            level += z
        self.count += known & (self.count < _COUNT_MAX)

    def of(self, at: int) -> "Baseline":
        """Return the baseline of one of several stacked meshes, in the same memory."""
        return Baseline(self.level[:, at], self.spread[:, at], self.count[at])

    def rearranged(self, positions: Ints) -> "Baseline":
        """Return the baseline for another order of VMs: `positions` of the new axis in the old one, -1 for new VMs."""
        return Baseline(
            np.stack([rearranged(one, positions) for one in self.level]),
            np.stack([rearranged(one, positions) for one in self.spread]),
            rearranged(self.count, positions),
        )

    def _spread(self, memory: int, floor: float) -> Floats:
        if not floor:
            bare: Floats = np.maximum(self.spread[memory], np.float32(1e-6))
            return bare
        least = np.abs(self.level[memory])
        least *= _FLOOR_SHARE
        least += _FLOOR
        least *= np.float32(floor)
        spread: Floats = np.maximum(self.spread[memory], least)
        return spread


def _gains(memory: int) -> Floats:
    """Return the gain by number of windows learnt: a mean at first, then exponential."""
    return np.maximum(1.5 / (np.arange(memory + 1) + 2), 1.5 / memory).astype(np.float32)


_GAINS: Sequence[Floats] = tuple(_gains(memory) for memory in MEMORY)


def _trust(memory: int) -> Floats:
    """Return the weight of a deviation by the number of windows learnt from; NaN before it is learnt."""
    count = np.arange(_COUNT_MAX + 1)
    weights = count / (count + _YOUNG[memory])
    weights[: _ROUGH if memory == SHORT else LEARNT_LONG] = np.nan
    return weights.astype(np.float32)


_TRUST: Sequence[Floats] = tuple(_trust(memory) for memory in (SHORT, LONG))


def rearranged(array: npt.NDArray[Scalar], positions: Ints) -> npt.NDArray[Scalar]:
    """Return rows (and columns of a square array) by their old positions; zeros for -1."""
    known = positions >= 0
    old = positions[known]
    result = np.zeros((positions.size,) * array.ndim, array.dtype)
    if array.ndim == 1:
        result[known] = array[old]
    else:
        result[np.ix_(known, known)] = array[np.ix_(old, old)]
    return result
