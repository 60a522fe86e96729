"""Content codings: the client decides which, and small bodies stay as they are."""

import gzip

import pytest
import zstandard

from sinemora.kit.http.encoding import accepts, compress

BODY = bytes(range(256)) * 16


@pytest.mark.parametrize(
    ("header", "coding", "accepted"),
    [
        ("gzip, deflate, br, zstd", "br", True),
        ("gzip;q=1.0, br;q=0.5", "br", True),
        ("gzip, br;q=0", "br", False),
        ("gzip, br; q=0.000", "br", False),
        ("GZIP", "gzip", True),
        ("*", "br", True),
        ("*;q=0", "br", False),
        ("*;q=0, gzip", "gzip", True),
        ("identity", "gzip", False),
        ("", "gzip", False),
    ],
)
def test_a_coding_is_accepted_as_the_header_says(header: str, coding: str, accepted: bool):
    assert accepts(header, coding) is accepted


@pytest.mark.parametrize(
    ("header", "coding", "decode"),
    [
        ("gzip, deflate, br, zstd", "zstd", lambda body: zstandard.ZstdDecompressor().decompress(body)),
        ("gzip, deflate", "gzip", gzip.decompress),
        ("br", None, bytes),
        ("", None, bytes),
    ],
)
def test_a_body_is_compressed_in_the_fastest_coding_accepted(header: str, coding: str | None, decode):
    body, headers = compress(BODY, header)
    assert headers.get("Content-Encoding") == coding
    assert decode(body) == BODY
    assert (len(body) < len(BODY) / 4) is (coding is not None)


def test_a_small_body_is_sent_as_it_is():
    assert compress(b"1" * 1000, "gzip, zstd") == (b"1" * 1000, {})
