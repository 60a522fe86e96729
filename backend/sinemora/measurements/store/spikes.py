"""SQL of spikes."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from sinemora.measurements.store.binary_rows import fetch, tenant_of


class StoredSpike(NamedTuple):
    """Stored spike; `evidence` is empty unless requested."""

    started_at_s: int
    source_key: int
    target_key: int
    window_s: int
    max_ns: int
    median_ns: int
    evidence: bytes


def spikes(
    session: Session,
    mesh_key: int,
    start: datetime,
    end: datetime,
    ends: tuple[Collection[int], Collection[int]],
    rise_ns_min: int,
    after: tuple[int, int, int] | None,
    limit: int,
) -> list[StoredSpike]:
    """Return spikes between sources and targets `ends` (VM keys) in [start, end), newest first, from `after` on."""
    rows = fetch(
        session,
        "SELECT extract(epoch FROM started_at)::bigint, source_key, target_key, window_s, max_ns, median_ns,"
        " ''::bytea FROM spikes WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        " AND started_at >= %(start)s AND started_at < %(end)s"
        " AND source_key = ANY(%(sources)s) AND target_key = ANY(%(targets)s) AND max_ns - median_ns >= %(rise)s"
        + (
            ""
            if after is None
            else " AND (started_at, source_key, target_key) < (to_timestamp(%(at)s), %(source)s::int, %(target)s::int)"
        )
        + " ORDER BY started_at DESC, source_key DESC, target_key DESC LIMIT %(limit)s",
        {
            "tenant_key": tenant_of(session),
            "mesh_key": mesh_key,
            "start": start,
            "end": end,
            "sources": list(ends[0]),
            "targets": list(ends[1]),
            "rise": rise_ns_min,
            "limit": limit,
            **({} if after is None else dict(zip(("at", "source", "target"), after, strict=True))),
        },
    )
    return [StoredSpike(*row) for row in rows]


def with_evidence(session: Session, mesh_key: int, start: datetime, end: datetime, limit: int) -> list[StoredSpike]:
    """Return the spikes of a mesh in [start, end) with their evidence, largest rise first."""
    rows = fetch(
        session,
        "SELECT extract(epoch FROM started_at)::bigint, source_key, target_key, window_s, max_ns, median_ns, evidence"
        " FROM spikes WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s AND started_at >= %(start)s"
        " AND started_at < %(end)s ORDER BY max_ns - median_ns DESC, source_key, target_key LIMIT %(limit)s",
        {"tenant_key": tenant_of(session), "mesh_key": mesh_key, "start": start, "end": end, "limit": limit},
    )
    return [StoredSpike(*row) for row in rows]


def spike(session: Session, mesh_key: int, started_at_s: int, source_key: int, target_key: int) -> StoredSpike | None:
    """Return a spike with its evidence."""
    rows = fetch(
        session,
        "SELECT extract(epoch FROM started_at)::bigint, source_key, target_key, window_s, max_ns, median_ns, evidence"
        " FROM spikes WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        " AND started_at = to_timestamp(%(at)s) AND source_key = %(source)s AND target_key = %(target)s",
        {
            "tenant_key": tenant_of(session),
            "mesh_key": mesh_key,
            "at": started_at_s,
            "source": source_key,
            "target": target_key,
        },
    )
    return StoredSpike(*rows[0]) if rows else None
