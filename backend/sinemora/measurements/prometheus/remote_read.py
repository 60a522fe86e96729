"""Remote read of Prometheus: its own server evaluates all of PromQL on what is stored here. And remote write to it.

Messages of the protocols (version 1, samples), packed by snappy.
"""

import math
import struct
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.message import DecodeError

from sinemora.measurements.prometheus.promql import Labels, Matcher, PromQlError

REQUEST_MAX = 1 << 20
"""Bytes of an unpacked request."""
STALE = struct.unpack("<d", struct.pack("<Q", 0x7FF0_0000_0000_0002))[0]
"""The NaN by which Prometheus knows that a series ends, instead of repeating its last value for five minutes."""

_OPERATORS = ("=", "!=", "=~", "!~")
_INT64, _DOUBLE, _TEXT, _ENUM = Field.TYPE_INT64, Field.TYPE_DOUBLE, Field.TYPE_STRING, Field.TYPE_INT32
# Fields by number, from prompb/remote.proto and types.proto; a name in place of a type is a repeated message.
_FIELDS: dict[str, dict[str, tuple[int, Any]]] = {
    "Label": {"name": (1, _TEXT), "value": (2, _TEXT)},
    "Sample": {"value": (1, _DOUBLE), "timestamp": (2, _INT64)},
    "LabelMatcher": {"type": (1, _ENUM), "name": (2, _TEXT), "value": (3, _TEXT)},
    "Query": {
        "start_timestamp_ms": (1, _INT64),
        "end_timestamp_ms": (2, _INT64),
        "matchers": (3, "LabelMatcher"),
    },
    "ReadRequest": {"queries": (1, "Query")},
    "TimeSeries": {"labels": (1, "Label"), "samples": (2, "Sample")},
    "WriteRequest": {"timeseries": (1, "TimeSeries")},
    "QueryResult": {"timeseries": (1, "TimeSeries")},
    "ReadResponse": {"results": (1, "QueryResult")},
}


def _messages() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="remote_read.proto", package="read", syntax="proto3")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field, (number, of) in fields.items():
            if isinstance(of, str):
                repeated = {"label": Field.LABEL_REPEATED, "type": Field.TYPE_MESSAGE, "type_name": f".read.{of}"}
                message.field.add(name=field, number=number, **repeated)
            else:
                message.field.add(name=field, number=number, label=Field.LABEL_OPTIONAL, type=of)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"read.{name}")) for name in _FIELDS}


_MESSAGES = _messages()


def queries_of(packed: bytes) -> list[tuple[float, float, tuple[Matcher, ...]]]:
    """Return start and end (Unix, s) and the matchers of each query of a request. Raises PromQlError."""
    try:
        request = _MESSAGES["ReadRequest"].FromString(_unpacked(packed))
        return [
            (
                query.start_timestamp_ms / 1000,
                query.end_timestamp_ms / 1000,
                tuple(Matcher(one.name, _OPERATORS[one.type], one.value) for one in query.matchers),
            )
            for query in request.queries
        ]
    except (DecodeError, IndexError, OSError) as error:
        raise PromQlError(f"not a request of remote read: {error}") from None


def _unpacked(packed: bytes) -> bytes:
    """Return the bytes of a snappy block, which begins with their number as a varint."""
    size = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(packed[:5]) if all(b & 0x80 for b in packed[:at]))
    if size > REQUEST_MAX:
        raise PromQlError(f"request too large: {size} bytes unpacked, {REQUEST_MAX} allowed")
    import pyarrow as pa  # its start costs each process; few tenants use remote read

    unpacked: bytes = pa.decompress(packed, decompressed_size=size, codec="snappy", asbytes=True)
    return unpacked


def packed_response(results: Iterable[Mapping[Labels, list[tuple[int, float]]]]) -> bytes:
    """Return a response: for each query its series with samples (Unix ms, value)."""
    response = _MESSAGES["ReadResponse"]()
    for found in results:
        result = response.results.add()
        for labels, values in found.items():
            _add_series(result, labels, values)
    return _packed(response)


def packed_write(values: Mapping[Labels, float | None], at_ms: int) -> bytes:
    """Return a request of remote write: the value of each series at a time (Unix ms), its end where that is None."""
    request = _MESSAGES["WriteRequest"]()
    for labels, value in values.items():
        _add_series(request, labels, [(at_ms, STALE if value is None else value)])
    return _packed(request)


def _add_series(message: Any, labels: Labels, values: Iterable[tuple[int, float]]) -> None:
    series = message.timeseries.add()
    for name, value in labels:
        series.labels.add(name=name, value=value)
    for at_ms, number in values:
        series.samples.add(timestamp=at_ms, value=number)


def _packed(message: Any) -> bytes:
    import pyarrow as pa

    packed: bytes = pa.compress(message.SerializeToString(), codec="snappy", asbytes=True)
    return packed


def ended(values: list[tuple[int, float]], at_ms: int) -> None:
    """Mark that a series has no value at a time, once."""
    if values and not math.isnan(values[-1][1]):
        values.append((at_ms, STALE))
