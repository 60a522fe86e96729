"""Packets sent and lost on every path over a longer time, and an exact test of their ratio.

A window of ten seconds has 10 to 80 exchanges: one lost packet is 1 % to 10 % of it, and it cannot show a
loss of 0.2 %. Counts of an hour can. A path loses more than a ratio if that many lost packets or more have
a probability of at most `_CHANCE` with that ratio. That is the upper tail of the binomial distribution, the one-sided
Clopper-Pearson lower bound (Clopper and Pearson, 1934).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.alerts.evaluation.baseline import Flags, Floats, Ints

Counts = npt.NDArray[np.uint32]

PARTS = 4
_CHANCE = 1e-3
# A ratio of which so few losses were expected cannot be exceeded credibly: a single burst would do.
_EXPECTED_MIN = 2.0
# A run without loss ends a breach when it had a probability of exp(-3), 5 %, at the ratio.
_RUN = 3.0


@dataclass(slots=True)
class LossCounts:
    """Packets sent and lost by quarter of the time, shape (4, …, n, n); `clean` (…, n, n): packets since the last loss.

    `part`: number of the current quarter since the epoch, at position `part % 4`; one before the first window.
    """

    sent: Counts
    lost: Counts
    clean: Counts
    part: Ints

    @classmethod
    def new(cls, *shape: int) -> "LossCounts":
        """Return empty counts of paths of this shape."""
        sent, lost = np.zeros((2, PARTS, *shape), np.uint32)
        return cls(sent, lost, np.zeros(shape, np.uint32), np.full(1, -1, np.int64))

    def add(self, sent: Floats, lost: Floats, ended_at_s: int, over_s: int) -> None:
        """Add a window that ended at a time; `sent` and `lost` are NaN where unknown. Quarters that passed are dropped.

        A window of an earlier quarter is added to its quarter, or left out if that has been dropped.
        """
        part, current = (ended_at_s - 1) * PARTS // over_s, int(self.part[0])
        if part > current:
            for passed in range(max(current + 1, part - PARTS + 1), part + 1):
                self.sent[passed % PARTS] = self.lost[passed % PARTS] = 0
            self.part[0] = part
        elif part <= current - PARTS:
            return
        known = np.isfinite(sent) & np.isfinite(lost)
        more, gone = (np.where(known, counts, 0).astype(np.uint32) for counts in (sent, lost))
        self.sent[part % PARTS] += more
        self.lost[part % PARTS] += gone
        self.clean = np.where(gone > 0, np.uint32(0), self.clean + more)

    def above(self, ratio: float) -> tuple[Flags, Flags]:
        """Return the paths that lose more than a ratio, and those with enough packets to know."""
        sent, lost = self._sums()
        known: Flags = sent * ratio >= _EXPECTED_MIN
        result = known & (lost > sent * ratio) & (self.clean * -np.log1p(-ratio) < _RUN)
        at = np.flatnonzero(result)
        result.reshape(-1)[at] = tail(lost.reshape(-1)[at], sent.reshape(-1)[at], ratio) <= _CHANCE
        return result, known

    def ratio(self) -> Floats:
        """Return the share of packets lost by path, NaN without any."""
        sent, lost = self._sums()
        shares: Floats = np.where(sent > 0, lost / np.maximum(sent, 1), np.nan).astype(np.float32)
        return shares

    def limit(self, ratio: float) -> Floats:
        """Return the share of packets above which a path loses more than a ratio, NaN where too few are known."""
        sent, _ = self._sums()
        known = sent * ratio >= _EXPECTED_MIN
        # The largest number of lost packets that is no breach.
        fewest = scipy.special.bdtrik(1 - _CHANCE, sent, ratio)
        shares: Floats = np.where(known, np.ceil(fewest) / np.maximum(sent, 1), np.nan).astype(np.float32)
        return shares

    def rearranged(self, positions: Ints) -> "LossCounts":
        """Return the counts for another order of VMs: positions of the new axis in the old one, -1 for new VMs."""
        known, old = positions >= 0, positions[positions >= 0]
        new = LossCounts.new(positions.size, positions.size)
        for ours, theirs in ((new.sent, self.sent), (new.lost, self.lost), (new.clean[None], self.clean[None])):
            ours[:, np.outer(known, known)] = theirs[:, old[:, None], old].reshape(theirs.shape[0], -1)
        new.part = self.part.copy()
        return new

    def _sums(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        return self.sent.sum(axis=0, dtype=np.float64), self.lost.sum(axis=0, dtype=np.float64)


def tail(lost: npt.NDArray[np.float64], sent: npt.NDArray[np.float64], ratio: float) -> npt.NDArray[np.float64]:
    """Return the probability that at least `lost` of `sent` packets are lost, each with probability `ratio`."""
    # The regularised incomplete beta function is the tail of the binomial distribution (DLMF 8.17.5).
    inner = scipy.special.betainc(np.maximum(lost, 1), np.maximum(sent - lost + 1, 1), ratio)
    return np.where(lost > 0, inner, 1.0).astype(np.float64)
