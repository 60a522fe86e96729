"""SQL that stores reports: one statement for all frames of a batch, whoever sent them."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.measurements.frame import Frame
from sinemora.measurements.sketch import Ints
from sinemora.measurements.tiers import Tier

_ROSTERS_KEPT = 50_000
_ROSTER_KNOWN_S = 86_400.0

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


def rows_of(whole: Frame, tenant_key: int, mesh_key: int, started_at_s: int, window_s: int) -> list[FrameRow]:
    """A frame as rows."""
    return [
        FrameRow(tenant_key, mesh_key, started_at_s, whole.vm_key, number, window_s, targets, stats, sketch)
        for number, (targets, stats, sketch) in enumerate(whole.encoded())
    ]


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
    """Keys of rosters this process has written and seen committed, newest kept. For one thread.

    A key is forgotten after a day: a roster in use is written again so often, and one that is not can be dropped.
    """

    def __init__(self) -> None:
        self._keys: OrderedDict[tuple[int, bytes], tuple[int, float]] = OrderedDict()

    def get(self, roster: tuple[int, bytes]) -> int | None:
        """The key of a roster given as tenant and digest."""
        key, until_s = self._keys.get(roster, (None, 0.0))
        return key if time.monotonic() < until_s else None

    def learn(self, found: dict[tuple[int, bytes], int]) -> None:
        """Remember rosters; only once their transaction has committed."""
        until_s = time.monotonic() + _ROSTER_KNOWN_S
        for roster, key in found.items():
            self._keys[roster] = (key, until_s)
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
                "INSERT INTO rosters (tenant_key, digest, target_keys) VALUES (:tenant_key, :digest, :targets)"
                " ON CONFLICT (tenant_key, digest) DO UPDATE SET written_at = now() RETURNING key"
            ),
            {"tenant_key": tenant_key, "digest": digest, "targets": rosters[tenant_key, digest].tolist()},
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


def take_marks(
    session: Session, tenant_key: int, mesh_key: int, tier: Tier, due: datetime, limit: int
) -> list[datetime]:
    """Steps of a mesh that ended before `due` and have frames not yet merged, oldest first; the marks go.

    In a system session. Whatever is committed after this marks its step anew. None while another worker has the mesh.
    """
    mesh = {"tenant_key": tenant_key, "mesh_key": mesh_key, "step_s": tier.step_s}
    if not session.scalar(text("SELECT pg_try_advisory_xact_lock(84200003, :mesh_key)"), mesh):
        return []
    where = "tenant_key = :tenant_key AND mesh_key = :mesh_key AND step_s = :step_s"
    return list(
        session.scalars(
            text(
                f"WITH minutes AS (SELECT DISTINCT minute FROM rollup_marks WHERE {where} AND minute < :due"
                "   ORDER BY minute LIMIT :limit),"
                f" gone AS (DELETE FROM rollup_marks WHERE {where} AND minute IN (SELECT minute FROM minutes))"
                " SELECT minute FROM minutes ORDER BY minute"
            ),
            {**mesh, "due": due - timedelta(seconds=tier.step_s), "limit": limit},
        )
    )


def marked_meshes(session: Session, tier: Tier, due: datetime) -> list[tuple[int, int]]:
    """Tenants and meshes with steps to merge that ended before `due`. In a system session."""
    rows = session.execute(
        text(
            "SELECT DISTINCT tenant_key, mesh_key FROM rollup_marks WHERE step_s = :step_s AND minute < :due"
            " ORDER BY 1, 2"
        ),
        {"step_s": tier.step_s, "due": due - timedelta(seconds=tier.step_s)},
    )
    return [(tenant_key, mesh_key) for tenant_key, mesh_key in rows]


def mark(session: Session, tenant_key: int, mesh_key: int, tier: Tier, steps: Collection[datetime]) -> None:
    """Mark steps of a tier to be merged."""
    if steps:
        session.execute(
            text(
                "INSERT INTO rollup_marks (tenant_key, mesh_key, minute, step_s)"
                " SELECT :tenant_key, :mesh_key, started_at, :step_s FROM unnest(:steps) AS started_at"
            ),
            {"tenant_key": tenant_key, "mesh_key": mesh_key, "step_s": tier.step_s, "steps": sorted(steps)},
        )


def mark_gaps(session: Session, tier: Tier, start: datetime, end: datetime) -> int:
    """Mark the steps of a tier in [start, end) whose merged frames are not made of all that is stored; how many.

    In a system session. Marks are written with the frames, so this finds only what a fault or an operator left behind.
    """
    marked = session.execute(
        text(
            f"""
            WITH stored AS (
                SELECT tenant_key, mesh_key,
                    date_bin(make_interval(secs => :step_s), started_at, TIMESTAMPTZ '2000-01-01 00:00+00') AS minute,
                    count(*) AS frames
                FROM {tier.finer} WHERE started_at >= :start AND started_at < :end GROUP BY 1, 2, 3
            ), merged AS (
                SELECT tenant_key, mesh_key, started_at AS minute, sum(frames) AS frames
                FROM {tier} WHERE started_at >= :start AND started_at < :end GROUP BY 1, 2, 3
            )
            INSERT INTO rollup_marks (tenant_key, mesh_key, minute, step_s)
            SELECT s.tenant_key, s.mesh_key, s.minute, :step_s
            FROM stored s LEFT JOIN merged r USING (tenant_key, mesh_key, minute)
            WHERE r.frames IS DISTINCT FROM s.frames
                AND NOT EXISTS (SELECT FROM rollup_marks m WHERE m.tenant_key = s.tenant_key AND m.step_s = :step_s
                                AND m.mesh_key = s.mesh_key AND m.minute = s.minute)
            RETURNING 1
            """
        ),
        {"step_s": tier.step_s, "start": start, "end": end},
    )
    return len(marked.all())


def store_merged(
    session: Session, tier: Tier, merged: Sequence[FrameRow], frames: Mapping[int, int], known: RosterKeys
) -> dict[tuple[int, bytes], int]:
    """Store the merged frames of VMs of one step in place of what was there; `frames`: merged into it, by VM."""
    return _store_merged(session, tier.table, "vm_key", tier is Tier.MINUTE, merged, frames, known)


def store_merged_zones(
    session: Session, tier: Tier, merged: Sequence[FrameRow], frames: Mapping[int, int], known: RosterKeys
) -> dict[tuple[int, bytes], int]:
    """The same for frames of zones, where `vm_key` of a row is the zone's and its targets are zones."""
    return _store_merged(session, tier.zone_table, "zone_key", False, merged, frames, known)


def _store_merged(
    session: Session,
    table: str,
    source: str,
    tells_window: bool,
    merged: Sequence[FrameRow],
    frames: Mapping[int, int],
    known: RosterKeys,
) -> dict[tuple[int, bytes], int]:
    if not merged:
        return {}
    ids, learnt = _roster_keys(session, merged, known)
    window = "window_s, " if tells_window else ""
    session.connection().exec_driver_sql(
        f"""
        INSERT INTO {table}
            (tenant_key, mesh_key, started_at, {source}, block, {window}roster_key, n, stats, sketch, frames)
        SELECT tenant_key, mesh_key, to_timestamp(started_at_s), source_key, block,
               {window}roster_key, n, stats, sketch, frames
        FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::int[], %b::smallint[],
                    %b::int[], %b::int[], %b::smallint[], %b::bytea[], %b::bytea[], %b::int[])
             AS i(tenant_key, mesh_key, started_at_s, source_key, block, window_s, roster_key, n, stats, sketch, frames)
        ON CONFLICT (tenant_key, mesh_key, started_at, {source}, block) DO UPDATE SET
            roster_key = excluded.roster_key, n = excluded.n, stats = excluded.stats, sketch = excluded.sketch,
            frames = excluded.frames, rolled_at = now()
        """,
        (*_columns(merged, ids), [frames.get(row.vm_key, 0) if row.block == 0 else 0 for row in merged]),
    )
    return learnt


def drop_rosters(session: Session, before: datetime) -> int:
    """Drop rosters that nobody has written since `before`, and those of tenants that are gone; how many."""
    gone = session.execute(
        text(
            "DELETE FROM rosters r WHERE written_at < :before"
            " OR NOT EXISTS (SELECT FROM tenants t WHERE t.key = r.tenant_key) RETURNING 1"
        ),
        {"before": before},
    )
    return len(gone.all())


def make_partitions(session: Session, now: datetime, raw_days: int) -> int:
    """Partitions for all that may arrive: from the oldest report accepted to three days ahead; how many were made."""
    today = now.astimezone(UTC).date()
    made = session.scalar(
        text("SELECT make_measurement_partitions(:first, :last)"),
        {"first": today - timedelta(days=raw_days), "last": today + timedelta(days=3)},
    )
    if made:
        session.execute(text("SELECT tune_measurement_partitions()"))
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
