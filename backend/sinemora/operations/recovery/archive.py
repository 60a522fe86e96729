"""An archive that a database can be restored from to any second: base backups, and all WAL since the oldest.

    base/20261126T020000Z/      base.tar.gz, pg_wal.tar.gz and backup_manifest of pg_basebackup, archive.json
    wal/                        segments of WAL: complete ones compressed, the one that is being written as .partial

WAL is streamed as it is written (pg_receivewal with fsync after each message), so that an archive misses seconds at
most, not a segment. A replication slot keeps what was not archived yet.
"""

import gzip
import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

import psycopg

from sinemora.operations.recovery import programs
from sinemora.operations.recovery.errors import RecoveryError

_FORMAT = "%Y%m%dT%H%M%SZ"
INFO = "archive.json"
_DONE = "backup_manifest"
SEGMENT_CHARACTERS = 24
PARTIAL = ".partial"
_COPIED_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Server:
    """Server of an archive, as a restore needs it: its major version, its database and the libraries it loads.

    `system` identifies the cluster and its copies; it is empty in archives of earlier versions.
    """

    major: int
    database: str
    libraries: str
    segment_bytes: int
    system: str = ""

    @classmethod
    def of(cls, connection: psycopg.Connection) -> "Server":
        """Read it from a connected server."""
        row = connection.execute(
            "SELECT current_setting('server_version_num')::int / 10000, current_database(),"
            " current_setting('shared_preload_libraries'),"
            " (SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size'),"
            " (SELECT system_identifier::text FROM pg_control_system())"
        ).fetchone()
        assert row is not None
        return cls(*row)


class Taken(Protocol):
    """Base backup, wherever it is."""

    @property
    def taken_at(self) -> datetime: ...

    @property
    def server(self) -> Server: ...

    @property
    def first_segment(self) -> str: ...


B = TypeVar("B", bound=Taken)


@dataclass(frozen=True)
class BaseBackup:
    """A base backup: its folder, the time it was taken, its server and the name of the first segment it needs."""

    folder: Path
    taken_at: datetime
    server: Server
    first_segment: str

    @property
    def size_bytes(self) -> int:
        """Return the bytes on disk."""
        return sum(path.stat().st_size for path in self.folder.iterdir())


class Archive:
    """The archive in a folder."""

    pause_s = 2.0
    is_full = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.wal = self.folder / "wal"
        self._running: subprocess.Popen[str] | None = None

    def create(self) -> None:
        """Create the folders, for their owner only; delete what an interrupted base backup has left."""
        for folder in (self.folder, self.folder / "base", self.wal):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for unfinished in (self.folder / "base").glob("*.part"):
            shutil.rmtree(unfinished)

    def bases(self) -> list[BaseBackup]:
        """Return the complete base backups, oldest first."""
        return [_base(path) for path in sorted((self.folder / "base").glob("*T*Z")) if (path / INFO).is_file()]

    def base_before(self, until: datetime | None) -> BaseBackup:
        """Return the newest base backup that was taken before a time. Raises `RecoveryError`."""
        return newest_before(self.bases(), until, str(self.folder))

    def has_gap(self, _: Server, __: int) -> bool:
        """Return whether WAL is missing before the slot; never, since the slot keeps what is not in this folder."""
        return False

    def take_base(self, server: Server) -> BaseBackup:
        """Take a base backup of the connected server while it runs. Raises `RecoveryError`."""
        at = datetime.now(UTC)
        final = self.folder / "base" / at.strftime(_FORMAT)
        staging = final.with_suffix(".part")
        shutil.rmtree(staging, ignore_errors=True)
        tool = programs.clients(server.major) / "pg_basebackup"
        command: list[str | Path] = [
            tool,
            f"--pgdata={staging}",
            "--format=tar",
            "--gzip",
            "--compress=1",
            "--checkpoint=fast",
        ]
        self._running = subprocess.Popen(
            [*command, "--no-password"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        _, complaint = self._running.communicate()
        if self._running.returncode:
            shutil.rmtree(staging, ignore_errors=True)
            raise RecoveryError(f"The base backup failed: {complaint.strip()}")
        taken_at = datetime.now(UTC)  # a restore is consistent from its end on
        info = {"taken_at": taken_at.isoformat(), "server": asdict(server)}
        (staging / INFO).write_text(json.dumps(info))
        staging.rename(final)
        return _base(final)

    def abort(self) -> None:
        """End a base backup that is being taken."""
        if self._running is not None and self._running.poll() is None:
            self._running.terminate()

    def advance(self) -> bool:
        """Do what streamed WAL needs next. Return whether all that was streamed before the call is in the archive."""
        self.compress()
        return True

    def compress(self) -> int:
        """Compress the complete segments. Return their number."""
        complete = [path for path in self.wal.iterdir() if len(path.name) == SEGMENT_CHARACTERS]
        for path in complete:
            written = path.with_name(path.name + ".gz.part")
            with path.open("rb") as source, gzip.open(written, "wb", compresslevel=1) as target:
                shutil.copyfileobj(source, target, _COPIED_BYTES)
            written.rename(path.with_name(path.name + ".gz"))
            path.unlink()
        return len(complete)

    def forget(self, keep: timedelta) -> int:
        """Delete what restores to the last `keep` do not need. Return the number of deleted base backups."""
        bases = self.bases()
        kept = needed(bases, keep)
        for base in bases:
            if base not in kept:
                shutil.rmtree(base.folder)
        if kept:
            for path in self.wal.iterdir():
                if is_before(path.name, kept[0].first_segment):
                    path.unlink()
        return len(bases) - len(kept)

    def wal_bytes(self) -> int:
        """Return the bytes of WAL on disk."""
        return sum(path.stat().st_size for path in self.wal.iterdir())


def newest_before(bases: Sequence[B], until: datetime | None, where: str) -> B:
    """Return the newest base backup that was taken before a time. Raises `RecoveryError` with the place `where`."""
    usable = [base for base in bases if until is None or base.taken_at <= until]
    if usable:
        return usable[-1]
    if bases:
        raise RecoveryError(f"{where} begins at {bases[0].taken_at:%Y-%m-%dT%H:%M:%SZ}, after {until}.")
    raise RecoveryError(f"{where} has no base backup. `sinemora archive` writes one.")


def needed(bases: Iterable[B], keep: timedelta) -> list[B]:
    """Return the base backups, oldest first, that restores to the last `keep` need.

    The newest one from before is the beginning of the kept time.
    """
    oldest = datetime.now(UTC) - keep
    before = [base for base in bases if base.taken_at <= oldest]
    return [*before[-1:], *(base for base in bases if base.taken_at > oldest)]


def is_before(name: str, segment: str) -> bool:
    """Return whether a file of WAL is of a segment before another one, whatever their timelines.

    The first eight characters are the timeline; segments are ordered by the others. A history of timelines is kept.
    """
    return len(name) >= SEGMENT_CHARACTERS and name[8:24] < segment[8:24]


def segment_name(number: int, timeline: int, segment_bytes: int) -> str:
    """Return the name of a segment of WAL."""
    each = (1 << 32) // segment_bytes
    return f"{timeline:08X}{number // each:08X}{number % each:08X}"


def segment_number(name: str, segment_bytes: int) -> int:
    """Return the number of a segment in the WAL, whatever its timeline."""
    return int(name[8:16], 16) * ((1 << 32) // segment_bytes) + int(name[16:24], 16)


def _base(folder: Path) -> BaseBackup:
    info = json.loads((folder / INFO).read_text())
    manifest = json.loads((folder / _DONE).read_text())
    server = Server(**info["server"])
    span = manifest["WAL-Ranges"][0]
    high, low = (int(part, 16) for part in span["Start-LSN"].split("/"))
    segment = segment_name((high << 32 | low) // server.segment_bytes, span["Timeline"], server.segment_bytes)
    return BaseBackup(folder, datetime.fromisoformat(info["taken_at"]), server, segment)
