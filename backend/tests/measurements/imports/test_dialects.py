"""Traces as spreadsheets, numpy and PowerShell write them: read and named, or refused in words."""

import codecs
import gzip
import io

import pytest

from sinemora.measurements.imports.dialect import Dialect, TraceError, text_lines
from sinemora.measurements.imports.readers import Exchange, LineError, Zones, read_csv

HEADER = "at,source,target,outbound_us,inbound_us\n"
PLAIN = HEADER + "1795867020.25,a,b,50.5,60\n1795867030,b,c,,\n"
WANTED = [
    Exchange(1_795_867_020_250_000_000, "a", "b", 50_500, 60_000, 110_500),
    Exchange(1_795_867_030_000_000_000, "b", "c", None, None, None),
]


def read(data: bytes, bytes_max: int = 1 << 20) -> tuple[list[Exchange | LineError], list[str]]:
    dialect = Dialect()
    pieces = iter([data[first : first + 7] for first in range(0, len(data), 7)])  # pieces end within characters
    lines = text_lines(pieces, bytes_max, dialect)
    return list(read_csv(lines, Zones({}), dialect)), dialect.words


def times(seconds: str, later: str) -> bytes:
    return PLAIN.replace("1795867020.25", seconds).replace("1795867030", later).encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (PLAIN.encode(), []),
        (codecs.BOM_UTF8 + PLAIN.replace("\n", "\r\n").encode(), []),
        (PLAIN.encode("utf-16"), ["UTF-16"]),
        (PLAIN.encode("utf-16-le"), ["UTF-16"]),
        (PLAIN.encode("utf-16-be"), ["UTF-16"]),
        (gzip.compress(PLAIN.encode("utf-16"), mtime=0), ["gzip", "UTF-16"]),
        (gzip.compress(PLAIN[:30].encode(), mtime=0) + gzip.compress(PLAIN[30:].encode(), mtime=0), ["gzip"]),
        (PLAIN.replace(",", ";").replace(".", ",").encode(), ["semicolons", "decimal commas"]),
        (("sep=;\n" + PLAIN.replace(",", ";")).encode(), ["semicolons"]),
        (PLAIN.replace(",", "\t").encode(), ["tabs"]),
        (times("1.79586702025e+09", "1.795867030e9"), []),
        (times("1795867020250", "1795867030000"), ["times in milliseconds since 1970"]),
        (times("1795867020250000", "1795867030000000"), ["times in microseconds since 1970"]),
        (times("1795867020250000000", "1795867030000000000"), ["times in nanoseconds since 1970"]),
    ],
)
def test_what_is_written_elsewhere_is_read_and_named(data: bytes, words: list[str]):
    assert read(data) == (WANTED, words)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04" + bytes(50), "Excel workbook"),
        (b"\x28\xb5\x2f\xfd" + bytes(50), "zstd"),
        (gzip.compress(PLAIN.encode(), mtime=0)[:-9], "in the middle"),
        (b"\x1f\x8bnothing of it", "cannot be unpacked"),
        (gzip.compress(HEADER.encode() + b"a" * (2 << 20), mtime=0), "more than 1,048,576 bytes"),
        (PLAIN.replace(",a,", ",Z\u00fcrich,").encode("latin-1"), "Save the file as UTF-8"),
        (PLAIN.encode()[:60] + b"\0" + PLAIN.encode()[60:], "NUL characters"),
        (b"sep=|\n" + PLAIN.encode(), "Unknown separator"),
        (b"zeit;von;nach\n1;2;3\n", "found: zeit;von;nach"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(data: bytes, said: str):
    with pytest.raises(TraceError, match=said):
        read(data)


@pytest.mark.parametrize(
    ("time", "delay", "said"),
    [
        ("1.79e9", "50", "rounded"),
        ("1.79587E+12", "50", "rounded"),
        ("1795867030000", "50", "in milliseconds, other than the first"),
        ("1_795_867_030", "50", "not a number"),
        ("1795867030", "1_000", "not a number"),
        ("1795867030", '"1,5"', "not a number"),
        ("1795867030", "nan", "not a number"),
    ],
)
def test_what_could_be_read_in_two_ways_is_an_error_of_its_line(time: str, delay: str, said: str):
    lines = (HEADER + f"1795867020,a,b,50,60\n{time},a,b,{delay},60\n").splitlines(keepends=True)
    first, second = read_csv(iter(lines), Zones({}))
    assert isinstance(first, Exchange)
    assert isinstance(second, LineError)
    assert (second.line, said in second.message) == (3, True), second.message


def test_a_file_of_numpy_is_not_one_window():
    text = HEADER + "".join(f"{1_795_868_220 + 10 * n:.9e},e1,e2,50,50\n" for n in range(60))
    found = [one.at_ns for one in read_csv(io.StringIO(text), Zones({})) if isinstance(one, Exchange)]
    assert found == [(1_795_868_220 + 10 * n) * 10**9 for n in range(60)]
