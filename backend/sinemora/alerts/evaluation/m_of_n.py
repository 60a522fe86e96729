"""M of N: decides on which paths a rule fires, with hold and keep firing. Missing data is a separate state.

The last 16 windows of a path are two words of bits, the newest in the lowest bit: windows with a breach, and windows
with data. A late window can still be applied, and an evaluation is a few operations on whole arrays.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sinemora.alerts.evaluation.baseline import Flags, Ints, rearranged

Words = npt.NDArray[np.uint16]

WINDOWS_MAX = 16
_LONGEST = 65_535


class Phase(IntEnum):
    """Phase of a rule on a path. `inactive`: no breach; `unknown`: too few windows with data."""

    INACTIVE = 0
    PENDING = 1
    FIRING = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class MOfN:
    """M of N: a breach counts with `m` of the last `n` windows, fires after it counted for more than `hold`
    windows, and ends after more than `keep` windows without one. All in windows; `n` at most 16.
    """

    m: int
    n: int
    hold: int = 0
    keep: int = 0

    @property
    def mask(self) -> np.uint16:
        return np.uint16((1 << self.n) - 1)


@dataclass(slots=True)
class RuleState:
    """One rule on all its paths; arrays of one shape. `run`: windows with M of N met, `quiet`: windows since."""

    hits: Words
    seen: Words
    run: Words
    quiet: Words
    firing: Flags

    @classmethod
    def new(cls, shape: tuple[int, ...]) -> "RuleState":
        """Return an empty state."""
        hits, seen, run, quiet = np.zeros((4, *shape), np.uint16)
        return cls(hits, seen, run, quiet, np.zeros(shape, np.bool_))

    def step(self, breach: Flags, known: Flags, m_of_n: MOfN, windows: int = 1, active: Flags | None = None) -> None:
        """Apply the window that ended `windows` windows after the last one; those between count as missing.

        Paths where `known` is false keep their state. With `active`, only the windows of a path count that are its
        turn: other paths do not change at all.
        """
        if active is not None:
            at = np.flatnonzero(active)
            words = (self.hits, self.seen, self.run, self.quiet)
            hits, seen, run, quiet = (word.reshape(-1)[at] for word in words)
            part = RuleState(hits, seen, run, quiet, self.firing.reshape(-1)[at])
            part.step(breach.reshape(-1)[at], known.reshape(-1)[at], m_of_n)
            for word, changed in zip(words, (part.hits, part.seen, part.run, part.quiet), strict=True):
                word.reshape(-1)[at] = changed
            self.firing.reshape(-1)[at] = part.firing
            return
        by = np.uint16(min(windows, WINDOWS_MAX))
        for word, bit in ((self.hits, breach), (self.seen, known)):
            if windows >= WINDOWS_MAX:
                word[...] = 0
            else:
                np.left_shift(word, by, out=word)
            np.bitwise_or(word, bit, out=word)
        self._settle(known, m_of_n)

    def amend(self, breach: Flags, known: Flags, age: int) -> None:
        """Apply a late window, `age` windows before the newest; it counts from the next `step` on."""
        if age < WINDOWS_MAX:
            bit = np.uint16(1 << age)
            self.hits |= np.where(breach & known, bit, np.uint16(0))
            self.seen |= np.where(known, bit, np.uint16(0))

    def _settle(self, known: Flags, m_of_n: MOfN) -> None:
        """Decide which paths fire: with M breaches in their last N windows, from `hold` on, until `keep` is over."""
        hits = self.hits.reshape(-1)
        firing = self.firing.reshape(-1)
        at = np.flatnonzero(hits.astype(np.bool_) | firing)
        if not at.size:
            return
        run, quiet = self.run.reshape(-1), self.quiet.reshape(-1)
        breached = np.bitwise_count(hits[at] & m_of_n.mask) >= m_of_n.m
        seen = known.reshape(-1)[at]
        counted = np.where(breached, np.minimum(run[at], _LONGEST - 1) + 1, np.where(seen, 0, run[at]))
        still = np.where(breached, 0, np.where(seen, np.minimum(quiet[at], _LONGEST - 1) + 1, quiet[at]))
        run[at], quiet[at] = counted, still
        firing[at] = np.where(firing[at], still <= m_of_n.keep, breached & (counted > m_of_n.hold))

    def held(self, where: Flags) -> tuple[Flags, Flags]:
        """Return the paths of `where` that had data in one of the last 16 windows, and those in breach at that time."""
        nothing = np.zeros(self.seen.shape, np.bool_)
        if not where.any():
            return nothing, nothing
        newest = self.seen & (~self.seen + np.uint16(1))  # the lowest bit that is set
        return where & (newest > 0), where & ((self.hits & newest) > 0)

    def phases(self, m_of_n: MOfN) -> npt.NDArray[np.uint8]:
        """Return the `Phase` of every path."""
        phases = np.full(self.hits.shape, Phase.INACTIVE, np.uint8)
        phases[np.bitwise_count(self.seen & m_of_n.mask) < m_of_n.m] = Phase.UNKNOWN
        phases[np.bitwise_count(self.hits & m_of_n.mask) >= m_of_n.m] = Phase.PENDING
        phases[self.firing] = Phase.FIRING
        return phases

    def clear(self, where: Flags) -> None:
        """Reset paths that are no longer measured or in scope."""
        for word in (self.hits, self.seen, self.run, self.quiet):
            word[where] = 0
        self.firing[where] = False

    def of(self, at: int) -> "RuleState":
        """Return the state on one of several stacked meshes, in the same memory."""
        return RuleState(self.hits[at], self.seen[at], self.run[at], self.quiet[at], self.firing[at])

    def rearranged(self, positions: Ints) -> "RuleState":
        """Return the state for another order of VMs."""
        return RuleState(
            rearranged(self.hits, positions),
            rearranged(self.seen, positions),
            rearranged(self.run, positions),
            rearranged(self.quiet, positions),
            rearranged(self.firing, positions),
        )
