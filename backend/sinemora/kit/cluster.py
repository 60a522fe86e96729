"""Citus, where the database has it: which tables are spread over its workers."""

from functools import lru_cache

from sqlalchemy import Connection, Engine, text

# One connection to a worker for statements that change rows. A transaction that changes tables and policies
# needs it.
ONE_CONNECTION_A_WORKER = "citus.multi_shard_modify_mode = 'sequential'"
OF_DATABASE = (
    # `SET LOCAL` reaches the workers, whose row-level security reads the settings of the transaction.
    "citus.propagate_set_commands = 'local'",
    # A join of a distributed and a local table under row-level security ends the server (Citus 13.2.2): refuse it.
    "citus.local_table_join_policy = 'never'",
    ONE_CONNECTION_A_WORKER,
    # The same for statements that read: a tenant has one part, and every process has many connections.
    "citus.max_adaptive_executor_pool_size = 1",
    # Rows that are inserted are copied over a connection for each part. By default all but one of them are closed
    # after each transaction; ingest spent most processor time on opening them again.
    "citus.max_cached_conns_per_worker = 16",
)


def version(connection: Connection) -> str | None:
    """Return the version of Citus in the database; None without the extension."""
    found: str | None = connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'citus'"))
    return found


def distributed_tables(connection: Connection) -> set[str]:
    """Return the tables whose rows are spread by a column, without their partitions; none without Citus."""
    if version(connection) is None:
        return set()
    return set(
        connection.scalars(
            text(
                "SELECT c.relname FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid"
                " WHERE d.partmethod = 'h' AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace"
            )
        )
    )


@lru_cache(maxsize=8)
def is_spread(engine: Engine) -> bool:
    """Return True if the database spread tables when the process asked first."""
    with engine.connect() as connection:
        return bool(distributed_tables(connection))
