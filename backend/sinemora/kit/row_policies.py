"""Row-level security: the policy `tenant` of each table, which migrations create, and policies that `grants` renews.

The policy `tenant` lets a session read and write the rows of its tenant. The policies that `grants` renews after each
migration depend on the settings of an installation, such as the names of the roles.
"""

import re
from collections.abc import Mapping
from typing import Literal

from sqlalchemy import Connection, text

from sinemora.kit import cluster

# `(SELECT expression)`, also with the name that PostgreSQL gives to its column; in parentheses at most three deep.
_SUBQUERY = re.compile(r"\(\s*SELECT ((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*?)(?: AS (?:\w+|\"\w+\"))?\)")
_STORED = text(
    "SELECT c.relname, COALESCE(obj_description(p.oid, 'pg_policy'), '') FROM pg_policy p"
    " JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = 'public'::regnamespace AND p.polname = :name"
)
_CONDITIONS = text(
    "SELECT p.polname, p.polpermissive, pg_get_expr(p.polqual, p.polrelid),"
    " COALESCE(obj_description(p.oid, 'pg_policy'), '')"
    " FROM pg_policy p WHERE p.polrelid = to_regclass(:table) ORDER BY p.polname"
)
_RESTRICTIVE = "AS RESTRICTIVE "

# A system session has '*'; the setting is empty after a transaction that had one. Ids are compared as ids: PostgreSQL
# has statistics of `tenant_id` and none of `tenant_id::text`.
_BY_ID = "{column} = NULLIF(NULLIF(current_setting('sinemora.tenant_id', true), '*'), '')::uuid"
# For measurements. The subquery reads the setting once a statement, not once a row.
_BY_KEY = "(SELECT current_setting('sinemora.tenant_key', true)) = {column}::text"


def own_rows(table: str, column: Literal["tenant_id", "tenant_key", "id"] = "tenant_id") -> str:
    """Return the SQL by which a session reads and writes only the rows of its tenant in `table`.

    `column` names the tenant in each row. Migrations call this, and databases exist that they have created: a change of
    the condition needs a migration that alters the policies which are there.
    """
    return confined(table, (_BY_KEY if column == "tenant_key" else _BY_ID).format(column=column))


def confined(table: str, condition: str) -> str:
    """Return the SQL by which a session reads and writes only rows that satisfy `condition`.

    Row-level security is forced: it binds the owner of the table too.
    """
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\n"
        f"CREATE POLICY tenant ON {table} USING ({condition})"
    )


def set_policies(connection: Connection, name: str, wanted: Mapping[str, str | None]) -> None:
    """Give each table the policy `name` with its definition ("TO role USING (…)"), or none; as the owner of the tables.

    A change locks its table against every reader and writer, and deadlocks with those that have locked others. So a
    table whose policy is as wanted stays untouched: its definition is the policy's comment. RuntimeError for another
    restrictive policy of a distributed table than the one that it was distributed with.
    """
    stored = {table: comment for table, comment in connection.execute(_STORED, {"name": name})}
    distributed = cluster.distributed_tables(connection)
    merged = {table: comment for table, comment in connection.execute(_STORED, {"name": "tenant"})}
    for table, definition in wanted.items():
        if stored.get(table) == definition:
            continue
        if table in distributed and definition is not None and definition.startswith(_RESTRICTIVE):
            if merged.get(table) != definition:
                raise RuntimeError(f"{table} is distributed with another policy {name} than {definition}")
            continue
        if table in stored:
            connection.exec_driver_sql(f"DROP POLICY {name} ON {table}")
        if definition is not None:
            condition = without_subqueries(definition) if table in distributed else definition
            connection.exec_driver_sql(f"CREATE POLICY {name} ON {table} {condition}")
            _comment(connection, name, table, definition)


def prepare_to_distribute(connection: Connection, table: str) -> None:
    """Give a table policies that Citus hands on to its workers as they are; as its owner.

    Citus refuses subqueries. It drops the word RESTRICTIVE, so that a policy that limits others would admit all rows:
    its condition becomes part of the policy `tenant`, whose comment keeps its definition.
    """
    rows = connection.execute(_CONDITIONS, {"table": f"public.{table}"}).all()
    limits = [(name, condition, comment) for name, permissive, condition, comment in rows if not permissive]
    for name, permissive, condition, _ in rows:
        if not permissive:
            connection.exec_driver_sql(f"DROP POLICY {name} ON {table}")
            continue
        parts = [condition, *(limit for _, limit, _ in limits if name == "tenant")]
        plain = " AND ".join(f"({without_subqueries(part)})" for part in parts)
        connection.exec_driver_sql(f"ALTER POLICY {name} ON {table} USING ({plain})")
    for _, _, comment in limits:
        _comment(connection, "tenant", table, comment)


def _comment(connection: Connection, name: str, table: str, definition: str) -> None:
    comment = definition.replace("'", "''")
    connection.exec_driver_sql(f"COMMENT ON POLICY {name} ON {table} IS '{comment}'")


def without_subqueries(condition: str) -> str:
    """Return a condition with the expressions of its subqueries in their place; ValueError if one reads a table.

    A subquery reads a setting once in a statement instead of once a row. Citus refuses it on a distributed table.
    """
    plain = _SUBQUERY.sub(r"\1", condition)
    if re.search(r"\b(SELECT|FROM)\b", plain):
        raise ValueError(f"not a condition about one row: {condition}")
    return plain
