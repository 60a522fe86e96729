"""A drill: restore the archive of a running server next to it, verify every frame, measure the cost of a disaster.

RPO (recovery point objective): how far the restored database is behind the moment of the disaster, in seconds. The
drill commits a mark every `MARK_S`, so that this is known also when nothing else happens. RTO (recovery time
objective): from the disaster until the restored database takes connections.
"""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from sinemora.operations import integrity
from sinemora.operations.archives.catalogue import revision
from sinemora.operations.recovery import programs
from sinemora.operations.recovery.archive import PARTIAL, Archive, Server
from sinemora.operations.recovery.errors import RecoveryError
from sinemora.operations.recovery.restore import Restored, restore
from sinemora.operations.recovery.stored import StoredArchive
from sinemora.operations.recovery.stream import Stream, drop_slot, ensure_slot

MARK_S = 0.2
_COUNTS = (
    "SELECT (SELECT count(*) FROM tenants), (SELECT count(*) FROM meshes), (SELECT count(*) FROM vms),"
    " (SELECT max(started_at) FROM probe_frames)"
)


@dataclass(frozen=True)
class Facts:
    """Revision of the schema, numbers of rows, and start of the newest stored window (None without windows)."""

    schema: str | None
    tenants: int
    meshes: int
    vms: int
    newest_window: datetime | None

    def as_json(self) -> dict[str, Any]:
        """Return the facts for a record."""
        return asdict(self) | {"newest_window": self.newest_window.isoformat() if self.newest_window else None}


def facts(connection: psycopg.Connection) -> Facts:
    """Read the facts as a superuser, who sees all tenants. Raises `RecoveryError` without the product's tables."""
    schema = revision(connection)
    if schema is None:
        raise RecoveryError("The database has no schema of Sinemora: does PGDATABASE name the right one?")
    row = connection.execute(_COUNTS).fetchone()
    assert row is not None
    return Facts(schema, *row)


def differences(running: Facts, restored: Facts, *, to_the_end: bool) -> list[str]:
    """Return what a restored database lacks of the running one, as it was before the drill, a sentence each.

    Rows may have been deleted meanwhile, and a restore to an earlier time lacks what came later: then only the schema
    and the presence of rows are compared.
    """
    found = []
    if to_the_end and restored.schema != running.schema:
        found.append(f"The schema is {restored.schema}, that of the running database {running.schema}.")
    for name in ("tenants", "meshes", "vms"):
        if getattr(running, name) and not getattr(restored, name):
            found.append(f"No row in {name}, {getattr(running, name)} in the running database.")
    if to_the_end and running.newest_window:
        newest = restored.newest_window
        if newest is None or newest < running.newest_window:
            found.append(f"The newest window is of {newest}, that of the running database of {running.newest_window}.")
    return found


@dataclass(frozen=True)
class Outcome:
    """Result of a drill. Durations are seconds; `marks_lost` of `marks` commits are not in the restored database.

    There is no RPO with `until`: the end of the archive was not restored then.
    """

    at: datetime
    until: datetime | None
    rpo_s: float | None
    rto_s: float
    base_backup_s: float | None
    base_backup_bytes: int
    wal_bytes: int
    download_s: float
    restore_s: float
    replay_s: float
    verify_s: float
    marks: int
    marks_lost: int
    facts: Facts
    frames: dict[str, int]
    faults: int
    shown: list[str]

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the record."""
        figures = {name: value for name, value in vars(self).items() if name != "shown"} | self.facts.as_json()
        del figures["facts"]
        return {name: _plain(value) for name, value in figures.items()}

    def sentence(self) -> str:
        """Return the result in one line."""
        frames = sum(self.frames.values())
        took = f"RTO {self.rto_s:.1f} s"
        if self.download_s:
            took += f" (download {self.download_s:.1f} s, unpack {self.restore_s:.1f} s, replay {self.replay_s:.1f} s)"
        else:
            took += f" (unpack {self.restore_s:.1f} s, replay {self.replay_s:.1f} s)"
        if self.rpo_s is None:
            began = f"Restored to {self.until:%Y-%m-%d %H:%M:%S} UTC, {took}"
        else:
            began = f"RPO {self.rpo_s:.1f} s, {took}: {self.marks_lost} of {self.marks} commits lost"
        newest = f"{self.facts.newest_window:%Y-%m-%d %H:%M:%S} UTC" if self.facts.newest_window else "none"
        return (
            f"{began}; schema {self.facts.schema}, {self.facts.meshes} meshes, {self.facts.vms} VMs,"
            f" newest window {newest}; {frames:,} frames decoded, {self.faults} faults."
        )


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return round(value, 3) if isinstance(value, float) else value


def drill(
    seconds: float,
    existing: Path | StoredArchive | None,
    say: Callable[[str], None],
    until: datetime | None = None,
) -> Outcome:
    """Run a drill against the server that libpq's variables name.

    Without an `existing` archive that `sinemora archive` keeps up, in a folder or in object storage, one is written
    for the drill. With `until` the existing archive is restored to that time. Raises `RecoveryError`, StorageError.
    """
    with tempfile.TemporaryDirectory(prefix="sinemora-drill-") as name, programs.connect() as connection:
        place = Path(name)
        place.chmod(0o711)  # the user of the restored server passes through
        server, running = Server.of(connection), facts(connection)
        took_s, download_s = None, 0.0
        if existing is None:
            archive, took_s, marks, at = _archived(connection, server, place / "archive", seconds, say)
            say("The archive ends here, as after a disaster. Restoring it …")
        else:
            marks, at = _marked(connection, seconds)
            say("The archive ends here, as after a disaster. Restoring it …")
            if isinstance(existing, StoredArchive):
                began_s = time.monotonic()
                archive = existing.download(place / "archive", until)
                download_s = time.monotonic() - began_s
            else:
                archive = _snapshot(Archive(existing), place / "archive", until)
        restored = restore(archive, place / "restored", until)
        try:
            return _outcome(restored, archive, _Before(running, marks, at, until, took_s, download_s))
        finally:
            restored.stop()


@dataclass(frozen=True)
class _Before:
    """Observations before the restore: facts, times of the marks, time of the disaster, durations in seconds."""

    running: Facts
    marks: list[datetime]
    at: datetime
    until: datetime | None
    base_backup_s: float | None
    download_s: float


def _archived(
    connection: psycopg.Connection, server: Server, folder: Path, seconds: float, say: Callable[[str], None]
) -> tuple[Archive, float, list[datetime], datetime]:
    """Archive for some seconds. Return the archive, the duration of its base backup, commits, and the end of it all."""
    archive = Archive(folder)
    archive.create()
    slot = f"sinemora_drill_{os.getpid()}"
    stream = Stream(archive.wal, server.major, slot)
    try:
        ensure_slot(connection, slot)
        stream.start()
        began_s = time.monotonic()
        base = archive.take_base(server)
        took_s = time.monotonic() - began_s
        say(f"Base backup: {base.size_bytes / 1e6:,.1f} MB in {took_s:.1f} s. Archiving WAL for {seconds:.0f} s …")
        marks, at = _marked(connection, seconds)
        if not stream.is_alive:
            raise RecoveryError("pg_receivewal ended during the drill: see its message above.")
        stream.stop(signal.SIGKILL)  # nothing is finished in order in a disaster
        return archive, took_s, marks, at
    finally:
        stream.stop(signal.SIGKILL)
        # The server notices within wal_sender_timeout at the latest that nobody reads any more.
        _patiently(lambda: drop_slot(connection, slot))


def _marked(connection: psycopg.Connection, seconds: float) -> tuple[list[datetime], datetime]:
    """Commit marks for some seconds. Return the time of each and the time after all, by the server's clock."""
    marks: list[datetime] = []
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        # A transaction with a message in WAL and no row anywhere.
        connection.execute("SELECT pg_logical_emit_message(true, 'sinemora.drill', '')")
        marks.append(_now(connection))
        time.sleep(MARK_S)
    return marks, _now(connection)


def _now(connection: psycopg.Connection) -> datetime:
    row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    at: datetime = row[0]
    return at.astimezone(UTC)


def _snapshot(archive: Archive, folder: Path, until: datetime | None) -> Archive:
    """Copy the WAL of an archive as it is now, and the base backup by name. Archiving continues meanwhile."""
    copy = Archive(folder)
    copy.create()
    base = archive.base_before(until)
    for path in sorted(archive.wal.iterdir(), reverse=True):  # the newest first: nothing may be added meanwhile
        segment = path.name.removesuffix(PARTIAL)
        if path.suffix == ".part" or segment[8:24] < base.first_segment[8:24]:
            continue
        # A segment that is completed or compressed meanwhile has another name.
        for name in (path.name, segment, f"{segment}.gz"):
            with suppress(FileNotFoundError):
                shutil.copy2(archive.wal / name, copy.wal)
                break
        else:
            raise RecoveryError(f"{path} went away while it was copied. Run the drill again.")
    (folder / "base" / base.folder.name).symlink_to(base.folder)
    return copy


def _outcome(restored: Restored, archive: Archive, before: _Before) -> Outcome:
    newest = restored.recovered_to or restored.base.taken_at
    began_s = time.monotonic()
    findings = integrity.check(url=restored.dsn())
    with psycopg.connect(restored.dsn()) as connection:
        found = facts(connection)
    wrong = differences(before.running, found, to_the_end=before.until is None)
    if before.until is not None and newest > before.until:
        wrong.append(f"Transactions up to {newest} were restored, after {before.until}.")
    return Outcome(
        at=before.at,
        until=before.until,
        rpo_s=None if before.until else max(0.0, (before.at - newest).total_seconds()),
        rto_s=before.download_s + restored.restore_s + restored.replay_s,
        base_backup_s=before.base_backup_s,
        base_backup_bytes=restored.base.size_bytes,
        wal_bytes=archive.wal_bytes(),
        download_s=before.download_s,
        restore_s=restored.restore_s,
        replay_s=restored.replay_s,
        verify_s=time.monotonic() - began_s,
        marks=len(before.marks),
        marks_lost=sum(mark > newest for mark in before.marks),
        facts=found,
        frames=findings.frames,
        faults=findings.faults + len(wrong),
        shown=[*wrong, *(f"{fault.table} {fault.row}: {fault.what}" for fault in findings.shown)],
    )


def _patiently(action: Callable[[], None], limit_s: float = 70) -> None:
    """Repeat an action while the server says that the slot is in use."""
    until_s = time.monotonic() + limit_s
    while True:
        try:
            return action()
        except psycopg.errors.ObjectInUse:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.5)
