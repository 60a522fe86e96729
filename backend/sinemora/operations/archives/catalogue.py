"""Tables of the database, read from its catalogue, so that no new table is missed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql

from sinemora.kit.config import settings
from sinemora.kit.db import WHOLE_CHUNKS
from sinemora.kit.transaction_settings import set_tenant
from sinemora.tables import metadata

# The schema version, which the migrations write.
_NOT_CONTENT = {"alembic_version"}


@dataclass(frozen=True)
class Table:
    """Table of the product. `columns` are the stored ones, in order; `by_time`: it has a row per time."""

    name: str
    columns: tuple[str, ...]
    logged: bool
    by_time: bool

    @property
    def tenant_column(self) -> str | None:
        """Return the column with the tenant of a row, if any."""
        return next((column for column in ("tenant_id", "tenant_key") if column in self.columns), None)

    @property
    def is_frames(self) -> bool:
        """Return whether its rows are blocks of frames."""
        return {"stats", "sketch", "roster_key"} <= set(self.columns)

    def selected(self, *columns: str) -> sql.Composed:
        """Return the named columns (all by default) as SQL."""
        return sql.SQL(", ").join(map(sql.Identifier, columns or self.columns))


class Connection(psycopg.Connection):
    """Connection whose transactions see every tenant. Statements outside of one see the rows of no tenant."""

    @contextmanager
    def transaction(
        self, savepoint_name: str | None = None, force_rollback: bool = False
    ) -> Iterator[psycopg.Transaction]:
        """Open a transaction, with the settings that row-level security reads."""
        with super().transaction(savepoint_name, force_rollback) as transaction:
            self.execute(set_tenant(None, None))
            yield transaction


def connect(url: str | None = None) -> Connection:
    """Connect as the owner of the schema or the role of `url`; no transaction is open yet."""
    dsn = (url or settings().database_owner_url).replace("postgresql+psycopg://", "postgresql://", 1)
    return Connection.connect(dsn, autocommit=True, options=f"-c timezone=UTC -c lock_timeout=10s {WHOLE_CHUNKS}")


def revision(connection: psycopg.Connection) -> str | None:
    """Return the version of the schema; None without a schema."""
    if connection.execute("SELECT to_regclass('public.alembic_version')").fetchone() == (None,):
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else None


def tables(connection: psycopg.Connection) -> list[Table]:
    """Return all tables with content; referenced tables come first."""
    rows = connection.execute(
        """
        SELECT c.relname, c.relpersistence <> 'u',
               array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '')
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        GROUP BY c.oid ORDER BY c.relname
        """
    ).fetchall()
    order = {table.name: number for number, table in enumerate(metadata.sorted_tables)}
    stored = [
        Table(name, tuple(columns), logged, {"started_at", "mesh_key"} <= set(columns))
        for name, logged, columns in rows
        if name not in _NOT_CONTENT
    ]
    return sorted(stored, key=lambda table: (order.get(table.name, len(order)), table.name))
