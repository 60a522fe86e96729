"""Tokens left, against an exact simulation of a token bucket packet by packet."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.measurements.token_buckets.tokens import Bucket, Level, Tokens, Tracker, Use, after, forecast

WINDOW_S = 10.0
MBIT = 125_000.0


@dataclass
class Exact:
    """A token bucket that drops what lacks tokens: each packet at its time. `passed` and `offered` in bytes."""

    bucket: Bucket
    tokens: float
    at_s: float = 0.0
    passed: float = 0.0
    offered: float = 0.0
    dropped_at_s: list[float] = field(default_factory=list)

    def refill(self, at_s: float) -> None:
        self.tokens = min(self.bucket.depth, self.tokens + self.bucket.rate * (at_s - self.at_s))
        self.at_s = at_s

    def send(self, at_s: float, size: float) -> None:
        self.refill(at_s)
        self.offered += size
        if self.tokens >= size:
            self.tokens -= size
            self.passed += size
        else:
            self.dropped_at_s.append(at_s)


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.3), st.floats(0.1, 100), st.floats(0, 1), st.booleans())
def test_the_interval_holds_the_tokens_of_any_traffic(
    seed: int, rate_mbit: float, fill_s: float, start: float, counts_dropped: bool
):
    """Whatever the bucket held before, and whether dropped bytes were counted or not."""
    rng = np.random.default_rng(seed)
    rate = rate_mbit * MBIT
    bucket = Bucket(rate, max(3_000.0, rate * fill_s))
    exact, tracker = Exact(bucket, start * bucket.depth), Tracker(bucket)
    for window in range(12):
        began_s, before = window * WINDOW_S, exact.offered if counts_dropped else exact.passed
        # From idle to three times the rate, in a few clumps: the order within a window is free.
        packets = int(rng.uniform(0, 3) * rate * WINDOW_S / 1_390 * rng.choice([0, 0.3, 1]))
        clumps = rng.uniform(0, WINDOW_S, max(1, int(rng.integers(1, 6))))
        for at in np.sort(rng.choice(clumps, packets) + rng.uniform(0, 0.01, packets)).tolist():
            exact.send(began_s + min(at, WINDOW_S), 20 * float(rng.uniform(64, 75)))
        exact.refill(began_s + WINDOW_S)
        used = (exact.offered if counts_dropped else exact.passed) - before
        tracker.add(Use(began_s, WINDOW_S, used))
        tokens, slack = tracker.tokens, 1e-6 * bucket.depth + 1
        assert tokens.least - slack <= exact.tokens <= tokens.most + slack
        assert tokens.least - slack <= tokens.expected <= tokens.most + slack


@pytest.mark.parametrize(("use_mbit", "depth_s"), [(120, 45), (150, 12), (101, 405), (1_000, 65)])
def test_the_forecast_of_a_steady_use_is_when_the_exact_bucket_drops(use_mbit: float, depth_s: float):
    """From a full bucket; `depth_s`: seconds until it is empty."""
    rate, use = 100 * MBIT, use_mbit * MBIT
    bucket = Bucket(rate, (use - rate) * depth_s)
    exact, tracker = Exact(bucket, bucket.depth), Tracker(bucket)
    gap_s = max(1_514 / use, depth_s / 40_000)
    lacking_s = use * gap_s / (use - rate)  # the bucket drops a packet before its last token is gone
    tracker.add(Use(-60, 60, 0))
    at_s, windows = 0.0, 0
    predicted = []
    while not exact.dropped_at_s:
        exact.send(at_s, use * gap_s)
        at_s += gap_s
        if at_s >= (windows + 1) * WINDOW_S and not exact.dropped_at_s:
            tracker.add(Use(windows * WINDOW_S, WINDOW_S, use * WINDOW_S))
            windows += 1
            found = tracker.forecast()
            assert found.level is Level.DRAINING
            predicted.append(found.at_s + found.empty_in_s)
    assert predicted
    assert predicted == pytest.approx([exact.dropped_at_s[0]] * len(predicted), abs=2 * gap_s + lacking_s)


@pytest.mark.parametrize(
    ("uses", "level", "empty_in_s", "full_in_s"),
    [
        ([0.0], Level.FULL, None, 0.0),
        ([2.0], Level.DRAINING, 20.0, None),
        ([2.0, 2.0, 2.0, 2.0], Level.EMPTY, 0.0, None),
        # Held to the rate by the shaper: what passes is the rate, and the bucket stays empty.
        ([2.0, 2.0, 2.0, 2.0, 1.0, 1.0], Level.EMPTY, 0.0, None),
        ([2.0, 2.0, 2.0, 2.0, 0.5], Level.FILLING, None, 50.0),
        ([2.0, 1.0], Level.STEADY, None, None),
    ],
)
def test_levels_and_what_follows(uses: list[float], level: Level, empty_in_s: float | None, full_in_s: float | None):
    """Uses in times of the rate; the bucket is full at first and holds 30 s of its rate."""
    bucket = Bucket(1e6, 30e6)
    windows = [Use(10 * n, 10, times * 10e6) for n, times in enumerate([0, 0, 0, *uses])]
    found = forecast(bucket, windows)
    assert (found.level, found.empty_in_s, found.full_in_s) == (level, empty_in_s, full_in_s)


def test_a_gap_is_unknown_use_not_none():
    bucket = Bucket(1e6, 60e6)
    tracker = Tracker(bucket)
    for n in range(6):
        tracker.add(Use(10 * n, 10, 0))
    tracker.add(Use(60, 10, 20e6))
    assert tracker.tokens == Tokens(40e6, 50e6, 50e6)
    tracker.add(Use(90, 10, 10e6))  # 20 s without windows: anything may have passed
    assert tracker.tokens.least == 0
    assert tracker.tokens.most == 60e6
    assert tracker.tokens.expected == pytest.approx(30e6)  # as before the gap: 20 MB in 10 s


def test_bytes_beyond_the_tokens_were_dropped_or_are_counted_after_the_shaper():
    bucket = Bucket(1e6, 20e6)
    assert after(Tokens(5e6, 5e6, 5e6), bucket, 10, 40e6) == Tokens(0, 1_514 + 10e6, 0)


@pytest.mark.parametrize("idle_s", [1.0, 4.3, 9.0])
def test_a_use_that_begins_within_a_window_is_dated_once_the_next_window_is_known(idle_s: float):
    """The bucket is full while idle: evenly spread, the first bytes would seem to have come with a refill."""
    bucket, use = Bucket(1e6, 100e6), 2e6
    tracker = Tracker(bucket)
    for n in range(10):
        tracker.add(Use(10 * n, 10, 0))
    tracker.add(Use(100, 10, use * (10 - idle_s)))
    tracker.add(Use(110, 10, use * 10))
    found = tracker.forecast()
    assert found.tokens.expected == pytest.approx(100e6 - 1e6 * (20 - idle_s))
    assert found.at_s + (found.empty_in_s or 0) == pytest.approx(100 + idle_s + 100)


def test_two_windows_at_the_rate_are_those_of_an_empty_bucket():
    """Whatever error the estimate has by then; a use of exactly the rate with tokens left for certain is another."""
    bucket = Bucket(1e6, 30e6)
    uses = [Use(10 * n, 10, size) for n, size in enumerate((0, 0, 0, 19e6, 19e6, 19e6, 10.1e6, 10e6))]
    found = forecast(bucket, uses)
    assert (found.level, found.tokens.expected, found.empty_in_s) == (Level.EMPTY, 0.0, 0.0)
    deep = forecast(Bucket(1e6, 90e6), [Use(0, 90, 0), *(Use(90 + 10 * n, 10, 10e6) for n in range(4))])
    assert deep.tokens.expected == pytest.approx(90e6)
