"""SQL of agents' last clock reports, and of the corrections computed from them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate import corrections
from sinemora.measurements.aggregate.corrections import HOLDS_S, SHIFTS, ClockReport, Corrections, Records
from sinemora.measurements.aggregate.symmetry import Floats

# Corrections that keep changing get a new row once a minute; until then they replace the last one.
_UPDATE_INTERVAL_S = 60
# Clocks of agents without a report for this number of windows are ignored.
_WINDOWS = 3

_STORE_CLOCKS = """
INSERT INTO clocks_latest (tenant_key, mesh_key, vm_key, started_at, window_s, clocks)
SELECT DISTINCT ON (tenant_key, mesh_key, vm_key)
    tenant_key, mesh_key, vm_key, to_timestamp(started_at_s), window_s, clocks
FROM unnest(%b::int[], %b::int[], %b::int[], %b::bigint[], %b::smallint[], %b::bytea[])
     AS i(tenant_key, mesh_key, vm_key, started_at_s, window_s, clocks)
ORDER BY tenant_key, mesh_key, vm_key, started_at_s DESC
ON CONFLICT (tenant_key, mesh_key, vm_key) DO UPDATE SET
    started_at = excluded.started_at, window_s = excluded.window_s, clocks = excluded.clocks
WHERE clocks_latest.started_at < excluded.started_at
"""


@dataclass(frozen=True, slots=True)
class ClockRow:
    """Clocks of one agent's window, to be stored."""

    tenant_key: int
    mesh_key: int
    vm_key: int
    started_at_s: int
    window_s: int
    corrections: bytes


def store_clocks(session: Session, rows: Sequence[ClockRow]) -> None:
    """Store the newest clocks of each agent and mesh. In a system session."""
    if not rows:
        return
    ordered = sorted(rows, key=lambda row: (row.tenant_key, row.mesh_key, row.vm_key))
    names = ClockRow.__dataclass_fields__
    session.connection().exec_driver_sql(
        _STORE_CLOCKS, tuple([getattr(row, name) for row in ordered] for name in names)
    )


def due_meshes(session: Session) -> list[tuple[int, int]]:
    """Return tenants and meshes with clock reports since their last corrections. In a system session."""
    rows = session.execute(
        text(
            "SELECT tenant_key, mesh_key FROM"
            " (SELECT tenant_key, mesh_key, max(started_at + window_s * interval '1 second') AS reported_at"
            "  FROM clocks_latest GROUP BY 1, 2) AS reported"
            " LEFT JOIN"
            " (SELECT tenant_key, mesh_key, max(ended_at) AS corrected_at FROM corrections GROUP BY 1, 2) AS corrected"
            " USING (tenant_key, mesh_key) WHERE reported_at > coalesce(corrected_at, '-infinity') ORDER BY 1, 2"
        )
    )
    return [(tenant_key, mesh_key) for tenant_key, mesh_key in rows]


def clock_reports(session: Session, tenant_key: int, mesh_key: int) -> tuple[list[ClockReport], int]:
    """Return the newest clocks of every agent that still reports them, and the length of their windows, s."""
    rows = session.execute(
        text(
            "SELECT vm_key, extract(epoch FROM started_at)::bigint + window_s AS ended_at_s, window_s, clocks"
            " FROM clocks_latest WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
        ),
        {"tenant_key": tenant_key, "mesh_key": mesh_key},
    ).all()
    newest = max((row.ended_at_s for row in rows), default=0)
    kept = [row for row in rows if row.ended_at_s > newest - _WINDOWS * row.window_s]
    window_s = max((row.window_s for row in kept), default=1)
    return [
        ClockReport(row.vm_key, row.ended_at_s, corrections.decode_clocks(bytes(row.clocks))) for row in kept
    ], window_s


def store(
    session: Session,
    tenant_key: int,
    mesh_key: int,
    started_at: datetime,
    ended_at: datetime,
    shifts: Records,
    loops: Floats,
) -> None:
    """Store corrections of the window [started_at, ended_at); equal ones extend the last row. In a system session."""
    mesh = {"tenant_key": tenant_key, "mesh_key": mesh_key}
    last = session.execute(
        text(
            "SELECT started_at, shifts FROM corrections WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
            " ORDER BY started_at DESC LIMIT 1"
        ),
        mesh,
    ).first()
    size = np.abs(loops)
    values = {
        **mesh,
        "started_at": started_at if last is None else max(started_at, last.started_at),
        "ended_at": ended_at,
        "shifts": corrections.encode(shifts),
        "loops": int(size.size),
        "loop_median_ns": int(np.median(size)) if size.size else None,
        "loop_max_ns": int(size.max()) if size.size else None,
    }
    same = last is not None and corrections.agrees(corrections.decode(bytes(last.shifts), SHIFTS), shifts)
    if last is not None and (same or started_at - last.started_at < timedelta(seconds=_UPDATE_INTERVAL_S)):
        values["started_at"] = last.started_at
        values["shifts"] = bytes(last.shifts) if same else values["shifts"]
    session.execute(
        text(
            "INSERT INTO corrections"
            " (tenant_key, mesh_key, started_at, ended_at, shifts, loops, loop_median_ns, loop_max_ns)"
            " VALUES (:tenant_key, :mesh_key, :started_at, :ended_at, :shifts, :loops, :loop_median_ns, :loop_max_ns)"
            " ON CONFLICT (tenant_key, mesh_key, started_at) DO UPDATE SET ended_at = excluded.ended_at,"
            " shifts = excluded.shifts, loops = excluded.loops, loop_median_ns = excluded.loop_median_ns,"
            " loop_max_ns = excluded.loop_max_ns"
        ),
        values,
    )


def in_range(session: Session, mesh_key: int, start: datetime, end: datetime) -> list[Corrections]:
    """Return corrections of windows that start in [start, end), oldest first. In the session of a tenant."""
    return of_mesh(session, session.info["tenant_key"], mesh_key, start, end)


def of_mesh(session: Session, tenant_key: int, mesh_key: int, start: datetime, end: datetime) -> list[Corrections]:
    """Return corrections as `in_range` does, in any session that sees the tenant."""
    return of_meshes(session, tenant_key, [mesh_key], start, end)[mesh_key]


def of_meshes(
    session: Session, tenant_key: int, mesh_keys: Sequence[int], start: datetime, end: datetime
) -> dict[int, list[Corrections]]:
    """Return corrections of windows of several meshes that start in [start, end), by mesh key, oldest first."""
    rows = session.execute(
        text(
            "SELECT mesh_key, extract(epoch FROM started_at)::bigint AS started_at_s,"
            " extract(epoch FROM ended_at)::bigint AS ended_at_s, shifts FROM corrections"
            " WHERE tenant_key = :tenant_key AND mesh_key = ANY(:mesh_keys)"
            " AND started_at < :end AND ended_at > :start ORDER BY started_at"
        ),
        {
            "tenant_key": tenant_key,
            "mesh_keys": list(mesh_keys),
            "start": start - timedelta(seconds=HOLDS_S),
            "end": end,
        },
    )
    found: dict[int, list[Corrections]] = {key: [] for key in mesh_keys}
    for mesh_key, started_at_s, ended_at_s, shifts in rows:
        found[mesh_key].append(Corrections(started_at_s, ended_at_s, corrections.decode(bytes(shifts), SHIFTS)))
    return found


def spans_at(session: Session, mesh_key: int, starts_s: Sequence[Sequence[int]]) -> list[tuple[tuple[int, int], ...]]:
    """Return the (start, end) of the corrections of windows that start at each list of times (ascending)."""
    first_s = min((starts[0] for starts in starts_s if starts), default=0)
    last_s = max((starts[-1] for starts in starts_s if starts), default=0)
    rows = session.execute(
        text(
            "SELECT extract(epoch FROM started_at)::bigint, extract(epoch FROM ended_at)::bigint FROM corrections"
            " WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key AND started_at <= to_timestamp(:last)"
            " AND ended_at > to_timestamp(:first) ORDER BY started_at"
        ),
        {
            "tenant_key": session.info["tenant_key"],
            "mesh_key": mesh_key,
            "first": first_s - HOLDS_S,
            "last": last_s,
        },
    )
    spans = np.array([tuple(row) for row in rows], np.int64).reshape(-1, 2)
    spans_by_list = []
    for starts in starts_s:
        at = np.searchsorted(spans[:, 0], np.asarray(starts, np.int64), side="right") - 1
        holds = np.asarray(starts, np.int64) < spans[at, 1] + HOLDS_S if spans.size else np.zeros(at.size, bool)
        spans_by_list.append(tuple((int(a), int(b)) for a, b in spans[np.unique(at[(at >= 0) & holds])]))
    return spans_by_list


def at_starts(session: Session, mesh_key: int, starts_s: Collection[int]) -> list[Corrections]:
    """Return the corrections of windows that start at exactly these times, oldest first."""
    rows = session.execute(
        text(
            "SELECT DISTINCT ON (c.started_at) extract(epoch FROM c.started_at)::bigint AS started_at_s,"
            " extract(epoch FROM c.ended_at)::bigint AS ended_at_s, c.shifts"
            " FROM unnest(CAST(:starts AS bigint[])) AS at_s"
            " CROSS JOIN LATERAL (SELECT started_at, ended_at, shifts FROM corrections"
            "  WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key AND started_at <= to_timestamp(at_s)"
            "  ORDER BY started_at DESC LIMIT 1) c ORDER BY c.started_at"
        ),
        {"tenant_key": session.info["tenant_key"], "mesh_key": mesh_key, "starts": list(starts_s)},
    )
    return [
        Corrections(row.started_at_s, row.ended_at_s, corrections.decode(bytes(row.shifts), SHIFTS)) for row in rows
    ]


def delete_before(session: Session, before: datetime) -> int:
    """Delete corrections of windows older than the retention. Return their number. In a system session."""
    dropped = session.execute(text("DELETE FROM corrections WHERE ended_at < :before RETURNING 1"), {"before": before})
    return len(dropped.all())
