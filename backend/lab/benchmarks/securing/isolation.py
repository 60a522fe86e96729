"""Rows of other tenants that injected SQL reaches, and the cost of keeping tenants apart."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from uuid import UUID

from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.exc import ProgrammingError

from lab.benchmarks.securing.bad_requests import BadRequest
from lab.benchmarks.securing.in_process import InProcess
from sinemora.kit import db
from sinemora.kit.config import settings
from sinemora.kit.db import SessionMaker, system_session, tenant_session

# What an attacker who can run SQL tries first.
ESCAPES = (
    "SELECT set_config('sinemora.tenant_id', '*', true), set_config('sinemora.tenant_key', '*', true)",
    "SET sinemora.tenant_id = '*'",
    "SET row_security = off",
    "SET ROLE sinemora_system",
    "SET ROLE sinemora_owner",
    "SET SESSION AUTHORIZATION sinemora_system",
    "ALTER TABLE zones DISABLE ROW LEVEL SECURITY",
    "DROP POLICY tenant ON zones",
    "CREATE POLICY mine ON zones USING (true)",
    "ALTER ROLE sinemora_app BYPASSRLS",
    "RESET ALL",
)
_COLUMNS = (
    "SELECT c.table_name, c.column_name FROM information_schema.columns c JOIN information_schema.tables t"
    " USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
    " AND c.column_name IN ('tenant_id', 'tenant_key')"
)
PAIRS = 10
REQUESTS = 40


def reached_rows(attacker: UUID, victim: UUID, victim_key: int) -> tuple[int, int]:
    """Return the rows of `victim` that SQL of `attacker` reads after each escape, and the number of reads tried."""
    with system_session() as session:
        columns = [(str(table), str(column)) for table, column in session.execute(text(_COLUMNS))]
    seen = reads = 0
    for escape in ESCAPES:
        for table, column in columns:
            other = victim if column == "tenant_id" else victim_key
            try:
                with tenant_session(attacker) as session:
                    connection = session.connection()
                    _try(connection, escape)
                    query = text(f"SELECT count(*) FROM {table} WHERE {column} = :other")
                    seen += int(connection.execute(query, {"other": other}).scalar() or 0)
                    reads += 1
            except ProgrammingError:
                reads += 1  # a role that may not read the table
    return seen, reads


def _try(connection: object, escape: str) -> None:
    """Run an escape; a refused one leaves the transaction usable."""
    nested = connection.begin_nested()  # type: ignore[attr-defined]
    try:
        connection.execute(text(escape))  # type: ignore[attr-defined]
        nested.commit()
    except ProgrammingError:
        nested.rollback()


async def overhead_percent(
    api: InProcess, paths: list[str], headers: list[tuple[str, str]]
) -> tuple[float, dict[str, float]]:
    """Return what row-level security and its settings add to the time of light reads, %, and by path.

    Short phases with and without isolation alternate, and neighbours are compared: whatever else the machine does
    slows both.
    """
    owner = create_engine(settings().database_owner_url)
    added: dict[str, float] = {}
    for path in paths:
        ratios = []
        for pair in range(PAIRS):
            times = {}
            for is_on in (True, False) if pair % 2 else (False, True):
                with _isolation(owner, is_on=is_on):
                    times[is_on] = await _read_s(api, path, headers)
            ratios.append(times[True] / times[False])
        added[path] = 100 * (median(ratios) - 1)
    owner.dispose()
    return median(added.values()), added


async def _read_s(api: InProcess, path: str, headers: list[tuple[str, str]]) -> float:
    times = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        await api.send(BadRequest("", "GET", path), headers)
        times.append(time.perf_counter() - began)
    return median(times[5:])  # the first plan and connect


@contextmanager
def _isolation(owner: Engine, *, is_on: bool) -> Iterator[None]:
    """Switch row-level security and the settings it reads off, unless `is_on`, and on again."""
    if is_on:
        yield
        return
    with owner.begin() as connection:
        tables = connection.scalars(
            text("SELECT DISTINCT tablename FROM pg_policies WHERE schemaname = 'public'")
        ).all()
    _alter(owner, list(tables), "DISABLE")
    event.remove(SessionMaker, "after_begin", db._set_tenant)
    try:
        yield
    finally:
        event.listen(SessionMaker, "after_begin", db._set_tenant)
        _alter(owner, list(tables), "ENABLE")


def _alter(owner: Engine, tables: list[str], action: str) -> None:
    with owner.begin() as connection:
        for table in tables:
            connection.execute(text(f"ALTER TABLE {table} {action} ROW LEVEL SECURITY"))
