"""The archive in object storage: a real server of the S3 API, PostgreSQL's own programs, reports of agents."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import ValidationError

from lab.object_storage_server import ObjectStorageServer
from sinemora.kit import archive_state, config
from sinemora.kit.object_storage import installation_storage
from sinemora.operations.embedded.servers.postgres import SUPERUSER, PostgresServer
from sinemora.operations.recovery.errors import RecoveryError
from sinemora.operations.recovery.stored import StoredArchive
from tests.api_clients import Caller, Member
from tests.operations.recovery.archiving import (
    Archiver,
    StoringArchiver,
    printed,
    report,
    restored,
    stored,
    switch_wal,
    two_bases,
    windows,
    windows_in,
)
from tests.waits import until

pytestmark = pytest.mark.whole_store


@pytest.fixture
def archiver(
    named: PostgresServer, slot_dropped: None, storage: ObjectStorageServer, place: Path
) -> Iterator[StoringArchiver]:
    with StoringArchiver(place / "spool") as running:
        running.wait_until_archived(running.began)
        yield running


def wal_of(storage: ObjectStorageServer) -> set[str]:
    folder = storage.bucket_folder / config.settings().storage_prefix / "archive" / "wal"
    return {path.name for path in folder.iterdir()}


def test_what_the_state_calls_archived_is_restored_without_database_and_spool(
    named: PostgresServer, world: Any, archiver: StoringArchiver, place: Path
):
    for ago in (20, 14):
        report(world, ago)
    switch_wal(named)  # one segment is complete, the next one is being written
    before_last = datetime.now(UTC)
    report(world, 8)
    archiver.wait_until_archived(datetime.now(UTC))
    archiver.kill()
    shutil.rmtree(place / "spool")
    report(world, 6)  # nobody archives it
    with restored(stored().download(place / "downloaded"), place / "restored") as server:
        assert windows(server.dsn(), world) == 3
        assert server.recovered_to is not None
        assert server.recovered_to >= before_last


def test_an_archiver_with_an_empty_spool_continues_the_archive(
    named: PostgresServer, world: Any, archiver: StoringArchiver, storage: ObjectStorageServer, place: Path
):
    report(world, 20)
    archiver.wait_until_archived(datetime.now(UTC))
    archiver.kill()
    report(world, 14)  # the slot keeps it
    with StoringArchiver(place / "another spool") as second:
        report(world, 8)
        second.wait_until_archived(datetime.now(UTC))
    assert len(stored().bases()) == 1
    assert printed("recover", "--storage", "--to", place / "restored", "--json")["download_s"] > 0
    assert windows_in(place / "restored", world) == 3


def test_wal_that_was_lost_with_the_spool_is_noticed(
    named: PostgresServer, world: Any, archiver: StoringArchiver, storage: ObjectStorageServer, place: Path
):
    """The storage fails, the spool takes two segments, and its disk is lost with them."""
    before = datetime.now(UTC)
    storage.stop()
    for ago in (20, 14):
        report(world, ago)
        switch_wal(named)
    archiver.wait_for_wal(named.dsn(SUPERUSER))
    until(lambda: archive_state.read().failures > 0, "a failure in the state")
    assert "cannot" in str(archive_state.read().error)
    archiver.kill()
    shutil.rmtree(place / "spool")
    storage.start()
    with StoringArchiver(place / "another spool") as second:
        until(lambda: len(stored().bases()) == 2, "a new base backup")
        report(world, 8)
        second.wait_until_archived(datetime.now(UTC))
        assert archive_state.read().error is None
    with restored(stored().download(place / "downloaded"), place / "restored") as server:
        assert windows(server.dsn(), world) == 3
    assert len(stored().download(place / "earlier", before).bases()) == 1
    newest, older = stored().bases()[1], stored().bases()[0]
    assert older.taken_at < before < newest.taken_at
    installation_storage().delete(f"{config.settings().storage_prefix}/archive/base/{newest.name}/archive.json")
    with pytest.raises(RecoveryError, match=r"has no segment .* of WAL, but later ones"):
        stored().download(place / "with a gap")


def test_a_segment_that_is_completed_while_it_is_downloaded_is_taken_whole(
    named: PostgresServer, archiver: StoringArchiver, place: Path, monkeypatch: pytest.MonkeyPatch
):
    archiver.wait_until_archived(datetime.now(UTC))
    switch_wal(named)
    until(lambda: any(len(name) == len("000000010000000000000001.gz") for name in stored()._stored_wal()))
    complete = [name for name in stored()._stored_wal() if "partial" not in name]
    # As they were listed before.
    names = [name.replace(".gz", ".partial.gz") for name in complete]
    monkeypatch.setattr(StoredArchive, "_stored_wal", lambda _: names)
    wal = {path.name for path in stored().download(place / "downloaded").wal.iterdir()}
    assert complete[-1] in wal
    assert wal <= set(complete)


def test_a_drill_restores_what_is_stored_to_its_end_and_to_a_time(
    named: PostgresServer, world: Any, archiver: StoringArchiver, place: Path
):
    report(world, 20)
    with psycopg.connect(named.dsn(SUPERUSER)) as connection:
        row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    report(world, 14)
    archiver.wait_until_archived(datetime.now(UTC))
    result = printed("drill", "--json", "--seconds", "1", "--storage", "--record", place / "r")
    assert result["frames"]["probe_frames"] == 2
    assert (result["faults"], result["vms"], result["meshes"]) == (0, 3, 1)
    assert result["download_s"] > 0
    assert result["rto_s"] > result["download_s"]
    result = printed(
        "drill", "--json", "--seconds", "1", "--storage", "--until", row[0].isoformat(), "--record", place / "r"
    )
    assert (result["frames"]["probe_frames"], result["rpo_s"], result["faults"]) == (1, None, 0)
    assert archiver.process.poll() is None


def test_the_state_of_the_archive_is_seen_and_its_age_is_an_alarm(
    owner: Member,
    client: Caller,
    archiver: StoringArchiver,
    storage: ObjectStorageServer,
    monkeypatch: pytest.MonkeyPatch,
):
    ready = client.get("/readyz")
    assert ready.json()["dependencies"]["archive"] == {"state": "up", "needed": False, "detail": "up to date"}
    assert ready.json()["status"] == "ready"
    names = ("sinemora_archive_age_seconds ", "sinemora_archive_base_age_seconds ", "sinemora_archive_behind 0.0")
    assert all(name in owner.get("/metrics").text for name in names)
    storage.stop()
    try:
        monkeypatch.setenv("SINEMORA_ARCHIVE_BEHIND_S", "15")
        config.settings.cache_clear()
        until(lambda: client.get("/readyz").json()["status"] == "degraded", "the archive counts as behind")
        ready = client.get("/readyz")
        assert ready.status_code == 200
        assert (
            ready.json()["dependencies"]["archive"]["detail"] == "behind; the log of the archiver contains the reason"
        )
        until(lambda: "sinemora_archive_behind 1.0" in owner.get("/metrics").text, "the metric")
        until(lambda: "sinemora_archive_failures_total 0.0" not in owner.get("/metrics").text, "a failure is counted")
    finally:
        storage.start()
    until(lambda: client.get("/readyz").json()["status"] == "ready", "the archive has caught up")
    assert archive_state.read().error is None


def test_the_archive_of_another_database_is_left_alone(
    named: PostgresServer, slot_dropped: None, storage: ObjectStorageServer, archiver: StoringArchiver, place: Path
):
    archiver.kill()
    (base,) = stored().bases()
    key = f"{config.settings().storage_prefix}/archive/base/{base.name}/archive.json"
    info = json.loads(installation_storage().get(key))
    info["server"]["system"] = "1"
    installation_storage().put(key, json.dumps(info).encode())
    with Archiver(place / "unused", "--storage", "--spool", str(place / "another spool")):
        until(lambda: "of another database" in str(archive_state.read().error), "the error in the state")
    assert len(stored().bases()) == 1


def test_old_base_backups_go_with_their_wal_and_what_interrupted_ones_left(
    named: PostgresServer, storage: ObjectStorageServer, place: Path
):
    archive = StoredArchive(installation_storage(), config.settings().storage_prefix, place / "spool")
    first, second = two_bases(archive, named)
    prefix = f"{config.settings().storage_prefix}/archive"
    for name in (f"wal/{first.first_segment}.gz", f"wal/{second.first_segment}.gz", "wal/00000002.history"):
        installation_storage().put(f"{prefix}/{name}", b"")
    installation_storage().put(f"{prefix}/base/20200101T000000Z/base.tar.gz", b"")
    assert archive.forget(timedelta(days=1)) == 0
    assert archive.forget(timedelta(0)) == 1
    assert [base.name for base in stored().bases()] == [second.name]
    assert wal_of(storage) == {f"{second.first_segment}.gz", "00000002.history"}
    left = {one.key.split("/")[-2] for one in installation_storage().list(f"{prefix}/base")}
    assert left == {second.name}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("archive",), "either --to FOLDER or --storage"),
        (("archive", "--to", "/x", "--storage"), "either --to FOLDER or --storage"),
        (("recover", "--to", "/x"), "either --from FOLDER or --storage"),
        (("drill", "--storage", "--archive", "/x"), "Name one archive"),
        (("drill", "--until", "2026-11-26T02:00:00Z"), "--until needs an archive that exists"),
        (("recover", "--storage", "--to", "/proc/x"), "no storage is set"),
    ],
)
def test_an_operator_is_told_which_archive_to_name(words: tuple[str, ...], said: str, servers: Any, run):
    assert said in run(*words, code=1)


def test_an_archive_without_storage_is_refused(servers: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SINEMORA_ARCHIVE", "on")
    with pytest.raises(ValidationError, match="SINEMORA_ARCHIVE=on needs SINEMORA_STORAGE_BUCKET"):
        config.Settings()
