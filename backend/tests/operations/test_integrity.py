"""The check finds what was damaged on purpose, and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from sinemora.kit.db import system_session
from sinemora.measurements import metrics, tasks
from sinemora.operations import integrity
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import simple

pytestmark = pytest.mark.whole_store


@pytest.fixture
def mesh(owner, make_mesh):
    mesh = make_mesh(owner, 3)
    minute = window_start(10, 60)
    for n in range(6):
        peers = {peer.vm_key: simple(50_000 + n) for peer in mesh.agents[1:]}
        sent(mesh.agents[0], report_of(mesh.key, peers, minute + 10 * n))
    tasks.roll_up()
    return mesh


def run(statement: str, **parameters) -> None:
    with system_session() as session:
        session.execute(text(statement), parameters)


def test_a_sound_store_has_no_faults(mesh):
    findings = integrity.check()
    assert findings.frames["probe_frames"] == 6
    assert findings.frames["probe_frames_1m"] == 1
    assert (findings.faults, findings.minutes_compared) == (0, 1)
    assert integrity.check(datetime.now(UTC) + timedelta(hours=1)).frames["probe_frames"] == 0


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("SET stats = set_byte(stats, length(stats) - 6, get_byte(stats, length(stats) - 6) # 1)", "cannot be decoded"),
        ("SET stats = '\\x00'", "cannot be decoded"),
        ("SET sketch = (SELECT sketch FROM probe_frames_1m LIMIT 1)", "are counted"),
        ("SET n = 1", "in its roster"),
        ("SET roster_key = 999999", "roster is missing"),
    ],
)
def test_a_damaged_frame_is_found_and_named(mesh, damage, words):
    run(f"UPDATE probe_frames {damage} WHERE started_at = (SELECT min(started_at) FROM probe_frames)")
    findings = integrity.check()
    assert findings.faults >= 1
    assert any(words in fault.what and fault.table == "probe_frames" for fault in findings.shown), findings.shown


def test_a_minute_that_lacks_frames_is_found_and_merged_again(mesh):
    run("UPDATE probe_frames_1m SET frames = 5")
    assert integrity.check().faults == 1
    assert integrity.check(repair=True).faults == 1
    assert integrity.check().faults == 0  # marked: the sweep will do it
    tasks.roll_up()
    with system_session() as session:
        assert session.scalar(text("SELECT frames FROM probe_frames_1m")) == 6


def test_a_damaged_frame_delays_no_other_mesh(mesh, owner, make_mesh):
    other = make_mesh(owner, 2, name="other")
    run("UPDATE probe_frames SET stats = '\\x00'")
    sent(other.agents[0], report_of(other.key, {other.agents[1].vm_key: simple(50_000)}, window_start(10, 60)))
    sent(mesh.agents[1], report_of(mesh.key, {mesh.agents[2].vm_key: simple(50_000)}, window_start(10, 60)))
    failures = metrics.MERGE_FAILURES._value.get()
    tasks.roll_up()
    with system_session() as session:
        merged = session.scalars(text("SELECT mesh_key FROM probe_frames_1m WHERE frames = 1")).all()
        marked = session.scalars(text("SELECT mesh_key FROM rollup_marks WHERE step_s = 60")).all()
    assert (merged, marked) == ([other.key], [mesh.key])
    assert metrics.MERGE_FAILURES._value.get() > failures
