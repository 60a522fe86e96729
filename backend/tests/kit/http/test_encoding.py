"""Content codings: the client decides which, and small bodies stay as they are."""

import gzip

import pytest
import zstandard

from sinemora.kit.http.encoding import accepts, compress
from tests.api_clients import Caller, Member

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


def test_json_is_compressed_unless_it_has_a_version(owner: Member):
    answer = owner.get("/v1/curves", headers={"Accept-Encoding": "gzip"})
    assert (answer.headers["Content-Encoding"], answer.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert int(answer.headers["Content-Length"]) < len(answer.content) / 2
    zone = owner.post("/v1/zones", json={"provider": "aws", "region": "eu-west-1", "name": "eu-west-1a"}).json()
    body = {"name": "vm-0", "zone_id": zone["id"], "labels": {f"label-{n}": "x" * 60 for n in range(20)}}
    versioned = owner.post("/v1/vms", json=body, headers={"Accept-Encoding": "gzip"})
    assert versioned.headers["ETag"]
    assert len(versioned.content) > 1024
    assert "Content-Encoding" not in versioned.headers


def test_the_contract_is_compressed_and_sent_once(client: Caller):
    for coding in ("zstd", "gzip"):
        answer = client.get("/v1/openapi.json", headers={"Accept-Encoding": coding})
        assert answer.headers["Content-Encoding"] == coding
        assert int(answer.headers["Content-Length"]) <= 250_000
    document = answer.json()
    assert document["openapi"] == "3.1.0"
    again = client.get("/v1/openapi.json", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = client.get("/v1/openapi.json", headers={"If-None-Match": '"other"', "Accept-Encoding": "identity"})
    assert (other.status_code, other.json()) == (200, document)
