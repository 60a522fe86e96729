"""Shares of a measured delay: base delay (propagation, processing) and queueing, each with its bounds.

The smallest delay of a range is the base delay, the rest is queueing (RFC 6817: base delay, queueing delay). Queueing
here also holds the scheduling of hosts and hypervisors: end-to-end measurements cannot tell them apart (D. A. Popescu,
UCAM-CL-TR-937, 2019, sections 4.9 and 4.10). The base delay holds propagation and the processing of hosts, hypervisors
and switches; only a known distance separates the two.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sinemora.measurements.codec.llq16 import Ints

# A value of a sketch is the middle of its bin (LLQ16): it is at most this share away from the true percentile.
PERCENTILE_ERROR = 1 / 128
# Speed of light in vacuum (exact) over the group index of single-mode fibre at 1550 nm (data sheet of Corning SMF-28:
# 1.468): 204,218 km/s, 4.9 ns a metre as measured in UCAM-CL-TR-937, section 2.6.3. Fibres differ by half a per cent.
FIBRE_KM_PER_S = 299_792.458 / 1.468


class Cause(StrEnum):
    """Part of a delay. `base`: propagation and processing together, where they cannot be separated."""

    PROPAGATION = "propagation"
    PROCESSING = "processing"
    BASE = "base"
    QUEUEING = "queueing"


class Separation(StrEnum):
    """Outcome of separating propagation from processing.

    `distance_unknown`: nothing to separate by. `distance_not_resolved`: light needs longer than the smallest delay, by
    less than the clock error. `distance_too_long`: by more, so the distance or the places of the VMs are wrong.
    """

    SEPARATED = "separated"
    DISTANCE_UNKNOWN = "distance_unknown"
    DISTANCE_NOT_RESOLVED = "distance_not_resolved"
    DISTANCE_TOO_LONG = "distance_too_long"


@dataclass(frozen=True, slots=True)
class Bounded:
    """Delay with its bounds, ns. `low_ns` ≤ `delay_ns` ≤ `high_ns` for a measured one."""

    delay_ns: int
    low_ns: int
    high_ns: int


@dataclass(frozen=True, slots=True)
class Delays:
    """Smallest delay, median and 99th percentile of a range."""

    minimum: Bounded
    p50: Bounded
    p99: Bounded


@dataclass(frozen=True, slots=True)
class Share:
    """Part of a delay with its bounds, ns."""

    cause: Cause
    delay: Bounded


@dataclass(frozen=True, slots=True)
class LatencyBudget:
    """Latency budget. The shares of each percentile add up to it exactly; those of the base come first."""

    delays: Delays
    separation: Separation
    base: tuple[Share, ...]
    p50: tuple[Share, ...]
    p99: tuple[Share, ...]


def typical(minimum_ns: Ints, p50_ns: Ints, p99_ns: Ints, clock_error_ns: Ints) -> Delays:
    """Return the median over paths of each figure, with bounds by the clock error and, of percentiles, the sketch.

    Arrays have the shape (paths,). Each bound is the median of the paths' bounds: the k-th smallest of values within
    bounds is between the k-th smallest bounds. The lower median keeps the order: the smallest delay is never above the
    median. ValueError without paths.
    """
    if not minimum_ns.size:
        raise ValueError("no paths")

    def bounded(delay_ns: Ints, error_ns: Ints) -> Bounded:
        return Bounded(lower_median(delay_ns), lower_median(delay_ns - error_ns), lower_median(delay_ns + error_ns))

    return Delays(
        bounded(minimum_ns, clock_error_ns),
        bounded(p50_ns, clock_error_ns + _sketch_error_ns(p50_ns)),
        bounded(p99_ns, clock_error_ns + _sketch_error_ns(p99_ns)),
    )


def _sketch_error_ns(delay_ns: Ints) -> Ints:
    error_ns: Ints = (np.abs(delay_ns) * PERCENTILE_ERROR).astype(np.int64) + 1
    return error_ns


def lower_median(values: Ints) -> int:
    """Return the lower median."""
    middle = (values.size - 1) // 2
    return int(np.partition(values, middle)[middle])


def fibre_delay_ns(distance_km: float) -> int:
    """Return the propagation delay of light in fibre over a distance, one way."""
    return round(distance_km / FIBRE_KM_PER_S * 1e9)


def split(delays: Delays, propagation_ns: int | None) -> LatencyBudget:
    """Return the budget of delays, given the least propagation delay over their distance (None: not known).

    Fibre is rarely laid straight, so the distance gives the least propagation: its upper bound is the whole base delay,
    and the rest of the base holds detours, hosts, hypervisors and switches. No bound is below zero, since no true
    share is.
    """
    base, separation = _base(delays.minimum, propagation_ns)
    return LatencyBudget(
        delays, separation, base, (*base, _queueing(delays, delays.p50)), (*base, _queueing(delays, delays.p99))
    )


def _base(minimum: Bounded, propagation_ns: int | None) -> tuple[tuple[Share, ...], Separation]:
    whole = Share(Cause.BASE, _not_negative(minimum))
    if propagation_ns is None:
        return (whole,), Separation.DISTANCE_UNKNOWN
    if propagation_ns > minimum.high_ns:
        return (whole,), Separation.DISTANCE_TOO_LONG
    if propagation_ns > minimum.delay_ns:
        return (whole,), Separation.DISTANCE_NOT_RESOLVED
    rest_ns = minimum.delay_ns - propagation_ns
    return (
        Share(Cause.PROPAGATION, Bounded(propagation_ns, propagation_ns, minimum.high_ns)),
        Share(Cause.PROCESSING, Bounded(rest_ns, 0, minimum.high_ns - propagation_ns)),
    ), Separation.SEPARATED


def _queueing(delays: Delays, percentile: Bounded) -> Share:
    # The bounds do not assume that the clock error stays the same over the range; where it does, it cancels.
    return Share(
        Cause.QUEUEING,
        _not_negative(
            Bounded(
                percentile.delay_ns - delays.minimum.delay_ns,
                percentile.low_ns - delays.minimum.high_ns,
                percentile.high_ns - delays.minimum.low_ns,
            )
        ),
    )


def _not_negative(value: Bounded) -> Bounded:
    """Return bounds that are not below zero; the measured figure stays as it is."""
    return Bounded(value.delay_ns, max(value.low_ns, 0), max(value.high_ns, 0))
