"""An archive that a database can be restored from to any second: base backups, and all WAL since the oldest.

    base/20261126T020000Z/      base.tar.gz, pg_wal.tar.gz and backup_manifest of pg_basebackup, archive.json
    wal/                        segments of WAL: complete ones compressed, the one that is being written as .partial

WAL is streamed as it is written (pg_receivewal with fsync after each message), so that an archive misses seconds at
most, not a segment. A replication slot keeps what was not archived yet.
"""

import gzip
import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

from sinemora.recovery import programs
from sinemora.recovery.errors import RecoveryError

SLOT = "sinemora_archive"
_FORMAT = "%Y%m%dT%H%M%SZ"
_INFO = "archive.json"
_DONE = "backup_manifest"
_SEGMENT_CHARACTERS = 24
_RESTART_S = 2.0
_COPIED_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Server:
    """What a restore must know of the server: its major version, its database and the libraries it loads."""

    major: int
    database: str
    libraries: str
    segment_bytes: int

    @classmethod
    def of(cls, connection: psycopg.Connection) -> "Server":
        """Read it from a connected server."""
        row = connection.execute(
            "SELECT current_setting('server_version_num')::int / 10000, current_database(),"
            " current_setting('shared_preload_libraries'),"
            " (SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size')"
        ).fetchone()
        assert row is not None
        return cls(*row)


@dataclass(frozen=True)
class Base:
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

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.wal = self.folder / "wal"

    def create(self) -> None:
        """Create the folders, for their owner only."""
        for folder in (self.folder, self.folder / "base", self.wal):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def bases(self) -> list[Base]:
        """Return the complete base backups, oldest first."""
        return [_base(path) for path in sorted((self.folder / "base").glob("*T*Z")) if (path / _INFO).is_file()]

    def base_before(self, until: datetime | None) -> Base:
        """Return the newest base backup that was taken before a time. Raises `RecoveryError`."""
        known = self.bases()
        usable = [base for base in known if until is None or base.taken_at <= until]
        if usable:
            return usable[-1]
        if known:
            raise RecoveryError(f"{self.folder} begins at {known[0].taken_at:%Y-%m-%dT%H:%M:%SZ}, after {until}.")
        raise RecoveryError(f"{self.folder} has no base backup. `sinemora archive` writes one.")

    def take_base(self, server: Server) -> Base:
        """Take a base backup of the connected server while it runs. Raises `RecoveryError`."""
        at = datetime.now(UTC)
        final = self.folder / "base" / at.strftime(_FORMAT)
        staging = final.with_suffix(".part")
        shutil.rmtree(staging, ignore_errors=True)
        tool = programs.folder(server.major) / "pg_basebackup"
        command: list[str | Path] = [
            tool,
            f"--pgdata={staging}",
            "--format=tar",
            "--gzip",
            "--compress=1",
            "--checkpoint=fast",
        ]
        done = subprocess.run([*command, "--no-password"], capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(staging, ignore_errors=True)
            raise RecoveryError(f"The base backup failed: {done.stderr.strip()}")
        taken_at = datetime.now(UTC)  # a restore is consistent from its end on
        info = {"taken_at": taken_at.isoformat(), "server": asdict(server)}
        (staging / _INFO).write_text(json.dumps(info))
        staging.rename(final)
        return _base(final)

    def compress(self) -> int:
        """Compress the complete segments. Return their number."""
        complete = [path for path in self.wal.iterdir() if len(path.name) == _SEGMENT_CHARACTERS]
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
        oldest = datetime.now(UTC) - keep
        # The newest one from before is the beginning of the kept time.
        needed = [base for base in bases if base.taken_at > oldest]
        needed = [*[base for base in bases if base.taken_at <= oldest][-1:], *needed]
        for base in bases:
            if base not in needed:
                shutil.rmtree(base.folder)
        if needed:
            for path in self.wal.iterdir():
                # The first eight characters are the timeline; segments are ordered by the others.
                if len(path.name) >= _SEGMENT_CHARACTERS and path.name[8:24] < needed[0].first_segment[8:24]:
                    path.unlink()
        return len(bases) - len(needed)

    def wal_bytes(self) -> int:
        """Return the bytes of WAL on disk."""
        return sum(path.stat().st_size for path in self.wal.iterdir())


class Stream:
    """pg_receivewal that writes WAL into an archive, as a child of this process."""

    def __init__(self, archive: Archive, server: Server, slot: str) -> None:
        self.slot = slot
        self._command: Sequence[str | Path] = [
            programs.folder(server.major) / "pg_receivewal", f"--directory={archive.wal}", f"--slot={slot}",
            "--synchronous", "--no-loop", "--no-password", "--status-interval=1",
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; its messages go to standard error."""
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)

    @property
    def is_alive(self) -> bool:
        """Return whether it runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(how)
        if self._process:
            self._process.wait(30)


def ensure_slot(connection: psycopg.Connection, slot: str) -> bool:
    """Create the slot if it is missing or lost its WAL. Return whether WAL before now may be missing in the archive."""
    row = connection.execute("SELECT wal_status FROM pg_replication_slots WHERE slot_name = %s", [slot]).fetchone()
    if row is not None and row[0] != "lost":
        return False
    if row is not None:
        connection.execute("SELECT pg_drop_replication_slot(%s)", [slot])
    # true: WAL is kept from now on, not from the first connection of the stream.
    connection.execute("SELECT pg_create_physical_replication_slot(%s, true)", [slot])
    return True


def drop_slot(connection: psycopg.Connection, slot: str) -> None:
    """Delete a slot, so that the server keeps no WAL for it."""
    connection.execute(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", [slot]
    )


def keep_up(
    archive: Archive, every: timedelta, keep: timedelta, say: Callable[[str], None], stopped: Callable[[float], bool]
) -> None:
    """Archive until `stopped(seconds)`, which waits, returns True: WAL all the time, base backups at intervals.

    A server that is away is waited for. Raises `RecoveryError` when the first base backup cannot be taken.
    """
    archive.create()
    stream: Stream | None = None
    try:
        while True:
            try:
                if stream is None or not stream.is_alive:
                    with programs.connect() as connection:
                        server = Server.of(connection)
                        gap = ensure_slot(connection, SLOT)
                    stream = Stream(archive, server, SLOT)
                    stream.start()
                    if gap and archive.bases():
                        say("WAL is missing since the last run: taking a new base backup.")
                    if gap:
                        _take(archive, server, say)
                bases = archive.bases()
                if not bases or datetime.now(UTC) - bases[-1].taken_at > every:
                    _take(archive, server, say)
                    if deleted := archive.forget(keep):
                        say(f"Deleted {deleted} old base backups and their WAL.")
                archive.compress()
            except RecoveryError as error:
                if not archive.bases():
                    raise
                say(f"{error} Trying again.")
            if stopped(_RESTART_S):
                return
    finally:
        if stream is not None:
            stream.stop()


def _take(archive: Archive, server: Server, say: Callable[[str], None]) -> None:
    began_s = time.monotonic()
    base = archive.take_base(server)
    say(f"Base backup {base.folder.name}: {base.size_bytes / 1e6:,.1f} MB in {time.monotonic() - began_s:.1f} s.")


def _base(folder: Path) -> Base:
    info = json.loads((folder / _INFO).read_text())
    manifest = json.loads((folder / _DONE).read_text())
    server = Server(**info["server"])
    span = manifest["WAL-Ranges"][0]
    high, low = (int(part, 16) for part in span["Start-LSN"].split("/"))
    number = (high << 32 | low) // server.segment_bytes
    each = (1 << 32) // server.segment_bytes
    segment = f"{span['Timeline']:08X}{number // each:08X}{number % each:08X}"
    return Base(folder, datetime.fromisoformat(info["taken_at"]), server, segment)
