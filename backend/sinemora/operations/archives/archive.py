"""Archive of a backup or an export: a tar stream of zstd parts, one stream of parts a table, with checksums.

    header.json               format, time of the snapshot, schema revision, tables with their columns
    tables/NAME/000001.zst    up to 16 MiB of one table's stream, compressed
    manifest.json             last: rows, bytes and SHA-256 of each table's stream

It is written and read in one pass with a few parts in memory, so it may go through a pipe. The manifest proves that
nothing is missing: an archive without it is invalid.
"""

import hashlib
import io
import json
import tarfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import zstandard

FORMAT = 1
_PART_BYTES = 16 << 20
_PIECE_BYTES = 1 << 20
_JSON_BYTES = 16 << 20
_LEVEL = 3


Report = Callable[[str], None]
"""Takes a line about the progress."""


class ArchiveError(Exception):
    """Invalid or damaged archive; the message names the place."""


@dataclass
class Stream:
    """Rows, bytes and digest of the part of a table's stream that was processed."""

    name: str
    rows: int = 0
    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def add(self, data: bytes) -> None:
        """Add a piece to the size and the digest."""
        self.size += len(data)
        self.digest.update(data)

    def summary(self) -> dict[str, Any]:
        """Return the entry of the manifest."""
        return {"rows": self.rows, "bytes": self.size, "sha256": self.digest.hexdigest()}


class Writer:
    """Writer of an archive: call `table` for each table in turn, then `finish`."""

    def __init__(self, out: IO[bytes], header: dict[str, Any]) -> None:
        self._tar = tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT)  # noqa: SIM115 (closed by finish)
        self._created_at = int(time.time())
        self._tables: dict[str, dict[str, Any]] = {}
        self._add("header.json", json.dumps({"format": FORMAT, **header}, indent=2).encode())

    def table(self, name: str, pieces: Iterator[bytes]) -> Stream:
        """Write a table's stream. The caller sets `rows` of the result and calls `done`."""
        stream, part, size, number = Stream(name), list[bytes](), 0, 0
        for piece in pieces:
            stream.add(piece)
            part.append(bytes(piece))
            size += len(piece)
            if size >= _PART_BYTES:
                number += 1
                self._part(name, number, part)
                part, size = [], 0
        if part:
            self._part(name, number + 1, part)
        self._tables[name] = {}
        return stream

    def done(self, stream: Stream) -> None:
        """Record the summary of a table's stream for the manifest."""
        self._tables[stream.name] = stream.summary()

    def finish(self, **more: Any) -> dict[str, Any]:
        """Write the manifest, close the archive and return the manifest."""
        manifest = {"tables": self._tables, **more}
        self._add("manifest.json", json.dumps(manifest, indent=2).encode())
        self._tar.close()
        return manifest

    def _part(self, name: str, number: int, pieces: list[bytes]) -> None:
        packed = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(b"".join(pieces))
        self._add(f"tables/{name}/{number:06}.zst", packed)

    def _add(self, name: str, content: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = len(content), self._created_at, 0o600
        self._tar.addfile(info, io.BytesIO(content))


class Reader:
    """Reader of an archive: iterate over `tables`, each to its end; then `manifest` verifies them."""

    def __init__(self, source: IO[bytes]) -> None:
        try:
            self._tar = tarfile.open(fileobj=source, mode="r|")  # noqa: SIM115 (read to its end by tables)
            self._entry = self._tar.next()
            self.header = self._json("header.json")
        except (tarfile.TarError, ValueError, EOFError) as error:
            raise ArchiveError(f"not an archive of Sinemora: {error}") from error
        if self.header.get("format") != FORMAT:
            raise ArchiveError(f"format too new: {self.header.get('format')}; this version reads {FORMAT}")
        self._streams: dict[str, Stream] = {}

    def tables(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield each table's name and its stream in pieces."""
        self._next()
        while self._entry is not None and self._entry.name.startswith("tables/"):
            name = self._entry.name.split("/")[1]
            stream = self._streams[name] = Stream(name)
            yield name, self._pieces(stream)

    def manifest(self) -> dict[str, Any]:
        """Return the manifest after all tables were read. Raises ArchiveError for a stream that does not match it."""
        manifest = self._json("manifest.json")
        for name, summary in manifest["tables"].items():
            stream = self._streams.get(name, Stream(name))
            if (stream.size, stream.digest.hexdigest()) != (summary["bytes"], summary["sha256"]):
                raise ArchiveError(f"table {name} is damaged: its checksum differs from the manifest")
        if missing := set(self._streams) - set(manifest["tables"]):
            raise ArchiveError(f"the manifest does not contain {', '.join(sorted(missing))}")
        return dict(manifest)

    def _pieces(self, stream: Stream) -> Iterator[bytes]:
        number = 0
        while self._entry is not None and self._entry.name.startswith(f"tables/{stream.name}/"):
            number += 1
            if self._entry.name != f"tables/{stream.name}/{number:06}.zst":
                raise ArchiveError(f"part {number} of table {stream.name} is missing")
            for piece in self._unpacked():
                stream.add(piece)
                yield piece
            self._next()

    def _unpacked(self) -> Iterator[bytes]:
        """Yield the content of a part in bounded pieces, whatever size it claims."""
        assert self._entry is not None
        try:
            file = self._tar.extractfile(self._entry)
            if file is None:
                raise ArchiveError(f"{self._entry.name} is no file")
            unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            while piece := unpacked.read(_PIECE_BYTES):
                yield piece
        except (tarfile.TarError, EOFError) as error:
            raise ArchiveError(f"the archive is truncated in {self._entry.name}: {error}") from error
        except zstandard.ZstdError as error:
            raise ArchiveError(f"{self._entry.name} is damaged: {error}") from error

    def _next(self) -> None:
        try:
            self._entry = self._tar.next()
        except (tarfile.TarError, EOFError) as error:
            raise ArchiveError(f"the archive is truncated: {error}") from error

    def _json(self, name: str) -> dict[str, Any]:
        if self._entry is None or self._entry.name != name:
            raise ArchiveError(f"the archive is truncated before {name}")
        if self._entry.size > _JSON_BYTES:
            raise ArchiveError(f"{name} has {self._entry.size:,} bytes, at most {_JSON_BYTES:,} are read")
        file = self._tar.extractfile(self._entry)
        try:
            return dict(json.loads(file.read() if file else b""))
        except (tarfile.TarError, EOFError, ValueError, TypeError, RecursionError) as error:
            raise ArchiveError(f"{name} is damaged: {error}") from error
