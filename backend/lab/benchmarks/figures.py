"""Figures of benchmarks, judged by their bars: one JSON object a figure on stdout, comments on stderr."""

import json
import sys

_missed: list[str] = []


def report(
    figure: str,
    value: float,
    unit: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    **detail: object,
) -> None:
    """Print a figure. With `at_most` or `at_least`, or both, it has a bar; `met` is true when the value keeps it."""
    line: dict[str, object] = {"figure": figure, "value": float(f"{value:.6g}"), "unit": unit}
    bars = [f"{sign} {bar:,.12g}" for sign, bar in (("≥", at_least), ("≤", at_most)) if bar is not None]
    if bars:
        met = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
        line |= {"bar": ", ".join(bars), "met": bool(met)}
        if not met:
            _missed.append(figure)
    sys.stdout.write(json.dumps(line | detail, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def comment(text: str) -> None:
    """Print a comment on stderr."""
    sys.stderr.write(f"{text}\n")


def finish() -> None:
    """Exit with 1 when a figure missed its bar, and name those figures."""
    if _missed:
        sys.exit(f"Bars missed: {', '.join(_missed)}.")
