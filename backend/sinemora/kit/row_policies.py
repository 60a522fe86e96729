"""Policies of row-level security that depend on the settings of an installation, renewed by each migration."""

from collections.abc import Mapping

from sqlalchemy import Connection, text

_STORED = text(
    "SELECT c.relname, COALESCE(obj_description(p.oid, 'pg_policy'), '') FROM pg_policy p"
    " JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = 'public'::regnamespace AND p.polname = :name"
)


def set_policies(connection: Connection, name: str, wanted: Mapping[str, str | None]) -> None:
    """Give each table the policy `name` with its definition ("TO role USING (…)"), or none; as the owner of the tables.

    A change locks its table against every reader and writer, and deadlocks with those that have locked others. So a
    table whose policy is as wanted stays untouched: its definition is the policy's comment.
    """
    stored = {table: comment for table, comment in connection.execute(_STORED, {"name": name})}
    for table, definition in wanted.items():
        if stored.get(table) == definition:
            continue
        if table in stored:
            connection.exec_driver_sql(f"DROP POLICY {name} ON {table}")
        if definition is not None:
            comment = definition.replace("'", "''")
            connection.exec_driver_sql(f"CREATE POLICY {name} ON {table} {definition}")
            connection.exec_driver_sql(f"COMMENT ON POLICY {name} ON {table} IS '{comment}'")
