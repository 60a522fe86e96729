"""Tables of figures in docs/benchmarks.md: one for each benchmark, between two comments.

A run replaces the rows of the figures it measured. Each row has its date and host, because groups of a benchmark are
measured in runs of their own; those of most rows of a section stand once, before its table.
"""

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from lab.benchmarks.figures import Bar, bars

PAGE = Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"
HEAD = "| figure | meaning | bar | measured | date, host |\n| --- | --- | --- | --- | --- |\n"
NEVER = "not measured"
_MAKER = re.compile(r"\((?:R|TM)\)|\b(?:AMD|Intel|CPU|Processor)\b ?")
MISSED = " **missed**"
_USUAL = re.compile(r"^Rows without a date: (.*)\.$", re.M)
"""Line with the date and host of most rows: of a section, or of the page for sections without one."""
_BLOCK = re.compile(r"(<!-- figures of bench-([a-z-]+) -->\n).*?(<!-- end of figures -->)", re.S)


def write(values: Mapping[str, float]) -> None:
    """Write measured values to their rows. Raises `LookupError` if the page has no table of a benchmark."""
    text = PAGE.read_text("utf-8")
    tables = {match[2] for match in _BLOCK.finditer(text)}
    if missing := {bars()[figure].bench for figure in values} - tables:
        raise LookupError(f"docs/benchmarks.md has no table of {', '.join(sorted(missing))}")
    PAGE.write_text(_BLOCK.sub(lambda block: block[1] + _table(block, values) + block[3], text), "utf-8")


def _table(block: re.Match[str], values: Mapping[str, float]) -> str:
    bench, before = block[2], block[0]
    above = block.string[: block.start()]
    usual = (_USUAL.findall(above.rpartition("\n## ")[2]) or _USUAL.findall(above) or [""])[0]
    known = {row.split("`")[1]: row for row in before.splitlines() if row.startswith("| `")}
    rows = (_row(bar, known.get(bar.figure, ""), values) for bar in bars().values() if bar.bench == bench)
    usual_host = usual.partition(", ")[2]
    return HEAD + "".join(rows).replace(f"| {usual} |\n", "|  |\n").replace(f", {usual_host} |\n", " |\n")


def _row(bar: Bar, before: str, values: Mapping[str, float]) -> str:
    measured, when = NEVER, ""
    if bar.figure in values:
        measured = f"{shown(values[bar.figure])} {bar.unit}".removesuffix(" 1")
        when = f"{datetime.now(UTC):%Y-%m-%d}, {host()}"
    elif before:
        *_, measured, when, _ = (cell.strip() for cell in before.split("|"))
        measured = measured.removesuffix(MISSED)
    met = None if measured == NEVER else bar.met_by(values.get(bar.figure, _number(measured)))
    verdict = MISSED if met is False else ""
    return f"| `{bar.figure}` | {bar.meaning} | {bar.words} | {measured}{verdict} | {when} |\n"


def _number(measured: str) -> float:
    return float(measured.split()[0].replace(",", ""))


def shown(value: float) -> str:
    """Return a value with three significant digits, at least its whole part."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def host() -> str:
    """Return the number of processors and their model, without its maker."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.M)
    return f"{os.cpu_count()}× {_MAKER.sub('', model[1] if model else 'unknown processor').strip()}"
