"""SQL that stores reports: one statement for all frames of a batch, whoever sent them."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.measurements.sketch import Ints

_ROSTERS_KEPT = 50_000

# The newest window of a block is kept beside the frames, and the minutes that have new windows are marked, all in one
# statement: either everything is there after the commit or nothing. A frame that is already there changes nothing.
_STORE = """
WITH input AS MATERIALIZED (
    SELECT tenant_key, mesh_key, to_timestamp(started_at_s) AS started_at, vm_key, block,
           window_s, roster_key, n, stats, sketch
    FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::int[], %b::smallint[],
                %b::smallint[], %b::int[], %b::smallint[], %b::bytea[], %b::bytea[])
         AS i(tenant_key, mesh_key, started_at_s, vm_key, block, window_s, roster_key, n, stats, sketch)
), stored AS (
    INSERT INTO probe_frames
        (tenant_key, mesh_key, started_at, vm_key, block, window_s, roster_key, n, stats, sketch)
    SELECT tenant_key, mesh_key, started_at, vm_key, block, window_s, roster_key, n, stats, sketch FROM input
    ON CONFLICT DO NOTHING
    RETURNING tenant_key, mesh_key, started_at
), latest AS (
    INSERT INTO path_latest
        (tenant_key, mesh_key, vm_key, block, started_at, window_s, roster_key, n, stats)
    SELECT DISTINCT ON (tenant_key, mesh_key, vm_key, block)
        tenant_key, mesh_key, vm_key, block, started_at, window_s, roster_key, n, stats
    FROM input ORDER BY tenant_key, mesh_key, vm_key, block, started_at DESC
    ON CONFLICT (tenant_key, mesh_key, vm_key, block) DO UPDATE SET
        started_at = excluded.started_at, window_s = excluded.window_s,
        roster_key = excluded.roster_key, n = excluded.n, stats = excluded.stats
    WHERE path_latest.started_at < excluded.started_at
), marked AS (
    INSERT INTO rollup_marks (tenant_key, mesh_key, minute)
    SELECT DISTINCT tenant_key, mesh_key, date_trunc('minute', started_at) FROM stored
)
SELECT count(*) FROM stored
"""

_STORE_SPIKES = """
INSERT INTO spikes
    (tenant_key, mesh_key, started_at, source_key, target_key, window_s, max_ns, median_ns, evidence)
SELECT tenant_key, mesh_key, to_timestamp(started_at_s), source_key, target_key, window_s, max_ns, median_ns, evidence
FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::int[], %b::int[], %b::smallint[], %b::bigint[], %b::bigint[],
            %b::bytea[])
     AS i(tenant_key, mesh_key, started_at_s, source_key, target_key, window_s, max_ns, median_ns, evidence)
ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class FrameRow:
    """One block of a frame, ready to be stored; `targets` are the VM keys of its roster."""

    tenant_key: int
    mesh_key: int
    started_at_s: int
    vm_key: int
    block: int
    window_s: int
    targets: Ints
    stats: bytes
    sketch: bytes

    @property
    def key(self) -> tuple[int, int, int, int, int]:
        """The primary key. Batches are stored in its order, so that two never wait for each other in a circle."""
        return self.tenant_key, self.mesh_key, self.started_at_s, self.vm_key, self.block


@dataclass(frozen=True, slots=True)
class SpikeRow:
    """One direction of a pair whose largest delay stood out in a window."""

    tenant_key: int
    mesh_key: int
    started_at_s: int
    source_key: int
    target_key: int
    window_s: int
    max_ns: int
    median_ns: int
    evidence: bytes


class RosterKeys:
    """Keys of rosters this process has seen committed, newest kept. For one thread."""

    def __init__(self) -> None:
        self._keys: OrderedDict[tuple[int, bytes], int] = OrderedDict()

    def get(self, roster: tuple[int, bytes]) -> int | None:
        """The key of a roster given as tenant and digest."""
        return self._keys.get(roster)

    def learn(self, found: dict[tuple[int, bytes], int]) -> None:
        """Remember rosters; only once their transaction has committed."""
        self._keys.update(found)
        while len(self._keys) > _ROSTERS_KEPT:
            self._keys.popitem(last=False)


def roster_digest(targets: Ints) -> bytes:
    """What a list of VM keys is recognised by."""
    return hashlib.sha256(targets.astype("<i4").tobytes()).digest()


def store_frames(
    session: Session, frames: Sequence[FrameRow], known: RosterKeys
) -> tuple[int, dict[tuple[int, bytes], int]]:
    """Store frames in a system session; how many were new, and rosters learnt on the way (see `RosterKeys.learn`)."""
    if not frames:
        return 0, {}
    rows = sorted(frames, key=lambda row: row.key)
    ids, learnt = _roster_keys(session, rows, known)
    stored = session.connection().exec_driver_sql(_STORE, _columns(rows, ids)).scalar_one()
    return int(stored), learnt


def _columns(rows: Sequence[FrameRow], roster_keys: list[int]) -> tuple[list[Any], ...]:
    return (
        [row.tenant_key for row in rows],
        [row.mesh_key for row in rows],
        [row.started_at_s for row in rows],
        [row.vm_key for row in rows],
        [row.block for row in rows],
        [row.window_s for row in rows],
        roster_keys,
        [int(row.targets.size) for row in rows],
        [row.stats for row in rows],
        [row.sketch for row in rows],
    )


def _roster_keys(
    session: Session, rows: Sequence[FrameRow], known: RosterKeys
) -> tuple[list[int], dict[tuple[int, bytes], int]]:
    """The key of each row's roster, and the rosters learnt on the way."""
    rosters = [(row.tenant_key, roster_digest(row.targets)) for row in rows]
    unknown = {roster: row.targets for roster, row in zip(rosters, rows, strict=True) if known.get(roster) is None}
    learnt = _store_rosters(session, unknown)
    return [known.get(roster) or learnt[roster] for roster in rosters], learnt


def _store_rosters(session: Session, rosters: dict[tuple[int, bytes], Ints]) -> dict[tuple[int, bytes], int]:
    """Keys of rosters, stored now where they are new."""
    found = {}
    for tenant_key, digest in sorted(rosters):
        row = session.execute(
            text(
                "WITH added AS (INSERT INTO rosters (tenant_key, digest, target_keys)"
                "  VALUES (:tenant_key, :digest, :targets) ON CONFLICT DO NOTHING RETURNING key)"
                " SELECT key FROM added UNION ALL"
                " SELECT key FROM rosters WHERE tenant_key = :tenant_key AND digest = :digest"
            ),
            {"tenant_key": tenant_key, "digest": digest, "targets": rosters[tenant_key, digest].tolist()},
        ).first()
        if row is None:  # another process added it after this statement began to look
            row = session.execute(
                text("SELECT key FROM rosters WHERE tenant_key = :tenant_key AND digest = :digest"),
                {"tenant_key": tenant_key, "digest": digest},
            ).one()
        found[tenant_key, digest] = int(row.key)
    return found


def store_spikes(session: Session, spikes: Sequence[SpikeRow]) -> None:
    """Store spikes in a system session; those already there stay."""
    if not spikes:
        return
    rows = sorted(
        spikes, key=lambda row: (row.tenant_key, row.mesh_key, row.started_at_s, row.source_key, row.target_key)
    )
    names = SpikeRow.__dataclass_fields__
    session.connection().exec_driver_sql(_STORE_SPIKES, tuple([getattr(row, name) for row in rows] for name in names))


def take_marks(session: Session, tenant_key: int, mesh_key: int, due: datetime, limit: int) -> list[datetime]:
    """Minutes of a mesh that ended before `due` and have windows not yet merged, oldest first; the marks go.

    In a system session. Whatever is committed after this marks its minute anew. None while another worker has the mesh.
    """
    mesh = {"tenant_key": tenant_key, "mesh_key": mesh_key}
    if not session.scalar(text("SELECT pg_try_advisory_xact_lock(84200003, :mesh_key)"), mesh):
        return []
    where = "tenant_key = :tenant_key AND mesh_key = :mesh_key"
    return list(
        session.scalars(
            text(
                f"WITH minutes AS (SELECT DISTINCT minute FROM rollup_marks WHERE {where} AND minute < :due"
                "   ORDER BY minute LIMIT :limit),"
                f" gone AS (DELETE FROM rollup_marks WHERE {where} AND minute IN (SELECT minute FROM minutes))"
                " SELECT minute FROM minutes ORDER BY minute"
            ),
            {**mesh, "due": due - timedelta(minutes=1), "limit": limit},
        )
    )


def marked_meshes(session: Session, due: datetime) -> list[tuple[int, int]]:
    """Tenants and meshes with minutes to merge that ended before `due`. In a system session."""
    rows = session.execute(
        text("SELECT DISTINCT tenant_key, mesh_key FROM rollup_marks WHERE minute < :due ORDER BY 1, 2"),
        {"due": due - timedelta(minutes=1)},
    )
    return [(tenant_key, mesh_key) for tenant_key, mesh_key in rows]


def mark_gaps(session: Session, start: datetime, end: datetime) -> int:
    """Mark the minutes in [start, end) whose merged frames are not made of all that is stored; how many.

    In a system session. Marks are written with the frames, so this finds only what a fault or an operator left behind.
    """
    marked = session.execute(
        text(
            """
            WITH stored AS (
                SELECT tenant_key, mesh_key, date_trunc('minute', started_at) AS minute, count(*) AS frames
                FROM probe_frames WHERE started_at >= :start AND started_at < :end GROUP BY 1, 2, 3
            ), merged AS (
                SELECT tenant_key, mesh_key, started_at AS minute, sum(frames) AS frames
                FROM probe_frames_1m WHERE started_at >= :start AND started_at < :end GROUP BY 1, 2, 3
            )
            INSERT INTO rollup_marks (tenant_key, mesh_key, minute)
            SELECT s.tenant_key, s.mesh_key, s.minute
            FROM stored s LEFT JOIN merged r USING (tenant_key, mesh_key, minute)
            WHERE r.frames IS DISTINCT FROM s.frames
                AND NOT EXISTS (SELECT FROM rollup_marks m WHERE m.tenant_key = s.tenant_key
                                AND m.mesh_key = s.mesh_key AND m.minute = s.minute)
            RETURNING 1
            """
        ),
        {"start": start, "end": end},
    )
    return len(marked.all())


def store_minute(
    session: Session, merged: Sequence[FrameRow], frames: dict[int, int], known: RosterKeys
) -> dict[tuple[int, bytes], int]:
    """Store the merged frames of one minute in place of what was there; `frames`: raw frames merged, by VM."""
    if not merged:
        return {}
    ids, learnt = _roster_keys(session, merged, known)
    session.connection().exec_driver_sql(
        """
        INSERT INTO probe_frames_1m
            (tenant_key, mesh_key, started_at, vm_key, block, window_s, roster_key, n, stats, sketch, frames)
        SELECT tenant_key, mesh_key, to_timestamp(started_at_s), vm_key, block,
               window_s, roster_key, n, stats, sketch, frames
        FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::int[], %b::smallint[],
                    %b::smallint[], %b::int[], %b::smallint[], %b::bytea[], %b::bytea[], %b::int[])
             AS i(tenant_key, mesh_key, started_at_s, vm_key, block, window_s, roster_key, n, stats, sketch, frames)
        ON CONFLICT (tenant_key, mesh_key, started_at, vm_key, block) DO UPDATE SET
            roster_key = excluded.roster_key, n = excluded.n, stats = excluded.stats, sketch = excluded.sketch,
            frames = excluded.frames, rolled_at = now()
        """,
        (*_columns(merged, ids), [frames[row.vm_key] if row.block == 0 else 0 for row in merged]),
    )
    return learnt


def make_partitions(session: Session, now: datetime, raw_days: int) -> int:
    """Partitions for all that may arrive: from the oldest report accepted to three days ahead; how many were made."""
    today = now.astimezone(UTC).date()
    made = session.scalar(
        text("SELECT make_measurement_partitions(:first, :last)"),
        {"first": today - timedelta(days=raw_days), "last": today + timedelta(days=3)},
    )
    return int(made or 0)


def forget_latest(session: Session, before: datetime) -> None:
    """Forget newest windows older than what is kept: nobody will report on those paths again soon."""
    session.execute(text("DELETE FROM path_latest WHERE started_at < :before"), {"before": before})


def drop_before(session: Session, table: str, day: date) -> int:
    """Drop the partitions of `table` that end before `day` begins, but for kept ranges; how many went whole."""
    dropped = session.scalar(text("SELECT forget_measurements_before(:table, :day)"), {"table": table, "day": day})
    return int(dropped or 0)


def delete_before(session: Session, table: str, tenant_id: UUID, before: datetime) -> int:
    """Delete what one tenant has in `table` from before a time, but for its kept ranges; how many rows."""
    gone = session.execute(
        text(
            f"DELETE FROM {table} f USING tenants t"
            " WHERE t.id = :id AND f.tenant_key = t.key AND f.started_at < :before AND NOT EXISTS ("
            "  SELECT FROM pins p JOIN meshes m ON m.id = p.mesh_id WHERE m.key = f.mesh_key"
            "  AND f.started_at > p.started_at - interval '1 minute' AND f.started_at < p.ended_at)"
        ),
        {"id": tenant_id, "before": before},
    )
    return int(gone.rowcount)  # type: ignore[attr-defined]
