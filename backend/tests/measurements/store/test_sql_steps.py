"""Hours and days for readers with SQL: what follows from their minutes, also late ones, and for how long."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, text

from sinemora import migrate
from sinemora.kit import config
from sinemora.measurements import tasks
from sinemora.measurements.store.sql_models import VALUES
from sinemora.operations.archives import tenant
from tests.api_clients import Member, MeshWorld
from tests.conftest import Servers
from tests.measurements.store.test_retention import SEVEN_DAYS
from tests.measurements.store.test_zone_minutes import compress
from tests.sql_logins import compute_steps
from tests.statements import execute

pytestmark = pytest.mark.whole_store

STEPS = {"zone_hours": timedelta(hours=1), "zone_days": timedelta(days=1)}
LARGEST = tuple(name for name in VALUES if not name.startswith("packets"))
# Noon of a day whose minutes, hours and days are all kept.
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=6)


def minute_of(number: int) -> dict[str, int | None]:
    """Return the values of a minute: of every third nothing is known, and of every fifth no losses."""
    known = number % 3 != 2
    values: dict[str, int | None] = {name: 1_000 * (number * 37 % 101) + n for n, name in enumerate(LARGEST)}
    sent, lost = 480 + number, None if number % 5 == 4 else number % 7
    return {name: values[name] if known else None for name in LARGEST} | {"packets_sent": sent, "packets_lost": lost}


def store(servers: Servers, mesh: MeshWorld, minutes: dict[datetime, dict[str, int | None]]) -> None:
    """Store minutes from the first zone of the tenant to the second, or replace them."""
    with servers.owner_engine.begin() as connection:
        connection.execute(text("SELECT set_config('sinemora.tenant_id', '*', true)"))
        for day in {at.date() for at in minutes}:
            connection.execute(text("SELECT make_measurement_partitions(:day, :day)"), {"day": day})
        source, target = zone_keys(connection, mesh)
        for at, values in minutes.items():
            row = {"tenant": mesh.owner.tenant_key, "mesh": mesh.key, "at": at, "a": source, "b": target} | values
            connection.execute(
                text(
                    f"INSERT INTO zone_minutes VALUES (:tenant, :mesh, :at, :a, :b, 8, :{', :'.join(VALUES)})"
                    " ON CONFLICT (tenant_key, mesh_key, started_at, source_zone_key, target_zone_key) DO UPDATE SET"
                    f" {', '.join(f'{name} = excluded.{name}' for name in VALUES)}"
                ),
                row,
            )


def zone_keys(connection: Connection, mesh: MeshWorld) -> list[int]:
    """Return the keys of the first two zones of a tenant by name."""
    keys = connection.scalars(
        text("SELECT key FROM zones WHERE tenant_id = :tenant ORDER BY name LIMIT 2"), {"tenant": mesh.owner.tenant_id}
    )
    return list(keys)


def read(reader: psycopg.Connection, view: str) -> dict[datetime, dict[str, Any]]:
    """Return the rows of a view by time."""
    cursor = reader.execute(f"SELECT * FROM sinemora_read.{view} ORDER BY time")
    names = [column.name for column in cursor.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in cursor]
    assert {(row["mesh"], row["source_zone"], row["target_zone"]) for row in rows} <= {("demo", "a", "b")}
    return {row["time"].astimezone(UTC): row for row in rows}


def expected(minutes: dict[datetime, dict[str, int | None]], step: timedelta) -> dict[datetime, dict[str, Any]]:
    """Return what steps have, of their minutes one by one."""
    steps: dict[datetime, list[dict[str, int | None]]] = {}
    for at, values in minutes.items():
        midnight = at.replace(hour=0, minute=0)
        steps.setdefault(midnight + (at - midnight) // step * step, []).append(values)
    found: dict[datetime, dict[str, Any]] = {}
    for at, rows in steps.items():
        lost = [row["packets_lost"] for row in rows if row["packets_lost"] is not None]
        judged = sum(row["packets_sent"] or 0 for row in rows if row["packets_lost"] is not None)
        found[at] = {
            "minutes": len(rows),
            "exchanges": 8 * len(rows),
            "packets_sent": sum(row["packets_sent"] or 0 for row in rows),
            "packets_lost": sum(lost) if lost else None,
            "loss_ratio": pytest.approx(sum(lost) / judged) if lost else None,
        }
        for name in LARGEST:
            found[at][f"largest_{name}"] = max((row[name] for row in rows if row[name] is not None), default=None)
    return found


def assert_shown(reader: psycopg.Connection, minutes: dict[datetime, dict[str, int | None]]) -> None:
    for view, step in STEPS.items():
        wanted = expected(minutes, step)
        shown = {
            at: {name: row[name] for name in next(iter(wanted.values()))} for at, row in read(reader, view).items()
        }
        assert shown == wanted, view


def test_steps_are_those_of_their_minutes(
    mesh: MeshWorld, servers: Servers, timescaledb: str | None, reader: psycopg.Connection
):
    minutes = {NOON + timedelta(minutes=n * 43): minute_of(n) for n in range(70)}
    minutes[NOON - timedelta(hours=3)] = minute_of(2) | {"packets_lost": None}  # an hour of which little is known
    store(servers, mesh, minutes)
    for _ in range(2):
        compute_steps(servers, timescaledb)
        assert_shown(reader, minutes)
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    newest = {now - timedelta(minutes=n): minute_of(n) for n in range(1, 50)}
    store(servers, mesh, newest)
    assert_shown(reader, minutes | newest)  # before they are computed too
    compute_steps(servers, timescaledb)
    assert_shown(reader, minutes | newest)


def test_late_and_merged_minutes_change_their_hour_and_day(
    mesh: MeshWorld, servers: Servers, timescaledb: str | None, reader: psycopg.Connection
):
    minutes = {NOON + timedelta(minutes=n): minute_of(n) for n in range(30)}
    store(servers, mesh, minutes)
    compute_steps(servers, timescaledb)
    late = {NOON + timedelta(minutes=40): minute_of(3), NOON - timedelta(days=20): minute_of(7)}
    merged = {NOON + timedelta(minutes=1): minute_of(90)}
    for more in (late, merged):
        store(servers, mesh, more)
        minutes |= more
        compress(servers, timescaledb)  # late also for the columnstore
        compute_steps(servers, timescaledb)
        assert_shown(reader, minutes)


def test_with_aggregates_hours_outlive_their_minutes(
    mesh: MeshWorld, servers: Servers, timescaledb: str | None, reader: psycopg.Connection
):
    """Without them they end with their minutes."""
    kept = {NOON: minute_of(1)}
    old = {datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(days=29, hours=12): minute_of(8)}
    store(servers, mesh, kept | old)
    compute_steps(servers, timescaledb)
    assert_shown(reader, kept | old)
    day = datetime.now(UTC).date() - timedelta(days=28)
    execute("SELECT forget_measurements_before('zone_minutes', :day)", {"day": day})
    if timescaledb is None:
        assert_shown(reader, kept)
        return
    assert_shown(reader, kept | old)
    with kept_for(minute_days=27):
        compute_steps(servers, timescaledb)
        assert_shown(reader, kept | old)
    with kept_for(minute_days=60):  # longer again, but the minutes of the old hour are gone
        compute_steps(servers, timescaledb)
        assert_shown(reader, kept | old)
    with kept_for(minute_days=12, hour_days=15):  # by ten days at once
        compute_steps(servers, timescaledb)
        assert read(reader, "zone_hours").keys() == {NOON}
        assert len(read(reader, "zone_days")) == 2
    with kept_for():  # as the other tests
        pass


@contextmanager
def kept_for(*, minute_days: int = 30, hour_days: int = 400) -> Iterator[None]:
    """Migrate with other settings of retention, as a start of the product with them does."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SINEMORA_RETENTION_1M_DAYS", str(minute_days))
        environment.setenv("SINEMORA_RETENTION_1H_DAYS", str(hour_days))
        config.settings.cache_clear()
        migrate.upgrade()
        yield
    config.settings.cache_clear()


def test_a_shorter_retention_of_a_tenant_holds_for_its_hours(
    mesh: MeshWorld, servers: Servers, timescaledb: str | None, reader: psycopg.Connection
):
    kept, gone = {NOON: minute_of(1)}, {NOON - timedelta(days=5): minute_of(2)}
    store(servers, mesh, kept | gone)
    compute_steps(servers, timescaledb)
    execute(SEVEN_DAYS, {"tenant": mesh.owner.tenant_id})
    tasks.shorten()
    compute_steps(servers, timescaledb)
    assert_shown(reader, kept)


def test_a_renamed_zone_has_its_new_name_at_all_times(
    mesh: MeshWorld, servers: Servers, timescaledb: str | None, reader: psycopg.Connection
):
    store(servers, mesh, {NOON: minute_of(1)})
    compute_steps(servers, timescaledb)
    renamed = "UPDATE zones SET name = 'renamed' WHERE name = 'a' AND tenant_id = :tenant"
    execute(renamed, {"tenant": mesh.owner.tenant_id})
    for view in STEPS:
        assert reader.execute(f"SELECT source_zone FROM sinemora_read.{view}").fetchall() == [("renamed",)]


def test_nothing_is_left_of_a_deleted_tenant(
    mesh: MeshWorld, servers: Servers, timescaledb: str | None, other_owner: Member, make_mesh: Any
):
    other = make_mesh(other_owner, 3)
    for one in (mesh, other):
        store(servers, one, {NOON - timedelta(days=n): minute_of(n) for n in range(20)})
    compute_steps(servers, timescaledb)
    tenant.delete(str(mesh.owner.tenant_id), lambda _: None, caches_expire_s=0)
    with servers.owner_engine.connect() as connection:
        tables = [f"sinemora_steps.{view}" for view in STEPS]
        if timescaledb:
            tables += connection.scalars(
                text(
                    "SELECT '_timescaledb_internal.' || materialization_hypertable_name"
                    " FROM timescaledb_information.continuous_aggregates WHERE view_name LIKE 'zone%'"
                )
            ).all()
        assert len(tables) == (4 if timescaledb else 2)
        for table in tables:
            keys = connection.scalars(text(f"SELECT tenant_key FROM {table}")).all()
            assert other.owner.tenant_key in keys, table
            assert mesh.owner.tenant_key not in keys, table
