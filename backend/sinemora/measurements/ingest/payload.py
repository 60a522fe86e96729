"""Body of a report: its content coding and its two media types. `validation` checks the message inside."""

import threading
from collections.abc import Iterator
from itertools import islice

import zstandard
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from sinemora.kit.errors import ProductError
from sinemora.measurements.ingest.agent_pb2 import Report

JSON, PROTOBUF = "application/json", "application/x-protobuf"
PROTOBUFS = (PROTOBUF, "application/protobuf")
FIELDS_MAX = 100_000
_PIECE = 64 << 10
_WINDOW_MAX = 8 << 20
_local = threading.local()
_WINDOWS = Report.DESCRIPTOR.fields_by_name["windows"].number


class MalformedReport(ProductError):
    """Refusal of a report that breaks the contract. Sending it again does not help."""

    def __init__(self, path: str, message: str) -> None:
        pointer = "#/" + path.replace("[", "/").replace("]", "").replace(".", "/") if path else "#"
        detail = f"{path}: {message}" if path else message
        super().__init__("malformed_report", 422, detail, errors=[{"pointer": pointer, "message": message}])


def decompress(body: bytes, encoding: str, limit: int) -> bytes:
    """Return the body without its content coding. ProductError 413 (more than `limit` bytes), 415 or 422."""
    if encoding in ("", "identity"):
        return body
    if encoding != "zstd":
        raise ProductError(
            "content_encoding_unsupported",
            415,
            f"Unsupported Content-Encoding: {encoding}. Send zstd or none.",
            headers={"Accept-Encoding": "zstd, identity"},
        )
    too_large = ProductError("body_too_large", 413, f"A report may be {limit} bytes long when decompressed.")
    try:
        size = zstandard.frame_content_size(body)
        if size > limit:
            raise too_large
        if size >= 0:
            return _decompressor().decompress(body, allow_extra_data=False)
        # The frame header does not contain the size: read piece by piece, up to the limit.
        reader = _decompressor().stream_reader(body)
        pieces = bytearray()
        while piece := reader.read(_PIECE):
            pieces += piece
            if len(pieces) > limit:
                raise too_large
        return bytes(pieces)
    except zstandard.ZstdError as error:
        raise MalformedReport("", f"The body is not zstd: {error}") from error


def _decompressor() -> zstandard.ZstdDecompressor:
    """Return the decompressor of this thread. Creating one costs more than using it."""
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_MAX)
    decompressor: zstandard.ZstdDecompressor = _local.decompressor
    return decompressor


def parse(body: bytes, media_type: str) -> Report:
    """Parse the message of a body in one of the two media types. ProductError 415, MalformedReport."""
    report = Report()
    if media_type in PROTOBUFS:
        if not body:
            raise MalformedReport("", "The body is empty. A report without windows still says who made it and when.")
        _bounded(body)
        try:
            report.ParseFromString(body)
        except DecodeError as error:
            raise MalformedReport("", f"The body is no protobuf message Report: {error}") from error
        return report
    if media_type != JSON:
        raise ProductError(
            "media_type_unsupported",
            415,
            f"A report is {PROTOBUF} or {JSON}, not {media_type or 'a body without Content-Type'}.",
        )
    try:
        json_format.Parse(body, report, max_recursion_depth=20)
    except (json_format.ParseError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise MalformedReport("", f"The body is no JSON form of a Report: {error}") from error
    return report


def _bounded(body: bytes) -> None:
    """Refuse a body of more sub-messages than any report has: each costs a hundred times its two bytes once parsed.

    Only lengths are read here: the parser reports what is no protobuf. MalformedReport.
    """
    walked = 0
    for number, start, end in _fields(body, 0, len(body)):
        walked += 1
        if number == _WINDOWS:
            walked += sum(1 for _ in islice(_fields(body, start, end), FIELDS_MAX))
        if walked > FIELDS_MAX:
            raise MalformedReport("windows", f"more than {FIELDS_MAX} fields in the windows of one report")


def _fields(body: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the fields in [at, end) as number, start and end of the content. Stop at bytes that are no field."""
    while at < end:
        key, at = _varint(body, at, end)
        kind, start = key & 7, at
        if kind == 0:
            at = _varint(body, at, end)[1]
        elif kind == 2:
            size, start = _varint(body, at, end)
            at = start + size
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            return
        if at > end:
            return
        yield key >> 3, start, at


def _varint(body: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a variable-length integer and its end position; `end` when it does not end."""
    value = shift = 0
    while at < end:
        byte = body[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            break
    return 0, end
