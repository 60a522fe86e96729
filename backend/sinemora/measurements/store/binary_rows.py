"""Reading of rows of measurements with binary cursors: large columns as raw bytes, not as text.

Every statement contains the tenant's key, although row-level security adds it: the primary keys need it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
from sqlalchemy import exc
from sqlalchemy.orm import Session

from sinemora.kit.lru_cache import LruCache
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.stored import StoredFrame

ROSTERS: LruCache[int, Ints] = LruCache(20_000)


def tenant_of(session: Session) -> int:
    """Return the key of the tenant that a session was opened for."""
    key = session.info["tenant_key"]
    if not isinstance(key, int):
        raise TypeError("this needs the session of one tenant")
    return key


def frames_of(session: Session, rows: Sequence[tuple[Any, ...]]) -> list[StoredFrame]:
    """Return the blocks of rows: source, start (Unix s), window (s), key of the roster, stats, sketch."""
    targets = targets_of(session, {row[3] for row in rows})
    return [StoredFrame(row[0], row[1], row[2], targets[row[3]], row[4], row[5]) for row in rows]


def targets_of(session: Session, keys: set[int]) -> dict[int, Ints]:
    """Return the VM keys of rosters. A roster never changes, so each is read once."""
    rosters = {key: roster for key in keys if (roster := ROSTERS.get(key)) is not None}
    missing = keys - rosters.keys()
    if missing:
        sql = "SELECT key, array_send(target_keys) FROM rosters WHERE key = ANY(%(keys)s)"
        for key, array in fetch(session, sql, {"keys": list(missing)}):
            rosters[key] = _ints_of(array)
            ROSTERS.put(key, rosters[key])
    return rosters


def _ints_of(array: bytes) -> Ints:
    """Return the numbers of an int4[] as PostgreSQL sends it: five words of header, then each number after its size.

    A mesh of 1,000 VMs has half a million of them: as Python's numbers they would take most of its first query.
    """
    return np.frombuffer(array, ">i4")[6::2].astype(np.int64)


def fetch(session: Session, sql: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return all rows of a statement, large columns as raw bytes."""
    with cursor_of(session) as cursor:
        try:
            cursor.execute(sql, parameters)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        except psycopg.Error as error:
            raise wrapped(sql, error) from error
    return rows


def cursor_of(session: Session, name: str = "") -> Any:
    """Return a binary cursor of the session's connection; with a name, it fetches a few rows at a time."""
    return session.connection().connection.cursor(name, binary=True)


def wrapped(sql: str, error: psycopg.Error) -> exc.DBAPIError:
    """Wrap an error of the driver as SQLAlchemy does."""
    kind = exc.OperationalError if isinstance(error, psycopg.OperationalError) else exc.DBAPIError
    return kind(sql, None, error)
