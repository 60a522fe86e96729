"""Traces of delay by second: read from files, or drawn to match a trace's published statistics.

Statistics: D. A. Popescu, *Latency-driven performance in data centres*, UCAM-CL-TR-937, 2019, table 4.3: one-way
delays of week-long traces of one message a second between VMs of a zone. They give the distribution of values but not
their autocorrelation, which is assumed (see `drawn`).
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.labs.simulation.core.delays import OneWay, RoundTrip
from sinemora.recommendations.placement.problem import Nanoseconds

DAY_S = 86_400
DAYS = 7
"""Parts of a trace: the source gives a pair one day of one trace (6.3)."""
_CALM_S = 300.0
"""Time constant of the level, and its share of the variance: assumed, see `drawn`."""
_LEVEL = 0.5
CLASSES = ("GCE", "Azure", "EC2")
"""Clouds whose traces stand for pairs in a rack, in a pod and between pods, as in the source."""
# p50, p99, p99.9 and largest one-way delay in µs.
PUBLISHED: dict[str, tuple[tuple[float, float, float, float], ...]] = {
    "GCE": (
        (97.1, 1200, 2740, 7720), (87.34, 1440, 3480, 6580), (82.97, 1380, 3600, 8830),
        (76.9, 120.34, 981.94, 4570), (71.35, 92.24, 119.22, 531), (78.79, 104.34, 128.65, 396),
    ),
    "Azure": (
        (447, 529.27, 570.62, 1380), (441.3, 522.88, 565.55, 1010), (419.62, 483.48, 521.42, 827),
        (315.14, 357.72, 379.86, 549), (281.21, 330.64, 362.23, 717), (358.46, 415.68, 449.11, 732),
    ),
    "EC2": (
        (289.57, 415.18, 516.5, 2690), (345.17, 481.53, 2320, 14360), (350.97, 459.5, 616.3, 3160),
        (256.93, 335.08, 486.3, 1730), (275.86, 361.42, 474.35, 1250), (283.44, 363.88, 429.06, 686),
    ),
}  # fmt: skip
Statistics = dict[str, tuple[tuple[float, float, float, float], ...]]


class SeriesError(ValueError):
    """A file of traces or statistics is invalid; the message names file, line and what is expected."""


def drawn(statistics: Statistics, rng: np.random.Generator, seconds: int = DAY_S, before_s: int = 0) -> OneWay:
    """Return traces with these medians and tails, each cut into `DAYS` parts of `seconds` with their history.

    Below the median, values mirror the range from it to the 99th percentile at a third of the (logarithmic) width, as
    fast paths have a floor. Half of the variance is a level that lasts minutes, half is drawn each second. The traces
    are not public, so the duration of a level is assumed.
    """
    rows = max(map(len, statistics.values()))
    out = np.empty((len(CLASSES), rows * DAYS, before_s + seconds), np.int32)
    for kind, name in enumerate(CLASSES):
        given = statistics[name]
        for row in range(rows):
            whole = _trace(given[row % len(given)], rng, before_s + DAYS * seconds)
            for day in range(DAYS):
                out[kind, row * DAYS + day] = whole[day * seconds : (day + 1) * seconds + before_s]
    return OneWay(out, before_s)


def _trace(row: tuple[float, float, float, float], rng: np.random.Generator, seconds: int) -> Nanoseconds:
    p50, p99, p999, largest = row
    decay = np.exp(-1.0 / _CALM_S)
    steps = rng.standard_normal(seconds) * np.sqrt(1 - decay * decay)
    level, _ = scipy.signal.lfilter([1.0], [1.0, -decay], steps, zi=[decay * rng.standard_normal()])
    normal = np.sqrt(_LEVEL) * level + np.sqrt(1 - _LEVEL) * rng.standard_normal(seconds)
    # Quantiles by rank: the statistics hold exactly although a series has few independent levels.
    share = (normal.argsort().argsort() + 0.5) / seconds
    floor = p50 * (p50 / p99) ** (1 / 3)
    marks = np.log([floor, p50, p99, p999, largest])
    delay_ns: Nanoseconds = np.rint(1e3 * np.exp(np.interp(share, (0.0, 0.5, 0.99, 0.999, 1.0), marks))).astype(
        np.int32
    )
    return delay_ns


def read_statistics(path: Path) -> Statistics:
    """Read statistics from a CSV with columns trace, messages_per_second, p50_us, p99_us, p999_us, max_us.

    Only traces of one message a second count; names begin with GCE, Azure or EC2. Raises `SeriesError`.
    """
    rows_by_class: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in CLASSES}
    with path.open(newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines), 2):
            try:
                rate, name = float(row["messages_per_second"]), row["trace"].split("-")[0]
                p50, p99, p999, largest = (float(row[column]) for column in ("p50_us", "p99_us", "p999_us", "max_us"))
            except (KeyError, TypeError, ValueError) as error:
                raise SeriesError(
                    f"Invalid statistics: {path.name}, line {number}: {error} is missing or not a number"
                ) from None
            if not 0 < p50 <= p99 <= p999 <= largest:
                raise SeriesError(
                    f"Invalid statistics: {path.name}, line {number}: p50, p99, p99.9, maximum must ascend from above 0"
                )
            if rate == 1 and name in rows_by_class:
                rows_by_class[name].append((p50, p99, p999, largest))
    if empty := [name for name, rows in rows_by_class.items() if not rows]:
        raise SeriesError(
            f"Statistics missing: {path.name} has no trace with one message per second of {', '.join(empty)}"
        )
    return {name: tuple(rows) for name, rows in rows_by_class.items()}


def read_traces(folder: Path, seconds: int, history_s: int = 0) -> RoundTrip:
    """Read traces from `folder/rack-*.csv`, `pod-*.csv` and `cluster-*.csv`: one round trip in µs per line and second.

    All are cut to the shortest. Lines beyond `seconds` become history before the start, at most `history_s`. Raises
    `SeriesError`, also when the shortest does not cover the simulation.
    """
    kinds: list[list[npt.NDArray[np.float64]]] = []
    for name in ("rack", "pod", "cluster"):
        files = sorted(folder.glob(f"{name}-*.csv"))
        if not files:
            raise SeriesError(f"Traces missing: no {name}-*.csv in {folder}")
        kinds.append([_values(path, seconds) for path in files])
    return of_traces(kinds, seconds, history_s)


def of_traces(kinds: Sequence[Sequence[npt.NDArray[np.float64]]], seconds: int, history_s: int = 0) -> RoundTrip:
    """Return round trips from measured µs of the three classes; a class with fewer paths repeats them."""
    shortest = min(len(trace) for kind in kinds for trace in kind)
    before_s = min(history_s, shortest - seconds)
    paths = max(map(len, kinds))
    rows = [[kind[path % len(kind)][: before_s + seconds] for path in range(paths)] for kind in kinds]
    return RoundTrip(np.rint(np.array(rows) * 1e3).astype(np.int32), before_s)


def _values(path: Path, seconds: int) -> npt.NDArray[np.float64]:
    values = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            value = float(line)
        except ValueError:
            value = 0.0
        if not 0 < value < 1e6:
            raise SeriesError(f"{path.name}, line {number}: {line[:40]!r} is not a round trip in µs above 0")
        values.append(value)
    if len(values) < seconds:
        raise SeriesError(f"Trace too short: {path.name} has {len(values):,} lines; the simulation needs {seconds:,}")
    return np.array(values)
