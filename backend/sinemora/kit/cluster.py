"""Citus, where the database has it: which tables are spread over its workers."""

import time
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, text

TENANT = "tenant_key"
"""Column by which a table is spread so that a tenant is on one worker."""
# One connection to a worker for statements that change rows. A transaction that changes tables and policies
# needs it.
ONE_CONNECTION_A_WORKER = "citus.multi_shard_modify_mode = 'sequential'"
OF_DATABASE = (
    # `SET LOCAL` reaches the workers, whose row-level security reads the settings of the transaction.
    "citus.propagate_set_commands = 'local'",
    # A join of a distributed and a local table under row-level security ends the server (Citus 13.2.2): refuse it.
    "citus.local_table_join_policy = 'never'",
    ONE_CONNECTION_A_WORKER,
    # The same for statements that read: every process has many connections.
    "citus.max_adaptive_executor_pool_size = 1",
    # Rows that are inserted are copied over a connection for each part. By default all but one of them are closed
    # after each transaction; ingest spent most processor time on opening them again.
    "citus.max_cached_conns_per_worker = 16",
)


def version(connection: Connection) -> str | None:
    """Return the version of Citus in the database; None without the extension."""
    found: str | None = connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'citus'"))
    return found


def distributed_tables(connection: Connection) -> dict[str, str]:
    """Return the tables whose rows are spread, without their partitions, and the column of each; none without Citus."""
    if version(connection) is None:
        return {}
    rows = connection.execute(
        text(
            "SELECT c.relname, column_to_column_name(d.logicalrelid, d.partkey)"
            " FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid"
            " WHERE d.partmethod = 'h' AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace"
        )
    )
    return {name: column for name, column in rows}


def is_spread(connection: Connection) -> bool:
    """Return True if the database spreads tables."""
    return bool(_known(connection))


def divides_tenants(connection: Connection) -> bool:
    """Return True if the rows of one tenant are on several workers.

    Citus then refuses a recursive query of such a table, and `OFFSET 0` in a subquery that refers to another one.
    """
    return any(column != TENANT for column in _known(connection).values())


_ASKED_AGAIN_S = 30.0
_spread: WeakKeyDictionary[Engine, tuple[float, Mapping[str, str]]] = WeakKeyDictionary()


def _known(connection: Connection) -> Mapping[str, str]:
    """Return the spread tables and their columns. While none is spread, ask again from time to time.

    On this connection: the pool may have no other, and its callers would wait for one another.
    """
    at_s, known = _spread.get(connection.engine, (-_ASKED_AGAIN_S, {}))
    if not known and time.monotonic() - at_s >= _ASKED_AGAIN_S:
        known = distributed_tables(connection)
        _spread[connection.engine] = time.monotonic(), known
    return known
