"""Frames of a merged tier as a Parquet object: written whole, read by row groups and columns. Pure.

Columns: `source` (key of the VM or zone), `started_at` and `rolled_at` (UTC, µs), `block`, `window_s`, `roster_key`,
`n`, `frames`, and the bytes `stats` and `sketch` as the database has them (`frame.py`), which are dense already and so
not compressed again. Rows are cut into stretches of time, and each stretch is ordered by source: row groups are narrow
in both, so that their statistics exclude most of them from a query. Every page has a checksum.

pyarrow is imported when an object is written or read, never when a process starts.
"""

import io
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec.llq16 import Ints

NUMBERS = ("source", "started_at", "block", "window_s", "roster_key", "n", "frames", "rolled_at")
STATS, SKETCH = "stats", "sketch"
FOOTER_GUESS_BYTES = 1 << 16
"""Bytes from the end of an object that usually hold all of its footer."""
# A group is about a MiB, so that a query for one source reads little else; many small ones would cost more metadata.
_GROUP_BYTES = 1 << 20
_GROUP_ROWS = range(32, 1024)
_STRETCH_STEPS = 60
_US = 1_000_000

Fetch = Callable[[Sequence[tuple[int, int]]], Sequence[bytes]]
"""Takes ranges of bytes [start, end) of an object and returns their contents."""


class ParquetError(ValueError):
    """Object that is not as it was written."""


@dataclass(frozen=True, slots=True)
class AgedRows:
    """Rows in columns, all of one length; times in µs since 1970. `stats` and `sketches` are empty unless read."""

    source: Ints
    started_at: Ints
    block: Ints
    window_s: Ints
    roster_key: Ints
    n: Ints
    frames: Ints
    rolled_at: Ints
    stats: list[bytes]
    sketches: list[bytes]

    @property
    def count(self) -> int:
        return int(self.source.size)

    @property
    def payload_bytes(self) -> int:
        """Return the bytes of all blocks."""
        return sum(map(len, self.stats)) + sum(map(len, self.sketches))

    def take(self, positions: npt.NDArray[np.integer]) -> "AgedRows":
        """Return the rows at these positions, in their order."""
        places = positions.tolist()
        return AgedRows(
            **{name: getattr(self, name)[positions] for name in NUMBERS},
            stats=[self.stats[at] for at in places] if self.stats else [],
            sketches=[self.sketches[at] for at in places] if self.sketches else [],
        )


def joined(parts: Sequence[AgedRows]) -> AgedRows:
    """Return the rows of all parts, in their order."""
    if len(parts) == 1:
        return parts[0]
    empty = np.empty(0, np.int64)
    return AgedRows(
        **{name: np.concatenate([getattr(part, name) for part in parts] or [empty]) for name in NUMBERS},
        stats=[blob for part in parts for blob in part.stats],
        sketches=[blob for part in parts for blob in part.sketches],
    )


def rows_of(records: Sequence[tuple[Any, ...]]) -> AgedRows:
    """Return rows of records with `NUMBERS`, stats and sketch."""
    numbers = np.array([record[: len(NUMBERS)] for record in records], np.int64).reshape(-1, len(NUMBERS))
    columns = dict(zip(NUMBERS, np.ascontiguousarray(numbers.T), strict=True))
    stats, sketches = ([bytes(record[place]) for record in records] for place in (-2, -1))
    return AgedRows(**columns, stats=stats, sketches=sketches)


def write(rows: AgedRows, step_s: int, about: dict[str, str]) -> bytes:
    """Return the object with these rows; `about` is stored with it as text, for people who find the object."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    at_us = pa.timestamp("us", "UTC")
    types = {"started_at": at_us, "rolled_at": at_us, "block": pa.int16(), "window_s": pa.int32(), "n": pa.int16()}
    schema = pa.schema(
        [(name, types.get(name, pa.int32())) for name in NUMBERS] + [(STATS, pa.binary()), (SKETCH, pa.binary())],
        metadata={f"sinemora.{name}": value for name, value in about.items()},
    )
    out = io.BytesIO()
    with pq.ParquetWriter(
        out,
        schema,
        compression={name: "zstd" for name in NUMBERS} | {STATS: "none", SKETCH: "none"},
        use_dictionary=["source", "roster_key", "window_s", "n"],
        column_encoding={STATS: "DELTA_LENGTH_BYTE_ARRAY", SKETCH: "DELTA_LENGTH_BYTE_ARRAY"},
        write_statistics=["source", "started_at"],
        write_page_checksum=True,
    ) as writer:
        for group in _groups(rows, step_s):
            part = rows.take(group)
            arrays = [pa.array(getattr(part, name), schema.field(name).type) for name in NUMBERS]
            blobs = [pa.array(part.stats, pa.binary()), pa.array(part.sketches, pa.binary())]
            writer.write_table(pa.table([*arrays, *blobs], schema=schema), row_group_size=max(1, group.size))
    return out.getvalue()


def _groups(rows: AgedRows, step_s: int) -> list[Ints]:
    """Return the positions of the rows of each row group."""
    steps = rows.started_at // (step_s * _US)
    fitting = _GROUP_BYTES * rows.count // max(rows.payload_bytes, 1)
    size = min(max(fitting, _GROUP_ROWS.start), _GROUP_ROWS.stop)
    in_step = rows.count / max(1, np.unique(steps).size)
    stretches = (steps - steps.min(initial=1 << 62)) // max(_STRETCH_STEPS, int(size / max(in_step, 1)))
    order = np.lexsort((rows.block, rows.started_at, rows.source, stretches))
    bounds = np.flatnonzero(np.diff(stretches[order])) + 1
    return [part[first : first + size] for part in np.split(order, bounds) for first in range(0, part.size, size)]


@dataclass(frozen=True, slots=True)
class Footer:
    """Footer of an object: what each of its row groups has. Times in µs, bounds are inclusive; shape (groups,)."""

    metadata: Any
    source_first: Ints
    source_last: Ints
    at_first: Ints
    at_last: Ints
    rows: Ints

    def groups(self, start_us: int, end_us: int, sources: Collection[int] | None = None) -> list[int]:
        """Return the row groups that may have rows of these sources (all by default) in [start, end)."""
        chosen = (self.at_last >= start_us) & (self.at_first < end_us)
        if sources is not None:
            wanted = np.array(sorted(sources), np.int64)
            after = np.searchsorted(wanted, self.source_first)
            chosen &= np.searchsorted(wanted, self.source_last, "right") > after
        found: list[int] = np.flatnonzero(chosen).tolist()
        return found


def read_footer(fetch: Fetch, size: int) -> Footer:
    """Read the footer of an object of `size` bytes. ParquetError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = max(0, size - FOOTER_GUESS_BYTES)
    tail = fetch([(first, size)])[0]
    if len(tail) < 8 or tail[-4:] != b"PAR1":
        raise ParquetError("it does not end as a Parquet file")
    needed = int.from_bytes(tail[-8:-4], "little") + 8
    if needed > size:
        raise ParquetError("its footer is longer than the object")
    if needed > len(tail):
        tail = fetch([(size - needed, first)])[0] + tail
    try:
        metadata = pq.read_metadata(io.BytesIO(b"PAR1" + tail[-needed:]))
        return _footer_of(metadata)
    except (pa.ArrowException, OSError, AttributeError) as error:
        raise ParquetError(f"its footer cannot be read: {error}") from None


def _footer_of(metadata: Any) -> Footer:
    places = {metadata.schema.column(place).name: place for place in range(metadata.num_columns)}
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    sources = [group.column(places["source"]).statistics for group in groups]
    times = [group.column(places["started_at"]).statistics for group in groups]
    return Footer(
        metadata,
        np.array([one.min for one in sources], np.int64),
        np.array([one.max for one in sources], np.int64),
        np.array([one.min_raw for one in times], np.int64),
        np.array([one.max_raw for one in times], np.int64),
        np.array([group.num_rows for group in groups], np.int64),
    )


def read_groups(fetch: Fetch, footer: Footer, groups: Sequence[int], columns: Sequence[str]) -> list[AgedRows]:
    """Read row groups with `NUMBERS` and these further columns, each group by itself. ParquetError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = [*NUMBERS, *columns]
    ranges = [_span(footer.metadata.row_group(group), wanted) for group in groups]
    file = _Fetched(ranges, fetch(ranges))
    try:
        reader = pq.ParquetFile(file, metadata=footer.metadata, page_checksum_verification=True)
        return [_rows_of(reader.read_row_group(group, wanted, use_threads=False)) for group in groups]
    except (pa.ArrowException, OSError) as error:
        raise ParquetError(f"row groups cannot be read: {error}") from None


def _span(group: Any, columns: Collection[str]) -> tuple[int, int]:
    """Return the bytes of the chunks of some columns of a row group, [start, end): they follow one another."""
    chunks = [group.column(place) for place in range(group.num_columns)]
    read = [chunk for chunk in chunks if chunk.path_in_schema in columns]
    first, last = read[0], read[-1]
    start = first.dictionary_page_offset or first.data_page_offset
    end = (last.dictionary_page_offset or last.data_page_offset) + last.total_compressed_size
    return start, end


def _rows_of(table: Any) -> AgedRows:
    import pyarrow as pa

    numbers = {name: table[name].combine_chunks().cast(pa.int64()).to_numpy(zero_copy_only=False) for name in NUMBERS}
    stats, sketches = (table[name].to_pylist() if name in table.column_names else [] for name in (STATS, SKETCH))
    return AgedRows(**numbers, stats=stats, sketches=sketches)


class _Fetched(io.RawIOBase):
    """File of which only some ranges were fetched."""

    def __init__(self, ranges: Sequence[tuple[int, int]], contents: Sequence[bytes]) -> None:
        self._parts = sorted(zip(ranges, contents, strict=True), key=lambda part: part[0])
        self._size = max((end for _, end in ranges), default=0)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        for (start, end), content in self._parts:
            if start <= self._at < end:
                last = end if size < 0 else min(end, self._at + size)
                found = content[self._at - start : last - start]
                self._at += len(found)
                return found
        raise ParquetError("a part was read that was not fetched")
