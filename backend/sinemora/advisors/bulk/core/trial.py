"""Comparison of two transports by alternated transfers.

The order is A B B A A B …, so that a steady drift of the network favours neither. Neighbouring transfers form a pair;
the change is the mean of the logarithms of B / A over pairs, with its 95 % interval by Student's t (paired comparison,
R. Jain, "The Art of Computer Systems Performance Analysis", 1991, 13.4.1).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import scipy

_CONFIDENCE = 0.95


class Variant(StrEnum):
    """Transport of a transfer: A, as it is now, or B, which is tried."""

    A = "a"
    B = "b"


class TrialVerdict(StrEnum):
    """`shorter` or `longer`: the whole interval of the change is below or above 0."""

    SHORTER = "shorter"
    LONGER = "longer"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Change:
    """Transfer time of B against A as a share (-0.2: 20 % shorter), with its interval, over `pairs`."""

    mean: float
    low: float
    high: float
    pairs: int

    @property
    def verdict(self) -> TrialVerdict:
        """Judge by the interval."""
        if self.high < 0:
            return TrialVerdict.SHORTER
        return TrialVerdict.LONGER if self.low > 0 else TrialVerdict.UNCERTAIN


def order_of(rounds: int) -> list[Variant]:
    """Return the variants of all transfers in their order: two a round."""
    return [one for at in range(rounds) for one in ((Variant.A, Variant.B) if at % 2 == 0 else (Variant.B, Variant.A))]


def change(times_s: Sequence[float | None]) -> Change | None:
    """Return the change from the times of all transfers in the order of `order_of`; None with fewer than two pairs."""
    logs = []
    for at in range(0, len(times_s) - 1, 2):
        first, second = times_s[at], times_s[at + 1]
        if first is not None and second is not None:
            a, b = (first, second) if at % 4 == 0 else (second, first)
            logs.append(math.log(b / a))
    n = len(logs)
    if n < 2:
        return None
    mean = sum(logs) / n
    error = math.sqrt(sum((one - mean) ** 2 for one in logs) / (n - 1) / n)
    reach = float(scipy.stats.t.ppf((1 + _CONFIDENCE) / 2, n - 1)) * error
    return Change(math.expm1(mean), math.expm1(mean - reach), math.expm1(mean + reach), n)
