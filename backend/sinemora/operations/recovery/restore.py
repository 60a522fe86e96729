"""Restore of an archive into a new data folder: the newest base backup, then WAL up to its end or to a time."""

import errno
import gzip
import json
import re
import shlex
import shutil
import tarfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers.postgres import SUPERUSER, PostgresServer
from sinemora.operations.embedded.servers.service_user import hand_over, service_user
from sinemora.operations.embedded.servers.sockets import private_dir
from sinemora.operations.recovery import programs
from sinemora.operations.recovery.archive import Archive, BaseBackup
from sinemora.operations.recovery.errors import RecoveryError

_REPLAY_LIMIT_S = 24 * 3600.0
_STOP_LIMIT_S = 120.0
_LAST_TRANSACTION = re.compile(
    r"last completed transaction was at log time (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)?([+-]\d\d(?::\d\d)?)"
)
_COPIED_BYTES = 1024 * 1024


@dataclass
class Restored:
    """A restored server that runs, for itself alone: its socket is in its folder."""

    server: PostgresServer
    base: BaseBackup
    restore_s: float
    replay_s: float
    recovered_to: datetime | None
    """Time of the newest transaction that was replayed; None if there was none after the base backup."""

    def dsn(self, role: str = SUPERUSER) -> str:
        """Return the address of the product's database for a role."""
        return self.server.dsn(role, self.base.server.database)

    def stop(self) -> None:
        """Stop the server. Its cluster stays in `postgres` of its folder."""
        self.server.stop(timeout_s=_STOP_LIMIT_S)


def restore(archive: Archive, folder: Path, until: datetime | None = None) -> Restored:
    """Restore into an empty folder and start the server. Stop it with `stop`.

    Raises `RecoveryError` when the archive does not reach to `until`, is damaged or cannot be read, and when the disk
    has too little space. What was written before the server starts is deleted then, and at an interruption.
    """
    if folder.exists() and any(folder.iterdir()):
        raise RecoveryError(f"{folder} is not empty. Name a new folder for the restored cluster.")
    base = archive.base_before(until)
    began_s = time.monotonic()
    user = service_user()
    private_dir(folder, user)
    _check_space(archive, base, folder)
    major = base.server.major
    # Embedded programs are copied to where the user of the server can read them, if necessary.
    own = None if programs.are_embedded(major) else programs.folder(major)
    server = PostgresServer(folder, user, programs=own)
    try:
        _unpack(base.folder / "base.tar.gz", server.cluster)
        _unpack(base.folder / "pg_wal.tar.gz", server.cluster / "pg_wal")
        _copy_wal(archive, base, folder / "wal")
        _configure(server.cluster, folder, base, until)
        hand_over(folder, user)
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        _empty(folder)
        raise RecoveryError(_reason(error, base, folder)) from None
    except KeyboardInterrupt:
        _empty(folder)
        raise
    restored_s = time.monotonic()
    try:
        return _replayed(server, base, folder, until, began_s, restored_s)
    except KeyboardInterrupt:
        # By its folder: an interruption between its start and the end of `start` left it without a name.
        server.stop_leftover(_STOP_LIMIT_S)
        raise RecoveryError(f"Interrupted before all was replayed; {folder} may be deleted.") from None


def _replayed(
    server: PostgresServer, base: BaseBackup, folder: Path, until: datetime | None, began_s: float, restored_s: float
) -> Restored:
    """Start the server, which replays WAL, and return it. RecoveryError when it does not reach `until`, or fails."""
    try:
        server.prepare()
        server.start(_REPLAY_LIMIT_S)
    except EmbeddedError as error:
        if until is not None and (ended := _end_of(folder / "logs" / "postgres.log")):
            raise RecoveryError(
                f"The archive ends at {ended}, before {until.astimezone(UTC):%Y-%m-%d %H:%M:%S}+00. Omit --until to"
                f" restore all of it into a new folder; {folder} may be deleted."
            ) from None
        raise RecoveryError(f"{error.what}\n{error.advice}\n{folder} may be deleted then.") from None
    replayed_s = time.monotonic()
    shutil.rmtree(folder / "wal")
    (folder / "postgresql.custom.conf").unlink()
    with psycopg.connect(server.dsn(SUPERUSER, base.server.database)) as connection:
        row = connection.execute("SELECT pg_last_xact_replay_timestamp()").fetchone()
    newest = row[0].astimezone(UTC) if row and row[0] else None
    return Restored(server, base, restored_s - began_s, replayed_s - restored_s, newest)


def _check_space(archive: Archive, base: BaseBackup, folder: Path) -> None:
    """Raise `RecoveryError` when the disk of a folder has too little space for a restore."""
    manifest = base.folder / "backup_manifest"
    try:
        files = json.loads(manifest.read_text())["Files"]
        sizes = [int(file["Size"]) for file in files]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecoveryError(f"The base backup {base.folder.name} is damaged: {manifest}: {error}") from None
    segments = {name for _, name in _wal_of(archive, base) if len(name) == len(base.first_segment)}
    needed = sum(sizes) + len(segments) * base.server.segment_bytes
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise RecoveryError(
            f"Too little space for {folder}: the restore needs {needed / 1e9:,.2f} GB, {free / 1e9:,.2f} GB are free."
            " Free some, or name a folder on another disk."
        )


def _reason(error: Exception, base: BaseBackup, folder: Path) -> str:
    """Return the reason why nothing was restored: the disk, the rights or the backup."""
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk of {folder} is full. Free some space, or name a folder on another disk."
    if number in (errno.EACCES, errno.EPERM):
        return f"The archive cannot be read, or {folder} cannot be written: {error}"
    return f"The base backup {base.folder.name} is damaged or cannot be unpacked: {error}"


def _empty(folder: Path) -> None:
    """Delete what a restore that failed has written, so that the folder can be named again."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _end_of(log: Path) -> str | None:
    """Return the time of the last transaction of an archive that did not reach its target; None for other failures."""
    lines = log.read_text("utf-8", "replace") if log.exists() else ""
    if "recovery ended before configured recovery target was reached" not in lines:
        return None
    times = _LAST_TRANSACTION.findall(lines)
    return "".join(times[-1]) if times else "its base backup"


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tarfile.open(archive, "r:gz") as tar:
        tar.extractall(folder, members=_inside(tar, folder.resolve()), numeric_owner=True)
    folder.chmod(0o700)


def _inside(tar: tarfile.TarFile, folder: Path) -> Iterator[tarfile.TarInfo]:
    """Yield the members of an archive, writable by their owner alone.

    TarError for a device, and for one that would leave `folder`. Filters of `tarfile` came with Python 3.11.4, and 3.11
    is promised. Members are unpacked as they are yielded, so a link that an earlier one made is followed here.
    """
    tar.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
    for member in tar:
        names = [member.name, member.linkname] if member.islnk() else [member.name]
        if member.isdev() or not all((folder / name).resolve().is_relative_to(folder) for name in names):
            raise tarfile.TarError(f"{member.name} is no file of a cluster")
        member.mode &= 0o755
        yield member


def _copy_wal(archive: Archive, base: BaseBackup, folder: Path) -> None:
    """Copy the WAL since the base backup, uncompressed; the user of the server may not enter the archive."""
    folder.mkdir(mode=0o700)
    for path, name in _wal_of(archive, base):
        if path.suffix == ".gz":
            with gzip.open(path) as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target, _COPIED_BYTES)
        elif not (folder / name).exists():
            # A segment that is being written: it is as long as a complete one, with zeros at its end.
            shutil.copy2(path, folder / name)


def _wal_of(archive: Archive, base: BaseBackup) -> Iterator[tuple[Path, str]]:
    """Yield the files of WAL since a base backup, with the names of their segments."""
    for path in sorted(archive.wal.iterdir()):
        name = path.name.removesuffix(".gz").removesuffix(".partial")
        if path.suffix == ".part" or (len(name) == len(base.first_segment) and name[8:] < base.first_segment[8:]):
            continue
        yield path, name


def _configure(cluster: Path, folder: Path, base: BaseBackup, until: datetime | None) -> None:
    fetch = f"cp {shlex.quote(str(folder / 'wal'))}/%f %p".replace("'", "''")
    lines = [
        f"restore_command = '{fetch}'",
        "recovery_target_action = 'promote'",
        # Connections are refused until all is replayed; limits of the old server do not matter then.
        "hot_standby = off",
        f"shared_preload_libraries = '{base.server.libraries}'",
    ]
    if until is not None:
        lines.append(f"recovery_target_time = '{until.astimezone(UTC).isoformat()}'")
    (folder / "postgresql.custom.conf").write_text("\n".join(lines) + "\n")
    (cluster / "recovery.signal").touch()
    # What ALTER SYSTEM set on the old server (addresses, archives of its own) must not act on the new one.
    if (settings := cluster / "postgresql.auto.conf").exists():
        settings.rename(cluster / "postgresql.auto.conf.of-backup")
