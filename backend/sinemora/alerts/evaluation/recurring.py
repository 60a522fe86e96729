"""Breaches that recur: a sequential test of how often a path is bad, for all paths at once.

A path that is slow for one window in ten minutes is never slow for M of N windows. The test is the CUSUM chart of a
proportion (M. R. Reynolds and Z. G. Stoumbos, *A CUSUM chart for monitoring a proportion when inspecting
continuously*, Journal of Quality Technology 31, 1999, section 2; E. S. Page, Biometrika 41, 1954): each window adds its
log-likelihood ratio, of a path that is bad too often to one that is seldom bad, and the sum never falls below 0. It
needs one number a path. The mean time between false signals of a path is at least exp(limit) windows (G. Lorden,
*Procedures for reacting to a change in distribution*, Annals of Mathematical Statistics 42, 1971, theorem 2), so the
limit grows with the logarithm of the number of paths.
"""

from dataclasses import dataclass

import numpy as np

from sinemora.alerts.evaluation.baseline import Flags, Floats, Ints, rearranged

TOO_OFTEN = 6
"""Breaches within the time of a condition that are too many …"""
_SELDOM = 16.0
"""… and so many times fewer are usual, or as many as are usual on the paths of the mesh …"""
_WORSE = 4.0
"""… of which a path must have so many times more."""
# With so few VMs the faulty path is most of the mesh, and nothing is known about the others.
_FEW = 3
_FALSE_EVERY_S = 10 * 7 * 86_400
"""Least mean time between false signals of a mesh: ten weeks."""


@dataclass(slots=True)
class Recurring:
    """Sum of the test of each path, whether its last window with data was bad, and whether it signals.

    `rate`: usual share of windows of the mesh in which a breach begins. Where all paths spike, that is no news.
    """

    score: Floats
    bad: Flags
    signals: Flags
    rate: Floats

    @classmethod
    def new(cls, shape: tuple[int, ...]) -> "Recurring":
        """Return the state of paths of which nothing is known."""
        bad, signals = np.zeros((2, *shape), np.bool_)
        return cls(np.zeros(shape, np.float32), bad, signals, np.zeros((*shape[:-2], 1, 1), np.float32))

    def step(self, bad: Flags, known: Flags, over_s: int, window_s: int) -> tuple[Flags, Flags]:
        """Apply a window; return the paths that are bad too often, and those half way there.

        Paths that are not `known` keep their state.

        Windows in a row are one breach: an event of some minutes is not many.
        """
        too_often = min(0.5, TOO_OFTEN * window_s / over_s)
        seldom = np.clip(self.rate, too_often / _SELDOM, 0.1)
        often = np.maximum(too_often, _WORSE * seldom)
        breach, none = np.log(often / seldom), np.log((1 - often) / (1 - seldom))
        limit = np.float32(np.log(bad.shape[-1] ** 2 * _FALSE_EVERY_S / window_s))
        begins = bad & known & ~self.bad
        score = self.score + np.where(begins, breach, none) * known
        if bad.shape[-1] > _FEW:
            share = begins.sum((-2, -1), keepdims=True) / np.maximum(known.sum((-2, -1), keepdims=True), 1)
            self.rate += (share - self.rate).astype(np.float32) * np.float32(min(1.0, window_s / over_s))
        # A signal ends after some intervals without a breach, so that it does not come and go around the limit.
        self.score = np.clip(score, 0, limit).reshape(bad.shape).astype(np.float32)
        self.signals = (score >= np.where(self.signals, limit - 2 * breach, limit)).reshape(bad.shape)
        self.bad = np.where(known, bad, self.bad)
        return self.signals.copy(), self.score >= limit / 2

    def rearranged(self, positions: Ints) -> "Recurring":
        """Return the state for another order of VMs: positions of the new axis in the old one, -1 for new VMs."""
        bad, signals = (rearranged(one, positions) for one in (self.bad, self.signals))
        return Recurring(rearranged(self.score, positions), bad, signals, self.rate)
