"""Measured distributions of delay as tables of delaybox (docs/delaybox.md), to replay them into an application."""

from collections.abc import Mapping, Sequence
from typing import Any

# Share of a bin at which the table jumps over empty bins below it; delaybox interpolates between lines.
_JUMP = 1e-6


def rows_of(bins: Mapping[str, Sequence[float]]) -> list[tuple[float, float]]:
    """Return (share, delay in ns) of a histogram (`low`, `high`, `cumulative`), shares rising from 0 to 1.

    Delays below zero, which the clock error allows, count as zero.
    """
    rows: list[tuple[float, float]] = []
    below, end_ns = 0.0, None
    for low_ns, high_ns, share in zip(bins["low"], bins["high"], bins["cumulative"], strict=True):
        if share <= below:
            continue
        if low_ns != end_ns:
            rows.append((below + (_JUMP * (share - below) if rows else 0.0), max(low_ns, 0)))
        rows.append((share, max(high_ns, 0)))
        below, end_ns = share, high_ns
    if rows:
        rows[-1] = (1.0, rows[-1][1])
    return rows


def text_of(item: Mapping[str, Any], about: str) -> str:
    """Return the table of an item of a distribution, `about` as its first line."""
    rows = (f"{share:.12g},{delay_ns / 1e3:.3f}" for share, delay_ns in rows_of(item["bins"]))
    return "\n".join([f"# {about}", "cumulative,delay_us", *rows]) + "\n"
