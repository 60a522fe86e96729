"""The archive in object storage: the same files as in a folder (`archive.py`), each an object.

    PREFIX/archive/base/20261126T020000Z/   base.tar.gz, pg_wal.tar.gz, backup_manifest; archive.json makes it complete
    PREFIX/archive/wal/                     segments, compressed; the one that is being written again and again

WAL is streamed into a folder, the spool, and uploaded from there. A base backup passes through the spool too.
"""

import gzip
import json
import shutil
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sinemora.kit.object_storage import ObjectMissing, Storage
from sinemora.operations.recovery.archive import (
    INFO,
    PARTIAL,
    SEGMENT_CHARACTERS,
    Archive,
    Server,
    is_before,
    needed,
    newest_before,
    segment_name,
    segment_number,
)
from sinemora.operations.recovery.errors import RecoveryError

_SPOOL_MAX_BYTES = 4 * 1024**3
_ATTEMPTS = 3


@dataclass(frozen=True)
class StoredBase:
    """A base backup in object storage: the last part of its keys, time, server and first segment it needs."""

    name: str
    taken_at: datetime
    server: Server
    first_segment: str
    size_bytes: int


class StoredArchive:
    """The archive below a prefix of a bucket, uploaded every `pause_s`; `spool` is only needed to write it.

    All methods raise StorageError.
    """

    def __init__(self, storage: Storage, prefix: str, spool: Path, pause_s: float = 10.0) -> None:
        self.pause_s = pause_s
        self._storage = storage
        self._prefix = f"{prefix}/archive".lstrip("/")
        self._spool = Archive(spool / "upload")  # never an archive in a folder, which this would take apart
        self.wal = self._spool.wal
        self._bases: list[StoredBase] | None = None

    def __str__(self) -> str:
        return f"{self._prefix} in bucket {self._storage.bucket}"

    @property
    def is_full(self) -> bool:
        """Return whether so much WAL waits for the storage that the spool should not grow."""
        return self._spool.wal_bytes() > _SPOOL_MAX_BYTES

    def create(self) -> None:
        """Create the spool, for its owner only."""
        self._spool.create()
        for base in self._spool.bases():  # one whose upload was interrupted
            shutil.rmtree(base.folder)

    def bases(self) -> list[StoredBase]:
        """Return the complete base backups, oldest first. This process is the only one that changes them."""
        if self._bases is None:
            keys = [one.key for one in self._storage.list(f"{self._prefix}/base")]
            bases = [_base(self._storage.get(key)) for key in keys if key.endswith(f"/{INFO}")]
            self._bases = sorted(bases, key=lambda base: base.taken_at)
        return self._bases

    def has_gap(self, server: Server, position: int) -> bool:
        """Return whether a segment between the newest base backup and a position in the WAL is missing."""
        bases = self.bases()
        if not bases:
            return False
        names = [*self._stored_wal(), *(path.name for path in self.wal.iterdir())]
        there = self._segments(server, [name for name in names if PARTIAL not in name])
        first = segment_number(bases[-1].first_segment, server.segment_bytes)
        return any(number not in there for number in range(first, position // server.segment_bytes))

    def take_base(self, server: Server) -> StoredBase:
        """Take a base backup of the connected server while it runs, and upload it. Raises `RecoveryError`."""
        earlier = self.bases()
        local = self._spool.take_base(server)
        try:
            base = StoredBase(local.folder.name, local.taken_at, server, local.first_segment, local.size_bytes)
            for path in sorted(local.folder.iterdir()):
                if path.name != INFO:
                    self._storage.put(self._key("base", base.name, path.name), path)
            info = asdict(base) | {"taken_at": base.taken_at.isoformat()}
            self._storage.put(self._key("base", base.name, INFO), json.dumps(info).encode())
        finally:
            shutil.rmtree(local.folder)
        self._bases = [*earlier, base]
        return base

    def abort(self) -> None:
        """End a base backup that is being taken."""
        self._spool.abort()

    def advance(self) -> bool:
        """Upload the WAL of the spool. Return whether all that was streamed before the call is stored."""
        return any(self._upload() for _ in range(_ATTEMPTS))

    def _upload(self) -> bool:
        self._spool.compress()
        for path in sorted(self.wal.iterdir()):
            if path.suffix == ".part":
                continue
            try:
                content = path.read_bytes()
            except FileNotFoundError:  # the segment was completed and has another name now
                return False
            if path.suffix == PARTIAL:
                self._storage.put(self._key("wal", f"{path.name}.gz"), gzip.compress(content, 1))
                continue
            if len(path.name) == SEGMENT_CHARACTERS:  # completed after the others were compressed
                return False
            self._storage.put(self._key("wal", path.name), content)
            self._storage.delete(self._key("wal", f"{path.stem}{PARTIAL}.gz"))
            path.unlink()
        return True

    def forget(self, keep: timedelta) -> int:
        """Delete what restores to the last `keep` do not need. Return the number of deleted base backups."""
        bases = self.bases()
        kept = needed(bases, keep)
        if not kept:
            return 0
        names = {base.name for base in kept}
        # Names are times: later than the newest is at most one that is being taken.
        for one in self._storage.list(f"{self._prefix}/base"):
            name = one.key.split("/")[-2]
            if name not in names and name < kept[-1].name:
                self._storage.delete(one.key)
        for name in self._stored_wal():
            if is_before(name, kept[0].first_segment):
                self._storage.delete(self._key("wal", name))
        self._bases = kept
        return len(bases) - len(kept)

    def download(self, folder: Path, until: datetime | None = None) -> Archive:
        """Write the newest base backup that was taken before a time, and the WAL since, into a folder.

        Raises `RecoveryError` when there is none, or when a segment in between is missing.
        """
        base = newest_before(self.bases(), until, str(self))
        local = Archive(folder)
        local.create()
        names = [name for name in self._stored_wal() if not is_before(name, base.first_segment)]
        there = self._segments(base.server, names)
        first = segment_number(base.first_segment, base.server.segment_bytes)
        missing = next((number for number in range(first, max(there, default=first)) if number not in there), None)
        if missing is not None:
            name = segment_name(missing, 1, base.server.segment_bytes)
            if until is None:
                raise RecoveryError(
                    f"{self} has no segment …{name[8:]} of WAL, but later ones. Name a time before it with --until."
                )
            names = [one for one in names if is_before(one, name) or len(one) < SEGMENT_CHARACTERS]
        complete = {name.removesuffix(".gz") for name in names if PARTIAL not in name}
        for name in names:
            if name.removesuffix(f"{PARTIAL}.gz") not in complete:
                self._download_wal(name, local.wal)
        for one in self._storage.list(f"{self._prefix}/base/{base.name}"):
            target = folder / "base" / base.name / one.key.rsplit("/", 1)[1]
            target.parent.mkdir(mode=0o700, exist_ok=True)
            self._storage.download(one.key, target)
        return local

    def _download_wal(self, name: str, folder: Path) -> None:
        try:
            self._storage.download(self._key("wal", name), folder / name)
        except ObjectMissing:
            whole = name.replace(PARTIAL, "")
            if whole == name:
                raise
            # The segment was completed meanwhile.
            (folder / name).unlink(missing_ok=True)
            self._storage.download(self._key("wal", whole), folder / whole)

    def _stored_wal(self) -> list[str]:
        return sorted(one.key.rsplit("/", 1)[1] for one in self._storage.list(f"{self._prefix}/wal"))

    def _segments(self, server: Server, names: list[str]) -> set[int]:
        """Return the numbers of the segments among files of WAL."""
        segments = (name for name in names if len(name) >= SEGMENT_CHARACTERS)
        return {segment_number(name, server.segment_bytes) for name in segments}

    def _key(self, *parts: str) -> str:
        return "/".join((self._prefix, *parts))


def _base(info: bytes) -> StoredBase:
    fields = json.loads(info)
    at, server = datetime.fromisoformat(fields["taken_at"]), Server(**fields["server"])
    return StoredBase(**fields | {"taken_at": at, "server": server})
