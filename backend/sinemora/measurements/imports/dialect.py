"""Dialects of traces: encoding, compression, separators, decimal signs and units of time, each named in the result.

A dialect that could be read in two ways is refused in words.
"""

import codecs
import csv
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
# Units of times by their least number of today's digits: 1973 in milliseconds has as many as the year 5138 in seconds.
_UNITS = ((10**17, 1, "nanoseconds"), (10**14, 10**3, "microseconds"), (10**11, 10**6, "milliseconds"))
_SECOND_NS = 10**9
_REFUSED = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
}
_GZIP = b"\x1f\x8b"


class TraceError(ValueError):
    """Trace that cannot be read at all."""


@dataclass(slots=True)
class Dialect:
    """Dialect of a trace as it is found. `words`: what differs from plain UTF-8 with commas and seconds, for people."""

    words: list[str] = field(default_factory=list)
    delimiter: str = ","
    unit_ns: int | None = None

    def note(self, word: str) -> None:
        """Add a word once."""
        if word not in self.words:
            self.words.append(word)

    def number(self, text: str) -> str:
        """Return a number with a decimal point. ValueError for anything else."""
        plain = text.strip()
        if "," in plain and "." not in plain and plain.count(",") == 1 and self.delimiter != ",":
            plain = plain.replace(",", ".")
            self.note("decimal commas")
        if not _NUMBER.fullmatch(plain):
            raise ValueError(f"not a number: {text[:40]!r}")
        return plain

    def time_ns(self, text: str) -> int:
        """Return a number of seconds, milliseconds, microseconds or nanoseconds since 1970 as nanoseconds. ValueError.

        The digits of the first time decide on the unit of all.
        """
        number = Decimal(self.number(text))
        unit_ns, name = next(((ns, name) for least, ns, name in _UNITS if number >= least), (_SECOND_NS, "seconds"))
        exponent = number.as_tuple().exponent
        if isinstance(exponent, int) and exponent > 0 and unit_ns * 10**exponent > _SECOND_NS:
            raise ValueError(f"`at` is rounded, so it names no second: {text[:40]!r}. Write all digits")
        if self.unit_ns is None:
            self.unit_ns = unit_ns
            if unit_ns != _SECOND_NS:
                self.note(f"times in {name} since 1970")
        if unit_ns != self.unit_ns:
            raise ValueError(f"`at` seems to be in {name}, other than the first time: {text[:40]!r}")
        return int(number * unit_ns)


def text_lines(pieces: Iterator[bytes], bytes_max: int, dialect: Dialect) -> Iterator[str]:
    """Yield the lines of a trace, unpacked and decoded. Raises `TraceError`."""
    pieces = _unpacked(pieces, bytes_max, dialect)
    first = b""
    while len(first) < len(codecs.BOM_UTF8) and (piece := next(pieces, None)) is not None:
        first += piece  # the first bytes decide on the encoding
    decode, pending = _decoder(first, dialect), ""
    for piece in chain([first], pieces):
        *lines, pending = (pending + decode(piece)).split("\n")
        yield from (line + "\n" for line in lines)
    yield pending + decode(b"", True)


def _unpacked(pieces: Iterator[bytes], bytes_max: int, dialect: Dialect) -> Iterator[bytes]:
    first = next(pieces, b"")
    for magic, what in _REFUSED.items():
        if first.startswith(magic):
            raise TraceError(f"Not a text: the file is {what}. Save the table as CSV, plain or packed by gzip.")
    if not first.startswith(_GZIP):
        yield first
        yield from pieces
        return
    dialect.note("gzip")
    unpacker, size = zlib.decompressobj(31), 0
    for piece in chain([first], pieces):
        packed = piece
        while packed:
            if unpacker.eof:  # the next of several files in one
                unpacker = zlib.decompressobj(31)
            try:
                text = unpacker.decompress(packed, 1 << 20)
            except zlib.error as error:
                raise TraceError(f"Damaged: the file begins as gzip, but cannot be unpacked ({error}).") from None
            size += len(text)
            if size > bytes_max:
                raise TraceError(f"Trace too large: unpacked it has more than {bytes_max:,} bytes. Split it.")
            yield text
            packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
    if not unpacker.eof:
        raise TraceError("Damaged: the file ends in the middle of its gzip stream. Send it again.")


def _decoder(first: bytes, dialect: Dialect) -> Callable[..., str]:
    """Return the decoder of a text by its first bytes."""
    encoding = "utf-8-sig"
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif first[1:2] == b"\0" or first[:1] == b"\0":
        encoding = "utf-16-le" if first[1:2] == b"\0" else "utf-16-be"
    if encoding != "utf-8-sig":
        dialect.note("UTF-16")
    decoder = codecs.getincrementaldecoder(encoding)("strict")

    def decode(piece: bytes, final: bool = False) -> str:
        try:
            text = decoder.decode(piece, final)
        except UnicodeDecodeError as error:
            shown = encoding.removesuffix("-sig").upper()
            raise TraceError(f"Not {shown}: a byte cannot be read ({error.reason}). Save the file as UTF-8.") from None
        if "\0" in text:
            raise TraceError("Not a text: it has NUL characters. Save the table as CSV in UTF-8.")
        return text

    return decode


def csv_rows(lines: Iterable[str], known: set[str], dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of CSV with the numbers of their lines, the header first. Raises `TraceError`.

    The separator is named by a line `sep=;`, as spreadsheets write it, or is the one that makes most columns known.
    """
    lines, skipped = iter(lines), 0
    header = next(lines, "")
    named = re.fullmatch(r'"?sep=(.)"?\s*', header, re.IGNORECASE)
    if named:
        header, skipped = next(lines, ""), 1
        if named[1] not in _DELIMITERS:
            raise TraceError(f"Unknown separator {named[1]!r}: use commas, semicolons or tabs.")
        dialect.delimiter = named[1]
    else:
        dialect.delimiter = max(_DELIMITERS, key=lambda one: len(known & {*_cells(header, one)}))
    if dialect.delimiter != ",":
        dialect.note(_DELIMITERS[dialect.delimiter])
    rows = csv.reader(chain([header], lines), delimiter=dialect.delimiter)
    try:
        for row in rows:
            yield rows.line_num + skipped, row
    except csv.Error as error:
        raise TraceError(f"Line {rows.line_num + skipped} is not CSV: {error}.") from None


def _cells(header: str, delimiter: str) -> list[str]:
    cells = next(csv.reader([header.rstrip("\r\n")], delimiter=delimiter), [])
    return [cell.strip().lower() for cell in cells]
