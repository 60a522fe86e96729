"""Published curves and measurements, as read from `library.toml`, which names their sources."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from sinemora.applications.curves.core.curve import Curve, polynomial, through

THESIS = "UCAM-CL-TR-937, ch. 5"

TEST_BED_US = 37.5
"""Round trip of the test bed of chapter 5 without added latency: one way 18.5 to 19 µs (UCAM-CL-TR-937, 4.3.2)."""
TEST_BED_SOURCE = "UCAM-CL-TR-937, sec. 4.3.2: one-way delay of 18.5 to 19 µs on the test bed of ch. 5"

Basis = Literal["formula", "points", "bound"]
"""Basis of a curve: the authors' formula, lines between points they state, or the only bound they state."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One measurement as stated by the source: performance `relation` `performance` at `added_us` of round trip."""

    added_us: float
    relation: Literal["=", "≈", "<", ">"]
    performance: float
    words: str
    source: str = THESIS
    setup: str = ""
    """Difference from the configuration of the curve; empty for the same one."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published curve with its source and measurements. `baseline` is in the unit of `metric`."""

    key: str
    name: str
    role: str
    metric: str
    falls: bool
    """True: the metric falls with latency (a rate). False: it grows (a duration), performance is baseline / value."""
    baseline: float | None
    flat_until_us: float
    basis: Basis
    formula: str | None
    source: str
    curve: Curve
    stated: tuple[Stated, ...]

    @property
    def reference_us(self) -> float:
        """Return the round trip of the test bed in µs; 0 for single pairs of section 2.5, for which none is stated."""
        return TEST_BED_US if self.source.startswith(THESIS) else 0.0

    @property
    def residuals(self) -> tuple[float, ...]:
        """Return the errors of the curve at the values that the source states for its setup.

        Lines between stated points have none: they pass through the points.
        """
        if self.basis != "formula":
            return ()
        exact = [point for point in self.stated if point.relation in "=≈" and not point.setup]
        return tuple(float(self.curve(point.added_us)) - point.performance for point in exact)


def _read(entry: dict[str, Any]) -> Published:
    flat_until_us = float(entry["flat_until_us"])
    if "coefficients" in entry:
        curve = polynomial(flat_until_us, entry["coefficients"], 1000)
    else:
        curve = through(*zip(*entry["points"], strict=True))
    stated = (Stated(**{**one, "performance": _number(one["performance"])}) for one in entry["stated"])
    given = {name: entry[name] for name in ("key", "name", "role", "metric", "falls", "basis", "source")}
    return Published(
        **given,
        baseline=entry.get("baseline"),
        flat_until_us=flat_until_us,
        formula=entry.get("formula"),
        curve=curve,
        stated=tuple(stated),
    )


def _number(written: float | str) -> float:
    """Return a performance, also one that is written as a fraction."""
    above, _, below = str(written).partition("/")
    return float(above) / float(below or 1)


LIBRARY: tuple[Published, ...] = tuple(
    map(_read, tomllib.loads(files(__package__).joinpath("library.toml").read_text("utf-8"))["curve"])
)


def published(key: str) -> Published:
    """Return the published curve of that key. Raises `KeyError`."""
    for entry in LIBRARY:
        if entry.key == key:
            return entry
    raise KeyError(key)
