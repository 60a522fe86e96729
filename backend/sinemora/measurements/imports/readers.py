"""Readers of external traces: CSV tables, and statistics logs of PTPd.

CSV needs a header with `at` (RFC 3339, or seconds, ms, µs or ns since 1970), `source`, `target` (names of VMs) and
delays: either `outbound_…` and `inbound_…`, or `round_trip_…`, in `_ns`, `_us` or `_ms`. `source_zone` and
`target_zone` are optional. A line without any delay is a lost exchange.

A PTPd statistics log (`statistics_file`, PTPd 2.3) describes one slave and its master. Its columns `Master to Slave`
and `Slave to Master` are differences of two clocks; only their sum is free of the offset. Each pair of newest values
becomes a round trip. Half of it becomes both one-way delays, and also the bound of the clock error.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from sinemora.kit.names import checked_name
from sinemora.measurements.imports.dialect import Dialect, TraceError, csv_rows

_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000}
_DELAYS = ("outbound", "inbound", "round_trip")
_COLUMNS = {"at", "source", "target", "source_zone", "target_zone", *(f"{d}_{u}" for d in _DELAYS for u in _UNITS)}
# No date: 20261128 is a number, 2026-11-28 is not.
_NUMERIC = re.compile(r"[+-]?[0-9][0-9_]*(?:[.,][0-9]*)?(?:[eE][+-]?[0-9]+)?")
DELAY_MAX_NS = (1 << 31) - 1


class TraceKind(StrEnum):
    """Format of a trace."""

    CSV = "csv"
    PTPD = "ptpd"


@dataclass(frozen=True, slots=True)
class Exchange:
    """Exchange of a trace. An unknown delay is None; all are None for a lost exchange."""

    at_ns: int
    source: str
    target: str
    outbound_ns: int | None
    inbound_ns: int | None
    round_trip_ns: int | None
    clock_error_ns: int = 0


@dataclass(frozen=True, slots=True)
class LineError:
    """Error of one line, counted from 1."""

    line: int
    message: str


@dataclass(slots=True)
class Zones:
    """Zones of the VMs of a trace, by VM name, if the trace names them."""

    of: dict[str, str]


def read_csv(lines: Iterable[str], zones: Zones, dialect: Dialect | None = None) -> Iterator[Exchange | LineError]:
    """Yield the exchanges of a CSV trace and the errors of other lines; `dialect` notes how it is read.

    Raises `TraceError`.
    """
    dialect = dialect or Dialect()
    rows = csv_rows(lines, _COLUMNS, dialect)
    header = [name.strip().lower() for name in next(rows)[1]]
    missing = [name for name in ("at", "source", "target") if name not in header]
    delays = {
        (kind, unit): header.index(f"{kind}_{unit}")
        for kind in _DELAYS
        for unit in _UNITS
        if f"{kind}_{unit}" in header
    }
    if missing or not delays:
        needed = "`at`, `source`, `target`, and `outbound_ns` with `inbound_ns`, or `round_trip_ns` (or _us, _ms)"
        raise TraceError(
            f"Invalid header: the columns must include {needed}; found: {', '.join(header)[:500] or 'none'}"
            f" (read as {', '.join(dialect.words) or 'UTF-8 with commas'})."
        )
    place = {name: header.index(name) for name in header}
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        try:
            if len(row) != len(header):
                raise ValueError(f"{len(row)} values for {len(header)} columns")
            source, target = checked_name(row[place["source"]]), checked_name(row[place["target"]])
            if source == target:
                raise ValueError("source and target must be two different names")
            for end, name in (("source_zone", source), ("target_zone", target)):
                if end in place and row[place[end]].strip():
                    zones.of.setdefault(name, checked_name(row[place[end]]))
            values = {
                kind: _delay(dialect, row[at], unit, kind) for (kind, unit), at in delays.items() if row[at].strip()
            }
            outbound, inbound, round_trip = (values.get(kind) for kind in _DELAYS)
            if round_trip is None and outbound is not None and inbound is not None:
                round_trip = outbound + inbound
            yield Exchange(_time_ns(row[place["at"]], dialect), source, target, outbound, inbound, round_trip)
        except ValueError as error:
            yield LineError(line, str(error))


def read_ptpd(lines: Iterable[str], client: str, server: str) -> Iterator[Exchange | LineError]:
    """Yield the exchanges of a PTPd statistics log and the errors of other lines. Raises `TraceError`."""
    place: dict[str, int] = {}
    dialect = Dialect()
    before: tuple[str, str] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if line.startswith("#"):
            place = {name.lstrip("# ").lower(): at for at, name in enumerate(cells)}
            continue
        if not {"state", "slave to master", "master to slave"} <= place.keys():
            raise TraceError(
                "Invalid header: a PTPd statistics log begins with `# Timestamp, State, … Slave to Master, …`."
            )
        try:
            if len(cells) > place["state"] and cells[place["state"]] != "slv":
                continue  # not synchronised: its other columns are invalid
            if len(cells) <= max(place["state"], place["slave to master"], place["master to slave"]):
                raise ValueError(f"{len(cells)} values, fewer than the columns of the header")
            pair = cells[place["slave to master"]], cells[place["master to slave"]]
            if pair == before or not all(pair):
                continue
            before = pair
            outbound, inbound = (round(float(part) * 1e9) for part in pair)
            round_trip = outbound + inbound
            if not 0 < round_trip <= DELAY_MAX_NS or max(outbound, inbound) > DELAY_MAX_NS:
                raise ValueError(f"impossible round trip: {round_trip} ns of {outbound} and {inbound} ns")
            # The offset of the clocks is in both directions, with opposite signs. True delays lie between 0 and the
            # round trip, so neither direction is further from the truth than the larger of them is from 0.
            error = max(outbound, inbound)
            yield Exchange(_time_ns(cells[0], dialect), client, server, outbound, inbound, round_trip, error)
        except ValueError as error:
            yield LineError(number, str(error))


def _delay(dialect: Dialect, text: str, unit: str, kind: str) -> int:
    try:
        delay = round(float(dialect.number(text)) * _UNITS[unit])
    except (ValueError, OverflowError):
        raise ValueError(f"{kind}_{unit} is not a number: {text[:40]!r}") from None
    if abs(delay) > DELAY_MAX_NS:
        raise ValueError(f"{kind}_{unit} is larger than {DELAY_MAX_NS} ns: {text[:40]!r}")
    return delay


def _time_ns(text: str, dialect: Dialect) -> int:
    """Parse RFC 3339 (UTC by default) or a number (`Dialect.time_ns`). Return nanoseconds since 1970."""
    word = text.strip()
    if _NUMERIC.fullmatch(word):
        at_ns = dialect.time_ns(word)
    else:
        try:
            at = datetime.fromisoformat(word.replace("Z", "+00:00"))
        except ValueError:
            raise ValueError(f"`at` is not a time: {word[:40]!r}") from None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        at_ns = int(at.replace(microsecond=0).timestamp()) * 10**9 + at.microsecond * 1_000
    if not 0 < at_ns < 7_258_118_400 * 10**9:
        raise ValueError(f"`at` must lie between 1970 and 2200: {word[:40]!r}")
    return at_ns
