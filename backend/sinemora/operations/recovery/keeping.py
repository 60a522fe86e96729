"""An archive that is kept up: WAL all the time, base backups at intervals, and what of it the product may know."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import psycopg

from sinemora.kit.object_storage import StorageError
from sinemora.operations.recovery import programs
from sinemora.operations.recovery.archive import Server, Taken
from sinemora.operations.recovery.errors import RecoveryError
from sinemora.operations.recovery.stream import SLOT, Stream, ensure_slot, slot_position

_FLUSH_S = 5.0
_POLL_S = 0.1
ERRORS = (RecoveryError, StorageError, OSError, psycopg.OperationalError)


class ArchivePlace(Protocol):
    """Archive in a folder or in object storage; `is_full`: WAL waits for the storage, and no more should come."""

    wal: Path
    pause_s: float

    @property
    def is_full(self) -> bool: ...

    def create(self) -> None: ...
    def bases(self) -> Sequence[Taken]: ...
    def has_gap(self, server: Server, position: int) -> bool: ...
    def take_base(self, server: Server) -> Taken: ...
    def abort(self) -> None: ...
    def advance(self) -> bool: ...
    def forget(self, keep: timedelta) -> int: ...


class Observer(Protocol):
    """Receiver of what each pass did."""

    def passed(self, archived_to: datetime | None, base_taken_at: datetime | None) -> None:
        """Take a pass that succeeded: all commits up to a time are archived, if it is known."""

    def failed(self, error: str) -> None:
        """Take a pass that failed."""


class Keeper:
    """Keeps an archive up until it is stopped. A base backup is taken in a separate thread, while WAL is archived."""

    def __init__(
        self, archive: ArchivePlace, every: timedelta, keep: timedelta, say: Callable[[str], None], observer: Observer
    ) -> None:
        self._archive, self._every, self._keep, self._say, self._observer = archive, every, keep, say, observer
        self._stream: Stream | None = None
        self._server: Server | None = None
        self._thread = ThreadPoolExecutor(1, "base-backup")
        self._taking: Future[Taken] | None = None
        self._retry_s = 0.0
        self._base_is_due = False

    def run(self, stopped: Callable[[float], bool]) -> None:
        """Archive until `stopped(seconds)`, which waits, returns True. A server that is away is waited for.

        Raises `RecoveryError` when there is no base backup and none can be taken.
        """
        self._archive.create()
        try:
            while True:
                try:
                    archived_to = self._pass()
                    bases = self._archive.bases()
                    self._observer.passed(archived_to, bases[-1].taken_at if bases else None)
                except ERRORS as error:
                    if isinstance(error, RecoveryError) and not self._has_base():
                        raise
                    self._say(f"{error} Trying again.")
                    self._observer.failed(str(error))
                if stopped(self._archive.pause_s):
                    return
        finally:
            self._archive.abort()
            if self._stream is not None:
                self._stream.stop()
            self._thread.shutdown()

    def _has_base(self) -> bool:
        try:
            return bool(self._archive.bases())
        except StorageError:
            return True  # not known, so it is not the first one that fails

    def _pass(self) -> datetime | None:
        """Advance the archive. Return the time up to which it has all commits, if that is known."""
        if self._archive.is_full:
            # The slot keeps the rest, within the bound that the server has for it.
            if self._stream is not None:
                self._stream.stop()
            self._archive.advance()
            return None
        with programs.connect(to_archive=True) as connection:
            if self._stream is None or not self._stream.is_alive:
                self._start(connection)
            at = self._streamed_to(connection)
        self._bases()
        return at if self._archive.advance() else None

    def _start(self, connection: psycopg.Connection) -> None:
        server = self._server = Server.of(connection)
        known = self._archive.bases()
        if known and known[-1].server.system not in ("", server.system):
            raise RecoveryError(
                "The archive is of another database: its base backups cannot be combined with this one's WAL. Name"
                " another place (SINEMORA_STORAGE_PREFIX or --to), or delete the archive if it is not needed."
            )
        new = ensure_slot(connection, SLOT)
        position = slot_position(connection, SLOT)
        if new or (position is not None and self._archive.has_gap(server, position)):
            if known:
                self._say("WAL is missing since the last run: taking a new base backup.")
            self._base_is_due = True
        self._stream = Stream(self._archive.wal, server.major, SLOT)
        self._stream.start()

    def _streamed_to(self, connection: psycopg.Connection) -> datetime | None:
        """Return the server's time, when all WAL that was durable then has been streamed; None if that takes long."""
        row = connection.execute("SELECT clock_timestamp(), pg_current_wal_flush_lsn() - '0/0'").fetchone()
        assert row is not None
        at: datetime = row[0]
        until_s = time.monotonic() + _FLUSH_S
        while self._stream is None or self._stream.position(connection) < int(row[1]):
            if time.monotonic() > until_s:
                return None
            time.sleep(_POLL_S)
        return at.astimezone(UTC)

    def _bases(self) -> None:
        """Take a base backup if one is due, and delete what is not needed once it is taken."""
        if self._taking is not None:
            if not self._taking.done():
                return
            taking, self._taking = self._taking, None
            self._retry_s = time.monotonic() + self._archive.pause_s
            taking.result()
            self._base_is_due = False
            if deleted := self._archive.forget(self._keep):
                self._say(f"Deleted {deleted} old base backups and their WAL.")
        bases = self._archive.bases()
        due = self._base_is_due or not bases or datetime.now(UTC) - bases[-1].taken_at > self._every
        if due and self._server is not None and time.monotonic() >= self._retry_s:
            self._taking = self._thread.submit(self._take, self._server)

    def _take(self, server: Server) -> Taken:
        began_s = time.monotonic()
        base = self._archive.take_base(server)
        self._say(f"Base backup of {base.taken_at:%Y-%m-%d %H:%M:%S} UTC: {time.monotonic() - began_s:.1f} s.")
        return base
