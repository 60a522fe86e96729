"""Measurements of one application, checked and normalised.

Each row is a latency and the performance there: a *rate* (queries/s: falls with latency) or a *duration*
(training time: grows). Both become performance relative to the baseline: rate / baseline, or baseline / duration.
Rows of one latency are repeats and become one sample with their spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.curve import Floats

Indices = npt.NDArray[np.intp]
Metric = Literal["rate", "duration"]
LatencyKind = Literal["added", "measured"]

SAMPLES_MAX = 200
"""Maximum number of latencies; more are averaged in groups of neighbours before fitting."""
ROWS_MAX = 100_000
"""Maximum number of rows of a table; a fit of more takes no less time to read than to average."""
LATENCY_MAX_US = 60e6

RESOLUTION = 0.05
"""Part of noise that does not fall with performance, relative to the rest: a run of a twentieth of the full performance
is not twenty times as exact. Without it, rows near 0 would decide the whole curve.
"""

# Weight, in repeats, of the spread of all rows against that of the few repeats of one latency.
_POOLED_REPEATS = 12


class ObservationError(ValueError):
    """A table that cannot be fitted. `pointer` is a JSON pointer to the error: ``/rows/3/performance``."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"{pointer}: {message}")
        self.pointer = pointer
        self.message = message


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Normalised performance by added latency, one sample for each of n ascending latencies.

    `added_us`, `performance` and `repeats` have shape (n,). `errors` (n,) are standard errors of `performance`, None
    without spread and repeats. `baseline` is in the unit of the rows. It is `measured`, with an error, if the rows
    include it (as the first sample, at 0 µs); else it is exact. `rows` is the number of input rows.
    `latency_offset_us` was subtracted from measured latencies to obtain added ones.
    """

    added_us: Floats
    performance: Floats
    repeats: Floats
    errors: Floats | None
    baseline: float
    measured: bool
    rows: int
    latency_offset_us: float


def normalise(
    latency_us: Sequence[float] | Floats,
    performance: Sequence[float] | Floats,
    *,
    metric: Metric = "rate",
    latency: LatencyKind = "added",
    spread: Sequence[float] | Floats | None = None,
    repeats: Sequence[int] | Floats | None = None,
    baseline: float | None = None,
) -> Samples:
    """Return the samples of rows (latency in µs, performance in any unit), each of shape (rows,).

    `spread` is the standard deviation of the repeated runs behind a row, in the unit of `performance`; `repeats`
    the number of runs (default 1). `baseline` is the performance without added latency, in that unit; default: the rows
    at 0 µs. Latencies that were `measured` count from the smallest of them. Raises `ObservationError` with the first
    invalid row.
    """
    columns = {"latency_us": latency_us, "performance": performance, "spread": spread, "repeats": repeats}
    arrays = {name: _column(name, values) for name, values in columns.items() if values is not None}
    x, value = arrays["latency_us"], arrays["performance"]
    for name, column in arrays.items():
        if column.size != x.size:
            raise ObservationError(
                "/rows", f"{name} has {column.size} values, latency_us {x.size}; each row needs both"
            )
    if not x.size:
        raise ObservationError("/rows", "no rows; at least 3 different latencies are needed")
    if x.size > ROWS_MAX:
        raise ObservationError("/rows", f"{x.size:,} rows; at most {ROWS_MAX:,} are taken, average repeats first")
    _demand((x >= 0) & (x <= LATENCY_MAX_US), x, "latency_us", f"must be 0 … {LATENCY_MAX_US:.0f} µs")
    _demand(value > 0, value, "performance", "must be above 0; leave out a run that failed")
    counts = arrays.get("repeats", np.ones(x.size))
    _demand((counts >= 1) & (counts == np.rint(counts)), counts, "repeats", "must be a whole number of at least 1")
    deviations = arrays.get("spread")
    if deviations is not None:
        _demand(deviations >= 0, deviations, "spread", "must be 0 or more: a standard deviation")
    offset = float(x.min()) if latency == "measured" else 0.0
    # Whole nanoseconds, like all delays: closer latencies are repeats of one.
    x = np.rint((x - offset) * 1e3) / 1e3
    if baseline is not None and not (np.isfinite(baseline) and baseline > 0):
        raise ObservationError("/baseline", f"must be above 0, in the unit of performance, not {baseline}")
    if baseline is None and not (x == 0).any():
        raise ObservationError("/baseline", "missing: state it, or add rows at 0 µs added latency")

    at, group = np.unique(x, return_inverse=True)
    if at.size < 3:
        raise ObservationError("/rows", f"{at.size} different latencies; at least 3 are needed, 10 are recommended")
    rate = value if metric == "rate" else 1 / value
    runs = np.bincount(group, counts).astype(np.float64)
    mean = np.bincount(group, counts * rate) / runs
    relative = _relative_errors(rate / mean[group], None if deviations is None else deviations / value, counts, group)
    base = mean[0] if baseline is None else (baseline if metric == "rate" else 1 / baseline)
    y = mean / base
    if not (np.isfinite(y).all() and (y > 0).all()):
        raise ObservationError("/rows", "performance spans more orders of magnitude than can be computed with")
    errors = None if relative is None else relative * np.hypot(y, RESOLUTION)
    samples = Samples(
        at, y, runs, errors, float(base if metric == "rate" else 1 / base), baseline is None, int(x.size), offset
    )
    return samples if at.size <= SAMPLES_MAX else _grouped(samples)


def _column(name: str, values: Sequence[float] | Floats) -> Floats:
    try:
        column = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        column = np.array([_number(name, row, value) for row, value in enumerate(values)])
    if column.ndim != 1:
        raise ObservationError("/rows", f"{name} must be one number a row")
    _demand(np.isfinite(column), column, name, "must be a finite number")
    return column


def _number(name: str, row: int, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ObservationError(f"/rows/{row}/{name}", f"must be a number, not {str(value)[:40]!r}") from None


def _demand(good: npt.NDArray[np.bool_], column: Floats, name: str, what: str) -> None:
    if not good.all():
        row = int(np.argmin(good))
        raise ObservationError(f"/rows/{row}/{name}", f"{what}, not {column[row]:g}")


def _relative_errors(
    ratio: Floats, deviation: Floats | None, counts: Floats, group: npt.NDArray[np.intp]
) -> Floats | None:
    """Return the relative standard error of each group's mean; `ratio`: row / mean of its group. None: unknown."""
    runs = np.bincount(group, counts)
    squares = np.bincount(group, counts * (ratio - 1) ** 2)
    freedom = np.bincount(group) - 1.0
    if deviation is not None:
        squares += np.bincount(group, np.maximum(counts - 1, 1) * deviation**2)
        freedom += np.bincount(group, np.maximum(counts - 1, 1))
    if freedom.sum() < 2 or squares.sum() <= 0:
        return None
    # The spread of two or three runs is uncertain: shrink it towards that of all latencies.
    pooled = squares.sum() / freedom.sum()
    return np.asarray(np.sqrt((squares + _POOLED_REPEATS * pooled) / (freedom + _POOLED_REPEATS) / runs))


def _grouped(samples: Samples) -> Samples:
    """Return at most `SAMPLES_MAX` samples, each the mean of neighbours; the first stays separate."""
    n = samples.added_us.size
    group = np.concatenate(([0], 1 + np.arange(n - 1) * (SAMPLES_MAX - 1) // (n - 1)))
    weights = samples.repeats
    total = np.bincount(group, weights).astype(np.float64)
    errors = samples.errors
    if errors is not None:
        errors = np.sqrt(np.bincount(group, (weights * errors) ** 2)) / total
    return Samples(
        np.bincount(group, weights * samples.added_us) / total,
        np.bincount(group, weights * samples.performance) / total,
        total,
        errors,
        samples.baseline,
        samples.measured,
        samples.rows,
        samples.latency_offset_us,
    )
