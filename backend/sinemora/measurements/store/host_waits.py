"""SQL of waiting on VMs: columns of `vm_traffic`, a row per VM and window. NULL is not available, never 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from sinemora.measurements.store.binary_rows import fetch, tenant_of

WAITS = ("wake", "receive", "send", "queue")
"""Waits of an agent and of its packets, as the report describes them."""
_OF_WAIT = ("count", "p50_us", "p99_us", "max_us")
WAIT_COLUMNS = tuple(f"{wait}_{name}" for wait in WAITS for name in _OF_WAIT)
COUNTS = ("steal_ms", "pressure_us", "throttled_us", "softirq_squeezed", "receive_drops")
COLUMNS = (
    "host_elapsed_ms",
    *WAIT_COLUMNS,
    "stalled_us",
    "stall_at_us",
    "stall_us",
    "processors",
    *COUNTS,
)
_ARRAYS = {"stall_at_us": "bigint[]", "stall_us": "integer[]"}
_SMALL = {"host_elapsed_ms", "processors", *WAIT_COLUMNS}
_KEYS = ("tenant_key", "vm_key", "started_at_s", "window_s")
_NAMES = (*_KEYS, *COLUMNS)


def _kind(name: str) -> str:
    """Return the type of a parameter; lists are text, because `unnest` takes no lists of lists."""
    if name in _ARRAYS:
        return "text"
    return "int" if name in _SMALL or name in _KEYS[:2] else "bigint"


_STORE = f"""
INSERT INTO vm_traffic (tenant_key, vm_key, started_at, window_s, elapsed_ms, {", ".join(COLUMNS)})
SELECT tenant_key, vm_key, to_timestamp(started_at_s), window_s::smallint, host_elapsed_ms,
       {", ".join(f"{name}::{_ARRAYS[name]}" if name in _ARRAYS else name for name in COLUMNS)}
FROM unnest({", ".join(f"%b::{_kind(name)}[]" for name in _NAMES)}) AS i({", ".join(_NAMES)})
ON CONFLICT (tenant_key, vm_key, started_at) DO UPDATE
SET {", ".join(f"{name} = EXCLUDED.{name}" for name in COLUMNS)} WHERE vm_traffic.host_elapsed_ms IS NULL
"""  # names of this module alone


@dataclass(frozen=True, slots=True)
class HostRow:
    """Waits on one VM in one window, ready to be stored; `values` in the order of COLUMNS."""

    tenant_key: int
    vm_key: int
    started_at_s: int
    window_s: int
    values: tuple[int | list[int] | None, ...]


@dataclass(frozen=True, slots=True)
class Stall:
    """A moment in which the agent of a VM waited for a processor: its start, Unix ns, and its length, ns."""

    vm_key: int
    at_ns: int
    length_ns: int


@dataclass(frozen=True, slots=True)
class HostStep:
    """Waits on one VM in the windows that start within one step.

    Of percentiles and maxima it is the largest of a window, of counts and of times the sum; None is not available.
    `elapsed_ms` is the time that was counted. `waits` has count, median, 99th percentile and maximum (us) of each of
    WAITS, `counts` those of COUNTS.
    """

    vm_key: int
    started_at_s: int
    elapsed_ms: int
    processors: int | None
    stalled_us: int
    waits: dict[str, tuple[int | None, ...]]
    counts: dict[str, int | None]


def store(session: Session, rows: Sequence[HostRow]) -> None:
    """Store windows in a system session, also those whose traffic is there; waits that are there stay."""
    # A report that arrives twice in one batch would update one row twice, which PostgreSQL refuses.
    distinct = {(row.tenant_key, row.vm_key, row.started_at_s): row for row in reversed(rows)}
    if not distinct:
        return
    # Always in the same order, so that two batches never wait for each other in a circle.
    ordered = [distinct[key] for key in sorted(distinct)]
    keys = [[getattr(row, name) for row in ordered] for name in _KEYS]
    values = [[_parameter(row.values[at]) for row in ordered] for at in range(len(COLUMNS))]
    session.connection().exec_driver_sql(_STORE, (*keys, *values))


def _parameter(value: int | list[int] | None) -> int | str | None:
    return f"{{{','.join(map(str, value))}}}" if isinstance(value, list) else value


def steps(session: Session, vm_keys: Sequence[int], start: datetime, end: datetime, step_s: int) -> list[HostStep]:
    """Return the waits on VMs in windows that start in [start, end), by VM and step, oldest first."""
    sums = ("sum" if name.endswith("_count") else "max" for name in WAIT_COLUMNS)
    columns = [f"{how}({name})::bigint" for how, name in zip(sums, WAIT_COLUMNS, strict=True)]
    columns += [f"sum({name})::bigint" for name in COUNTS]
    rows = fetch(
        session,
        "SELECT vm_key, (extract(epoch FROM started_at)::bigint / %(step_s)s) * %(step_s)s AS step,"
        " sum(host_elapsed_ms)::bigint, max(processors), sum(stalled_us)::bigint,"
        f" {', '.join(columns)} FROM vm_traffic"
        " WHERE tenant_key = %(tenant_key)s AND vm_key = ANY(%(vm_keys)s) AND started_at >= %(start)s"
        " AND started_at < %(end)s AND host_elapsed_ms IS NOT NULL GROUP BY vm_key, step ORDER BY vm_key, step",
        {"step_s": step_s, **_range(session, vm_keys, start, end)},
    )
    return [_step(row) for row in rows]


def _step(row: Sequence[int | None]) -> HostStep:
    vm_key, at_s, elapsed_ms, processors, stalled_us, *rest = row
    size = len(_OF_WAIT)
    waits = {wait: tuple(rest[size * at : size * (at + 1)]) for at, wait in enumerate(WAITS)}
    counts = dict(zip(COUNTS, rest[len(WAIT_COLUMNS) :], strict=True))
    return HostStep(vm_key or 0, at_s or 0, elapsed_ms or 0, processors, stalled_us or 0, waits, counts)


def usual(session: Session, vm_keys: Sequence[int], end: datetime) -> dict[int, tuple[float, int]]:
    """Return by VM how long its host makes it wait in an ordinary minute: the share of time, and the longest wait, ns.

    Medians of up to 60 minutes, spread over the six hours before `end`; of VMs with at least five.
    """
    rows = fetch(
        session,
        "SELECT vm_key, (percentile_cont(0.5) WITHIN GROUP (ORDER BY waited_us / (1000 * elapsed_ms)))::float8,"
        " percentile_disc(0.5) WITHIN GROUP (ORDER BY longest_us)::bigint * 1000 FROM ("
        "SELECT vm_key, max(wake_max_us) AS longest_us, sum(host_elapsed_ms)::float8 AS elapsed_ms,"
        " greatest(sum(stalled_us), sum(throttled_us), 1000 * sum(steal_ms) / max(processors))::float8 AS waited_us"
        " FROM generate_series(%(end)s - interval '6 hours', %(end)s - interval '1 minute', interval '6 minutes') at"
        " JOIN vm_traffic ON started_at >= at AND started_at < at + interval '1 minute'"
        " WHERE tenant_key = %(tenant_key)s AND vm_key = ANY(%(vm_keys)s) AND host_elapsed_ms > 0"
        " AND started_at >= %(end)s - interval '6 hours' AND started_at < %(end)s"
        " GROUP BY vm_key, at) minutes GROUP BY vm_key HAVING count(*) >= 5",
        {"tenant_key": tenant_of(session), "vm_keys": list(vm_keys), "end": end},
    )
    return {vm_key: (share, longest_ns or 0) for vm_key, share, longest_ns in rows}


def typical(
    session: Session, vm_keys: Sequence[int], start: datetime, end: datetime, wait: str
) -> tuple[int | None, int | None]:
    """Return the median and the 99th percentile of one of WAITS in an ordinary window of some VMs, ns; None without."""
    median = "percentile_disc(0.5) WITHIN GROUP (ORDER BY {}_us)::bigint * 1000"
    rows = fetch(
        session,
        f"SELECT {median.format(wait + '_p50')}, {median.format(wait + '_p99')} FROM vm_traffic"
        " WHERE tenant_key = %(tenant_key)s AND vm_key = ANY(%(vm_keys)s) AND started_at >= %(start)s"
        " AND started_at < %(end)s",
        _range(session, vm_keys, start, end),
    )
    return rows[0][0], rows[0][1]


def stalls(session: Session, vm_keys: Sequence[int], start: datetime, end: datetime, most: int) -> list[Stall]:
    """Return the longest stalls of VMs in windows that start in [start, end), at most `most`, oldest first."""
    rows = fetch(
        session,
        "SELECT vm_key, at_ns, length_ns FROM ("
        "SELECT vm_key, (extract(epoch FROM started_at) * 1000000)::bigint * 1000 + at_us * 1000 AS at_ns,"
        " us::bigint * 1000 AS length_ns FROM vm_traffic, unnest(stall_at_us, stall_us) AS s(at_us, us)"
        " WHERE tenant_key = %(tenant_key)s AND vm_key = ANY(%(vm_keys)s) AND started_at >= %(start)s"
        " AND started_at < %(end)s ORDER BY us DESC LIMIT %(most)s) longest ORDER BY at_ns",
        {"most": most, **_range(session, vm_keys, start, end)},
    )
    return [Stall(*row) for row in rows]


def _range(session: Session, vm_keys: Sequence[int], start: datetime, end: datetime) -> dict[str, object]:
    return {"tenant_key": tenant_of(session), "vm_keys": list(vm_keys), "start": start, "end": end}
