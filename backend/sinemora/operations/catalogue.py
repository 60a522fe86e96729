"""Which tables there are, asked of the database itself: a table of a newer feature is never forgotten."""

from dataclasses import dataclass

import psycopg
from psycopg import sql

from sinemora.kit.config import settings
from sinemora.tables import metadata

# Made again from others, or the mark of the schema's version, which the migrations write.
_NOT_CONTENT = {"alembic_version"}


@dataclass(frozen=True)
class Table:
    """A table of ours. `columns` are those that are stored, in order; `by_time` says that it has one row per time."""

    name: str
    columns: tuple[str, ...]
    logged: bool
    by_time: bool

    @property
    def tenant_column(self) -> str | None:
        """The column that says whose a row is, if any."""
        return next((one for one in ("tenant_id", "tenant_key") if one in self.columns), None)

    @property
    def is_frames(self) -> bool:
        """Whether its rows are blocks of frames."""
        return {"stats", "sketch", "roster_key"} <= set(self.columns)

    def selected(self, *columns: str) -> sql.Composed:
        """Return the named columns (all by default) as SQL."""
        return sql.SQL(", ").join(map(sql.Identifier, columns or self.columns))


def connect() -> psycopg.Connection:
    """Return a connection as the owner of the schema, that sees every tenant; not in a transaction yet."""
    dsn = settings().database_owner_url.replace("postgresql+psycopg://", "postgresql://", 1)
    connection = psycopg.connect(dsn, autocommit=True, options="-c timezone=UTC -c lock_timeout=10s")
    connection.execute(
        "SELECT set_config('sinemora.tenant_id', '*', false), set_config('sinemora.tenant_key', '*', false)"
    )
    return connection


def revision(connection: psycopg.Connection) -> str | None:
    """Return the version of the schema; None where there is none."""
    if connection.execute("SELECT to_regclass('public.alembic_version')").fetchone() == (None,):
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else None


def tables(connection: psycopg.Connection) -> list[Table]:
    """Return all tables with content, those that others refer to first."""
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
    found = [
        Table(name, tuple(columns), logged, {"started_at", "mesh_key"} <= set(columns))
        for name, logged, columns in rows
        if name not in _NOT_CONTENT
    ]
    return sorted(found, key=lambda table: (order.get(table.name, len(order)), table.name))
