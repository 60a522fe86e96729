"""Archive, restore to a time and drill, with PostgreSQL's own programs against a server that takes reports."""

import gzip
import json
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from sinemora.operations.embedded.servers.postgres import SUPERUSER, PostgresServer
from sinemora.operations.recovery import programs
from sinemora.operations.recovery.archive import Archive
from sinemora.operations.recovery.errors import RecoveryError
from sinemora.operations.recovery.restore import restore
from tests.operations.recovery.archiving import Archiver, command, report, restored, switch_wal, two_bases, windows
from tests.waits import WAIT_MOST_S, until

pytestmark = pytest.mark.whole_store


@pytest.fixture
def archiver(named: PostgresServer, slot_dropped: None, place: Path) -> Iterator[Archiver]:
    with Archiver(place / "archive") as running:
        running.wait_for_base()
        yield running


def test_a_second_run_continues_the_archive(named: PostgresServer, world, archiver: Archiver, place: Path):
    report(world, 20)
    archiver.wait_for_wal(named.dsn(SUPERUSER))
    archiver.kill()
    report(world, 14)  # its slot keeps this
    switch_wal(named)
    report(world, 8)
    compressed = set(archiver.archive.wal.glob("*.gz"))
    with Archiver(archiver.archive.folder) as second:
        until(lambda: set(archiver.archive.wal.glob("*.gz")) > compressed)  # the switched segment arrived
        second.wait_for_wal(named.dsn(SUPERUSER))
        second.process.terminate()
        assert second.process.wait(WAIT_MOST_S) == 0
    assert len(archiver.archive.bases()) == 1
    with restored(archiver.archive, place / "restored") as server:
        assert windows(server.dsn(), world) == 3


def test_old_base_backups_are_deleted_with_their_wal(named: PostgresServer, place: Path):
    archive = Archive(place / "archive")
    first, second = two_bases(archive, named)
    for base in (first, second):
        (archive.wal / f"{base.first_segment}.gz").write_bytes(b"")
    (archive.wal / "00000002.history").write_text("")
    assert archive.forget(timedelta(days=1)) == 0
    assert archive.forget(timedelta(0)) == 1
    assert [base.folder for base in archive.bases()] == [second.folder]
    assert {path.name for path in archive.wal.iterdir()} == {f"{second.first_segment}.gz", "00000002.history"}


def test_a_drill_measures_records_and_leaves_nothing(named: PostgresServer, world, place: Path):
    report(world, 20)
    done = command("drill", "--json", "--seconds", "2", "--record", place / "drills.jsonl")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert 0 <= result["rpo_s"] <= 30  # below a second where nothing else runs
    assert result["rto_s"] > 0
    assert result["frames"]["probe_frames"] == 1
    assert (result["faults"], result["marks"] > 0) == (0, True)
    assert json.loads((place / "drills.jsonl").read_text()) == result
    assert f"RPO {result['rpo_s']:.1f} s" in done.stderr
    with psycopg.connect(named.dsn(SUPERUSER)) as connection:
        assert connection.execute("SELECT count(*) FROM pg_replication_slots").fetchone() == (0,)


def test_a_drill_of_a_running_archive_finds_what_is_wrong_and_leaves_it_alone(
    named: PostgresServer, world, archiver: Archiver, place: Path
):
    report(world, 20)
    with psycopg.connect(named.dsn(SUPERUSER)) as connection:
        connection.execute("UPDATE probe_frames SET stats = set_byte(stats, 20, get_byte(stats, 20) # 4)")
    # Names that are gone when their turn comes: a segment was completed and compressed, and compression ended.
    for name in ("0000000100000000000000FD.gz.part", "0000000100000000000000FE.partial"):
        (archiver.archive.wal / name).symlink_to("gone")
    (archiver.archive.wal / "0000000100000000000000FE.gz").write_bytes(gzip.compress(b""))
    done = command("drill", "--json", "--seconds", "1", "--archive", archiver.archive.folder, "--record", place / "r")
    assert (done.returncode, done.stdout != "") == (1, True), done.stderr
    result = json.loads(done.stdout)
    assert (result["frames"]["probe_frames"], result["faults"]) == (1, 1)
    assert "cannot be decoded" in done.stderr
    assert archiver.process.poll() is None
    assert len(archiver.archive.bases()) == 1


def test_a_damaged_or_short_archive_is_refused(archiver: Archiver, place: Path):
    (base,) = archiver.archive.bases()
    with pytest.raises(RecoveryError, match=r"begins at .* after"):
        restore(archiver.archive, place / "a", base.taken_at - timedelta(hours=1))
    with pytest.raises(RecoveryError, match=r"The archive ends at .*, before .* Omit --until"):
        restore(archiver.archive, place / "b", datetime.now(UTC) + timedelta(hours=1))
    (place / "c").mkdir()
    (place / "c" / "file").touch()
    with pytest.raises(RecoveryError, match="is not empty"):
        restore(archiver.archive, place / "c")
    whole = (base.folder / "base.tar.gz").read_bytes()
    (base.folder / "base.tar.gz").write_bytes(whole[: 1 << 20])
    for _ in range(2):  # the folder can be named again
        with pytest.raises(RecoveryError, match="damaged"):
            restore(archiver.archive, place / "d")
        assert not list((place / "d").iterdir())
    for hostile in ("../outside", "/tmp/outside", "link/outside"):
        with tarfile.open(base.folder / "base.tar.gz", "w:gz") as tar:
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, str(place)
            tar.addfile(link)
            tar.addfile(tarfile.TarInfo(hostile))
        with pytest.raises(RecoveryError, match="is no file of a cluster"):
            restore(archiver.archive, place / "d")
        assert not (place / "outside").exists()
        (place / "d" / "link").unlink(missing_ok=True)
    with pytest.raises(RecoveryError, match="has no base backup"):
        restore(Archive(place / "nothing"), place / "e")


def test_programs_of_another_version_are_asked_for():
    with pytest.raises(RecoveryError, match="PostgreSQL 99 is not installed here"):
        programs.folder(99)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PGHOST": ""}, "No server named"),
        ({"PGHOST": "/nowhere"}, "cannot be reached"),
        ({"PGUSER": "sinemora_app"}, "need a superuser"),
    ],
)
def test_an_operator_is_told_what_is_missing(
    variables: dict[str, str], said: str, named: PostgresServer, place: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = command("archive", "--to", place / "archive")
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
