"""The sweep that merges minutes: idempotent, late windows merged again, gaps found, what is old dropped."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from sinemora.measurements import tasks
from sinemora.measurements.codec import frame
from sinemora.measurements.store import roll_up
from sinemora.measurements.store.tiers import Tier
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import Raw, RawWindow, frame_of, simple
from tests.statements import execute, rows

pytestmark = pytest.mark.whole_store


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
        assert np.array_equal(frame.decode_sketches(row.sketch, stats).words, expected.sketches.words)
        assert np.array_equal(stats.quantiles, expected.stats.quantiles)
        exact = [frame.COUNT, frame.SENT, frame.LOST, frame.MIN, frame.MAX, frame.CLOCK_ERROR]
        assert np.array_equal(stats.columns[exact], expected.stats.columns[exact])
        assert np.allclose(stats.m2, expected.stats.m2, rtol=1e-4)
    assert rows("SELECT count(*) FROM rollup_marks WHERE step_s = 60")[0][0] == 0


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
    execute("DELETE FROM probe_frames_1m WHERE started_at = to_timestamp(:at)", {"at": minute + 60})
    tasks.find_gaps()
    (marked,) = rows("SELECT minute FROM rollup_marks WHERE step_s = 60")
    assert marked.minute.timestamp() == minute + 60
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
    assert result == sorted((one.owner.tenant_key, one.key, one.agents[0].vm_key) for one in (mesh, other))
