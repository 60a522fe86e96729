"""Content codings of responses: the ones that a client accepts, and compressed bodies (RFC 9110 §8.4, §12.5.3)."""

import gzip

import zstandard

# A smaller body fits a packet or two: compressing it saves nothing.
_LEAST_BYTES = 1024


def accepts(header: str, coding: str) -> bool:
    """Return True when an Accept-Encoding header allows `coding`. A quality of 0 forbids it."""
    qualities: dict[str, str] = {}
    for part in header.lower().split(","):
        name, _, quality = part.replace(" ", "").partition(";q=")
        qualities[name] = quality
    quality = qualities.get(coding, qualities.get("*", "0"))
    return quality == "" or quality.strip("0.") != ""


def compress(body: bytes, header: str) -> tuple[bytes, dict[str, str]]:
    """Return a body in the fastest coding that an Accept-Encoding header allows, and the header that names it."""
    if len(body) >= _LEAST_BYTES:
        if accepts(header, "zstd"):
            return zstandard.ZstdCompressor(level=1).compress(body), {"Content-Encoding": "zstd"}
        if accepts(header, "gzip"):
            return gzip.compress(body, compresslevel=1), {"Content-Encoding": "gzip"}
    return body, {}
