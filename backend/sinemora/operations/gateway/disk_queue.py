"""Queue of reports on disk: SQLite with a write-ahead log, synchronised to the disk at every commit.

One thread writes. Changes that arrive during a commit are in the next one, so that many reports share a
synchronisation. An agent's reports leave in the order in which they came.
"""

import fcntl
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import structlog
from starlette.concurrency import run_in_threadpool

from sinemora.kit.errors import ProductError, unavailable
from sinemora.measurements.ingest.batching import BatchLimits, BatchQueue
from sinemora.operations.gateway import metrics
from sinemora.operations.gateway.options import GatewayError

log = structlog.get_logger(__name__)
T = TypeVar("T")
Change = Callable[[sqlite3.Connection], Any]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS clients (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    verified_at REAL NOT NULL,
    credential TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    client INTEGER NOT NULL REFERENCES clients (id),
    digest BLOB NOT NULL,
    queued_at REAL NOT NULL,
    media_type TEXT NOT NULL,
    encoding TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (client, digest)
) STRICT;
CREATE INDEX IF NOT EXISTS reports_of_clients ON reports (client, id);
"""
_VERSION = 1
_BATCH = BatchLimits(reports=512, size_bytes=16 << 20)
_WAITING_MAX = 4000
# A row's other columns and its share of the pages of the indexes.
_ROW_BYTES = 512
# Left free on the disk, so that forwarded reports can always be removed.
RESERVE_BYTES = 32 << 20
FULL_RETRY_S = 30


@dataclass(frozen=True, slots=True)
class Client:
    """An agent, known by the digest of its credential. `verified_at` (Unix, s): the backend accepted it then."""

    id: int
    digest: bytes
    verified_at: float


@dataclass(frozen=True, slots=True)
class Body:
    """A report as it came: its bytes, their SHA-256, media type and content coding."""

    content: bytes
    digest: bytes
    media_type: str
    encoding: str


@dataclass(frozen=True, slots=True)
class Queued:
    """A report in the queue, its agent and the agent's credential."""

    id: int
    client: int
    queued_at: float
    body: Body
    credential: str
    prefix: str


class DiskQueue:
    """Queue in a folder that no other gateway uses. Its methods run on the event loop of `start`."""

    def __init__(self, folder: Path, capacity_bytes: int, reserve_bytes: int = RESERVE_BYTES) -> None:
        """Open or create the queue. Raises GatewayError for a folder that cannot be used."""
        self._folder = folder
        self._capacity = capacity_bytes
        self._reserve = reserve_bytes
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock_file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # SQLite gives its other files the mode of the database: credentials are in them.
            os.close(os.open(folder / "queue.sqlite", os.O_RDWR | os.O_CREAT, 0o600))
            self._writer = self._connect()
            self._migrate()
            self._reader = self._connect()
        except BlockingIOError:
            raise GatewayError(f"--directory {folder}: another gateway uses it.") from None
        except OSError as error:
            raise GatewayError(f"--directory {folder}: {error.strerror or error}") from error
        except sqlite3.Error as error:
            raise GatewayError(f"--directory {folder}: queue.sqlite cannot be used: {error}") from error
        self._reading = threading.Lock()
        rows = self._reader.execute(
            "SELECT client, count(*), sum(length(body)) FROM reports GROUP BY client"
        ).fetchall()
        self.counts = Counter({client: count for client, count, _ in rows})
        self.size_bytes: int = sum(size + count * _ROW_BYTES for _, count, size in rows)
        self._queue: BatchQueue[Change, Any] | None = None
        metrics.QUEUE_CAPACITY.set(capacity_bytes)
        metrics.QUEUE_REPORTS.set_function(lambda: self.counts.total())
        metrics.QUEUE_BYTES.set_function(lambda: self.size_bytes)
        metrics.OLDEST_AGE.set_function(self.oldest_age_s)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._folder / "queue.sqlite", isolation_level=None, check_same_thread=False, timeout=10
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = FAST")  # credentials of agents without reports
        connection.execute("PRAGMA journal_size_limit = 67108864")
        return connection

    def _migrate(self) -> None:
        (version,) = self._writer.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise GatewayError(f"--directory {self._folder}: a newer gateway wrote it (version {version}).")
        self._writer.executescript(f"{_SCHEMA} PRAGMA user_version = {_VERSION};")

    def start(self) -> None:
        """Begin to accept changes, on the running event loop."""
        self._queue = BatchQueue("gateway-queue", self._commit, _WAITING_MAX, _BATCH, metrics.DISK_WAITING)

    def close(self) -> None:
        """Commit what waits, then close the files."""
        if self._queue is not None:
            self._queue.close()
        metrics.OLDEST_AGE.set_function(lambda: 0.0)
        self._reader.close()
        self._writer.close()
        os.close(self._lock_file)

    @property
    def has_room(self) -> bool:
        """Return True while the queue accepts a small report."""
        return self.size_bytes + _ROW_BYTES < self._capacity and not self._disk_is_full()

    @property
    def filling(self) -> str:
        """Return the state of the queue for people."""
        free = self._free_bytes()
        full = f"; disk full: {free:,} bytes are free, {self._reserve:,} stay so" if free < self._reserve else ""
        return f"{self.counts.total():,} reports, {self.size_bytes:,} of {self._capacity:,} bytes{full}"

    async def put(self, client: Client, credential: str, prefix: str, body: Body) -> None:
        """Queue a report; return once it is on the disk. A report that is in the queue already stays there once.

        ProductError `gateway_queue_full`, `gateway_disk_full`, `gateway_disk_failed` (503), `ingest_busy` (429).
        """
        size = len(body.content) + _ROW_BYTES
        if self.size_bytes + size > self._capacity:
            raise _later("gateway_queue_full", f"Queue of the gateway full: {self.filling}.")
        if self._disk_is_full():
            raise _later("gateway_disk_full", "Disk of the gateway full.")
        self.size_bytes += size
        try:
            is_new = await self._change(lambda db: _insert(db, client.id, credential, body, time.time()), size)
        except ProductError:
            self.size_bytes -= size
            raise
        if is_new:
            self.counts[client.id] += 1
        else:
            self.size_bytes -= size

    async def remove(self, report: Queued) -> None:
        """Remove a report. ProductError when the disk refuses."""
        await self._change(lambda db: _delete(db, report), _ROW_BYTES)
        self.size_bytes -= len(report.body.content) + _ROW_BYTES
        self.counts[report.client] -= 1
        if self.counts[report.client] <= 0:
            del self.counts[report.client]

    async def oldest(self, client: int) -> Queued | None:
        """Return the oldest report of an agent, None without one."""
        return await run_in_threadpool(self._oldest, client)

    async def verified(self, digest: bytes, prefix: str, at: float) -> Client:
        """Store that the backend accepted a credential at `at` (Unix, s). ProductError when the disk refuses."""
        client = await self._change(lambda db: _verified(db, digest, prefix, at), _ROW_BYTES)
        return Client(client, digest, at)

    async def forget(self, before: float) -> None:
        """Forget agents without reports whose credential was accepted last before `before` (Unix, s)."""
        await self._change(lambda db: _forget(db, before), _ROW_BYTES)

    def clients(self) -> list[Client]:
        """Return all known agents."""
        with self._reading:
            rows = self._reader.execute("SELECT id, digest, verified_at FROM clients").fetchall()
        return [Client(*row) for row in rows]

    def oldest_age_s(self) -> float:
        """Return the age of the oldest report, 0 without one."""
        with self._reading:
            row = self._reader.execute("SELECT queued_at FROM reports ORDER BY id LIMIT 1").fetchone()
        return max(0.0, time.time() - row[0]) if row else 0.0

    def _oldest(self, client: int) -> Queued | None:
        with self._reading:
            row = self._reader.execute(
                "SELECT r.id, r.queued_at, r.body, r.digest, r.media_type, r.encoding, c.credential, c.prefix"
                " FROM reports r JOIN clients c ON c.id = r.client WHERE r.client = ? ORDER BY r.id LIMIT 1",
                (client,),
            ).fetchone()
        if row is None:
            return None
        id, queued_at, content, digest, media_type, encoding, credential, prefix = row
        return Queued(id, client, queued_at, Body(content, digest, media_type, encoding), credential, prefix)

    async def _change(self, change: Callable[[sqlite3.Connection], T], size: int) -> T:
        if self._queue is None:
            raise RuntimeError("the queue is not started")
        result: T = await self._queue.put(change, size)
        return result

    def _commit(self, changes: Sequence[Change]) -> Sequence[Any | ProductError]:
        """Apply changes in one transaction, on the writer's thread."""
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            results = [change(self._writer) for change in changes]
            self._writer.execute("COMMIT")
            return results
        except sqlite3.Error as error:
            log.error("the queue cannot be written", error=str(error), changes=len(changes))
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            return [_later("gateway_disk_failed", "Disk of the gateway cannot be written.") for _ in changes]

    def _disk_is_full(self) -> bool:
        return self._free_bytes() < self._reserve

    def _free_bytes(self) -> int:
        disk = os.statvfs(self._folder)
        return disk.f_bavail * disk.f_frsize


def _insert(db: sqlite3.Connection, client: int, credential: str, body: Body, at: float) -> bool:
    cursor = db.execute(
        "INSERT INTO reports (client, digest, queued_at, media_type, encoding, body) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (client, body.digest, at, body.media_type, body.encoding, body.content),
    )
    db.execute("UPDATE clients SET credential = ? WHERE id = ? AND credential IS NULL", (credential, client))
    return cursor.rowcount > 0


def _delete(db: sqlite3.Connection, report: Queued) -> None:
    db.execute("DELETE FROM reports WHERE id = ?", (report.id,))
    db.execute(
        "UPDATE clients SET credential = NULL WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM reports WHERE client = ?1)",
        (report.client,),
    )


def _verified(db: sqlite3.Connection, digest: bytes, prefix: str, at: float) -> int:
    row = db.execute(
        "INSERT INTO clients (digest, prefix, verified_at) VALUES (?, ?, ?)"
        " ON CONFLICT (digest) DO UPDATE SET verified_at = excluded.verified_at RETURNING id",
        (digest, prefix, at),
    ).fetchone()
    return int(row[0])


def _forget(db: sqlite3.Connection, before: float) -> None:
    db.execute(
        "DELETE FROM clients WHERE verified_at < ? AND NOT EXISTS (SELECT 1 FROM reports WHERE client = clients.id)",
        (before,),
    )


def _later(code: str, detail: str) -> ProductError:
    return unavailable(code, f"{detail} Keep this report and send it again.", FULL_RETRY_S)
