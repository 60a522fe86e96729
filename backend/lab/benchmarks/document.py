"""Tables of figures in docs/benchmarks.md: one for each benchmark, between two comments.

A run replaces the rows of the figures it measured. Each row has its date and host, because groups of a benchmark are
measured in runs of their own.
"""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from lab.benchmarks.figures import Bar, bars

PAGE = Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"
HEAD = "| figure | meaning | bar | measured | | date, host |\n| --- | --- | --- | --- | --- | --- |\n"
NEVER = "not measured"
_BLOCK = re.compile(r"(<!-- figures of bench-([a-z]+) -->\n).*?(<!-- end of figures -->)", re.S)


def write(values: Mapping[str, float]) -> None:
    """Write measured values to their rows. Raises `LookupError` if the page has no table of a benchmark."""
    text = PAGE.read_text("utf-8")
    tables = {match[2] for match in _BLOCK.finditer(text)}
    if missing := {bars()[figure].bench for figure in values} - tables:
        raise LookupError(f"docs/benchmarks.md has no table of {', '.join(sorted(missing))}")
    PAGE.write_text(_BLOCK.sub(lambda block: block[1] + _table(block[2], block[0], values) + block[3], text), "utf-8")


def _table(bench: str, before: str, values: Mapping[str, float]) -> str:
    known = {row.split("`")[1]: row for row in before.splitlines() if row.startswith("| `")}
    rows = (_row(bar, known.get(bar.figure, ""), values) for bar in bars().values() if bar.bench == bench)
    return HEAD + "".join(rows)


def _row(bar: Bar, before: str, values: Mapping[str, float]) -> str:
    measured, when = NEVER, ""
    if bar.figure in values:
        measured = f"{shown(values[bar.figure])} {bar.unit}".removesuffix(" 1")
        when = f"{datetime.now(UTC):%Y-%m-%d}, {host()}"
    elif before:
        *_, measured, _, when, _ = (cell.strip() for cell in before.split("|"))
    met = None if measured == NEVER else bar.met_by(values.get(bar.figure, _number(measured)))
    verdict = {None: "", True: "met", False: "**missed**"}[met]
    return f"| `{bar.figure}` | {bar.meaning} | {bar.words or 'printed'} | {measured} | {verdict} | {when} |\n"


def _number(measured: str) -> float:
    return float(measured.split()[0].replace(",", ""))


def shown(value: float) -> str:
    """Return a value with three significant digits, at least its whole part."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def host() -> str:
    """Return the number of processors and their model."""
    return f"{os.cpu_count()} × {next(_models(), 'unknown processor')}"


def _models() -> Iterator[str]:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                yield line.partition(":")[2].strip()
    except OSError:
        return
