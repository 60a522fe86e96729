"""One-way delays and round trips of simulated paths, second by second: two types, and the step between them.

PTPd reports the mean path delay, half of the round trip, as one-way delay (IEEE 1588-2019, 11.3); table 4.3 lists it
(D. A. Popescu, *Latency-driven performance in data centres*, UCAM-CL-TR-937, 2019). Curves of performance count the
latency added to both directions (the same, 5.4): a curve is only read at a round trip.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from sinemora.recommendations.placement.problem import Nanoseconds


@dataclass(frozen=True, slots=True, eq=False)
class OneWay:
    """One-way delays of a few paths second by second, equally many per class."""

    delay_ns: Nanoseconds
    """Shape (3, paths, seconds); the classes are same rack, same pod, other pod."""
    before_s: int = 0
    """Seconds of history before the simulation starts."""

    def round_trips(self) -> "RoundTrip":
        """Return the round trips: twice the one-way delay, which is the mean of both directions."""
        return RoundTrip(2 * self.delay_ns, self.before_s)


@dataclass(frozen=True, slots=True, eq=False)
class RoundTrip:
    """Round trips of a few paths second by second, equally many per class."""

    delay_ns: Nanoseconds
    """Shape (3, paths, seconds); the classes are same rack, same pod, other pod."""
    before_s: int = 0
    """Seconds of history before the simulation starts."""

    @property
    def seconds(self) -> int:
        """Return the seconds of simulation that are covered."""
        return int(self.delay_ns.shape[2]) - self.before_s

    def at(self, second: int) -> Nanoseconds:
        """Return the round trips in a second of the simulation in ns, shape (3, paths)."""
        return np.ascontiguousarray(self.delay_ns[:, :, self.before_s + second])

    def averaged(self, seconds: int) -> Self:
        """Return at each second the mean of this many seconds before it, or of those there are.

        The first second of the history has none before it and keeps its own value.
        """
        total = np.cumsum(self.delay_ns, axis=2, dtype=np.int64)
        at = np.arange(1, self.delay_ns.shape[2])
        first = np.maximum(at - seconds, 0)
        past = total[:, :, at - 1] - np.where(first > 0, total[:, :, first - 1], 0)
        mean = np.rint(past / (at - first)).astype(np.int32)
        return type(self)(np.concatenate((self.delay_ns[:, :, :1], mean), axis=2), self.before_s)
