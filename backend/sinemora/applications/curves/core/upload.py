"""Parse measurements: CSV with a header, or JSON.

CSV: separated by comma, semicolon or tab; with semicolons a decimal comma is allowed; empty lines and lines that begin
with ``#`` are skipped. The header names a latency column (``added_us`` or ``measured_us``, also
``…_ns``, ``…_ms``, ``…_s``), a performance column (``rate`` or ``duration``), and perhaps ``spread`` and ``repeats``.

JSON: ``{"metric": "rate", "latency": "added", "baseline": 990000, "rows": [{"latency_us": 0, "performance": 990000,
"spread": 4000, "repeats": 5}, …]}``; all but `rows` may be left out.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import islice
from typing import cast, get_args

from sinemora.applications.curves.core.observations import (
    ROWS_MAX,
    LatencyKind,
    Metric,
    ObservationError,
    Samples,
    normalise,
)

_LATENCY = re.compile(r"(added|measured|latency|added_latency|measured_latency|rtt|round_trip)_(ns|us|µs|ms|s)")
_US_PER = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_RATES = ("rate", "performance", "throughput", "qps", "rps", "ops", "tps", "queries_per_s", "requests_per_s")
_DURATIONS = ("duration", "duration_s", "duration_ms", "time", "time_s", "time_ms", "runtime", "runtime_s")
_SPREADS = ("spread", "sd", "std", "stdev", "standard_deviation")
_REPEATS = ("repeats", "runs", "repetitions")
_ROW = ("latency_us", "performance", "spread", "repeats")


@dataclass(frozen=True, slots=True)
class UploadedTable:
    """Unchecked rows: arguments of `normalise`."""

    latency_us: list[float]
    performance: list[float]
    metric: Metric = "rate"
    latency: LatencyKind = "added"
    spread: list[float] | None = None
    repeats: list[float] | None = None
    baseline: float | None = None

    def samples(self) -> Samples:
        """Return checked and normalised samples. Raises `ObservationError`."""
        arguments = {field.name: getattr(self, field.name) for field in fields(self)}
        return normalise(arguments.pop("latency_us"), arguments.pop("performance"), **arguments)


def parse(content: bytes) -> UploadedTable:
    """Return the table of a file; JSON is detected. Raises `ObservationError` with the place of the first error."""
    text = text_of(content)
    return parse_json(text) if _is_json(text) else parse_csv(text)


def text_of(content: bytes) -> str:
    """Return the text of a file. Raises `ObservationError` when it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ObservationError("", f"byte {error.start} is not UTF-8; save the file as UTF-8") from None


def line_of(text: str, pointer: str) -> int | None:
    """Return the line (from 1) of a CSV file for a pointer like ``/rows/3/performance``, None without one."""
    match = re.match(r"/rows/(\d+)", pointer)
    if match is None or _is_json(text):
        return None
    lines = islice(_lines(text), int(match[1]) + 1, None)
    return next((number for number, _ in lines), None)


def of_rows(
    rows: list[dict[str, float]], metric: Metric = "rate", latency: LatencyKind = "added", baseline: float | None = None
) -> UploadedTable:
    """Return the table of rows as in JSON. Raises `ObservationError` if a row lacks a field of the first one."""
    return _of_rows(cast(list[object], rows), metric, latency, baseline)


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield non-empty, non-comment lines with their numbers from 1, one at a time: a file may have millions."""
    lines = enumerate(io.StringIO(text, newline=None), 1)
    return ((number, line) for number, line in lines if line.strip() and not line.startswith("#"))


def parse_csv(text: str, baseline: float | None = None) -> UploadedTable:
    """Return the table of a CSV file. Raises `ObservationError` with the line; rows after `ROWS_MAX` are not read."""
    first = next(_lines(text), None)
    if first is None:
        raise ObservationError("", "the file is empty; begin with a header: added_us,rate")
    delimiter = max(";\t,", key=first[1].count)
    rows = _rows(text, delimiter)
    _, header = next(rows)
    header = [re.sub(r"[\s\-]+", "_", name.strip().lower()) for name in header]
    columns, unit, metric, latency = _columns(header)
    values: dict[str, list[float]] = {name: [] for name in columns}
    for index, (line, row) in enumerate(rows):
        if index == ROWS_MAX:
            raise ObservationError("/rows", f"more than {ROWS_MAX:,} rows; average repeats first")
        if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
            hint = "; for decimal commas separate the columns by semicolons" if delimiter == "," else ""
            reason = f"{len(row)} cells, the header has {len(header)}{hint}"
            raise ObservationError(f"/rows/{index}", f"line {line}: {reason}")
        for name, position in columns.items():
            cell = row[position].strip() if position < len(row) else ""
            try:
                number = float(cell.replace(",", ".") if delimiter == ";" else cell)
            except ValueError:
                reason = f"{cell[:40]!r} is not a number" if cell else "a value is missing"
                raise ObservationError(f"/rows/{index}/{name}", f"line {line}, {header[position]}: {reason}") from None
            values[name].append(number * _US_PER[unit] if name == "latency_us" else number)
    return UploadedTable(
        values["latency_us"],
        values["performance"],
        metric,
        latency,
        values.get("spread"),
        values.get("repeats"),
        baseline,
    )


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, the header first, with the number of its last line. Raises `ObservationError`."""
    line = 0

    def contents() -> Iterator[str]:
        nonlocal line
        for line, content in _lines(text):  # noqa: B007 -- the number of the line that was read last
            yield content

    try:
        for row in csv.reader(contents(), delimiter=delimiter):
            yield line, row
    except csv.Error as error:
        raise ObservationError("", f"line {line}: cannot be read as CSV: {error}") from None


def _columns(header: list[str]) -> tuple[dict[str, int], str, Metric, LatencyKind]:
    """Return the position of each known column, the unit of latency, and the kinds of latency and performance."""
    columns: dict[str, int] = {}
    unit, metric, latency = "us", "rate", "added"
    for position, name in enumerate(header):
        if match := _LATENCY.fullmatch(name):
            key, unit = "latency_us", match[2]
            latency = "added" if match[1] in ("added", "added_latency", "latency") else "measured"
        elif name in _RATES or name in _DURATIONS:
            key, metric = "performance", "rate" if name in _RATES else "duration"
        elif name in _SPREADS or name in _REPEATS:
            key = "spread" if name in _SPREADS else "repeats"
        else:
            raise ObservationError(
                "/header", f"{name[:40]!r} is not known; use added_us or measured_us, rate or duration, spread, repeats"
            )
        if key in columns:
            raise ObservationError("/header", f"{header[columns[key]]!r} and {name!r} mean the same; keep one")
        columns[key] = position
    for key, example in (("latency_us", "added_us"), ("performance", "rate")):
        if key not in columns:
            raise ObservationError("/header", f"no column for {key}; name one {example}")
    return columns, unit, cast(Metric, metric), cast(LatencyKind, latency)


def parse_json(text: str) -> UploadedTable:
    """Return the table of a JSON document. Raises `ObservationError`."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ObservationError("", f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise ObservationError("", "nested too deeply; rows are flat objects") from None
    except ValueError:
        raise ObservationError("", "a number has thousands of digits") from None
    if isinstance(document, list):
        document = {"rows": document}
    if not isinstance(document, dict):
        raise ObservationError("", 'must be an object with "rows"')
    _known(document, "", ("metric", "latency", "baseline", "rows"))
    baseline = document.get("baseline")
    return _of_rows(
        document.get("rows"),
        cast(Metric, _one_of(document, "metric", get_args(Metric))),
        cast(LatencyKind, _one_of(document, "latency", get_args(LatencyKind))),
        None if baseline is None else _number(baseline, "/baseline"),
    )


def _of_rows(rows: object, metric: Metric, latency: LatencyKind, baseline: float | None) -> UploadedTable:
    if not isinstance(rows, list) or not rows:
        raise ObservationError("/rows", "must be a list of at least 3 rows")
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise ObservationError(f"/rows/{index}", 'must be an object like {"latency_us": 50, "performance": 930000}')
        _known(row, f"/rows/{index}", _ROW)
        for name in ("latency_us", "performance", *(name for name in _ROW[2:] if name in rows[0])):
            if name not in row:
                raise ObservationError(f"/rows/{index}/{name}", "missing")
    return UploadedTable(
        latency_us=_numbers(rows, "latency_us"),
        performance=_numbers(rows, "performance"),
        metric=metric,
        latency=latency,
        spread=_numbers(rows, "spread") if "spread" in rows[0] else None,
        repeats=_numbers(rows, "repeats") if "repeats" in rows[0] else None,
        baseline=baseline,
    )


def _known(fields: dict[str, object], place: str, names: tuple[str, ...]) -> None:
    for name in fields:
        if name not in names:
            raise ObservationError(f"{place}/{name[:40]}", f"is not known; the names are {', '.join(names)}")


def _one_of(document: dict[str, object], name: str, choices: tuple[str, ...]) -> str:
    value = document.get(name, choices[0])
    if value not in choices:
        raise ObservationError(f"/{name}", f"must be {' or '.join(choices)}, not {str(value)[:40]!r}")
    return str(value)


def _numbers(rows: list[dict[str, object]], name: str) -> list[float]:
    return [_number(row.get(name), f"/rows/{index}/{name}") for index, row in enumerate(rows)]


def _number(value: object, pointer: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ObservationError(pointer, f"must be a number, not {json.dumps(value)[:40]}")
    try:
        return float(value)
    except OverflowError:
        raise ObservationError(pointer, "is too large") from None
