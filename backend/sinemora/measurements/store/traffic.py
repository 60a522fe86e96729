"""SQL of the bytes and packets of VMs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from sinemora.measurements.store.binary_rows import fetch, tenant_of

_STORE = """
INSERT INTO vm_traffic (tenant_key, vm_key, started_at, window_s, elapsed_ms, interface,
                        bytes_sent, packets_sent, bytes_received, packets_received)
SELECT tenant_key, vm_key, to_timestamp(started_at_s), window_s, elapsed_ms, interface,
       bytes_sent, packets_sent, bytes_received, packets_received
FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::smallint[], %b::int[], %b::varchar[],
            %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[])
     AS i(tenant_key, vm_key, started_at_s, window_s, elapsed_ms, interface,
          bytes_sent, packets_sent, bytes_received, packets_received)
ON CONFLICT (tenant_key, vm_key, started_at) DO UPDATE
SET elapsed_ms = EXCLUDED.elapsed_ms, interface = EXCLUDED.interface,
    bytes_sent = EXCLUDED.bytes_sent, packets_sent = EXCLUDED.packets_sent,
    bytes_received = EXCLUDED.bytes_received, packets_received = EXCLUDED.packets_received
WHERE vm_traffic.interface IS NULL
"""


@dataclass(frozen=True, slots=True)
class TrafficRow:
    """One window of one VM's network interface, ready to be stored. `elapsed_ms` is the time that was counted."""

    tenant_key: int
    vm_key: int
    started_at_s: int
    window_s: int
    elapsed_ms: int
    interface: str
    bytes_sent: int
    packets_sent: int
    bytes_received: int
    packets_received: int


@dataclass(frozen=True, slots=True)
class TrafficStep:
    """Windows of one VM that start within one step, added up; `first_at_s`: start of the first of them.

    The peaks are the largest rates of a window, bytes/s. Steps without windows have no row: missing is not zero.
    """

    started_at_s: int
    first_at_s: int
    elapsed_ms: int
    bytes_sent: int
    packets_sent: int
    bytes_received: int
    packets_received: int
    peak_sent: float
    peak_received: float


def store(session: Session, rows: Sequence[TrafficRow]) -> None:
    """Store windows in a system session, also those whose waits are there; traffic that is there stays."""
    # A report that arrives twice in one batch would update one row twice, which PostgreSQL refuses.
    distinct = {(row.tenant_key, row.vm_key, row.started_at_s): row for row in reversed(rows)}
    if not distinct:
        return
    # Always in the same order, so that two batches never wait for each other in a circle.
    ordered = [distinct[key] for key in sorted(distinct)]
    names = TrafficRow.__dataclass_fields__
    columns = tuple([getattr(row, name) for row in ordered] for name in names)
    session.connection().exec_driver_sql(_STORE, columns)


def steps(session: Session, vm_key: int, start: datetime, end: datetime, step_s: int) -> list[TrafficStep]:
    """Return the windows of a VM that start in [start, end), added up by step, oldest first."""
    rows = fetch(
        session,
        "SELECT (extract(epoch FROM started_at)::bigint / %(step_s)s) * %(step_s)s AS step,"
        " extract(epoch FROM min(started_at))::bigint, sum(elapsed_ms)::bigint,"
        " sum(bytes_sent)::bigint, sum(packets_sent)::bigint, sum(bytes_received)::bigint,"
        " sum(packets_received)::bigint, max(bytes_sent * 1e3 / elapsed_ms)::float8,"
        " max(bytes_received * 1e3 / elapsed_ms)::float8"
        " FROM vm_traffic WHERE tenant_key = %(tenant_key)s AND vm_key = %(vm_key)s"
        " AND started_at >= %(start)s AND started_at < %(end)s AND interface IS NOT NULL GROUP BY step ORDER BY step",
        {"step_s": step_s, "tenant_key": tenant_of(session), "vm_key": vm_key, "start": start, "end": end},
    )
    return [TrafficStep(*row) for row in rows]


def interface(session: Session, vm_key: int, start: datetime, end: datetime) -> str | None:
    """Return the interface of a VM's newest window that starts in [start, end); None without one."""
    rows = fetch(
        session,
        "SELECT interface FROM vm_traffic WHERE tenant_key = %(tenant_key)s AND vm_key = %(vm_key)s"
        " AND started_at >= %(start)s AND started_at < %(end)s AND interface IS NOT NULL"
        " ORDER BY started_at DESC LIMIT 1",
        {"tenant_key": tenant_of(session), "vm_key": vm_key, "start": start, "end": end},
    )
    return str(rows[0][0]) if rows else None
