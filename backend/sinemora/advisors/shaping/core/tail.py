"""Retransmission tail: requests that wait for one retransmission timeout of TCP.

Linux waits at least 200 ms (RFC 6298 recommends a second) before it sends a lost segment again, so that a lost last
segment adds 200 ms to a request, whatever its usual latency. J. A. Hasenoot, "The Performance of Distributed
Applications: A Traffic Shaping Perspective", Leiden University, 2022, tables 9 to 22, has it behind a token bucket that
drops: 99th percentiles of 205 to 206 ms at medians below a millisecond.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LOW_MS, HIGH_MS = 195.0, 235.0
_RISE = 15.0
"""Least rise from the 95th to a percentile in the band: heavy tails of queues rise by less (8.7 in the source)."""
_CLUSTER = 2.0
"""Least density of requests in the band over that of the ranges of equal width below and above."""
SAMPLES_MIN = 200
IN_BAND_MIN = 3


@dataclass(frozen=True, slots=True)
class Tail:
    """Finding about the signature: presence, evidence in words, share of requests, latency added to the mean (ms)."""

    found: bool
    evidence: str
    share: float | None
    mean_cost_ms: float | None


def by_percentiles(p95_ms: float, p99_ms: float, p999_ms: float) -> Tail:
    """Return the signature of three percentiles: one of the upper two is in the band, or beyond it, far above p95."""
    # The upper percentile is above the band where several timeouts follow each other.
    rise = p999_ms / p95_ms if p95_ms > 0 else 0.0
    found = p999_ms >= LOW_MS and rise >= _RISE and p95_ms < LOW_MS
    if not found:
        return Tail(False, f"p99.9 is {p999_ms:.4g} ms, {rise:.3g} times p95", None, None)
    share = 0.01 if p99_ms >= LOW_MS else 0.001
    words = f"p95 {p95_ms:.4g} ms, p99 {p99_ms:.4g} ms, p99.9 {p999_ms:.4g} ms: {rise:.3g} times p95"
    return Tail(True, words, share, share * 200.0)


def by_samples(latency_ms: Sequence[float]) -> Tail:
    """Return the signature of single requests: a cluster in the band, apart from the usual latencies."""
    values = np.asarray(latency_ms, np.float64)
    values = values[np.isfinite(values)]
    if values.size < SAMPLES_MIN:
        return Tail(False, f"{values.size} requests, fewer than {SAMPLES_MIN}", None, None)
    width = HIGH_MS - LOW_MS
    inside = int(((values >= LOW_MS) & (values <= HIGH_MS)).sum())
    below = int(((values >= LOW_MS - width) & (values < LOW_MS)).sum())
    above = int(((values > HIGH_MS) & (values <= HIGH_MS + width)).sum())
    usual = float(np.median(values))
    words = (
        f"{inside} of {values.size} requests in {LOW_MS:g} to {HIGH_MS:g} ms, {below} just below, {above} just above"
    )
    # A smooth tail falls through the band: about the geometric mean of its neighbours. Counts scatter by their root.
    expected = max(float(np.sqrt(below * above)), (below + above) / 2)
    clustered = inside >= _CLUSTER * expected and inside - expected >= 3 * np.sqrt(max(expected, 1.0)) * 0.5
    if inside < IN_BAND_MIN or not clustered or usual > LOW_MS / 3:
        return Tail(False, words, None, None)
    share = (inside - expected) / values.size
    return Tail(True, words, share, share * 200.0)
