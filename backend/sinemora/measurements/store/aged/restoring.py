"""Restore of aged ranges: their rows are copied back to the database, where they stay until a time."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.kit.db import system_session
from sinemora.kit.object_storage import installation_storage
from sinemora.measurements.codec.parquet import AgedRows, ParquetError
from sinemora.measurements.store.aged import catalogue
from sinemora.measurements.store.aged.catalogue import AGED_TABLES, AgedObject, AgedTable
from sinemora.measurements.store.aged.writing import AgingError, read_whole
from sinemora.measurements.store.inserts import COUNTED
from sinemora.measurements.store.tiers import Tier

_ROWS_AT_ONCE = 1000


def restore(one: AgedObject, held_until: datetime) -> None:
    """Copy the rows of an object back to the database; readers then read those. StorageError, AgingError.

    The object stays, and when `held_until` has passed the rows are aged again.
    """
    content = installation_storage().get(one.object_key)
    if hashlib.sha256(content).digest() != one.checksum:
        raise AgingError(f"{one.object_key} is not what was written: its checksum differs")
    try:
        rows = read_whole(content)
    except ParquetError as error:
        raise AgingError(f"{one.object_key}: {error}") from None
    # Citus refuses rows in partitions that their owner has made in the same transaction. The other transaction makes
    # only those that retention has dropped since.
    with system_session() as session:
        _make_partitions(session, one)
    with system_session() as session:
        catalogue.lock_mesh(session, one.mesh_key)
        taken = session.execute(
            text(
                "UPDATE aged_objects SET state = 'restored', held_until = :held_until"
                " WHERE id = :id AND state = 'current'"
            ),
            {"id": one.id, "held_until": held_until},
        )
        if not taken.rowcount:  # type: ignore[attr-defined]
            return  # another process restored or removed it
        _make_partitions(session, one)
        stored = sum(
            _insert(session, AGED_TABLES[one.tier], one, rows, first) for first in range(0, rows.count, _ROWS_AT_ONCE)
        )
        if stored != one.rows:
            raise AgingError(f"{one.object_key}: the database has {one.rows - stored} other rows of its range")


def _make_partitions(session: Session, one: AgedObject) -> None:
    session.execute(
        text("SELECT make_measurement_partitions(:first, :last)"),
        {"first": one.started_at.date(), "last": (one.ended_at - timedelta(seconds=1)).date()},
    )


def _insert(session: Session, table: AgedTable, one: AgedObject, rows: AgedRows, first: int) -> int:
    """Store some rows as they were. Return the number of those that the table did not have."""
    part = slice(first, first + _ROWS_AT_ONCE)
    columns = [table.source, "started_at_us", "block", "window_s", "roster_key", "n", "frames", "rolled_at_us"]
    types = ["int", "bigint", "smallint", "smallint", "int", "smallint", "int", "bigint", "bytea", "bytea"]
    named = ", ".join([*columns, "stats", "sketch"])
    window = "window_s, " if table.name == Tier.MINUTE.table else ""
    arrays = [
        getattr(rows, name)[part].tolist()
        for name in ("source", "started_at", "block", "window_s", "roster_key", "n", "frames", "rolled_at")
    ]
    # Lengths of steps above the minute are not stored, and a day does not fit into the column of the others.
    arrays[3] = [min(length, 60) for length in arrays[3]]
    result = session.connection().exec_driver_sql(
        f"INSERT INTO {table.name} (tenant_key, mesh_key, started_at, {table.source}, block, {window}roster_key, n,"
        " stats, sketch, frames, rolled_at)"
        f" SELECT {one.tenant_key}, {one.mesh_key}, timestamptz 'epoch' + started_at_us * interval '1 microsecond',"
        f" {table.source}, block, {window}roster_key, n, stats, sketch, frames,"
        " timestamptz 'epoch' + rolled_at_us * interval '1 microsecond'"
        f" FROM unnest({', '.join(f'%b::{kind}[]' for kind in types)}) AS i({named})"
        f" ON CONFLICT DO NOTHING{COUNTED}",
        (*arrays, rows.stats[part], rows.sketches[part]),
    )
    return int(result.rowcount)


def age_again(tenant_id: UUID, now: datetime) -> int:
    """Delete the rows of restored ranges whose time has passed; changed ones are left to be written. Return how many.

    The objects of unchanged ranges are current again, those of changed ones are removed.
    """
    with system_session() as session:
        due = catalogue.find(
            session,
            "tenant_key = (SELECT key FROM tenants WHERE id = :tenant_id) AND state = 'restored'"
            " AND held_until <= :now",
            tenant_id=tenant_id,
            now=now,
        )
    for one in due:
        _age_again(one)
    return len(due)


def _age_again(one: AgedObject) -> None:
    span = {"tenant_key": one.tenant_key, "mesh_key": one.mesh_key, "start": one.started_at, "end": one.ended_at}
    with system_session() as session:
        catalogue.lock_mesh(session, one.mesh_key)
        now = catalogue.fingerprint(session, one.tier, one.tenant_key, one.mesh_key, one.started_at, one.ended_at)
        same = now == one.fingerprint
        if same:
            session.execute(
                text(
                    f"DELETE FROM {one.tier} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
                    " AND started_at >= :start AND started_at < :end"
                ),
                span,
            )
        session.execute(
            text("UPDATE aged_objects SET state = :state, held_until = NULL WHERE id = :id"),
            {"state": "current" if same else "removing", "id": one.id},
        )


def in_range(
    session: Session, mesh_id: UUID, start: datetime, end: datetime, tables: Sequence[str] = tuple(AGED_TABLES)
) -> list[AgedObject]:
    """Return the current objects of a mesh that have rows in [start, end), oldest first."""
    return catalogue.find(
        session,
        "mesh_key = (SELECT key FROM meshes WHERE id = :mesh_id) AND state = 'current' AND tier = ANY(:tables)"
        " AND started_at < :end AND ended_at > :start",
        mesh_id=mesh_id,
        start=start.astimezone(UTC),
        end=end.astimezone(UTC),
        tables=list(tables),
    )
