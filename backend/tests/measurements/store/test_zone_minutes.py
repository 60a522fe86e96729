"""Minutes of zones as plain columns: as the API answers of the same minute."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from sqlalchemy import text

from sinemora.measurements import tasks
from sinemora.measurements.aggregate.corrections import SHIFTS
from sinemora.measurements.store import corrections
from tests.api_clients import MeshWorld
from tests.conftest import Servers
from tests.measurements.matrices import cells, span
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.store.test_retention import SEVEN_DAYS, store, stored
from tests.measurements.worlds import silent, simple
from tests.statements import call, execute

pytestmark = [pytest.mark.whole_store, pytest.mark.agents(6)]

FIGURES = {
    "delay_p50_ns": ("one_way_delay", "p50"),
    "delay_p90_ns": ("one_way_delay", "p90"),
    "delay_p99_ns": ("one_way_delay", "p99"),
    "clock_error_ns": ("clock_error", "p50"),
    "round_trip_p50_ns": ("round_trip", "p50"),
    "round_trip_p90_ns": ("round_trip", "p90"),
    "round_trip_p99_ns": ("round_trip", "p99"),
    "loss_ratio": ("loss", "p50"),
}


@pytest.fixture
def minute(mesh: MeshWorld) -> int:
    """Start of a merged minute of six windows: losses, a pair that lost everything, one that is slower back."""
    start = window_start(4, 60)
    a, b, c, a2, b2, _ = (agent.vm_key for agent in mesh.agents)
    for n in range(6):
        out = {b: simple(50_000 + 900 * n, 90_000, lost=n), c: silent(), a2: simple(20_000 + n, clock_error_ns=90)}
        sent(mesh.agents[0], report_of(mesh.key, out, start + 10 * n))
        sent(mesh.agents[4], report_of(mesh.key, {a: simple(400_000, 70_000 * n + 1)}, start + 10 * n))
        if n == 3:
            sent(mesh.agents[2], report_of(mesh.key, {b2: simple(-5_000, 10_000)}, start + 10 * n))
    tasks.roll_up()
    return start


def by_sql(reader: psycopg.Connection, column: str, at: int, view: str = "zone_minutes") -> dict[tuple[str, str], Any]:
    """Return a column of a step by source and target, where it has a value."""
    end = "zone" if view.startswith("zone") else "vm"
    columns = f"source_{end}, target_{end}, {column}"
    rows = reader.execute(f"SELECT {columns} FROM sinemora_read.{view} WHERE time = to_timestamp(%s)", [at])
    return {(source, target): value for source, target, value in rows if value is not None}


def by_api(mesh: MeshWorld, at: int, metric: str, statistic: str) -> dict[tuple[str, str], Any]:
    """Return the same of the zone matrix."""
    return cells(mesh, by="zone", metric=metric, statistic=statistic, **span(at, at + 60))


def test_a_minute_is_that_of_the_zone_matrix(mesh: MeshWorld, minute: int, reader: psycopg.Connection):
    for column, (metric, statistic) in FIGURES.items():
        result = by_sql(reader, column, minute)
        assert result == pytest.approx(by_api(mesh, minute, metric, statistic)), column
        assert result
    assert by_sql(reader, "delay_p50_ns", minute).keys() == {
        ("a", "a"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"),
    }  # fmt: skip
    # All packets from a to c were lost: no delay, and not zero.
    assert by_sql(reader, "loss_ratio", minute)["a", "c"] == 1
    assert by_sql(reader, "exchanges", minute)["a", "c"] == 0
    assert by_sql(reader, "exchanges", minute)["a", "b"] == 12 * 8
    assert by_sql(reader, "packets_lost", minute)["a", "b"] == sum(range(6))


def test_delays_are_corrected_as_the_api_corrects_them(mesh: MeshWorld, reader: psycopg.Connection):
    start = window_start(4, 60)
    a, b = mesh.agents[0].vm_key, mesh.agents[1].vm_key
    for n in range(6):
        sent(mesh.agents[0], report_of(mesh.key, {b: simple(80_000, 120_000)}, start + 10 * n))
    shifts = np.zeros(1, SHIFTS)
    shifts["client"], shifts["target"], shifts["shift_ns"], shifts["bound_ns"] = a, b, 20_000, 777
    held = [datetime.fromtimestamp(start + seconds, UTC) for seconds in (-60, 60)]
    call(corrections.store, mesh.owner.tenant_key, mesh.key, *held, shifts, np.zeros(1))
    tasks.roll_up()
    assert by_sql(reader, "clock_error_ns", start) == {("a", "b"): 777, ("b", "a"): 777}
    for column, (metric, statistic) in FIGURES.items():
        expected = by_api(mesh, start, metric, statistic)
        assert by_sql(reader, column, start) == pytest.approx(expected, rel=0.016), column  # one bin of a sketch
    assert by_sql(reader, "delay_p50_ns", start)["a", "b"] == pytest.approx(100_000, rel=0.016)


def test_a_late_window_replaces_its_minute(
    mesh: MeshWorld, minute: int, servers: Servers, timescaledb: str | None, reader: psycopg.Connection
):
    before = by_sql(reader, "exchanges", minute)
    tasks.roll_up()
    assert by_sql(reader, "exchanges", minute) == before
    compress(servers, timescaledb)  # late also for the columnstore
    b2 = mesh.agents[4].vm_key
    sent(mesh.agents[3], report_of(mesh.key, {b2: simple(900_000)}, minute + 50))
    tasks.roll_up()
    after = by_sql(reader, "exchanges", minute)
    assert after == {**before, ("a", "b"): before["a", "b"] + 8, ("b", "a"): before["b", "a"] + 8}
    for column, (metric, statistic) in FIGURES.items():
        assert by_sql(reader, column, minute) == pytest.approx(by_api(mesh, minute, metric, statistic)), column


def compress(servers: Servers, timescaledb: str | None) -> None:
    """Move all minutes to the columnstore; native partitions have none."""
    if timescaledb is not None:
        with servers.owner_engine.begin() as connection:
            connection.execute(text("SELECT compress_chunk(chunk) FROM show_chunks('zone_minutes') AS chunk"))


def test_retention_of_a_tenant_changes_large_chunks(mesh: MeshWorld, servers: Servers, timescaledb: str | None):
    """More rows than TimescaleDB decompresses in a transaction by default."""
    execute("SELECT make_measurement_partitions(CURRENT_DATE - 20, CURRENT_DATE - 20)")
    execute(
        "INSERT INTO zone_minutes (tenant_key, mesh_key, started_at, source_zone_key, target_zone_key, exchanges)"
        " SELECT :tenant, :mesh, CURRENT_DATE - 20 + n * interval '1 minute', a, 1, 8"
        " FROM generate_series(0, 1439) AS n, generate_series(1, :sources) AS a",
        {"tenant": mesh.owner.tenant_key, "mesh": mesh.key, "sources": 100 if timescaledb else 1},
    )
    execute(SEVEN_DAYS, {"tenant": mesh.owner.tenant_id})
    compress(servers, timescaledb)
    now = datetime.now(UTC)
    store(mesh, "zone_minutes", now)
    tasks.shorten()
    assert stored("zone_minutes", mesh) == [now]


def test_minutes_are_kept_in_columns_or_partitions(servers: Servers, timescaledb: str | None):
    """The columnstore takes what no late window changes any more, elsewhere ranges of time are partitions."""
    if timescaledb is None:
        with servers.owner_engine.connect() as connection:
            partitioned = "SELECT partstrat FROM pg_partitioned_table WHERE partrelid = 'zone_minutes'::regclass"
            assert connection.scalar(text(partitioned)) == "r"
        return
    with servers.owner_engine.connect() as connection:
        jobs = connection.execute(
            text(
                "SELECT proc_name, config ->> 'compress_after' FROM timescaledb_information.jobs"
                " WHERE hypertable_name = 'zone_minutes'"
            )
        ).all()
    assert [tuple(job) for job in jobs] == [("policy_compression", "4 days")]
