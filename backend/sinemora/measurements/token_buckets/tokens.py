"""Tokens left in a bucket, from the bytes of windows, and when it will be empty. Pure.

A bucket of depth b gains r tokens (bytes) a second up to b, and a packet takes as many as it has bytes. A window tells
the bytes of some seconds, not their order, so the tokens at its end are an interval. After s seconds with S bytes from
T tokens:

    least   all bytes at the end:   max(0, min(b, T + r·s) - S)
    most    all bytes at the start: min(b, max(0, T - S) + r·s)

`expected` takes the bytes as evenly spread: T + r·s - S, not below 0 nor above b. Once the next window is known, a
window whose rate is between those of its neighbours is taken as a change from the one rate to the other. Windows at
the rate r after ones above it show a shaper that holds its traffic, because the bucket is empty. The interval holds
for a policer, where counted bytes may have been dropped, and for a shaper whose bytes are counted once they passed it.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

PACKET = 1_514.0
"""Bytes of a full Ethernet packet: a bucket that lacks tokens for one keeps them."""
RECENT_S = 10.0
"""Seconds of windows whose mean is the present use: a change of it must show before the bucket is empty."""
_GAP_S = 0.5
"""Least time between two windows that is one: readings of counters differ from the ends of windows by less."""
_EMPTY_SHARE = 0.01
"""Share of the depth below which a bucket counts as empty: counters and timers are not exact."""
_AT_RATE = 0.9
"""Least share of the rate at which an empty bucket is used up rather than refilling."""
_HELD = 0.02
"""Greatest share by which the use of a VM whose traffic is held to the rate differs from it."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Rate (bytes/s) and depth (bytes)."""

    rate: float
    depth: float


@dataclass(frozen=True, slots=True)
class Use:
    """Bytes of some seconds; the start in Unix seconds."""

    started_at_s: float
    seconds: float
    size: float

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.size / self.seconds


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens at one moment, bytes: the least and the most possible, and those of evenly spread bytes."""

    least: float
    most: float
    expected: float


class Level(StrEnum):
    """State of a bucket: empty with a use at its rate or above, full, draining, filling, or neither."""

    EMPTY = "empty"
    FULL = "full"
    DRAINING = "draining"
    FILLING = "filling"
    STEADY = "steady"


@dataclass(frozen=True, slots=True)
class TokenForecast:
    """Tokens now, the use of the last seconds (bytes/s), and what follows at this use.

    `empty_in_s`: seconds until the bucket is empty, None for never; `empty_in_least_s` and `empty_in_most_s` by the
    least and the most tokens. `full_in_s`: seconds until it is full, None for never.
    """

    at_s: float
    tokens: Tokens
    use: float
    level: Level
    empty_in_s: float | None
    empty_in_least_s: float | None
    empty_in_most_s: float | None
    full_in_s: float | None


def unknown(bucket: Bucket) -> Tokens:
    """Return the tokens of a bucket about which nothing is known; a full one is expected."""
    return Tokens(0.0, bucket.depth, bucket.depth)


def after(tokens: Tokens, bucket: Bucket, seconds: float, size: float) -> Tokens:
    """Return the tokens after some seconds with `size` bytes."""
    refill = bucket.rate * seconds
    most = tokens.most - size
    if most < 0:
        most = min(tokens.most, PACKET)
    return Tokens(
        max(0.0, min(bucket.depth, tokens.least + refill) - size),
        min(bucket.depth, most + refill),
        min(bucket.depth, max(0.0, tokens.expected + refill - size)),
    )


def after_change(expected: float, bucket: Bucket, use: Use, before: float, then: float) -> float:
    """Return the tokens after a window in which the use changed once, from the rate before it to the one after it.

    Bytes are evenly spread if the rate of the window is not between the two.
    """
    share = (use.rate - before) / (then - before) if then != before else 0.0
    parts = [(1.0, use.rate)] if not 0 < share < 1 else [(1 - share, before), (share, then)]
    for part, rate in parts:
        seconds = part * use.seconds
        expected = min(bucket.depth, max(0.0, expected + (bucket.rate - rate) * seconds))
    return expected


def after_gap(tokens: Tokens, bucket: Bucket, seconds: float, use: float) -> Tokens:
    """Return the tokens after some seconds whose bytes are not known, expected to have been `use` a second."""
    expected = after(tokens, bucket, seconds, use * seconds).expected
    return Tokens(0.0, min(bucket.depth, tokens.most + bucket.rate * seconds), expected)


class Tracker:
    """Tokens of a bucket through windows, which are added oldest first.

    The bucket is unknown before the first. The interval closes once the bucket must have been full, or empty.
    """

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self.tokens = unknown(bucket)
        self.ended_at_s: float | None = None
        self._recent: deque[Use] = deque()
        # The last window, the rate before it, and the tokens expected at its start.
        self._last: Use | None = None
        self._rate_before: float | None = None
        self._expected_before = bucket.depth
        # Whether the use was above the rate and has not been below it since.
        self._draining = False

    def add(self, use: Use) -> None:
        """Add the next window."""
        last, bucket = self._last, self.bucket
        if last is not None and self.ended_at_s is not None:
            gap_s = use.started_at_s - self.ended_at_s
            if gap_s > _GAP_S:
                self.tokens = after_gap(self.tokens, bucket, gap_s, last.rate)
                last = None
            elif self._rate_before is not None:
                expected = after_change(self._expected_before, bucket, last, self._rate_before, use.rate)
                self.tokens = replace(self.tokens, expected=self._bounded(expected))
        self._rate_before, self._expected_before = (None if last is None else last.rate), self.tokens.expected
        self.tokens = after(self.tokens, bucket, use.seconds, use.size)
        if abs(use.rate - bucket.rate) > _HELD * bucket.rate:
            self._draining = use.rate > bucket.rate
        elif self._draining and last is not None and self._is_held(last) and self._is_held(use):
            self.tokens = replace(self.tokens, expected=self.tokens.least)
        self._last, self.ended_at_s = use, use.started_at_s + use.seconds
        self._recent.append(use)
        while len(self._recent) > 1 and self._recent[0].started_at_s < self.ended_at_s - RECENT_S - _GAP_S:
            self._recent.popleft()

    def _bounded(self, expected: float) -> float:
        return min(self.tokens.most, max(self.tokens.least, expected))

    def _is_held(self, use: Use) -> bool:
        """Return whether a window has the rate of the bucket, as one that is empty and delays packets lets pass."""
        may_be_empty = self.tokens.least <= _margin(self.bucket)
        return may_be_empty and abs(use.rate - self.bucket.rate) <= _HELD * self.bucket.rate

    def forecast(self) -> TokenForecast | None:
        """Return what follows at the use of the last seconds; None without windows."""
        if self.ended_at_s is None:
            return None
        use = sum(one.size for one in self._recent) / sum(one.seconds for one in self._recent)
        tokens, level = self.tokens, _level(self.bucket, self.tokens, use)
        falls = use - self.bucket.rate
        empty, earliest, latest = (
            0.0 if level is Level.EMPTY else (left / falls if falls > 0 else None)
            for left in (tokens.expected, tokens.least, tokens.most)
        )
        full_in_s = None
        if level is Level.FULL:
            full_in_s = 0.0
        elif falls < 0:
            full_in_s = (self.bucket.depth - tokens.expected) / -falls
        return TokenForecast(self.ended_at_s, tokens, use, level, empty, earliest, latest, full_in_s)


def forecast(bucket: Bucket, uses: Iterable[Use]) -> TokenForecast | None:
    """Return the tokens after some windows, oldest first, and what follows; None without windows."""
    tracker = Tracker(bucket)
    for use in uses:
        tracker.add(use)
    return tracker.forecast()


def _margin(bucket: Bucket) -> float:
    """Return the tokens below which a bucket counts as empty."""
    return max(PACKET, _EMPTY_SHARE * bucket.depth)


def _level(bucket: Bucket, tokens: Tokens, use: float) -> Level:
    margin = _margin(bucket)
    if tokens.expected <= margin and use >= _AT_RATE * bucket.rate:
        return Level.EMPTY
    if use > bucket.rate:
        return Level.DRAINING
    if tokens.expected >= bucket.depth - margin:
        return Level.FULL
    return Level.FILLING if use < bucket.rate else Level.STEADY
