"""Figures of benchmarks, judged by their bars: one JSON object a figure on stdout, comments on stderr.

`bars.toml` has the meaning, unit and bar of every figure. `finish` writes the values to docs/benchmarks.md.
"""

import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BARS = Path(__file__).with_name("bars.toml")
_values: dict[str, float] = {}
_missed: list[str] = []


@dataclass(frozen=True, slots=True)
class Bar:
    """Figure of a benchmark: its meaning, its unit, and its bar from below, from above, from both sides or none."""

    bench: str
    figure: str
    meaning: str
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def words(self) -> str:
        """Return the bar as text, empty without one."""
        sides = (("≥", self.at_least), ("≤", self.at_most))
        return ", ".join(f"{sign} {bar:,.12g}" for sign, bar in sides if bar is not None)

    def met_by(self, value: float) -> bool | None:
        """Return whether a value meets the bar, None without one."""
        if not self.words:
            return None
        return bool(
            (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)
        )


@cache
def bars() -> dict[str, Bar]:
    """Return every figure by its name, in the order of the file."""
    tables = tomllib.loads(BARS.read_text("utf-8"))
    return {name: Bar(bench, name, **row) for bench, rows in tables.items() for name, row in rows.items()}


def report(figure: str, value: float, **detail: object) -> None:
    """Print a figure in its unit. `met` is true when the value meets its bar. Raises KeyError without its entry."""
    bar = bars()[figure]
    line: dict[str, object] = {"figure": figure, "value": float(f"{value:.6g}"), "unit": bar.unit}
    met = bar.met_by(value)
    if met is not None:
        line |= {"bar": bar.words, "met": met}
    if met is False:
        _missed.append(figure)
    _values[figure] = value
    sys.stdout.write(json.dumps(line | detail, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def comment(text: str) -> None:
    """Print a comment on stderr."""
    sys.stderr.write(f"{text}\n")


def selected(groups: Iterable[str]) -> list[str]:
    """Return the groups that `ONLY` names, all by default, in the order of `groups`. Exits if one is unknown."""
    known = list(groups)
    wanted = os.environ.get("ONLY", "").replace(",", " ").split()
    if unknown := set(wanted) - set(known):
        sys.exit(f"ONLY={','.join(sorted(unknown))}: the groups are {', '.join(known)}.")
    return [name for name in known if not wanted or name in wanted]


def run(groups: Mapping[str, Callable[[], object]], not_measured: tuple[type[Exception], ...] = ()) -> None:
    """Measure the groups of `ONLY`, then `finish`; exit with 1 too when one ends with an error of `not_measured`."""
    failed = False
    for name in selected(groups):
        comment(f"── {name}")
        try:
            groups[name]()
        except not_measured as error:
            comment(f"{name} could not be measured: {error}")
            failed = True
    finish()
    sys.exit(failed)


def finish() -> None:
    """Write the values to the documentation, print how many bars are met, and exit with 1 when one is missed.

    With `RECORD=0` in the environment the documentation stays as it is.
    """
    from lab.benchmarks import document

    if os.environ.get("RECORD") != "0" and _values:
        document.write(_values)
    judged = [name for name in _values if bars()[name].words]
    comment(f"{len(judged) - len(_missed)} bars met, {len(_missed)} missed.")
    if _missed:
        sys.exit(f"Bars missed: {', '.join(_missed)}.")
