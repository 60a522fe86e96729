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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from sinemora.operations import integrity
from sinemora.recovery import programs
from sinemora.recovery.archive import Archive, Server, Stream, drop_slot, ensure_slot
from sinemora.recovery.errors import RecoveryError
from sinemora.recovery.restore import Restored, restore

MARK_S = 0.2


@dataclass(frozen=True)
class Outcome:
    """Result of a drill. Durations are seconds; `marks_lost` of `marks` commits are not in the restored database."""

    at: datetime
    rpo_s: float
    rto_s: float
    base_backup_s: float | None
    base_backup_bytes: int
    wal_bytes: int
    restore_s: float
    replay_s: float
    verify_s: float
    marks: int
    marks_lost: int
    frames: dict[str, int]
    faults: int
    shown: list[str]

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the record."""
        figures = {name: value for name, value in vars(self).items() if name != "shown"}
        return {
            name: round(value, 3) if isinstance(value, float) else value
            for name, value in (figures | {"at": self.at.isoformat(timespec="seconds")}).items()
        }

    def sentence(self) -> str:
        """Return the result in one line."""
        frames = sum(self.frames.values())
        return (
            f"RPO {self.rpo_s:.1f} s, RTO {self.rto_s:.1f} s"
            f" (unpack {self.restore_s:.1f} s, replay {self.replay_s:.1f} s):"
            f" {self.marks_lost} of {self.marks} commits lost; {frames:,} frames decoded, {self.faults} faults."
        )


def drill(seconds: float, existing: Path | None, say: Callable[[str], None]) -> Outcome:
    """Run a drill against the server that libpq's variables name.

    Without an `existing` archive that `sinemora archive` keeps up, one is written for the drill.
    Raises `RecoveryError`.
    """
    with tempfile.TemporaryDirectory(prefix="sinemora-drill-") as name, programs.connect() as connection:
        place = Path(name)
        place.chmod(0o711)  # the user of the restored server passes through
        server = Server.of(connection)
        if existing is None:
            archive, took_s, marks, at = _archived(connection, server, place / "archive", seconds, say)
        else:
            took_s = None
            marks, at = _marked(connection, seconds)
            archive = _snapshot(Archive(existing), place / "archive")
        say("The archive ends here, as after a disaster. Restoring it …")
        restored = restore(archive, place / "restored")
        try:
            return _outcome(restored, archive, took_s, marks, at)
        finally:
            restored.stop()


def _archived(
    connection: psycopg.Connection, server: Server, folder: Path, seconds: float, say: Callable[[str], None]
) -> tuple[Archive, float, list[datetime], datetime]:
    """Archive for some seconds. Return the archive, the duration of its base backup, commits, and the end of it all."""
    archive = Archive(folder)
    archive.create()
    slot = f"sinemora_drill_{os.getpid()}"
    stream = Stream(archive, server, slot)
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


def _snapshot(archive: Archive, folder: Path) -> Archive:
    """Copy the WAL of an archive as it is now, and its newest base backup by name: it goes on while we restore."""
    copy = Archive(folder)
    copy.create()
    base = archive.base_before(None)
    for path in sorted(archive.wal.iterdir(), reverse=True):  # the newest first: nothing may be added meanwhile
        if path.name[8:24] >= base.first_segment[8:24]:
            try:
                shutil.copy2(path, copy.wal)
            except FileNotFoundError:  # compressed meanwhile
                shutil.copy2(path.with_name(path.name + ".gz"), copy.wal)
    (folder / "base" / base.folder.name).symlink_to(base.folder)
    return copy


def _outcome(
    restored: Restored, archive: Archive, took_s: float | None, marks: list[datetime], at: datetime
) -> Outcome:
    newest = restored.recovered_to or restored.base.taken_at
    began_s = time.monotonic()
    findings = integrity.check(url=restored.dsn())
    return Outcome(
        at=at,
        rpo_s=max(0.0, (at - newest).total_seconds()),
        rto_s=restored.restore_s + restored.replay_s,
        base_backup_s=took_s,
        base_backup_bytes=restored.base.size_bytes,
        wal_bytes=archive.wal_bytes(),
        restore_s=restored.restore_s,
        replay_s=restored.replay_s,
        verify_s=time.monotonic() - began_s,
        marks=len(marks),
        marks_lost=sum(mark > newest for mark in marks),
        frames=findings.frames,
        faults=findings.faults,
        shown=[f"{fault.table} {fault.row}: {fault.what}" for fault in findings.shown],
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
