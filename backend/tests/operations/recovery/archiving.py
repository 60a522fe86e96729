"""Reports, an archiver in a process of its own, and what a restored database has."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, Self

import psycopg

from sinemora.cli import main
from sinemora.kit import archive_state, config
from sinemora.kit.object_storage import installation_storage
from sinemora.operations.embedded.servers.postgres import SUPERUSER, PostgresServer
from sinemora.operations.recovery import stream
from sinemora.operations.recovery.archive import Archive, Server
from sinemora.operations.recovery.restore import Restored, restore
from sinemora.operations.recovery.stored import StoredArchive
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import simple
from tests.servers import started
from tests.waits import until


def report(world: Any, ago_windows: int) -> None:
    """Send one window through the API of agents; it is committed when this returns."""
    window = report_of(world.key, {peer.vm_key: simple(50_000) for peer in world.agents[1:]}, window_start(ago_windows))
    sent(world.agents[0], window)


def windows(dsn: str, world: Any) -> int:
    """Return the number of stored windows."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM probe_frames WHERE mesh_key = %s", [world.key]).fetchone()
    assert row is not None
    return int(row[0])


def switch_wal(server: PostgresServer) -> None:
    """Complete the segment of WAL that is being written."""
    with psycopg.connect(server.dsn(SUPERUSER), autocommit=True) as connection:
        connection.execute("SELECT pg_switch_wal()")


def two_bases(archive: Archive | StoredArchive, server: PostgresServer) -> list[Any]:
    """Create an archive with two base backups, the older one first, with WAL between them."""
    archive.create()
    with psycopg.connect(server.dsn(SUPERUSER), autocommit=True) as connection:
        first = archive.take_base(Server.of(connection))
        connection.execute("SELECT pg_switch_wal()")
        time.sleep(1.1)  # a base backup is named by its second
        return [first, archive.take_base(Server.of(connection))]


@contextmanager
def restored(archive: Archive, to: Path) -> Iterator[Restored]:
    """Restore an archive into a folder; yield its server, which is stopped afterwards."""
    server = restore(archive, to)
    try:
        yield server
    finally:
        server.stop()


def windows_in(folder: Path, world: Any) -> int:
    """Return the number of stored windows of a restored cluster that is stopped."""
    with started(PostgresServer(folder)) as server:
        return windows(server.dsn(SUPERUSER), world)


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the product in this process: another one takes seconds to load it."""
    line, out, err = list(map(str, words)), StringIO(), StringIO()
    config.settings.cache_clear()  # as the variables are now
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(line)
        return subprocess.CompletedProcess(line, code, out.getvalue(), err.getvalue())
    finally:
        config.settings.cache_clear()


def printed(*words: str | Path) -> dict[str, Any]:
    """Return the JSON that a command of the product prints, which must succeed."""
    done = command(*words)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


class Archiver:
    """`sinemora archive` in a process of its own, into a folder unless options name another place."""

    def __init__(self, folder: Path, *options: str) -> None:
        line = [sys.executable, "-m", "sinemora.cli", "archive", *(options or ("--to", str(folder)))]
        self.process = subprocess.Popen(line, start_new_session=True)
        self.archive = Archive(folder)

    def wait_for_wal(self, dsn: str) -> None:
        """Wait until the archive has the WAL that the server has written so far."""
        with psycopg.connect(dsn, autocommit=True) as connection:
            row = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            assert row is not None
            receivers = "SELECT count(*) FROM pg_stat_replication WHERE application_name LIKE 'sinemora_archive %%'"
            archived = f"{receivers} AND flush_lsn >= %s::pg_lsn"
            until(lambda: connection.execute(archived, row).fetchone() == (1,), "the WAL in the archive")

    def wait_for_base(self) -> None:
        until(lambda: self.process.poll() is not None or bool(self.archive.bases()))
        assert self.process.poll() is None, "the archiver ended"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class StoringArchiver(Archiver):
    """`sinemora archive --storage` in a process of its own."""

    def __init__(self, spool: Path) -> None:
        super().__init__(spool / "upload", "--storage", "--spool", str(spool))
        self.began = datetime.now(UTC)

    def wait_until_archived(self, after: datetime) -> None:
        """Wait until all that was committed before a time is in the storage, with a base backup."""
        until(lambda: self._archived(after), lambda: f"archived to {after}: {archive_state.read()}")

    def _archived(self, after: datetime) -> bool:
        assert self.process.poll() is None, "the archiver ended"
        age_s = (datetime.now(UTC) - after).total_seconds()  # before the read, which takes time too
        state = archive_state.read()
        return state.base_age_s is not None and state.age_s is not None and state.age_s < age_s


def stored() -> StoredArchive:
    """The archive as another machine sees it."""
    return StoredArchive(installation_storage(), config.settings().storage_prefix, Path("nowhere"))


def drop_slot_of_archiver(dsn: str) -> None:
    """Delete the slot as soon as the server has noticed that its archiver has ended."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for _ in range(600):
            try:
                stream.drop_slot(connection, stream.SLOT)
                return
            except psycopg.errors.ObjectInUse:
                time.sleep(0.2)
