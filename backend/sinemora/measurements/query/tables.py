"""Tables of query results, and their files: CSV, NDJSON, Arrow (IPC stream), Parquet; streamed.

A missing value is empty in CSV and null elsewhere, never zero. Times are RFC 3339 in text and timestamps (UTC,
milliseconds) in Arrow and Parquet.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from sinemora.kit.csv_rows import csv_text


class Format(StrEnum):
    """Format of a response. `binary` has the codes of a matrix; only matrices support it."""

    JSON = "json"
    CSV = "csv"
    NDJSON = "ndjson"
    ARROW = "arrow"
    PARQUET = "parquet"
    BINARY = "binary"


MEDIA_TYPES = {
    Format.JSON: "application/json",
    Format.CSV: "text/csv",
    Format.NDJSON: "application/x-ndjson",
    Format.ARROW: "application/vnd.apache.arrow.stream",
    Format.PARQUET: "application/vnd.apache.parquet",
    Format.BINARY: "application/octet-stream",
}
SUFFIXES = {Format.BINARY: "bin"}

Kind = Literal["text", "int", "float", "time"]
Batch = Sequence[Sequence[Any]]
_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table: its name with the unit, and its type."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class ResultTable:
    """Table. `batches` yields its rows in batches, each with one sequence per column; it is read once."""

    name: str
    columns: Sequence[Column]
    batches: Iterable[Batch]


def in_batches(columns: Sequence[Sequence[Any]]) -> Iterator[Batch]:
    """Yield whole columns as batches."""
    size = len(columns[0]) if columns else 0
    for first in range(0, size, _ROWS):
        yield [column[first : first + _ROWS] for column in columns]


def write(table: ResultTable, form: Format) -> Iterator[bytes]:
    """Yield the bytes of a table as a file of this format."""
    return _WRITERS[form](table)


def _csv(table: ResultTable) -> Iterator[bytes]:
    yield _csv_rows([[column.name for column in table.columns]])
    for batch in table.batches:
        yield _csv_rows(zip(*_as_text(table, batch), strict=True))


def _csv_rows(rows: Iterable[Sequence[Any]]) -> bytes:
    return csv_text(rows).encode()


def _ndjson(table: ResultTable) -> Iterator[bytes]:
    names = [column.name for column in table.columns]
    for batch in table.batches:
        rows = zip(*_as_text(table, batch), strict=True)
        yield "".join(
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
        ).encode()


def _as_text(table: ResultTable, batch: Batch) -> list[Sequence[Any]]:
    return [
        [None if at is None else _rfc3339(at) for at in values] if column.kind == "time" else values
        for column, values in zip(table.columns, batch, strict=True)
    ]


def _rfc3339(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _arrow(table: ResultTable) -> Iterator[bytes]:
    import pyarrow as pa  # imported lazily: it takes 20 MB of memory

    yield from _columnar(table, lambda sink, schema: pa.ipc.new_stream(sink, schema))


def _parquet(table: ResultTable) -> Iterator[bytes]:
    import pyarrow.parquet as pq

    yield from _columnar(table, lambda sink, schema: pq.ParquetWriter(sink, schema, compression="zstd"))


def _columnar(table: ResultTable, open_writer: Callable[[Any, Any], Any]) -> Iterator[bytes]:
    import pyarrow as pa

    types = {"text": pa.string(), "int": pa.int64(), "float": pa.float64(), "time": pa.timestamp("ms", tz="UTC")}
    schema = pa.schema([(column.name, types[column.kind]) for column in table.columns])
    sink = _Sink()
    with open_writer(sink, schema) as writer:
        for batch in table.batches:
            arrays = [pa.array(values, field.type) for values, field in zip(batch, schema, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """Write-only file whose content is taken after each write."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._at += len(part)
        return len(part)

    def tell(self) -> int:
        return self._at

    def take(self) -> bytes:
        """Return all bytes written since the last call."""
        data, self._parts = b"".join(self._parts), []
        return data


_WRITERS: dict[Format, Callable[[ResultTable], Iterator[bytes]]] = {
    Format.CSV: _csv,
    Format.NDJSON: _ndjson,
    Format.ARROW: _arrow,
    Format.PARQUET: _parquet,
}
