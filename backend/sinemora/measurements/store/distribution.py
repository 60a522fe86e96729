"""Spreading of measurements over the workers of a Citus cluster, by the key of their tenant.

Tables with row-level security whose primary key begins with tenant and mesh have nothing but a tenant's own rows and
refer to no other table: they can be on other servers. The inventory, rosters, marks and all else stay on the
coordinator.
"""

from collections.abc import Callable, Iterable

from sqlalchemy import Connection, text

from sinemora.kit import cluster
from sinemora.kit.row_policies import prepare_to_distribute
from sinemora.kit.transaction_settings import set_tenant

COLUMN = "tenant_key"

TABLES = text(
    "SELECT c.relname FROM pg_class c JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'"
    " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    " AND c.relrowsecurity"
    " AND (SELECT array_agg(a.attname::text ORDER BY n) FROM unnest(k.conkey) WITH ORDINALITY AS p(attnum, n)"
    "  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.attnum WHERE n <= 2)"
    " = ARRAY['tenant_key', 'mesh_key']"
    " ORDER BY c.relname"
)
_PARTITIONS = text(
    "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
    " WHERE i.inhparent = to_regclass(:name) ORDER BY c.relname"
)


class DistributionError(Exception):
    """Database that cannot spread its measurements, or a table that did not arrive whole."""


def distribute(connection: Connection, shards: int, report: Callable[[str], None]) -> list[str]:
    """Spread the tables of measurements over the workers, one transaction a table. Return the tables spread now.

    As the owner of the schema. A table that is spread already stays as it is, so a second run continues a first one.
    Writers of a table wait meanwhile. Raises DistributionError; a table whose rows differ afterwards stays as it was.
    """
    with connection.begin():
        _require_workers(connection)
        tables = connection.scalars(TABLES).all()
        done = sorted(cluster.distributed_tables(connection))
        database = connection.dialect.identifier_preparer.quote(
            str(connection.scalar(text("SELECT current_database()")))
        )
        # For every later connection, whichever program opens it.
        for setting in cluster.OF_DATABASE:
            connection.exec_driver_sql(f"ALTER DATABASE {database} SET {setting}")
    new = [table for table in tables if table not in done]
    for table in new:
        colocated = done[0] if done else None
        with connection.begin():
            for setting in (*cluster.OF_DATABASE, "statement_timeout = 0"):
                connection.exec_driver_sql(f"SET LOCAL {setting}")
            connection.exec_driver_sql(set_tenant(None, None))
            rows = _spread(connection, table, shards, colocated)
        with connection.begin():
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            connection.execute(
                text("SELECT truncate_local_data_after_distributing_table(CAST(:name AS regclass))"), {"name": table}
            )
        report(f"{table:26}{rows:12,} rows")
        done.append(table)
    return new


def _require_workers(connection: Connection) -> None:
    if cluster.version(connection) is None:
        raise DistributionError(
            "no cluster: the extension citus is not in this database. CREATE EXTENSION citus in it on every server"
        )
    if not connection.scalar(text("SELECT count(*) FROM citus_get_active_worker_nodes()")):
        raise DistributionError("no workers: SELECT citus_add_node('HOST', PORT) for each of them first")


def _spread(connection: Connection, table: str, shards: int, colocated: str | None) -> int:
    """Spread a table, with the tables that are spread already. Return its rows. DistributionError."""
    connection.exec_driver_sql(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
    prepare_to_distribute(connection, table)
    count = text(f"SELECT count(*) FROM {table}")
    before = int(connection.scalar(count) or 0)
    # The rows are copied by COPY, which policies that bind the owner refuse.
    whole = [table, *connection.scalars(_PARTITIONS, {"name": table})]
    _force(connection, whole, "NO FORCE")
    where = (
        ("shard_count => :shards", {"shards": shards})
        if colocated is None
        else ("colocate_with => :colocated", {"colocated": colocated})
    )
    connection.execute(
        text(f"SELECT create_distributed_table(CAST(:name AS regclass), '{COLUMN}', {where[0]})"),
        {"name": table, **where[1]},
    )
    _force(connection, whole, "FORCE")
    after = int(connection.scalar(count) or 0)
    if after != before:
        raise DistributionError(f"table {table}: {before} rows before and {after} on the workers; it stays as it was")
    return after


def _force(connection: Connection, tables: Iterable[str], how: str) -> None:
    for table in tables:
        connection.exec_driver_sql(f"ALTER TABLE {table} {how} ROW LEVEL SECURITY")
