"""The sweep that merges minutes: idempotent, late windows merged again, gaps found, what is old dropped."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import text

from sinemora.kit.db import system_session
from sinemora.measurements import tasks
from sinemora.measurements.codec import frame
from sinemora.measurements.store import roll_up
from sinemora.measurements.store.tiers import Tier
from tests.api_clients import MeshWorld
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import Raw, RawWindow, frame_of, simple

pytestmark = pytest.mark.whole_store


@pytest.fixture
def mesh(owner, make_mesh) -> MeshWorld:
    return make_mesh(owner, 3)


def rows(sql: str, **parameters):
    with system_session() as session:
        return session.execute(text(sql), parameters).all()


def minutes():
    """Merged frames by minute (Unix time) and VM."""
    result = rows(
        "SELECT extract(epoch FROM started_at)::bigint AS at, vm_key, frames, target_keys, stats, sketch"
        " FROM probe_frames_1m m JOIN (SELECT * FROM rosters OFFSET 0) r ON r.key = m.roster_key"
        " ORDER BY started_at, vm_key, block"
    )
    return {(row.at, row.vm_key): row for row in result}


def together(*raws: Raw) -> Raw:
    """Return several windows as one."""
    return Raw(
        tuple([v for raw in raws for v in raw.delays_ns[d]] for d in range(3)),
        tuple(sum(raw.sent[d] for raw in raws) for d in range(3)),
        tuple(sum(raw.lost[d] for raw in raws) for d in range(3)),
        max(raw.clock_error_ns for raw in raws),
    )


def test_a_minute_holds_all_its_windows_and_again_changes_nothing(mesh):
    minute = window_start(2, 60)
    a, b, c = (agent.vm_key for agent in mesh.agents)
    raws = [simple(50_000 + 3_000 * n, 70_000 - 1_000 * n, lost=n) for n in range(6)]
    for n, raw in enumerate(raws):
        peers = {b: raw} if n < 3 else {b: raw, c: raw}  # a VM joins half-way
        sent(mesh.agents[0], report_of(mesh.key, peers, minute + 10 * n))
    for _ in range(2):
        tasks.roll_up()
        (row,) = minutes().values()
        assert (row.at, row.vm_key, row.frames, row.target_keys) == (minute, a, 6, [b, c])
        expected = frame_of(RawWindow(a, {b: together(*raws), c: together(*raws[3:])}))
        stats = frame.decode_stats(row.stats)
        sketches = frame.decode_sketches(row.sketch, stats)
        assert np.array_equal(sketches.words, expected.sketches.words)
        assert np.array_equal(stats.quantiles, expected.stats.quantiles)
        exact = [frame.COUNT, frame.SENT, frame.LOST, frame.MIN, frame.MAX, frame.CLOCK_ERROR]
        assert np.array_equal(stats.columns[exact], expected.stats.columns[exact])
        assert np.allclose(stats.m2, expected.stats.m2, rtol=1e-4)
    assert rows("SELECT count(*) FROM rollup_marks WHERE step_s = 60")[0][0] == 0


def test_a_late_window_is_merged_too(mesh):
    minute = window_start(5, 60)
    a, b = mesh.agents[0], mesh.agents[1].vm_key
    sent(a, report_of(mesh.key, {b: simple(50_000)}, minute))
    tasks.roll_up()
    sent(a, report_of(mesh.key, {b: simple(90_000)}, minute + 50))
    tasks.roll_up()
    (row,) = minutes().values()
    stats = frame.decode_stats(row.stats)
    assert (row.frames, stats.columns[frame.COUNT, 0, 0], stats.columns[frame.MAX, 0, 0]) == (2, 16, 90_070)


def test_a_minute_that_is_not_over_waits(mesh):
    sent(mesh.agents[0], report_of(mesh.key, {mesh.agents[1].vm_key: simple(50_000)}, window_start(1, 10)))
    due = datetime.now(UTC) - timedelta(seconds=120)
    assert roll_up.roll_up_mesh(mesh.owner.tenant_key, mesh.key, Tier.MINUTE, due) == 0
    assert rows("SELECT count(*) FROM rollup_marks WHERE step_s = 60")[0][0] == 1


def test_gaps_are_found(mesh):
    minute = window_start(10, 60)
    a, b = mesh.agents[0], mesh.agents[1].vm_key
    for n in range(3):
        sent(a, report_of(mesh.key, {b: simple(50_000)}, minute + 60 * n))
    tasks.roll_up()
    with system_session() as session:
        session.execute(text("DELETE FROM probe_frames_1m WHERE started_at = to_timestamp(:at)"), {"at": minute + 60})
    tasks.find_gaps()
    assert [row.minute.timestamp() for row in rows("SELECT minute FROM rollup_marks WHERE step_s = 60")] == [
        minute + 60
    ]
    tasks.roll_up()
    assert [at for at, _ in minutes()] == [minute, minute + 60, minute + 120]
    tasks.find_gaps()
    assert rows("SELECT count(*) FROM rollup_marks WHERE step_s = 60")[0][0] == 0


def test_two_tenants_are_merged_apart(mesh, other_owner, make_mesh):
    other = make_mesh(other_owner, 2)
    minute = window_start(3, 60)
    sent(mesh.agents[0], report_of(mesh.key, {mesh.agents[1].vm_key: simple(50_000)}, minute))
    sent(other.agents[0], report_of(other.key, {other.agents[1].vm_key: simple(99_000)}, minute))
    tasks.roll_up()
    result = rows("SELECT tenant_key, mesh_key, vm_key FROM probe_frames_1m ORDER BY tenant_key")
    assert [tuple(row) for row in result] == sorted(
        [
            (mesh.owner.tenant_key, mesh.key, mesh.agents[0].vm_key),
            (other_owner.tenant_key, other.key, other.agents[0].vm_key),
        ]
    )


def test_retention_drops_partitions_and_makes_them_ahead(mesh, servers, timescaledb):
    """Rows of kept days stay, older ones are gone, on either engine."""
    kept = {"probe_frames": 3, "probe_frames_1m": 30, "spikes": 30}
    today = datetime.now(UTC).date()
    with servers.owner_engine.begin() as connection:
        connection.execute(text("SELECT make_measurement_partitions(CURRENT_DATE - 40, CURRENT_DATE)"))
    for table in kept:
        for days in (0, 2, 4, 29, 31, 40):
            store_empty(table, mesh, today - timedelta(days=days))
    tasks.partitions()
    for table, days in kept.items():
        result = [row[0] for row in rows(f"SELECT started_at FROM {table} ORDER BY started_at DESC")]
        expected = [today - timedelta(days=n) for n in (0, 2, 4, 29, 31, 40) if n <= days]
        assert [at.date() for at in result] == expected, table
        if timescaledb is None:
            names = [f"{table}_{today + timedelta(days=n):%Y%m%d}" for n in range(-days, 4)]
            assert partitions(table) == names


def partitions(table: str) -> list[str]:
    return [
        row[0]
        for row in rows(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = CAST(:table AS regclass) ORDER BY 1",
            table=table,
        )
    ]


def store_empty(table: str, mesh, day) -> None:
    """Store a row of `table` without content, at noon of a day."""
    frames = "vm_key, block, window_s, roster_key, n, stats, sketch", "1, 0, 10, 1, 1, '', ''"
    columns, values = {
        "probe_frames": frames,
        "probe_frames_1m": (frames[0] + ", frames", frames[1] + ", 1"),
        "spikes": ("source_key, target_key, window_s, max_ns, median_ns, evidence", "1, 2, 10, 9, 1, ''"),
    }[table]
    with system_session() as session:
        session.execute(
            text(
                f"INSERT INTO {table} (tenant_key, mesh_key, started_at, {columns})"
                f" VALUES (:tenant, :mesh, CAST(:day AS date) + interval '12 hours', {values})"
            ),
            {"tenant": mesh.owner.tenant_key, "mesh": mesh.key, "day": day},
        )
