"""SQL of the newest window of every block of a mesh: the unlogged table `path_latest`."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.store.binary_rows import fetch, frames_of, tenant_of

# Age limit of windows when `path_latest` is rebuilt after a crash of the database.
_REBUILT_HOURS = 6

_HEAD = "vm_key, block, roster_key, n, xmin::text::bigint, extract(epoch FROM started_at)::bigint"


def blocks(
    session: Session, mesh_key: int, *, sketches: bool = False, vm_keys: Collection[int] | None = None
) -> list[StoredFrame]:
    """Return the newest window of every block of a mesh, or of some VMs. A block without sketches is omitted."""
    ensure(session, mesh_key)
    rows = fetch(
        session,
        "SELECT l.vm_key, extract(epoch FROM l.started_at)::bigint, l.window_s, l.roster_key, l.stats, "
        + (
            "f.sketch FROM path_latest l JOIN probe_frames f USING (tenant_key, mesh_key, started_at, vm_key, block)"
            if sketches
            else "''::bytea FROM path_latest l"
        )
        + " WHERE l.tenant_key = %(tenant_key)s AND l.mesh_key = %(mesh_key)s"
        + ("" if vm_keys is None else " AND l.vm_key = ANY(%(vm_keys)s)"),
        {"tenant_key": tenant_of(session), "mesh_key": mesh_key, "vm_keys": list(vm_keys or ())},
    )
    return frames_of(session, rows)


@dataclass(frozen=True, slots=True)
class BlockHead:
    """Block of `path_latest` without its content; `row` changes with every write."""

    vm_key: int
    block: int
    roster_key: int
    n: int
    row: int
    started_at_s: int


def heads(session: Session, mesh_key: int) -> list[BlockHead]:
    """Return the newest blocks of a mesh without content, by VM and block."""
    ensure(session, mesh_key)
    rows = fetch(
        session,
        f"SELECT {_HEAD} FROM path_latest WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s ORDER BY 1, 2",
        {"tenant_key": tenant_of(session), "mesh_key": mesh_key},
    )
    return [BlockHead(*row) for row in rows]


def heads_and_blocks(
    session: Session, mesh_key: int, vm_keys: Collection[int] | None = None
) -> tuple[list[BlockHead], list[StoredFrame]]:
    """Return the newest blocks of a mesh, or of some VMs, with their content, read at one time."""
    rows = fetch(
        session,
        f"SELECT {_HEAD}, window_s, stats FROM path_latest WHERE tenant_key = %(tenant_key)s"
        " AND mesh_key = %(mesh_key)s"
        + ("" if vm_keys is None else " AND vm_key = ANY(%(vm_keys)s)")
        + " ORDER BY 1, 2",
        {"tenant_key": tenant_of(session), "mesh_key": mesh_key, "vm_keys": list(vm_keys or ())},
    )
    frames = frames_of(session, [(row[0], row[5], row[6], row[2], row[7], b"") for row in rows])
    return [BlockHead(*row[:6]) for row in rows], frames


def ensure(session: Session, mesh_key: int) -> None:
    """Rebuild `path_latest` of a mesh from its frames, once after a crash of the database."""
    key = {"tenant_key": tenant_of(session), "mesh_key": mesh_key}
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
