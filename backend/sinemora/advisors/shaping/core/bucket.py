"""Token bucket on a path, from one train of packets sent faster than its rate.

A full bucket of depth b that refills at rate r passes at most b + r·t bytes by time t (RFC 2697; the arrival curve of
network calculus). A train that keeps the bucket busy reaches this bound: received bytes by time are first as steep as
the sender, then a line of slope r whose intercept is b. A link without a bucket has one slope from the start.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

PACKETS_MIN = 60
"""Least number of received packets that a finding needs."""
_KNEE_RATIO = 1.5
"""Least ratio of the rate before the knee to that after it: queues of a shared link vary by less."""
_BURST_PACKETS_MIN = 4.0
"""Least depth, in packets: shallower is the queue of any device."""
_RESIDUAL_PACKETS = 1.5
"""Most median distance of arrivals from the line after the knee, in packets, in addition to a share of the depth."""
_RESIDUAL_SHARE = 0.04
_LOSS_MIN = 0.02
_LINE_SHARE_MIN = 0.3
"""Least share of the received bytes that the line after the knee must hold."""
_WAITING_PACKETS = 1.5
"""Waiting packets, in times that tokens for one take, from which a packet counts as late."""
_AHEAD = 20
"""Packets of which half must be late where the bucket is empty."""


class Mechanism(StrEnum):
    """Treatment of packets beyond the bucket: dropped, or delayed in a queue (and dropped once it is full)."""

    POLICER = "policer"
    SHAPER = "shaper"


class Reason(StrEnum):
    """Reason for no finding."""

    TOO_FEW = "too_few_packets"
    NO_KNEE = "one_rate"
    UNSTEADY = "unsteady_rate"
    SHALLOW = "no_burst"


@dataclass(frozen=True, slots=True, eq=False)
class Train:
    """Packets of a train in the order sent: times (s) on any clocks, sizes in bytes; lost packets arrive at NaN."""

    sent_s: Floats
    received_s: Floats
    size: Floats


@dataclass(frozen=True, slots=True)
class Bucket:
    """Token bucket: rate (bytes/s), depth (bytes), mechanism, and the rate of the train before the knee (bytes/s)."""

    rate: float
    burst: float
    mechanism: Mechanism
    peak: float
    loss: float


@dataclass(frozen=True, slots=True)
class Detection:
    """Bucket found, or the reason for none; `capacity` is the mean received rate, bytes/s."""

    bucket: Bucket | None
    reason: Reason | None
    capacity: float | None


def detect(train: Train) -> Detection:
    """Return the token bucket that a train shows."""
    arrived = np.isfinite(train.received_s)
    order = np.argsort(train.received_s[arrived], kind="stable")
    at, size = train.received_s[arrived][order], train.size[arrived][order]
    if at.size < PACKETS_MIN:
        return Detection(None, Reason.TOO_FEW, None)
    at = at - at[0]
    passed = np.cumsum(size)
    if at[-1] <= 0:
        return Detection(None, Reason.NO_KNEE, None)
    capacity = float((passed[-1] - passed[0]) / at[-1])
    packet = float(np.median(size))
    knee = _knee(at, passed)
    rate, burst = _line(at[knee:], passed[knee:], packet)
    if rate <= 0 or burst < _BURST_PACKETS_MIN * packet:
        return Detection(None, Reason.SHALLOW if rate > 0 else Reason.NO_KNEE, capacity)
    peak = float(passed[knee] / at[knee]) if at[knee] > 0 else float("inf")
    held = (passed[-1] - passed[knee]) / passed[-1]
    if peak < _KNEE_RATIO * rate or held < _LINE_SHARE_MIN:
        return Detection(None, Reason.NO_KNEE, capacity)
    late = first_late(train, rate)
    if late is not None:
        # The first packets without tokens wait too briefly to count as late.
        burst = max(burst, _depth(train, rate, late) - _WAITING_PACKETS * packet)
    distance = np.abs(passed[knee:] - burst - rate * at[knee:])
    limit = max(_RESIDUAL_PACKETS * packet, _RESIDUAL_SHARE * burst)
    if np.median(distance) > limit and not _explains(train, rate, burst):
        return Detection(None, Reason.UNSTEADY, capacity)
    loss = 1 - at.size / train.sent_s.size
    return Detection(Bucket(rate, burst, _mechanism(train, loss, rate, packet), peak, loss), None, capacity)


def _knee(at: Floats, passed: Floats) -> int:
    """Return the arrival farthest above the chord of received bytes: where the steep part ends."""
    chord = passed[0] + (passed[-1] - passed[0]) * at / at[-1]
    return int(np.argmax(passed - chord))


def _line(at: Floats, passed: Floats, packet: float) -> tuple[float, float]:
    """Return slope and intercept of the upper envelope of arrivals after the knee.

    A sender that stalls leaves the line below its bound for a while, never above; such arrivals are left out.
    """
    if at.size < 3 or at[-1] <= at[0]:
        return 0.0, 0.0
    kept = np.ones(at.size, bool)
    slope = intercept = 0.0
    for _ in range(12):
        slope, intercept = np.polyfit(at[kept], passed[kept], 1)
        below = passed - slope * at - intercept
        nearer = below > -max(0.75 * packet, 1.5 * float(np.median(np.abs(below[kept]))))
        if nearer.sum() < 0.3 * at.size or (nearer == kept).all():
            break
        kept = nearer
    return float(slope), float(intercept)


def first_late(train: Train, rate: float) -> int | None:
    """Return the first packet that is lost or waits because the bucket is empty; None if none is.

    Late packets follow one another then, while single ones are noise of hosts.
    """
    delays = train.received_s - train.sent_s
    if not np.isfinite(delays).any():
        return None
    late = ~np.isfinite(delays) | (delays - np.nanmin(delays) > _WAITING_PACKETS * train.size / rate)
    ahead = np.convolve(late, np.ones(_AHEAD), "full")[_AHEAD - 1 :] / _AHEAD
    runs = late[: ahead.size] & (ahead >= 0.5)
    return int(np.argmax(runs)) if runs.any() else None


def _depth(train: Train, rate: float, late: int) -> float:
    """Return the depth at which the packet `late` is the first that lacks tokens, by the times at which packets left.

    A sender that stalls lets the bucket fill again, at most to its depth.
    """
    gaps = np.diff(train.sent_s[: late + 1], prepend=train.sent_s[0]).tolist()
    sizes = train.size[: late + 1].tolist()
    low, high = float(train.size[0]), float(train.size[: late + 1].sum())
    while high - low > 0.01 * sizes[0]:
        middle = (low + high) / 2
        if _lacks(rate, middle, gaps[:-1], sizes[:-1]):
            low = middle
        else:
            high = middle
    return high


def _lacks(rate: float, burst: float, gaps: Sequence[float], sizes: Sequence[float]) -> bool:
    """Return whether a bucket, full at first, lacks tokens for one of some packets."""
    tokens = burst
    for gap, size in zip(gaps, sizes, strict=True):
        tokens = min(tokens + rate * gap, burst) - size
        if tokens < 0:
            return True
    return False


def _explains(train: Train, rate: float, burst: float) -> bool:
    """Return whether a bucket that drops passes as many bytes at each time as arrived, for the times packets left."""
    tokens, passed, differ = burst, 0.0, []
    arrived = np.cumsum(np.where(np.isfinite(train.received_s), train.size, 0.0))
    gaps = np.diff(train.sent_s, prepend=train.sent_s[0]).tolist()
    for gap, size, seen in zip(gaps, train.size.tolist(), arrived.tolist(), strict=True):
        tokens = min(tokens + rate * gap, burst)
        if tokens >= size:
            tokens -= size
            passed += size
        differ.append(abs(passed - seen))
    return bool(max(differ) <= max(4 * float(train.size[0]), _RESIDUAL_SHARE * burst))


def _mechanism(train: Train, loss: float, rate: float, packet: float) -> Mechanism:
    """Return whether packets beyond the bucket waited before some were lost.

    One-way delays above their smallest need no common clock. In a shaper the queue grows far beyond a packet's time.
    """
    delays = train.received_s - train.sent_s
    delays = delays[np.isfinite(delays)]
    risen = float(np.percentile(delays, 90) - delays.min())
    waits = risen > 6 * packet / rate
    return Mechanism.SHAPER if waits or loss < _LOSS_MIN else Mechanism.POLICER


def combined(detections: Sequence[Detection]) -> Detection:
    """Return the finding of several trains on one path: a bucket that most of them show.

    The rate is their median. The depth is their largest: a sender that stalls while the bucket is full wastes tokens,
    so each train shows at most the depth.
    """
    buckets = [detection.bucket for detection in detections if detection.bucket is not None]
    if not detections or 2 * len(buckets) <= len(detections):
        without = next((detection for detection in detections if detection.bucket is None), None)
        return without or Detection(None, Reason.TOO_FEW, None)
    mechanisms = [bucket.mechanism for bucket in buckets]
    capacities = [detection.capacity for detection in detections if detection.capacity is not None]
    found = Bucket(
        median(bucket.rate for bucket in buckets),
        max(bucket.burst for bucket in buckets),
        max(Mechanism, key=mechanisms.count),
        max(bucket.peak for bucket in buckets),
        median(bucket.loss for bucket in buckets),
    )
    return Detection(found, None, median(capacities))


def metered_by(small: Bucket, large: Bucket, small_bytes: float, large_bytes: float) -> str:
    """Return "bytes" or "packets": the unit in which two trains of different packet sizes have the same rate."""
    by_bytes = abs(np.log(large.rate / small.rate))
    by_packets = abs(np.log((large.rate / large_bytes) / (small.rate / small_bytes)))
    return "bytes" if by_bytes <= by_packets else "packets"
