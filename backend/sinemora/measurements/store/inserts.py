"""SQL that stores reports: one statement for all frames of a batch, three on a cluster."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.kit import cluster
from sinemora.kit.lru_cache import LruCache
from sinemora.measurements.aggregate.merge import Piece
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import Frame
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.store.tiers import Tier

_ROSTERS_KEPT = 50_000
_ROSTER_KNOWN_S = 86_400.0
_BRACES = str.maketrans("[]", "{}")

COUNTED = " RETURNING 1"
"""End of an `INSERT … ON CONFLICT DO NOTHING` whose new rows are counted: else Citus counts those it left out too."""

_INPUT = """
    SELECT tenant_key, mesh_key, to_timestamp(started_at_s) AS started_at, vm_key, block,
           window_s, roster_key, n, stats, sketch, timestamp_source, peer_notes::int[] AS peer_notes
    FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::int[], %b::smallint[],
                %b::smallint[], %b::int[], %b::smallint[], %b::bytea[], %b::bytea[], %b::smallint[],
                %b::text[])
         AS i(tenant_key, mesh_key, started_at_s, vm_key, block, window_s, roster_key, n, stats, sketch,
              timestamp_source, peer_notes)
"""
_FRAMES = """
    INSERT INTO probe_frames
        (tenant_key, mesh_key, started_at, vm_key, block, window_s, roster_key, n, stats, sketch, timestamp_source,
         peer_notes)
    SELECT tenant_key, mesh_key, started_at, vm_key, block, window_s, roster_key, n, stats, sketch, timestamp_source,
           peer_notes
    FROM {input}
    ON CONFLICT DO NOTHING
"""
_LATEST = """
    INSERT INTO path_latest
        (tenant_key, mesh_key, vm_key, block, started_at, window_s, roster_key, n, stats)
    SELECT DISTINCT ON (tenant_key, mesh_key, vm_key, block)
        tenant_key, mesh_key, vm_key, block, started_at, window_s, roster_key, n, stats
    FROM {input} ORDER BY tenant_key, mesh_key, vm_key, block, started_at DESC
    ON CONFLICT (tenant_key, mesh_key, vm_key, block) DO UPDATE SET
        started_at = excluded.started_at, window_s = excluded.window_s,
        roster_key = excluded.roster_key, n = excluded.n, stats = excluded.stats,
        received_at = excluded.received_at
    WHERE path_latest.started_at < excluded.started_at
       OR path_latest.started_at > now() + interval '1 minute' -- the clock of the backend was stepped back
"""
_MARKS = """
    INSERT INTO rollup_marks (tenant_key, mesh_key, minute)
    SELECT DISTINCT tenant_key, mesh_key, date_trunc('minute', started_at) FROM {input}
"""
# The newest window of a block is kept next to the frames, and the minutes that have new windows are marked, all in one
# statement: either everything is there after the commit or nothing. A frame that is already there changes nothing.
_STORE = f"""
WITH input AS MATERIALIZED ({_INPUT}),
stored AS ({_FRAMES.format(input="input")} RETURNING tenant_key, mesh_key, started_at),
latest AS ({_LATEST.format(input="input")}),
marked AS ({_MARKS.format(input="stored")})
SELECT count(*) FROM stored
"""
# Measured alone, a batch in three statements takes a cluster 195 µs of processor time a window, in one 254 µs. Minutes
# of frames that are already there are marked too: a worker may have committed them before the coordinator, with the
# marks, was lost.
_STORE_SPREAD = [part.format(input=f"({_INPUT}) AS input") for part in (_FRAMES + COUNTED, _LATEST, _MARKS)]

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
    timestamp_source: int | None = None
    peer_notes: list[list[int]] | None = None

    @property
    def key(self) -> tuple[int, int, int, int, int]:
        """The primary key. Batches are stored in its order, so that two never wait for each other in a circle."""
        return self.tenant_key, self.mesh_key, self.started_at_s, self.vm_key, self.block


def rows_of_frame(whole: Frame, tenant_key: int, mesh_key: int, started_at_s: int, window_s: int) -> list[FrameRow]:
    return [
        FrameRow(tenant_key, mesh_key, started_at_s, whole.vm_key, number, window_s, targets, stats, sketch)
        for number, (targets, stats, sketch) in enumerate(whole.encoded())
    ]


def rows_of_pairs(piece: Piece, tenant_key: int, mesh_key: int, started_at_s: int, step_s: int) -> list[FrameRow]:
    """Convert the merged pairs of one step, by ascending keys, to rows."""
    assert piece.sketches is not None
    clients, sizes = np.unique(piece.clients, return_counts=True)
    blocks = iter(frame.encode(piece.stats, piece.sketches, sizes.tolist()))
    rows, low = [], 0
    for client, size in zip(clients.tolist(), sizes.tolist(), strict=True):
        for number, first in enumerate(range(low, low + size, frame.TARGETS_MAX)):
            targets = piece.targets[first : min(first + frame.TARGETS_MAX, low + size)]
            rows.append(FrameRow(tenant_key, mesh_key, started_at_s, client, number, step_s, targets, *next(blocks)))
        low += size
    return rows


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
    """Keys of rosters that this process has written and seen committed.

    A key is dropped after a day, so that a roster in use is written at least once a day and one that is not can go.
    """

    def __init__(self) -> None:
        self._keys: LruCache[tuple[int, bytes], int] = LruCache(_ROSTERS_KEPT, max_age_s=_ROSTER_KNOWN_S)

    def get(self, roster: tuple[int, bytes]) -> int | None:
        """Return the key of a roster, given as tenant and digest."""
        return self._keys.get(roster)

    def learn(self, rosters: dict[tuple[int, bytes], int]) -> None:
        """Store keys of rosters; only once their transaction has committed."""
        for roster, key in rosters.items():
            self._keys.put(roster, key)


def roster_digest(targets: Ints) -> bytes:
    """Return the digest of a list of VM keys."""
    return hashlib.sha256(targets.astype("<i4").tobytes()).digest()


def store_frames(
    session: Session, frames: Sequence[FrameRow], known: RosterKeys
) -> tuple[int, dict[tuple[int, bytes], int]]:
    """Store frames in a system session; how many were new, and rosters learnt on the way (see `RosterKeys.learn`)."""
    if not frames:
        return 0, {}
    rows = sorted(frames, key=lambda row: row.key)
    ids, learnt = _roster_keys(session, rows, known)
    # `unnest` takes no lists of lists.
    notes = [row.peer_notes and str(row.peer_notes).translate(_BRACES) for row in rows]
    columns = (*_columns(rows, ids), [row.timestamp_source for row in rows], notes)
    connection = session.connection()
    if not cluster.is_spread(connection):
        return int(connection.exec_driver_sql(_STORE, columns).scalar_one()), learnt
    stored = [connection.exec_driver_sql(statement, columns).rowcount for statement in _STORE_SPREAD]
    return stored[0], learnt


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
    """Return the key of each row's roster, and the rosters learnt on the way."""
    rosters = [(row.tenant_key, roster_digest(row.targets)) for row in rows]
    keys = {roster: known.get(roster) for roster in rosters}
    unknown = {roster: row.targets for roster, row in zip(rosters, rows, strict=True) if keys[roster] is None}
    learnt = _store_rosters(session, unknown)
    return [keys[roster] or learnt[roster] for roster in rosters], learnt


def _store_rosters(session: Session, rosters: dict[tuple[int, bytes], Ints]) -> dict[tuple[int, bytes], int]:
    """Keys of rosters, stored now where they are new."""
    if not rosters:
        return {}
    # Nearly all are stored already, by another process or for another tier: their targets need not be sent again.
    # Always in the same order, so that two processes do not wait for one another.
    rows = session.connection().exec_driver_sql(
        """
        WITH known AS (
            SELECT key FROM rosters JOIN unnest(%b::int[], %b::bytea[]) AS i(tenant_key, digest)
                USING (tenant_key, digest) ORDER BY tenant_key, digest FOR UPDATE OF rosters
        )
        UPDATE rosters SET written_at = now() FROM known WHERE rosters.key = known.key
        RETURNING rosters.tenant_key, rosters.digest, rosters.key
        """,
        ([tenant_key for tenant_key, _ in rosters], [digest for _, digest in rosters]),
    )
    keys = {(tenant_key, bytes(digest)): int(key) for tenant_key, digest, key in rows}
    for tenant_key, digest in sorted(rosters.keys() - keys.keys()):
        row = session.execute(
            text(
                "INSERT INTO rosters (tenant_key, digest, target_keys) VALUES (:tenant_key, :digest, :targets)"
                " ON CONFLICT (tenant_key, digest) DO UPDATE SET written_at = now() RETURNING key"
            ),
            {"tenant_key": tenant_key, "digest": digest, "targets": rosters[tenant_key, digest].tolist()},
        ).one()
        keys[tenant_key, digest] = int(row.key)
    return keys


def store_spikes(session: Session, spikes: Sequence[SpikeRow]) -> None:
    """Store spikes in a system session; those already there stay."""
    if not spikes:
        return
    rows = sorted(
        spikes, key=lambda row: (row.tenant_key, row.mesh_key, row.started_at_s, row.source_key, row.target_key)
    )
    names = SpikeRow.__dataclass_fields__
    session.connection().exec_driver_sql(_STORE_SPIKES, tuple([getattr(row, name) for row in rows] for name in names))


def store_merged(
    session: Session, tier: Tier, merged: Sequence[FrameRow], frames: Mapping[int, int], known: RosterKeys
) -> dict[tuple[int, bytes], int]:
    """Store the merged frames of VMs of one step in place of what was there; `frames`: merged into it, by VM."""
    return _store_merged(session, tier.table, "vm_key", tier is Tier.MINUTE, merged, frames, known)


def store_merged_zones(
    session: Session, tier: Tier, merged: Sequence[FrameRow], frames: Mapping[int, int], known: RosterKeys
) -> dict[tuple[int, bytes], int]:
    """Return the same for frames of zones, where `vm_key` of a row is the zone's and its targets are zones."""
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
            (tenant_key, mesh_key, started_at, {source}, block, {window}roster_key, n, stats, sketch, frames,
             rolled_at)
        SELECT tenant_key, mesh_key, to_timestamp(started_at_s), source_key, block,
               {window}roster_key, n, stats, sketch, frames, now()
        FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::int[], %b::smallint[],
                    %b::int[], %b::int[], %b::smallint[], %b::bytea[], %b::bytea[], %b::int[])
             AS i(tenant_key, mesh_key, started_at_s, source_key, block, window_s, roster_key, n, stats, sketch, frames)
        ON CONFLICT (tenant_key, mesh_key, started_at, {source}, block) DO UPDATE SET
            roster_key = excluded.roster_key, n = excluded.n, stats = excluded.stats, sketch = excluded.sketch,
            frames = excluded.frames, rolled_at = excluded.rolled_at
        """,
        (*_columns(merged, ids), [frames.get(row.vm_key, 0) if row.block == 0 else 0 for row in merged]),
    )
    return learnt
