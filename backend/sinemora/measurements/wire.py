"""Columns of reports read where they stand in their bytes, by compiled loops; the protobuf library reads the rest.

Only what agents write is read so. Whatever else comes, and all of it until the loops are loaded, is left to the
library, with the same results.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from sinemora.measurements import fast
from sinemora.measurements.agent_pb2 import MeshWindow, Report
from sinemora.measurements.sketch import Ints, Words

_FIELDS_MAX = 64
_WINDOWS = Report.DESCRIPTOR.fields_by_name["windows"].number
_TABLE = tuple(
    MeshWindow.DESCRIPTOR.fields_by_name[name].number
    for name in ("peer_keys", "flows", "outbound", "inbound", "round_trip")
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
    found = _fields(loops, data, low, high)
    parts = {number: (start, end) for number, kind, _, start, end in found or () if number in _TABLE and kind == 2}
    if found is None or len(parts) < len(_TABLE) or sum(one[0] in _TABLE for one in found) > len(_TABLE):
        return None
    peers, flows, *directions = (parts[number] for number in _TABLE)
    n = loops.count_of(data, *peers)
    targets, ports = np.empty(n, np.int64), np.empty(n, np.int64)
    if not n or not loops.numbers(data, *peers, targets) or not loops.numbers(data, *flows, ports):
        return None
    values, m2 = np.empty((7, 3, n), np.int64), np.empty((3, n), np.uint64)
    lengths, at = np.empty((3, n), np.int64), np.empty((3, 2), np.int64)
    for direction, (start, end) in enumerate(directions):
        if not loops.columns(data, start, end, values[:, direction], m2[direction], lengths[direction], at[direction]):
            return None
    words = np.frombuffer(b"".join(body[start:end] for start, end in at.tolist()), "<u2")
    rest = MeshWindow.FromString(
        b"".join(body[begin:end] for number, _, begin, _, end in found if number not in _TABLE)
    )
    return rest, Table(targets, ports, values, m2.view(np.float64), lengths, words)


def _fields(loops: Any, data: npt.NDArray[np.uint8], low: int, high: int) -> list[list[int]] | None:
    found = np.empty((_FIELDS_MAX, 5), np.int64)
    count = loops.fields(data, low, high, found)
    fields: list[list[int]] = found[:count].tolist()
    return fields if count > 0 else None
