"""SQL that reads what was measured. Large columns come as raw bytes (binary cursors), never as text.

Every statement names the tenant's key, although row-level security would add it: only so can it use the primary keys.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import psycopg
from sqlalchemy import exc, text
from sqlalchemy.orm import Session

from sinemora.measurements.sketch import Ints
from sinemora.measurements.tiers import ROLLED, Stretch, Tier

_ROSTERS_KEPT = 20_000
_CHUNK_ROWS = 512
# How far back the newest windows are looked for after a crash of the database has emptied `path_latest`.
_REBUILT_HOURS = 6

_HEAD = "vm_key, block, roster_key, n, xmin::text::bigint, extract(epoch FROM started_at)::bigint"

_rosters: OrderedDict[int, Ints] = OrderedDict()
_rosters_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class StoredFrame:
    """A block of a frame as it is stored; `sketch` is empty unless asked for."""

    vm_key: int
    started_at_s: int
    window_s: int
    targets: Ints
    stats: bytes
    sketch: bytes


@dataclass(frozen=True, slots=True)
class StoredPath:
    """A block that has one pair: `at` is the pair's position in it, `forward` whether the asked source was client."""

    forward: bool
    started_at_s: int
    window_s: int
    at: int
    stats: bytes
    sketch: bytes


def latest(
    session: Session, mesh_key: int, *, sketches: bool = False, vm_keys: Collection[int] | None = None
) -> list[StoredFrame]:
    """The newest window of every block of a mesh (or of some VMs in it). A block without sketches left is left out."""
    ensure_latest(session, mesh_key)
    rows = _fetch(
        session,
        "SELECT l.vm_key, extract(epoch FROM l.started_at)::bigint, l.window_s, l.roster_key, l.stats, "
        + (
            "f.sketch FROM path_latest l JOIN probe_frames f USING (tenant_key, mesh_key, started_at, vm_key, block)"
            if sketches
            else "''::bytea FROM path_latest l"
        )
        + " WHERE l.tenant_key = %(tenant_key)s AND l.mesh_key = %(mesh_key)s"
        + ("" if vm_keys is None else " AND l.vm_key = ANY(%(vm_keys)s)"),
        {"tenant_key": _tenant(session), "mesh_key": mesh_key, "vm_keys": list(vm_keys or ())},
    )
    return _stored(session, rows)


@dataclass(frozen=True, slots=True)
class Head:
    """A block of `path_latest` without what it holds; `row` is another one whenever it has been written."""

    vm_key: int
    block: int
    roster_key: int
    n: int
    row: int
    started_at_s: int


def latest_heads(session: Session, mesh_key: int) -> list[Head]:
    """The newest blocks of a mesh as they are now, by VM and block."""
    ensure_latest(session, mesh_key)
    rows = _fetch(
        session,
        f"SELECT {_HEAD} FROM path_latest WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s ORDER BY 1, 2",
        {"tenant_key": _tenant(session), "mesh_key": mesh_key},
    )
    return [Head(*row) for row in rows]


def latest_blocks(
    session: Session, mesh_key: int, vm_keys: Collection[int] | None = None
) -> tuple[list[Head], list[StoredFrame]]:
    """The same (or those of some VMs) with what they hold, read at one time."""
    rows = _fetch(
        session,
        f"SELECT {_HEAD}, window_s, stats FROM path_latest WHERE tenant_key = %(tenant_key)s"
        " AND mesh_key = %(mesh_key)s"
        + ("" if vm_keys is None else " AND vm_key = ANY(%(vm_keys)s)")
        + " ORDER BY 1, 2",
        {"tenant_key": _tenant(session), "mesh_key": mesh_key, "vm_keys": list(vm_keys or ())},
    )
    heads = [Head(*row[:6]) for row in rows]
    return heads, _stored(session, [(row[0], row[5], row[6], row[2], row[7], b"") for row in rows])


def ensure_latest(session: Session, mesh_key: int) -> None:
    """Fill `path_latest` of a mesh from its frames, if that has not been done since the database last crashed."""
    key = {"tenant_key": _tenant(session), "mesh_key": mesh_key}
    where = "tenant_key = :tenant_key AND mesh_key = :mesh_key"
    if session.scalar(text(f"SELECT 1 FROM path_latest_meshes WHERE {where}"), key):
        return
    session.execute(
        text(
            f"""
            INSERT INTO path_latest
                (tenant_key, mesh_key, vm_key, block, started_at, window_s, roster_key, n, stats)
            SELECT tenant_key, mesh_key, vm_key, block, started_at, window_s, roster_key, n, stats
            FROM probe_frames JOIN (
                SELECT vm_key, block, max(started_at) AS started_at FROM probe_frames
                WHERE {where} AND started_at > now() - make_interval(hours => :hours) GROUP BY vm_key, block
            ) AS newest USING (vm_key, block, started_at)
            WHERE {where} ORDER BY vm_key, block
            ON CONFLICT (tenant_key, mesh_key, vm_key, block) DO UPDATE SET
                started_at = excluded.started_at, window_s = excluded.window_s,
                roster_key = excluded.roster_key, n = excluded.n, stats = excluded.stats
            WHERE path_latest.started_at < excluded.started_at
            """
        ),
        {**key, "hours": _REBUILT_HOURS},
    )
    session.execute(text("INSERT INTO path_latest_meshes VALUES (:tenant_key, :mesh_key) ON CONFLICT DO NOTHING"), key)


def count_frames(session: Session, mesh_key: int, stretch: Stretch, vm_keys: Collection[int] | None = None) -> int:
    """How many blocks of a mesh (or of some VMs in it) a stretch holds."""
    found = session.scalar(
        text(
            f"SELECT count(*) FROM {stretch.tier} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
            " AND started_at >= :start AND started_at < :end"
            + ("" if vm_keys is None else " AND vm_key = ANY(:vm_keys)")
        ),
        {
            "tenant_key": _tenant(session),
            "mesh_key": mesh_key,
            "start": stretch.start,
            "end": stretch.end,
            **({} if vm_keys is None else {"vm_keys": list(vm_keys)}),
        },
    )
    return int(found or 0)


def starts(session: Session, mesh_key: int, stretch: Stretch) -> list[datetime]:
    """When the windows of a mesh in a stretch began, ascending."""
    key = "tenant_key = :tenant_key AND mesh_key = :mesh_key AND started_at < :end"
    first, following = (
        f"SELECT started_at FROM {stretch.tier} WHERE {key} AND started_at {after} ORDER BY started_at LIMIT 1"
        for after in (">= :start", "> found.started_at")
    )
    # From one to the next along the key, which has them in this order: as many steps as windows, however many blocks.
    sql = (
        f"WITH RECURSIVE found AS (({first}) UNION ALL SELECT ({following}) FROM found"
        " WHERE found.started_at IS NOT NULL) SELECT started_at FROM found WHERE started_at IS NOT NULL"
    )
    parameters = {
        "tenant_key": _tenant(session),
        "mesh_key": mesh_key,
        "start": stretch.start,
        "end": stretch.end,
    }
    return list(session.scalars(text(sql), parameters))


def frames(
    session: Session,
    mesh_key: int,
    stretches: Sequence[Stretch],
    *,
    sketches: bool,
    vm_keys: Collection[int] | None = None,
    by_client: bool = False,
) -> Iterator[list[StoredFrame]]:
    """The blocks of a mesh (or of some VMs in it) in stretches, in pieces small enough to hold.

    `by_client`: all those of one VM together.
    """
    parts = [(stretch, f"{stretch.tier}") for stretch in stretches]
    return _read(session, mesh_key, parts, sketches, "vm_key", vm_keys, by_client)


def zone_frames(
    session: Session, mesh_key: int, stretch: Stretch, *, sketches: bool, by_source: bool = False
) -> Iterator[list[StoredFrame]]:
    """The blocks between the zones of a mesh in a stretch of a merged tier; `vm_key` and `targets` are zones.

    `by_source`: all those of one zone together.
    """
    return _read(session, mesh_key, [(stretch, stretch.tier.zone_table)], sketches, "zone_key", None, by_source)


class Version(NamedTuple):
    """Rows of a stretch, how many targets they have together, and a sum of when they were merged (0 as reported)."""

    rows: int
    targets: int
    merged_s: float


def versions(session: Session, mesh_key: int, parts: Sequence[Stretch], *, zones: bool = False) -> list[Version]:
    """The rows of stretches as they are now: of VMs, or between `zones`; with the same version they are the same."""
    if not parts:
        return []
    selects = []
    parameters: dict[str, Any] = {"tenant_key": _tenant(session), "mesh_key": mesh_key}
    for number, part in enumerate(parts):
        merged = "0" if part.tier is Tier.RAW else "sum(date_part('epoch', rolled_at - started_at))"
        selects.append(
            f"SELECT {number} AS number, count(*), coalesce(sum(n), 0)::bigint, coalesce({merged}, 0)::float8"
            f" FROM {part.tier.zone_table if zones else part.tier} WHERE tenant_key = %(tenant_key)s"
            f" AND mesh_key = %(mesh_key)s AND started_at >= %(start{number})s AND started_at < %(end{number})s"
        )
        parameters |= {f"start{number}": part.start, f"end{number}": part.end}
    rows = _fetch(session, " UNION ALL ".join(selects) + " ORDER BY 1", parameters)
    return [Version(*row[1:]) for row in rows]


def _read(
    session: Session,
    mesh_key: int,
    parts: Sequence[tuple[Stretch, str]],
    sketches: bool,
    source: str,
    keys: Collection[int] | None,
    by_client: bool,
) -> Iterator[list[StoredFrame]]:
    parameters: dict[str, Any] = {"tenant_key": _tenant(session), "mesh_key": mesh_key, "keys": list(keys or ())}
    selects = []
    for number, (stretch, table) in enumerate(parts):
        selects.append(
            f"SELECT {source}, extract(epoch FROM started_at)::bigint, {_window_s(table, stretch.tier)}, roster_key, "
            + ("stats, sketch" if sketches else "stats, ''::bytea")
            + f" FROM {table} WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
            f" AND started_at >= %(start{number})s AND started_at < %(end{number})s"
            + ("" if keys is None else f" AND {source} = ANY(%(keys)s)")
        )
        parameters |= {f"start{number}": stretch.start, f"end{number}": stretch.end}
    if not selects:
        return
    # Only pointers to the large columns are sorted.
    sql = " UNION ALL ".join(selects) + (" ORDER BY 1" if by_client else "")
    with _cursor(session, "frames") as cursor:
        try:
            cursor.execute(sql, parameters)
            while rows := cursor.fetchmany(_CHUNK_ROWS):
                yield _stored(session, rows)
        except psycopg.Error as error:
            raise _wrapped(sql, error) from error


def _window_s(table: str, tier: Tier) -> str:
    """SQL of the length of the interval of a frame in the table of a tier."""
    return "window_s" if table in (Tier.RAW, Tier.MINUTE) else str(tier.step_s)


def vms_within(session: Session, tenant_key: int, mesh_key: int, stretch: Stretch) -> list[int]:
    """VMs with frames that began in a stretch. In a system session."""
    return list(
        session.scalars(
            text(
                f"SELECT DISTINCT vm_key FROM {stretch.tier} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
                " AND started_at >= :start AND started_at < :end ORDER BY vm_key"
            ),
            {"tenant_key": tenant_key, "mesh_key": mesh_key, "start": stretch.start, "end": stretch.end},
        )
    )


def frames_within(
    session: Session, tenant_key: int, mesh_key: int, stretch: Stretch, vm_keys: Sequence[int]
) -> list[StoredFrame]:
    """Blocks of some VMs that began in a stretch, with sketches. In a system session."""
    return _within(session, tenant_key, mesh_key, stretch, f"{stretch.tier}", "vm_key", vm_keys)


def zone_frames_within(session: Session, tenant_key: int, mesh_key: int, stretch: Stretch) -> list[StoredFrame]:
    """Blocks between zones that began in a stretch, with sketches. In a system session."""
    return _within(session, tenant_key, mesh_key, stretch, stretch.tier.zone_table, "zone_key", None)


def _within(
    session: Session,
    tenant_key: int,
    mesh_key: int,
    stretch: Stretch,
    table: str,
    source: str,
    keys: Sequence[int] | None,
) -> list[StoredFrame]:
    rows = _fetch(
        session,
        f"SELECT {source}, extract(epoch FROM started_at)::bigint, {_window_s(table, stretch.tier)}, roster_key,"
        f" stats, sketch FROM {table} WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        + ("" if keys is None else f" AND {source} = ANY(%(keys)s)")
        + " AND started_at >= %(start)s AND started_at < %(end)s",
        {
            "tenant_key": tenant_key,
            "mesh_key": mesh_key,
            "keys": list(keys or ()),
            "start": stretch.start,
            "end": stretch.end,
        },
    )
    return _stored(session, rows)


def zones_of_vms(session: Session, tenant_key: int) -> tuple[Ints, Ints]:
    """Keys of all VMs of a tenant, ascending, and of the zone each of them is in."""
    rows = _fetch(
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


def paths(
    session: Session, mesh_key: int, source_key: int, target_key: int, stretch: Stretch, *, sketches: bool
) -> list[StoredPath]:
    """The windows of one pair in a stretch, whichever of the two was client, by time."""
    # Rosters that have one of the two, first: joined to so many frames they cost more than all the rest.
    rosters = _fetch(
        session,
        "SELECT key, array_position(target_keys, %(target)s) - 1, array_position(target_keys, %(source)s) - 1"
        " FROM rosters WHERE tenant_key = %(tenant_key)s AND target_keys && ARRAY[%(source)s, %(target)s]::int[]",
        {"tenant_key": _tenant(session), "source": source_key, "target": target_key},
    )
    places = {True: {row[0]: row[1] for row in rosters}, False: {row[0]: row[2] for row in rosters}}
    forward, back = ([key for key, at in places[way].items() if at is not None] for way in (True, False))
    rows = _fetch(
        session,
        "SELECT vm_key = %(source)s, extract(epoch FROM started_at)::bigint,"
        f" {_window_s(stretch.tier, stretch.tier)}, roster_key, stats, "
        + ("sketch" if sketches else "''::bytea")
        + f" FROM {stretch.tier} WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        " AND started_at >= %(start)s AND started_at < %(end)s AND vm_key IN (%(source)s, %(target)s)"
        " AND (vm_key = %(source)s AND roster_key = ANY(%(forward)s::int[])"
        " OR vm_key = %(target)s AND roster_key = ANY(%(back)s::int[]))"
        " ORDER BY started_at",
        {
            "tenant_key": _tenant(session),
            "mesh_key": mesh_key,
            "start": stretch.start,
            "end": stretch.end,
            "source": source_key,
            "target": target_key,
            "forward": forward,
            "back": back,
        },
    )
    return [
        StoredPath(way, at, window_s, places[way][roster], stats, sketch)
        for way, at, window_s, roster, stats, sketch in rows
    ]


class StoredSpike(NamedTuple):
    """A spike as it is stored; `evidence` is empty unless asked for."""

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
    """Spikes from a source to a target among `ends` (VM keys) in [start, end), newest first, from `after` on."""
    rows = _fetch(
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
            "tenant_key": _tenant(session),
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


def spike(session: Session, mesh_key: int, started_at_s: int, source_key: int, target_key: int) -> StoredSpike | None:
    """One spike with its evidence."""
    rows = _fetch(
        session,
        "SELECT extract(epoch FROM started_at)::bigint, source_key, target_key, window_s, max_ns, median_ns, evidence"
        " FROM spikes WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        " AND started_at = to_timestamp(%(at)s) AND source_key = %(source)s AND target_key = %(target)s",
        {
            "tenant_key": _tenant(session),
            "mesh_key": mesh_key,
            "at": started_at_s,
            "source": source_key,
            "target": target_key,
        },
    )
    return StoredSpike(*rows[0]) if rows else None


def rolled_until(session: Session, mesh_key: int) -> dict[Tier, datetime]:
    """End of the newest merged step of a mesh in each tier that has one."""
    newest = ", ".join(
        f"(SELECT max(started_at) FROM {tier} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key)"
        for tier in ROLLED
    )
    row = session.execute(text(f"SELECT {newest}"), {"tenant_key": _tenant(session), "mesh_key": mesh_key}).one()
    return {tier: at + timedelta(seconds=tier.step_s) for tier, at in zip(ROLLED, row, strict=True) if at is not None}


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


def _tenant(session: Session) -> int:
    key = session.info["tenant_key"]
    if not isinstance(key, int):
        raise TypeError("this reads for one tenant; the session was opened for all")
    return key


def _stored(session: Session, rows: Sequence[tuple[Any, ...]]) -> list[StoredFrame]:
    targets = _targets(session, {row[3] for row in rows})
    return [StoredFrame(row[0], row[1], row[2], targets[row[3]], row[4], row[5]) for row in rows]


def _targets(session: Session, keys: set[int]) -> dict[int, Ints]:
    """VM keys of rosters. They never change, so each is read once."""
    with _rosters_lock:
        found = {key: _rosters[key] for key in keys if key in _rosters}
    missing = keys - found.keys()
    if missing:
        rows = _fetch(
            session, "SELECT key, target_keys FROM rosters WHERE key = ANY(%(keys)s)", {"keys": list(missing)}
        )
        read = {key: np.array(targets, np.int64) for key, targets in rows}
        found |= read
        with _rosters_lock:
            _rosters.update(read)
            while len(_rosters) > _ROSTERS_KEPT:
                _rosters.popitem(last=False)
    return found


def _fetch(session: Session, sql: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with _cursor(session) as cursor:
        try:
            cursor.execute(sql, parameters)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        except psycopg.Error as error:
            raise _wrapped(sql, error) from error
    return rows


def _cursor(session: Session, name: str = "") -> Any:
    """A cursor of the session's own connection that takes results as bytes; with a name, a few rows at a time."""
    return session.connection().connection.cursor(name, binary=True)


def _wrapped(sql: str, error: psycopg.Error) -> exc.DBAPIError:
    """As SQLAlchemy would have raised it."""
    kind = exc.OperationalError if isinstance(error, psycopg.OperationalError) else exc.DBAPIError
    return kind(sql, None, error)
