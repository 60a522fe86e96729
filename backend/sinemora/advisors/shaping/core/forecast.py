"""Forecasts for a token bucket in use: tokens left, time until it is empty or full, finish of a transfer."""

from dataclasses import dataclass

from sinemora.advisors.shaping.core.envelope import Limit


@dataclass(frozen=True, slots=True)
class Forecast:
    """Tokens now (bytes), seconds until empty at this use (None: never), seconds until full at rest.

    `burst_bytes` is what passes until then at the use.
    """

    tokens: float
    empty_in_s: float | None
    burst_bytes: float | None
    full_in_s: float


def forecast(
    rate: float, burst: float, use: float, tokens: float | None = None, upper: Limit | None = None
) -> Forecast:
    """Return the forecast of a bucket (bytes/s, bytes) used at `use` bytes/s; full unless `tokens` are given.

    An upper limit, full at first, lets at most its depth and its rate reach the bucket.
    """
    left = burst if tokens is None else min(max(tokens, 0.0), burst)
    full_in_s = (burst - left) / rate
    if use <= rate:
        return Forecast(left, None, None, full_in_s)
    empty_in_s = left / (use - rate)
    if upper is not None and upper.rate > rate:
        empty_in_s = max(empty_in_s, (left - upper.burst) / (upper.rate - rate))
    return Forecast(left, empty_in_s, left + rate * empty_in_s, full_in_s)


def transfer_s(rate: float, burst: float, line: float, size: float, upper: Limit | None = None) -> float:
    """Return the seconds of a transfer of `size` bytes at line rate from a full bucket, without effects of TCP.

    It ends when the line, the bucket and the upper limit have each let it pass.
    """
    limits = [Limit(line, 0.0), Limit(rate, burst), *([upper] if upper is not None else [])]
    return max((size - limit.burst) / limit.rate for limit in limits)
