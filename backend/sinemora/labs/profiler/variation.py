"""Variable latency for delaybox: published shapes around a median, and measured delays as tables.

One direction gets half of the added round trip as its median, and `magnitude_us` (V) as in
`applications.curves.core.variable.deviations`: half the range of a uniform distribution, three standard deviations of a
normal one, the 97.5th percentile of heavy tails and tables, above the median.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.variable import Shape, deviations
from sinemora.labs.profiler.recipes import ProfileError

Floats = npt.NDArray[np.float64]
SHAPES: tuple[Shape, ...] = get_args(Shape)
Direction = Literal["outbound", "inbound"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

_TAIL = 0.975
# A Pareto of index 3 and minimum 1: its median, 97.5th percentile, mean, standard deviation.
_MEDIAN, _HIGH, _MEAN, _SD = 0.5 ** (-1 / 3), (1 - _TAIL) ** (-1 / 3), 1.5, 0.75**0.5
# delaybox adds independent parts, the model quantiles (0.913 V at the 97.5th percentile). By numerical convolution: the
# median of delaybox's standardised Pareto-normal, and the standard deviation that gives the model's percentile, per V.
_MIXED_MEDIAN, _MIXED_V = -0.1839, 0.9133 / 2.3411
_US_PER = {"delay_ns": 1e-3, "delay_us": 1.0, "delay_ms": 1e3}
_TABLE_ROWS = 1_001


def words_of(shape: Shape, added_us: float, magnitude_us: float) -> str:
    """Return delaybox's words for one direction. Raises `ProfileError` if much of the distribution were below zero."""
    median_us = added_us / 2
    scale_us = magnitude_us / (_HIGH - _MEDIAN)
    lowest_us = median_us - (magnitude_us if shape in ("uniform", "normal") else (_MEDIAN - 1) * scale_us)
    if lowest_us < 0:
        raise ProfileError(
            f"Negative latency: a {shape} magnitude of {magnitude_us:g} µs in each direction is too large around"
            f" {added_us:g} µs of round trip.\nWhat to do: a smaller --magnitudes, or --around at least "
            f"{2 * (added_us / 2 - lowest_us):g}"
        )
    mean_us, sd_us = median_us + (_MEAN - _MEDIAN) * scale_us, _SD * scale_us
    if shape == "uniform":
        return f"delay=uniform:{_ns(median_us - magnitude_us)},{_ns(median_us + magnitude_us)}"
    if shape == "normal":
        return f"delay=normal:{_ns(median_us)},{_ns(magnitude_us / 3)}"
    if shape == "pareto":
        return f"delay=pareto:{_ns(mean_us)},{_ns(sd_us)},3"
    sd_us = _MIXED_V * magnitude_us
    return f"delay=pareto-normal:{_ns(median_us - _MIXED_MEDIAN * sd_us)},{_ns(sd_us)}"


@dataclass(frozen=True, slots=True, eq=False)
class DelayTable:
    """Measured delays of one direction: `delays_us` at cumulative `shares`, both ascending, shares from 0 to 1."""

    shares: Floats
    delays_us: Floats

    def at(self, share: float) -> float:
        """Return the delay (µs) that this share of the packets does not exceed."""
        return float(np.interp(share, self.shares, self.delays_us))

    @property
    def magnitude_us(self) -> float:
        """Return the 97.5th percentile above the median, µs."""
        return self.at(_TAIL) - self.at(0.5)

    def scaled(self, median_us: float, factor: float) -> "DelayTable":
        """Return the table with deviations from the median times `factor`, around `median_us`; at least 0."""
        moved = median_us + factor * (self.delays_us - self.at(0.5))
        return DelayTable(self.shares, np.maximum(moved, 0.0))

    def text(self) -> str:
        """Return the table as delaybox reads it."""
        rows = (f"{share:.12g},{delay:.4f}" for share, delay in zip(self.shares, self.delays_us, strict=True))
        return "\n".join(["cumulative,delay_us", *rows]) + "\n"


def read_table(path: Path) -> DelayTable:
    """Read a table of delaybox: column `delay_us` (`_ns`, `_ms`), samples, or with `cumulative`, shares from 0 to 1.

    Raises `ProfileError` with the line.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"Cannot read {path}: {error}") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    rows = csv.DictReader(io.StringIO("\n".join(lines)), skipinitialspace=True)
    names = [name.strip() for name in rows.fieldnames or ()]
    column = next((name for name in names if name in _US_PER), None)
    if column is None:
        raise ProfileError(f"Invalid table: {path} has no column delay_us, delay_ns or delay_ms")
    rows.fieldnames = names
    try:
        read = [(float(row.get("cumulative") or 0), float(row[column]) * _US_PER[column]) for row in rows]
    except (TypeError, ValueError) as error:
        raise ProfileError(f"Invalid table: {path}: {error}") from None
    shares, delays_us = (np.array(values, np.float64) for values in zip(*read, strict=True)) if read else ((), ())
    if len(delays_us) < 2 or not np.isfinite(delays_us).all() or min(delays_us) < 0:
        raise ProfileError(f"Invalid table: {path} needs at least two delays of 0 or more")
    if "cumulative" not in names:
        shares = np.linspace(0, 1, min(len(delays_us), _TABLE_ROWS))
        return DelayTable(shares, np.quantile(delays_us, shares))
    shares, delays_us = np.asarray(shares), np.asarray(delays_us)
    if (np.diff(shares) <= 0).any() or (np.diff(delays_us) < 0).any() or shares[0] != 0 or shares[-1] != 1:
        raise ProfileError(f"Invalid table: {path}: cumulative must ascend from 0 to 1, and delays with it")
    return DelayTable(shares, delays_us)


@dataclass(frozen=True, slots=True, eq=False)
class Variation:
    """Kind of variance of a profile: a shape, or the tables of both directions."""

    shape: Shape | None = None
    tables: tuple[DelayTable, DelayTable] | None = None

    @property
    def name(self) -> str:
        """Return the shape, or `table`."""
        return self.shape or "table"

    def words(self, added_us: float, magnitude_us: float, folder: Path) -> tuple[str, str]:
        """Return delaybox's words outbound and inbound; tables are written to `folder`. Raises `ProfileError`.

        Tables keep their medians' ratio; `magnitude_us` is the mean of both directions.
        """
        if self.shape is not None:
            words = words_of(self.shape, added_us, magnitude_us)
            return words, words
        assert self.tables is not None
        factor = magnitude_us / self.magnitude_us if self.magnitude_us else 1.0
        made = []
        for direction, table in zip(DIRECTIONS, self.tables, strict=True):
            share = table.at(0.5) / self.median_us if self.median_us else 0.5
            path = folder.resolve() / f"delays-{direction}-{added_us:g}-{magnitude_us:g}.csv"
            path.write_text(table.scaled(added_us * share, factor).text(), "utf-8")
            made.append(f"delay=table:{path}")
        return made[0], made[1]

    @property
    def median_us(self) -> float:
        """Return the sum of the medians of both tables, µs; 0 for a shape."""
        return sum(table.at(0.5) for table in self.tables or ())

    @property
    def magnitude_us(self) -> float:
        """Return the mean magnitude of both tables, µs; 0 for a shape."""
        return sum(table.magnitude_us for table in self.tables or ()) / 2

    def round_trips_us(self, added_us: float, magnitude_us: float) -> Floats:
        """Return equally likely round trips of a condition, for the model of variance."""
        if self.shape is not None:
            return deviations(self.shape, magnitude_us) + added_us
        assert self.tables is not None
        factor = magnitude_us / self.magnitude_us if self.magnitude_us else 1.0
        p = (np.arange(400) + 0.5) / 400
        one, other = (
            np.interp(p, table.shares, table.scaled(table.at(0.5) / self.median_us * added_us, factor).delays_us)
            for table in self.tables
        )
        return np.asarray(np.sort((one[:, None] + other[None, :]).ravel()).reshape(400, -1).mean(axis=1))


def _ns(us: float) -> str:
    return f"{max(0, round(us * 1e3))}ns"
