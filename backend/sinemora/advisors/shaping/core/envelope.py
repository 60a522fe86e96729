"""Limits in the curve of received bytes: lines of a rate (slope) and a depth (intercept) that bound it from above.

Two token buckets, both full at first, pass at most min(b1 + r1·t, b2 + r2·t) bytes by time t. With r1 > r2 and b1 < b2
the curve is as steep as the sender, then a line of slope r1, then one of slope r2: two knees (RFC 2698 names r1 and b1
the peak rate and burst, r2 and b2 the committed ones).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_RATE_RATIO = 1.5
"""Least ratio of the rates of two limits: below, a second line is hardly apart from the noise of the first."""
_OFFERED_RATIO = 1.15
"""Least ratio of the sent rate to the rate of a limit: a sender that slows down is no limit of the path."""
_PEAK_RATIO = 1.3
"""Least ratio for a peak rate without a depth, which shows no knee."""
_PEAK_BURST_PACKETS = 4.0
_PEAK_BURST_SHARE = 0.05
"""Most depth of such a limit, in packets, or as a share of its bytes: above, the start of the curve shows it."""
_SEGMENT_MIN = 40
"""Least arrivals on each line."""
_SHARE_MIN = 0.1
"""Least share of the bytes received until its end on each line."""
_HEIGHT_PACKETS = 8.0
_HEIGHT_SHARE = 0.03
"""Least height of the further knee above the chord of its side, in packets, and as a share of that side's bytes."""
_STRAIGHT_PACKETS = 2.0
_STRAIGHT_SHARE = 0.03
"""Most median distance of arrivals from their line, in packets or as a share of the depth of the lower limit."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Line that bounds received bytes: rate (bytes/s) and depth (bytes)."""

    rate: float
    burst: float


def knee_of(at: Floats, passed: Floats) -> int:
    """Return the arrival farthest above the chord of received bytes: where the steep part ends."""
    return int(np.argmax(_above_chord(at, passed)))


def line_of(at: Floats, passed: Floats, packet: float) -> tuple[float, float]:
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


def two_limits(at: Floats, passed: Floats, offered: Floats, packet: float) -> tuple[Limit, Limit] | None:
    """Return the upper and the lower limit of a curve with two knees; None for fewer.

    `at` (s) and `passed` (bytes): arrivals in order; `offered`: when (s) each was sent and the bytes sent until then.
    The farthest knee may be either of the two, so the other is looked for on both sides of it.
    """
    middle = knee_of(at, passed)
    candidates = []
    if middle >= _SEGMENT_MIN:
        candidates.append((knee_of(at[: middle + 1], passed[: middle + 1]), middle, slice(0, middle + 1)))
    if at.size - middle >= 2 * _SEGMENT_MIN:
        later = slice(middle, at.size)
        candidates.append((middle, middle + knee_of(at[later], passed[later]), later))
    for first, second, side in candidates:
        height = float(_above_chord(at[side], passed[side]).max())
        if height < max(_HEIGHT_PACKETS * packet, _HEIGHT_SHARE * float(passed[side][-1] - passed[side][0])):
            continue
        found = _fitted(at, passed, offered, packet, first, second)
        if found is not None:
            return found
    return None


def peak_limit(at: Floats, passed: Floats, offered: Floats, packet: float) -> Limit | None:
    """Return the limit of arrivals before the only knee: one rate from the start, below that of the sender.

    It has hardly any depth, as the peak rate of `tc tbf` or a slow link has. None: the sender set their rate.
    """
    if at.size < _SEGMENT_MIN:
        return None
    rate, burst = line_of(at, passed, packet)
    if rate <= 0 or not _is_offered_more(offered, rate, _PEAK_RATIO):
        return None
    if burst > max(_PEAK_BURST_PACKETS * packet, _PEAK_BURST_SHARE * float(passed[-1])):
        return None
    straight = np.median(np.abs(passed - burst - rate * at)) <= _STRAIGHT_PACKETS * packet
    return Limit(rate, max(burst, packet)) if straight else None


def _fitted(
    at: Floats, passed: Floats, offered: Floats, packet: float, first: int, second: int
) -> tuple[Limit, Limit] | None:
    """Return the lines after two knees, if they are lines of two limits."""
    upper = lower = Limit(0.0, 0.0)
    for _ in range(3):
        if second - first < _SEGMENT_MIN or at.size - second < _SEGMENT_MIN:
            return None
        upper = Limit(*line_of(at[first : second + 1], passed[first : second + 1], packet))
        lower = Limit(*line_of(at[second:], passed[second:], packet))
        if lower.rate <= 0 or upper.rate < _RATE_RATIO * lower.rate:
            return None
        # Where the lines cross is the second knee: nearer than the arrival farthest from a chord.
        crossing = int(np.searchsorted(at, (lower.burst - upper.burst) / (upper.rate - lower.rate)))
        if crossing == second:
            break
        second = crossing
    shares = (1 - passed[first] / passed[second], 1 - passed[second] / passed[-1])
    if upper.burst < packet or min(shares) < _SHARE_MIN:
        return None
    bound = np.minimum(upper.burst + upper.rate * at, lower.burst + lower.rate * at)
    distance = np.abs(passed - bound)
    limit = max(_STRAIGHT_PACKETS * packet, _STRAIGHT_SHARE * lower.burst)
    if max(np.median(distance[first : second + 1]), np.median(distance[second:])) > limit:
        return None
    for part, rate in ((offered[first : second + 1], upper.rate), (offered[second:], lower.rate)):
        if not _is_offered_more(part, rate, _OFFERED_RATIO):
            return None
    return upper, lower


def _is_offered_more(offered: Floats, rate: float, ratio: float) -> bool:
    """Return whether packets were sent faster than a rate."""
    seconds, size = offered[-1] - offered[0]
    return bool(size > ratio * rate * max(seconds, 0.0))


def _above_chord(at: Floats, passed: Floats) -> Floats:
    span = float(at[-1] - at[0])
    if span <= 0:
        return np.zeros(at.size)
    return np.asarray(passed - passed[0] - (passed[-1] - passed[0]) * (at - at[0]) / span)
