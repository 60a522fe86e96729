"""Columns of reports read where they stand in their bytes, by compiled loops; the protobuf library reads the rest.

Only what agents write is read so. Whatever else comes, and all of it until the loops are loaded, is left to the
library, with the same results.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from sinemora.measurements.codec import fast
from sinemora.measurements.codec.llq16 import Ints, Words
from sinemora.measurements.ingest.agent_pb2 import MeshWindow, Report

_FIELDS_MAX = 64
_WINDOWS = Report.DESCRIPTOR.fields_by_name["windows"].number
_TABLE = np.array(
    [
        MeshWindow.DESCRIPTOR.fields_by_name[name].number
        for name in ("peer_keys", "flows", "outbound", "inbound", "round_trip")
    ]
)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of a window towards n peers, as they were sent: `values` (7, 3, n) by `frame.COUNT` …, `m2` (3, n),
    `lengths` (3, n) of sketches in words, and all `words`."""

    targets: Ints
    flows: Ints
    values: Ints
    m2: npt.NDArray[np.float64]
    lengths: Ints
    words: Words


def read(body: bytes) -> tuple[Report, list[tuple[MeshWindow, Table]]] | None:
    """A report without its windows, and these, each without its columns but beside them; None to leave it to others."""
    loops = fast.wire()
    if loops is None:
        return None
    data = np.frombuffer(body, np.uint8)
    try:
        tops = _fields(loops, data, 0, len(body))
        if tops is None:
            return None
        rest = Report.FromString(b"".join(body[begin:end] for number, _, begin, _, end in tops if number != _WINDOWS))
        windows = []
        for number, kind, _, start, end in tops:
            if number == _WINDOWS:
                window = _window(loops, body, data, start, end) if kind == 2 else None
                if window is None:
                    return None
                windows.append(window)
    except DecodeError:
        return None
    return rest, windows


def _window(
    loops: Any, body: bytes, data: npt.NDArray[np.uint8], low: int, high: int
) -> tuple[MeshWindow, Table] | None:
    parts, others = np.empty((len(_TABLE), 2), np.int64), np.empty((_FIELDS_MAX + 1, 2), np.int64)
    n = loops.outline(data, low, high, _TABLE, parts, others)
    if n < 0:
        return None
    # One piece of memory: targets, flows, lengths, values.
    whole = np.empty((26, n), np.int64)
    lengths, values, sums = whole[2:5], whole[5:].reshape(7, 3, n), np.empty((3, n), np.uint64)
    words = np.empty((high - low) // 2, np.uint16)
    size = loops.read(data, parts, whole[0], whole[1], values, sums, lengths, words)
    if size < 0:
        return None
    left = others[1 : 1 + others[0, 0]].tolist()
    rest = MeshWindow.FromString(b"".join(body[begin:end] for begin, end in left))
    return rest, Table(whole[0], whole[1], values, sums.view(np.float64), lengths, words[:size])


def _fields(loops: Any, data: npt.NDArray[np.uint8], low: int, high: int) -> list[list[int]] | None:
    found = np.empty((_FIELDS_MAX, 5), np.int64)
    count = loops.fields(data, low, high, found)
    fields: list[list[int]] = found[:count].tolist()
    return fields if count > 0 else None
