"""The check finds what was damaged on purpose, and nothing else."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from typer import Exit

from sinemora.kit.db import Base
from sinemora.measurements import metrics, tasks
from sinemora.operations import integrity
from sinemora.operations.archives import catalogue
from sinemora.operations.commands import verify
from sinemora.tables import metadata
from sinemora_client.commands import moment_of
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import simple
from tests.statements import execute, rows, scalar

pytestmark = pytest.mark.whole_store


def reported(mesh, minute: int) -> None:
    for n in range(6):
        peers = {peer.vm_key: simple(50_000 + n) for peer in mesh.agents[1:]}
        sent(mesh.agents[0], report_of(mesh.key, peers, minute + 10 * n))
    tasks.roll_up()


@pytest.fixture
def mesh(owner, make_mesh):
    mesh = make_mesh(owner, 3)
    reported(mesh, window_start(10, 60))
    return mesh


def test_a_sound_store_has_no_faults(mesh):
    findings = integrity.check()
    assert findings.frames["probe_frames"] == 6
    assert findings.frames["probe_frames_1m"] == 1
    assert (findings.faults, findings.minutes_compared, findings.zone_minutes_compared) == (0, 1, 1)
    assert findings.rosters >= 1
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
    execute(f"UPDATE probe_frames {damage} WHERE started_at = (SELECT min(started_at) FROM probe_frames)")
    findings = integrity.check()
    assert findings.faults >= 1
    assert any(words in fault.what and fault.table == "probe_frames" for fault in findings.shown), findings.shown


def test_a_minute_that_lacks_frames_is_found_and_merged_again(mesh):
    execute("UPDATE probe_frames_1m SET frames = 5")
    assert integrity.check().faults == 1
    assert integrity.check(repair=True).faults == 1
    assert integrity.check().faults == 0  # marked: the sweep will do it
    tasks.roll_up()
    assert scalar("SELECT frames FROM probe_frames_1m") == 6


def test_every_table_of_measurements_is_checked_or_has_a_reason():
    by_key = {name for name, table in metadata.tables.items() if "tenant_key" in table.columns}
    own = {
        str(mapper.local_table)
        for mapper in Base.registry.mappers
        if mapper.class_.__module__.startswith("sinemora.measurements.on_demand")
    }
    assert integrity.CHECKED.keys() | integrity.UNCHECKED.keys() == by_key | own
    assert not integrity.CHECKED.keys() & integrity.UNCHECKED.keys()
    with catalogue.connect() as connection, connection.transaction():
        frames = {table.name for table in catalogue.tables(connection) if table.is_frames and table.logged}
    decoded = {name for name, how in integrity.CHECKED.items() if "decoded" in how}
    assert decoded == frames


def test_damage_of_every_checked_table_is_found(mesh):
    reported(mesh, window_start(10, 60) - 30 * 3600)  # of a day that has ended
    for _ in range(4):
        tasks.roll_up()
    flipped = "SET stats = set_byte(stats, length(stats) - 6, get_byte(stats, length(stats) - 6) # 1)"
    damage = dict.fromkeys(sorted(integrity.CHECKED.keys() - {"aged_objects"}), (flipped, flipped)) | {
        "zone_minutes": ("SET delay_p90_ns = delay_p90_ns + 1", "SET delay_p90_ns = delay_p90_ns - 1"),
        "rosters": ("SET target_keys[1] = target_keys[1] + 100000", "SET target_keys[1] = target_keys[1] - 100000"),
    }
    for table, (damaged, mended) in damage.items():
        assert integrity.check().faults == 0, table
        execute(f"UPDATE {table} {damaged}")
        assert any(fault.table == table for fault in integrity.check().shown), table
        execute(f"UPDATE {table} {mended}")


def test_a_lost_or_changed_minute_of_zones_is_found_and_written_again(mesh):
    before = rows("SELECT * FROM zone_minutes ORDER BY 1, 2, 3, 4, 5")
    execute("UPDATE zone_minutes SET packets_lost = 7 WHERE source_zone_key < target_zone_key")
    execute("DELETE FROM zone_minutes WHERE source_zone_key > target_zone_key")
    shown = integrity.check(repair=True).shown
    assert any("packets_lost is 7, 0 in zone_frames_1m" in fault.what for fault in shown), shown
    assert any("is missing" in fault.what for fault in shown), shown
    assert {fault.repair for fault in shown} == {"--repair merges it again"}
    assert integrity.check().faults == 0  # marked
    tasks.roll_up()
    assert rows("SELECT * FROM zone_minutes ORDER BY 1, 2, 3, 4, 5") == before
    assert integrity.check().faults == 0


def test_a_minute_without_its_windows_cannot_be_repaired(mesh):
    execute("UPDATE zone_minutes SET exchanges = exchanges + 1")
    execute("DELETE FROM probe_frames")
    found = integrity.check(repair=True)
    assert found.faults > 0
    assert not found.minutes_to_merge
    assert all("restore it from a backup" in fault.repair for fault in found.shown)


def test_the_command_prints_what_it_checked(mesh, capsys):
    verify()
    out = capsys.readouterr().out
    assert "0 faults" in out
    assert "1 zone minutes compared" in out
    assert "spikes" in out
    since = moment_of("2026-11-20")
    assert since == datetime(2026, 11, 20, tzinfo=UTC)
    verify(since=since, as_json=True)
    assert json.loads(capsys.readouterr().out)["unchecked"] == integrity.UNCHECKED
    execute("UPDATE zone_minutes SET exchanges = exchanges + 1")
    with pytest.raises(Exit):
        verify()
    assert "exchanges is" in capsys.readouterr().err


def test_a_damaged_frame_delays_no_other_mesh(mesh, owner, make_mesh):
    other = make_mesh(owner, 2, name="other")
    execute("UPDATE probe_frames SET stats = '\\x00'")
    sent(other.agents[0], report_of(other.key, {other.agents[1].vm_key: simple(50_000)}, window_start(10, 60)))
    sent(mesh.agents[1], report_of(mesh.key, {mesh.agents[2].vm_key: simple(50_000)}, window_start(10, 60)))
    failures = metrics.MERGE_FAILURES._value.get()
    tasks.roll_up()
    assert rows("SELECT mesh_key FROM probe_frames_1m WHERE frames = 1") == [(other.key,)]
    assert rows("SELECT mesh_key FROM rollup_marks WHERE step_s = 60") == [(mesh.key,)]
    assert metrics.MERGE_FAILURES._value.get() > failures
