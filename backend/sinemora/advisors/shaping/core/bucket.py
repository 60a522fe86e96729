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

from sinemora.advisors.shaping.core.envelope import Floats, Limit, knee_of, line_of, peak_limit, two_limits

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


class Unit(StrEnum):
    """Unit of tokens: a packet takes as many as it has bytes, or one."""

    BYTES = "bytes"
    PACKETS = "packets"


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
    """Token bucket: rate (bytes/s), depth (bytes), mechanism, and the rate of the train before the knee (bytes/s).

    `upper`: a second bucket that the train met first, of a higher rate and a smaller depth (RFC 2698: the peak rate
    and its burst, above the sustained ones); None for a single bucket.
    """

    rate: float
    burst: float
    mechanism: Mechanism
    peak: float
    loss: float
    upper: Limit | None = None


@dataclass(frozen=True, slots=True)
class BucketFinding:
    """Bucket found, or the reason for none; `capacity` is the mean received rate, bytes/s."""

    bucket: Bucket | None
    reason: Reason | None
    capacity: float | None


def detect(train: Train) -> BucketFinding:
    """Return the token bucket that a train shows."""
    arrived = np.isfinite(train.received_s)
    order = np.argsort(train.received_s[arrived], kind="stable")
    at, size = train.received_s[arrived][order], train.size[arrived][order]
    if at.size < PACKETS_MIN:
        return BucketFinding(None, Reason.TOO_FEW, None)
    at = at - at[0]
    passed = np.cumsum(size)
    if at[-1] <= 0:
        return BucketFinding(None, Reason.NO_KNEE, None)
    capacity = float((passed[-1] - passed[0]) / at[-1])
    packet = float(np.median(size))
    loss = 1 - at.size / train.sent_s.size
    offered = _offered(train)[arrived][order]
    both = two_limits(at, passed, offered, packet)
    if both is not None:
        first, last = both
        mechanism = _mechanism(train, loss, last.rate, packet)
        return BucketFinding(Bucket(last.rate, last.burst, mechanism, first.rate, loss, first), None, capacity)
    knee = knee_of(at, passed)
    rate, burst = line_of(at[knee:], passed[knee:], packet)
    if rate <= 0 or burst < _BURST_PACKETS_MIN * packet:
        return BucketFinding(None, Reason.SHALLOW if rate > 0 else Reason.NO_KNEE, capacity)
    peak = float(passed[knee] / at[knee]) if at[knee] > 0 else float("inf")
    held = (passed[-1] - passed[knee]) / passed[-1]
    if peak < _KNEE_RATIO * rate or held < _LINE_SHARE_MIN:
        return BucketFinding(None, Reason.NO_KNEE, capacity)
    late = first_late(train, rate)
    if late is not None:
        # The first packets without tokens wait too briefly to count as late.
        burst = max(burst, _depth(train, rate, late) - _WAITING_PACKETS * packet)
    distance = np.abs(passed[knee:] - burst - rate * at[knee:])
    limit = max(_RESIDUAL_PACKETS * packet, _RESIDUAL_SHARE * burst)
    if np.median(distance) > limit and not _explains(train, rate, burst):
        return BucketFinding(None, Reason.UNSTEADY, capacity)
    upper = peak_limit(at[: knee + 1], passed[: knee + 1], offered[: knee + 1], packet)
    return BucketFinding(Bucket(rate, burst, _mechanism(train, loss, rate, packet), peak, loss, upper), None, capacity)


def _offered(train: Train) -> Floats:
    """Return the time (s) at which each packet was sent and the bytes sent until then, one row a packet."""
    return np.column_stack((train.sent_s - train.sent_s[0], np.cumsum(train.size)))


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


def combined(detections: Sequence[BucketFinding]) -> BucketFinding:
    """Return the finding of several trains on one path: a bucket that most of them show.

    The rate is their median. The depth is their largest: a sender that stalls while the bucket is full wastes tokens,
    so each train shows at most the depth. A second bucket counts if most of those with a bucket show it.
    """
    buckets = [detection.bucket for detection in detections if detection.bucket is not None]
    if not detections or 2 * len(buckets) <= len(detections):
        without = next((detection for detection in detections if detection.bucket is None), None)
        return without or BucketFinding(None, Reason.TOO_FEW, None)
    uppers = [bucket.upper for bucket in buckets if bucket.upper is not None]
    upper = None
    if 2 * len(uppers) > len(buckets):
        buckets = [bucket for bucket in buckets if bucket.upper is not None]
        upper = Limit(median(limit.rate for limit in uppers), max(limit.burst for limit in uppers))
    mechanisms = [bucket.mechanism for bucket in buckets]
    capacities = [detection.capacity for detection in detections if detection.capacity is not None]
    found = Bucket(
        median(bucket.rate for bucket in buckets),
        max(bucket.burst for bucket in buckets),
        max(Mechanism, key=mechanisms.count),
        max(bucket.peak for bucket in buckets),
        median(bucket.loss for bucket in buckets),
        upper,
    )
    return BucketFinding(found, None, median(capacities))


def metered_by(small: Bucket, large: Bucket, small_bytes: float, large_bytes: float) -> Unit:
    """Return the unit in which the buckets of two packet sizes have the same rate."""
    by_bytes = abs(np.log(large.rate / small.rate))
    by_packets = abs(np.log((large.rate / large_bytes) / (small.rate / small_bytes)))
    return Unit.BYTES if by_bytes <= by_packets else Unit.PACKETS
