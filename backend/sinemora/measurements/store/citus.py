"""Spreading of measurements over the workers of a Citus cluster, by the key of their tenant or of their VM.

Tables with row-level security whose primary key begins with tenant and mesh have nothing but a tenant's own rows and
refer to no other table: they can be on other servers. The inventory, rosters, marks and all else stay on the
coordinator.

By VM, the rows of a table are spread by the column of its primary key that names the VM or zone that reported them, so
that a tenant is on all workers. Tables whose key has no such column are small, and are spread by tenant.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from sqlalchemy import Connection, text

from sinemora.kit import cluster
from sinemora.kit.row_policies import prepare_to_distribute
from sinemora.kit.transaction_settings import set_tenant


class SpreadBy(StrEnum):
    """Key whose hash chooses the part of a table that a row is in."""

    TENANT = "tenant"
    VM = "vm"

    @property
    def label(self) -> str:
        """Return the key as a word of a sentence."""
        return "VM" if self is SpreadBy.VM else "tenant"


_VM_COLUMNS = ("vm_key", "zone_key", "source_key")
"""Columns of the VM or zone that reported a row. The key of a table has one of them at most."""
_KEYS = text(
    "SELECT name, key FROM (SELECT c.relname AS name,"
    "  (SELECT array_agg(a.attname::text ORDER BY n) FROM unnest(k.conkey) WITH ORDINALITY AS p(attnum, n)"
    "   JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.attnum) AS key"
    "  FROM pg_class c JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'"
    "  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    "  AND c.relrowsecurity) AS tables"
    " WHERE key[1:2] = ARRAY['tenant_key', 'mesh_key'] ORDER BY name"
)
_PARTITIONS = text(
    "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
    " WHERE i.inhparent = to_regclass(:name) ORDER BY c.relname"
)


class DistributionError(Exception):
    """Database that cannot spread its measurements, or a table that did not arrive whole."""


def tables(connection: Connection) -> dict[str, list[str]]:
    """Return the tables that can be spread, and the columns of the primary key of each."""
    return {name: key for name, key in connection.execute(_KEYS)}


def column_of(key: Iterable[str], by: SpreadBy) -> str:
    """Return the column of a primary key by which its table is spread."""
    return next((column for column in key if by is SpreadBy.VM and column in _VM_COLUMNS), cluster.TENANT)


def choose(by: SpreadBy | None, spread: Mapping[str, str], keys: Mapping[str, Sequence[str]]) -> SpreadBy:
    """Return the key to spread tables by: that of the tables that are spread already, otherwise `by` or the tenant.

    `spread`: the column of each table that is spread, `keys`: the columns of each primary key. DistributionError if
    `by` is another key than that of the tables, and for tables that are spread by neither.
    """
    present = [
        each for each in SpreadBy if all(column_of(keys.get(table, ()), each) == spread[table] for table in spread)
    ]
    if not present:
        named = ", ".join(f"{table} by {column}" for table, column in sorted(spread.items()))
        raise DistributionError(f"tables are spread neither by tenant nor by VM: {named}")
    if by is not None and by not in present:
        raise DistributionError(
            f"measurements are spread by {present[0].label} already, and this cannot be changed. The tables that are"
            f" not spread yet can follow: --by {present[0]}"
        )
    return by or present[0]


def distribute(
    connection: Connection, by: SpreadBy | None, shards: int, report: Callable[[str], None]
) -> tuple[SpreadBy, list[str]]:
    """Spread the tables of measurements over the workers, one transaction a table. Return the key and the tables.

    As the owner of the schema. A table that is spread already stays as it is, so a second run continues a first one.
    `by`: see `choose`. Writers of a table wait meanwhile. Raises DistributionError; a table whose rows differ
    afterwards stays as it was.
    """
    with connection.begin():
        _require_workers(connection)
        keys, spread = tables(connection), cluster.distributed_tables(connection)
        by = choose(by, spread, keys)
        done = sorted(spread)
        database = connection.dialect.identifier_preparer.quote(
            str(connection.scalar(text("SELECT current_database()")))
        )
        # For every later connection, whichever program opens it.
        for setting in cluster.OF_DATABASE:
            connection.exec_driver_sql(f"ALTER DATABASE {database} SET {setting}")
    new = [table for table in keys if table not in done]
    for table in new:
        colocated = done[0] if done else None
        with connection.begin():
            for setting in (*cluster.OF_DATABASE, "statement_timeout = 0"):
                connection.exec_driver_sql(f"SET LOCAL {setting}")
            connection.exec_driver_sql(set_tenant(None, None))
            rows = _spread(connection, table, column_of(keys[table], by), shards, colocated)
        with connection.begin():
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            connection.execute(
                text("SELECT truncate_local_data_after_distributing_table(CAST(:name AS regclass))"), {"name": table}
            )
        report(f"{table:26}{rows:12,} rows")
        done.append(table)
    return by, new


def _require_workers(connection: Connection) -> None:
    if cluster.version(connection) is None:
        raise DistributionError(
            "no cluster: the extension citus is not in this database. CREATE EXTENSION citus in it on every server"
        )
    if not connection.scalar(text("SELECT count(*) FROM citus_get_active_worker_nodes()")):
        raise DistributionError("no workers: SELECT citus_add_node('HOST', PORT) for each of them first")


def _spread(connection: Connection, table: str, column: str, shards: int, colocated: str | None) -> int:
    """Spread a table by a column, with the tables that are spread already. Return its rows. DistributionError."""
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
        text(f"SELECT create_distributed_table(CAST(:name AS regclass), :column, {where[0]})"),
        {"name": table, "column": column, **where[1]},
    )
    _force(connection, whole, "FORCE")
    after = int(connection.scalar(count) or 0)
    if after != before:
        raise DistributionError(f"table {table}: {before} rows before and {after} on the workers; it stays as it was")
    return after


def _force(connection: Connection, tables: Iterable[str], how: str) -> None:
    for table in tables:
        connection.exec_driver_sql(f"ALTER TABLE {table} {how} ROW LEVEL SECURITY")
