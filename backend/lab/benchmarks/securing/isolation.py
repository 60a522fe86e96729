"""The cost of keeping tenants apart."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from sqlalchemy import Engine, create_engine, event, text

from lab.benchmarks.securing.bad_requests import BadRequest
from lab.benchmarks.securing.in_process import InProcess
from sinemora.kit import db
from sinemora.kit.config import settings
from sinemora.kit.db import SessionMaker

PAIRS = 10
REQUESTS = 40


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
    _switch(owner, "DISABLE")
    event.remove(SessionMaker, "after_begin", db._set_tenant)
    try:
        yield
    finally:
        event.listen(SessionMaker, "after_begin", db._set_tenant)
        _switch(owner, "ENABLE")


def _switch(owner: Engine, action: str) -> None:
    tables = text("SELECT DISTINCT tablename FROM pg_policies WHERE schemaname = 'public'")
    with owner.begin() as connection:
        for table in connection.scalars(tables).all():
            connection.execute(text(f"ALTER TABLE {table} {action} ROW LEVEL SECURITY"))
