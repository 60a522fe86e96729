"""Bodies of reports: their content coding and their two media types. `validation` checks the messages inside."""

import threading
from typing import Any

import zstandard
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from sinemora.kit.errors import ProductError
from sinemora.kit.http import strict_json
from sinemora.measurements.ingest import agent_pb2

JSON, PROTOBUF = "application/json", "application/x-protobuf"
PROTOBUFS = (PROTOBUF, "application/protobuf")
ZSTD = "zstd"
JSON_BYTES_MAX = 1 << 20
JSON_OBJECTS_MAX = 2_000
JSON_VALUES_MAX = 100_000
_PIECE = 64 << 10
_WINDOW_MAX = 8 << 20
_local = threading.local()


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
    if encoding != ZSTD:
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


def message_of(body: bytes, media_type: str) -> agent_pb2.Report:
    """Read a body with the protobuf library. ProductError 415, MalformedReport."""
    report = agent_pb2.Report()
    if media_type in PROTOBUFS:
        if not body:
            raise MalformedReport("", "The body is empty. A report without windows still says who made it and when.")
        try:
            report.ParseFromString(body)
        except DecodeError as error:
            raise not_protobuf(error) from error
        return report
    if media_type != JSON:
        raise ProductError(
            "media_type_unsupported",
            415,
            f"A report is {PROTOBUF} or {JSON}, not {media_type or 'a body without Content-Type'}.",
        )
    try:
        json_format.ParseDict(_bounded_json(body), report, max_recursion_depth=20)
    except (json_format.ParseError, RecursionError, ValueError) as error:
        raise MalformedReport("", f"The body is no JSON form of a Report: {error}") from error
    return report


def _bounded_json(body: bytes) -> Any:
    """Parse JSON of a bounded size. ProductError 413, MalformedReport; ValueError of `strict_json`.

    The protobuf library needs up to 40 µs for each object, so a short body with many windows would occupy a thread
    for half a minute.
    """
    if len(body) > JSON_BYTES_MAX:
        raise ProductError(
            "body_too_large", 413, f"A report in JSON may be {JSON_BYTES_MAX} bytes long; {PROTOBUF} may be longer."
        )
    document = strict_json.parse(body)
    if not isinstance(document, dict):
        raise MalformedReport("", "The body is no JSON object.")
    waiting, objects, values = [document], 0, 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            objects += isinstance(one, dict)
            values += len(one)
            waiting += one.values() if isinstance(one, dict) else one
        if objects > JSON_OBJECTS_MAX or values > JSON_VALUES_MAX:
            raise MalformedReport(
                "", f"JSON of more than {JSON_OBJECTS_MAX:,} objects or {JSON_VALUES_MAX:,} values; send {PROTOBUF}"
            )
    return document


def not_protobuf(error: DecodeError) -> MalformedReport:
    """Return the refusal of bytes that the protobuf library cannot read."""
    return MalformedReport("", f"The body is no protobuf message Report: {error}")


def rewritten(report: agent_pb2.Report) -> bytes:
    """Write a message with its fields packed, each once, and without unknown fields."""
    report.DiscardUnknownFields()
    return report.SerializeToString()
