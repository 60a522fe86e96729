"""Reading of frames of stretches of time: of VMs or between zones, whole or the pairs of one path.

Rows come from the database, and those of aged ranges from object storage (`aged/`).
"""

import heapq
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import psycopg
from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.kit import cluster
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.parquet import SKETCH, STATS
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.store.aged import catalogue, reading
from sinemora.measurements.store.aged.catalogue import AgedObject
from sinemora.measurements.store.binary_rows import cursor_of, fetch, frames_of, targets_of, tenant_of, wrapped
from sinemora.measurements.store.tiers import ROLLED, Tier, TierRange

UNNAMED, OWN_STAMPS = 1, 2
"""Marks of a peer: its agent does not name its VM; it took its timestamps itself, after it was woken."""
_CHUNK_ROWS = 512
# Of blocks as `_read` selects them.
_BY_SOURCE = " ORDER BY 1"
_BY_TIME = " ORDER BY 2, 1, 7"


def count_frames(session: Session, mesh_key: int, stretch: TierRange, vm_keys: Collection[int] | None = None) -> int:
    """Return the number of blocks of a mesh (or of some VMs in it) that a stretch holds, of aged ones at most."""
    found = session.scalar(
        text(
            f"SELECT count(*) FROM {stretch.tier} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
            " AND started_at >= :start AND started_at < :end"
            + ("" if vm_keys is None else " AND vm_key = ANY(:vm_keys)")
        ),
        {
            "tenant_key": tenant_of(session),
            "mesh_key": mesh_key,
            "start": stretch.start,
            "end": stretch.end,
            **({} if vm_keys is None else {"vm_keys": list(vm_keys)}),
        },
    )
    aged = reading.rows_at_most(aged_objects(session, mesh_key, stretch), stretch.start, stretch.end, vm_keys)
    return int(found or 0) + aged


def starts(session: Session, mesh_key: int, stretch: TierRange) -> list[datetime]:
    """Return the starts of the windows of a mesh in a range, ascending."""
    key = "tenant_key = :tenant_key AND mesh_key = :mesh_key AND started_at < :end"
    first, following = (
        f"SELECT started_at FROM {stretch.tier} WHERE {key} AND started_at {after} ORDER BY started_at LIMIT 1"
        for after in (">= :start", "> found.started_at")
    )
    if cluster.divides_tenants(session.connection()):
        sql = f"SELECT DISTINCT started_at FROM {stretch.tier} WHERE {key} AND started_at >= :start"
    else:
        # From one to the next along the key, which has them in this order: as many steps as windows, however many
        # blocks.
        sql = (
            f"WITH RECURSIVE found AS (({first}) UNION ALL SELECT ({following}) FROM found"
            " WHERE found.started_at IS NOT NULL) SELECT started_at FROM found WHERE started_at IS NOT NULL"
        )
    parameters = {
        "tenant_key": tenant_of(session),
        "mesh_key": mesh_key,
        "start": stretch.start,
        "end": stretch.end,
    }
    stored = catalogue.consistently(
        lambda: aged_objects(session, mesh_key, stretch), lambda: list(session.scalars(text(sql), parameters))
    )
    aged = reading.rows_in(aged_objects(session, mesh_key, stretch), stretch.start, stretch.end)
    return sorted({*stored, *(datetime.fromtimestamp(at, UTC) for at in np.unique(reading.steps_s(aged)).tolist())})


def holds(session: Session, mesh_key: int, stretch: TierRange) -> bool:
    """Return whether anything of a mesh is stored in a stretch."""
    sql = (
        f"SELECT EXISTS (SELECT FROM {stretch.tier} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
        " AND started_at >= :start AND started_at < :end)"
    )
    key = {"tenant_key": tenant_of(session), "mesh_key": mesh_key, "start": stretch.start, "end": stretch.end}
    return bool(session.scalar(text(sql), key)) or bool(aged_objects(session, mesh_key, stretch))


def notes(session: Session, mesh_key: int, windows: Sequence[tuple[int, int, Ints]]) -> Ints:
    """Return what agents have noted about each target of windows (VM, start, targets), shape (4, all targets).

    The least precise origin of timestamps at either end (`TIMESTAMP_SOURCES`, from 1; 0 is not reported), marks of the
    peer, and mean residence times outbound and inbound, ns.
    """
    vm_keys, starts_s, _ = zip(*windows, strict=True)
    rows = fetch(
        session,
        "SELECT vm_key, extract(epoch FROM started_at)::bigint, roster_key, coalesce(timestamp_source, 0), peer_notes"
        " FROM probe_frames WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        " AND started_at BETWEEN to_timestamp(%(first)s) AND to_timestamp(%(last)s) AND vm_key = ANY(%(vm_keys)s)",
        {
            "tenant_key": tenant_of(session),
            "mesh_key": mesh_key,
            "first": min(starts_s),
            "last": max(starts_s),
            "vm_keys": list(vm_keys),
        },
    )
    rosters = targets_of(session, {row[2] for row in rows})
    found: dict[tuple[int, int], list[tuple[Ints, Ints]]] = {}
    for vm_key, start_s, roster, source, noted in rows:
        table = np.zeros((4, rosters[roster].size), np.int64)
        table[0] = source
        if noted:
            table[1:] = noted
            table[0, table[1] & OWN_STAMPS > 0] = 1
        found.setdefault((vm_key, start_s), []).append((rosters[roster], table))
    parts = []
    for vm_key, start_s, targets in windows:
        part = np.zeros((4, targets.size), np.int64)
        for roster, table in found.get((vm_key, start_s), ()):
            known = np.isin(targets, roster)
            part[:, known] = table[:, np.searchsorted(roster, targets[known])]
        parts.append(part)
    return np.concatenate(parts, axis=1)


def frames(
    session: Session,
    mesh_key: int,
    stretches: Sequence[TierRange],
    *,
    sketches: bool,
    vm_keys: Collection[int] | None = None,
    by_client: bool = False,
    by_time: bool = False,
) -> Iterator[list[StoredFrame]]:
    """Return the blocks of a mesh (or of some VMs in it) in stretches, in pieces small enough to hold.

    `by_client`: all those of one VM together; `by_time`: as they began, those of one time by VM and block.
    """
    parts = [(stretch, f"{stretch.tier}") for stretch in stretches]
    order = _BY_TIME if by_time else _BY_SOURCE if by_client else ""
    return _read(session, mesh_key, parts, sketches, "vm_key", vm_keys, order)


class MeshFrames(NamedTuple):
    """Blocks of a mesh in some windows, by end of the window (Unix s), and their VMs with the numbers of the blocks."""

    blocks: dict[int, list[StoredFrame]]
    known: dict[int, set[tuple[int, int]]]


def windows_of_meshes(session: Session, spans: Sequence[tuple[int, datetime, datetime]]) -> dict[int, MeshFrames]:
    """Return the reported windows of several meshes without sketches, by mesh key; spans: key, start and end."""
    keys, starts, ends = zip(*spans, strict=True)
    rows = fetch(
        session,
        "SELECT f.vm_key, extract(epoch FROM f.started_at)::bigint, f.window_s, f.roster_key, f.stats, ''::bytea,"
        " f.mesh_key, f.block::int FROM unnest(%(keys)s::int[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])"
        " AS span(mesh_key, first_at, last_at) JOIN probe_frames f ON f.mesh_key = span.mesh_key"
        " AND f.started_at >= span.first_at AND f.started_at < span.last_at"
        " WHERE f.tenant_key = %(tenant_key)s AND f.started_at >= %(first)s AND f.started_at < %(last)s",
        {
            "tenant_key": tenant_of(session),
            "keys": list(keys),
            "starts": list(starts),
            "ends": list(ends),
            "first": min(starts),
            "last": max(ends),
        },
    )
    found = {key: MeshFrames({}, {}) for key in keys}
    for row, block in zip(rows, frames_of(session, rows), strict=True):
        ended_s, of_mesh = block.started_at_s + block.window_s, found[row[6]]
        of_mesh.blocks.setdefault(ended_s, []).append(block)
        of_mesh.known.setdefault(ended_s, set()).add((block.vm_key, row[7]))
    return found


def zone_frames(
    session: Session,
    mesh_key: int,
    stretch: TierRange,
    zone_keys: Collection[int] | None = None,
    *,
    sketches: bool,
    by_source: bool = False,
) -> Iterator[list[StoredFrame]]:
    """Return the blocks between the zones of a mesh in a stretch of a merged tier; `vm_key` and `targets` are zones.

    `zone_keys`: only blocks of these clients. `by_source`: all those of one zone together.
    """
    return _read(
        session,
        mesh_key,
        [(stretch, stretch.tier.zone_table)],
        sketches,
        "zone_key",
        zone_keys,
        _BY_SOURCE if by_source else "",
    )


class RowVersion(NamedTuple):
    """Rows of a stretch, how many targets they have together, and a sum of when they were merged (0 as reported)."""

    rows: int
    targets: int
    merged_s: float


def versions(session: Session, mesh_key: int, parts: Sequence[TierRange], *, zones: bool = False) -> list[RowVersion]:
    """Return the versions of the rows of ranges, of VMs or between `zones`. The same version means the same rows."""
    if not parts:
        return []
    selects = []
    parameters: dict[str, Any] = {"tenant_key": tenant_of(session), "mesh_key": mesh_key}
    for number, part in enumerate(parts):
        merged = "0" if part.tier is Tier.RAW else "sum(date_part('epoch', rolled_at - started_at))"
        selects.append(
            f"SELECT {number} AS number, count(*), coalesce(sum(n), 0)::bigint, coalesce({merged}, 0)::float8"
            f" FROM {part.tier.zone_table if zones else part.tier} WHERE tenant_key = %(tenant_key)s"
            f" AND mesh_key = %(mesh_key)s AND started_at >= %(start{number})s AND started_at < %(end{number})s"
        )
        parameters |= {f"start{number}": part.start, f"end{number}": part.end}
    sql = " UNION ALL ".join(selects) + " ORDER BY 1"
    rows = catalogue.consistently(
        lambda: [one for part in parts for one in aged_objects(session, mesh_key, part, zones=zones)],
        lambda: fetch(session, sql, parameters),
    )
    return [
        _with_aged(session, mesh_key, part, RowVersion(*row[1:]), zones=zones)
        for part, row in zip(parts, rows, strict=True)
    ]


def _with_aged(session: Session, mesh_key: int, part: TierRange, stored: RowVersion, *, zones: bool) -> RowVersion:
    """Return the version of a part with its aged rows."""
    objects = aged_objects(session, mesh_key, part, zones=zones)
    if not objects:
        return stored
    rows = reading.rows_in(objects, part.start, part.end)
    merged_s = float((rows.rolled_at - rows.started_at).sum()) / 1e6
    return RowVersion(stored.rows + rows.count, stored.targets + int(rows.n.sum()), stored.merged_s + merged_s)


def aged_objects(session: Session, mesh_key: int, part: TierRange, *, zones: bool = False) -> list[AgedObject]:
    """Return the aged objects that hold rows of a part."""
    if part.tier is Tier.RAW:
        return []
    table = part.tier.zone_table if zones else part.tier.table
    return catalogue.current(session, tenant_of(session), mesh_key, table, part.start, part.end)


def _read(
    session: Session,
    mesh_key: int,
    parts: Sequence[tuple[TierRange, str]],
    sketches: bool,
    source: str,
    keys: Collection[int] | None,
    order: str,
) -> Iterator[list[StoredFrame]]:
    parameters: dict[str, Any] = {"tenant_key": tenant_of(session), "mesh_key": mesh_key, "keys": list(keys or ())}
    selects = []
    for number, (stretch, table) in enumerate(parts):
        selects.append(
            f"SELECT {source}, extract(epoch FROM started_at)::bigint, {window_s(table, stretch.tier)}, roster_key, "
            + ("stats, sketch" if sketches else "stats, ''::bytea")
            + f", block FROM {table} WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
            f" AND started_at >= %(start{number})s AND started_at < %(end{number})s"
            + ("" if keys is None else f" AND {source} = ANY(%(keys)s)")
        )
        parameters |= {f"start{number}": stretch.start, f"end{number}": stretch.end}
    if not selects:
        return
    # Only pointers to the large columns are sorted.
    sql = " UNION ALL ".join(selects) + order

    def objects_of(part: tuple[TierRange, str]) -> list[AgedObject]:
        stretch, table = part
        return catalogue.current(session, tenant_of(session), mesh_key, table, stretch.start, stretch.end)

    with cursor_of(session, "frames") as cursor:

        def opened() -> Iterator[tuple[Any, ...]]:
            cursor.execute(sql, parameters)
            return _fetched(cursor)

        try:
            stored = catalogue.consistently(lambda: [one for part in parts for one in objects_of(part)], opened)
            aged = [(objects, *part[0][1:]) for part in parts if (objects := objects_of(part))]
            rows = _together(stored, aged, keys, (STATS, SKETCH) if sketches else (STATS,), order)
            while some := list(islice(rows, _CHUNK_ROWS)):
                yield frames_of(session, some)
        except psycopg.Error as error:
            raise wrapped(sql, error) from error


def _fetched(cursor: Any) -> Iterator[tuple[Any, ...]]:
    while rows := cursor.fetchmany(_CHUNK_ROWS):
        yield from rows


def _together(
    stored: Iterator[tuple[Any, ...]],
    aged: Sequence[tuple[list[AgedObject], datetime, datetime]],
    keys: Collection[int] | None,
    columns: Sequence[str],
    order: str,
) -> Iterator[tuple[Any, ...]]:
    """Return the rows of the database and those of aged objects of parts of time, in an order of `_read`."""
    if not aged:
        return stored
    if order == _BY_SOURCE:
        return heapq.merge(stored, reading.by_source(aged, keys, columns), key=lambda row: row[0])
    from_storage = chain.from_iterable(
        reading.by_time(objects, start, end, keys, columns) for objects, start, end in aged
    )
    if order == _BY_TIME:
        return heapq.merge(stored, from_storage, key=lambda row: (row[1], row[0], row[6]))
    return chain(stored, from_storage)


def window_s(table: str, tier: Tier) -> str:
    """SQL of the length of the interval of a frame in the table of a tier."""
    return "window_s" if table in (Tier.RAW, Tier.MINUTE) else str(tier.step_s)


def zones_of_vms(session: Session, tenant_key: int) -> tuple[Ints, Ints]:
    """Keys of all VMs of a tenant, ascending, and of the zone each of them is in."""
    rows = fetch(
        session,
        "SELECT v.key, z.key FROM vms v JOIN zones z ON z.id = v.zone_id JOIN tenants t ON t.id = v.tenant_id"
        " WHERE t.key = %(tenant_key)s ORDER BY v.key",
        {"tenant_key": tenant_key},
    )
    found = np.array(rows, np.int64).reshape(-1, 2)
    return found[:, 0].copy(), found[:, 1].copy()


def zone_keys(session: Session, zone_ids: Sequence[UUID]) -> Ints:
    """Keys of zones, in the order asked for."""
    rows = session.execute(text("SELECT id, key FROM zones WHERE id = ANY(:ids)"), {"ids": list(zone_ids)})
    found = {zone_id: key for zone_id, key in rows}
    return np.array([found[zone_id] for zone_id in zone_ids], np.int64)


def rolled_until(session: Session, mesh_key: int) -> dict[Tier, datetime]:
    """End of the newest merged step of a mesh in each tier that has one."""
    newest = ", ".join(
        f"(SELECT max(started_at) FROM {tier} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key)"
        for tier in ROLLED
    )
    tenant_key = tenant_of(session)
    row = session.execute(text(f"SELECT {newest}"), {"tenant_key": tenant_key, "mesh_key": mesh_key}).one()
    until = {tier: at + timedelta(seconds=tier.step_s) for tier, at in zip(ROLLED, row, strict=True) if at is not None}
    # Newer rows are aged last, so the database has the newest step of a mesh that is still measured.
    if len(until) < len(ROLLED) or min(until.values()) < datetime.now(UTC) - catalogue.YOUNGEST:
        for tier, at in catalogue.last_steps(session, tenant_key, mesh_key).items():
            until[tier] = max(at, until.get(tier, at))
    return until


def pins_over(session: Session, mesh_key: int, start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Kept ranges of a mesh that hold all of [start, end): when each starts, and when it was made."""
    rows = session.execute(
        text(
            "SELECT p.started_at, p.created_at FROM pins p JOIN meshes m ON m.id = p.mesh_id"
            " WHERE m.key = :mesh_key AND p.started_at <= :start AND p.ended_at >= :end"
        ),
        {"mesh_key": mesh_key, "start": start, "end": end},
    )
    return [(started_at, created_at) for started_at, created_at in rows]
