"""Types of the native module: the crates in `agent/native`, `agent/solver` and `agent/tail`.

Arrays have the shapes and types that are named here.

A call that gets arrays whose sizes do not fit one another raises ValueError, or FrameError where it is about blocks.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

_U8: TypeAlias = npt.NDArray[np.uint8]
_U16: TypeAlias = npt.NDArray[np.uint16]
_I32: TypeAlias = npt.NDArray[np.int32]
_I64: TypeAlias = npt.NDArray[np.int64]

_F64: TypeAlias = npt.NDArray[np.float64]

class FrameError(ValueError):
    """Bytes that are no block of a frame, or arrays that fit none."""

def bins_of(values_ns: _I64, /) -> _I64: ...
def values_of_bins() -> list[int]: ...
def counts_of_codes() -> list[int]: ...
def canonical_words(bins: _I64, counts: _I64, /) -> tuple[_U16, _I64]: ...
def is_ordered(words: _U16, lengths: _I64, /) -> bool: ...
def summarise(words: _U16, lengths: _I64, at: Sequence[float], /) -> tuple[_I64, _I64]: ...
def merge_sketches(
    words: _U16, lengths: _I64, owners: _I64, groups: int, at: Sequence[float], words_too: bool, /
) -> tuple[_I64, _I64, _U16, _I64]: ...
def encode(
    columns: _I32,
    quantiles: _U16,
    flows: _U16,
    sources: _U8,
    by_flow: _I32,
    lengths: _I64,
    words: _U16,
    sizes: Sequence[int],
    /,
) -> list[tuple[bytes, bytes]]: ...
def encode_stats(columns: _I32, quantiles: _U16, flows: _U16, sources: _U8, by_flow: _I32, /) -> bytes: ...
def encode_sketches(lengths: _I64, words: _U16, columns: _I32, /) -> bytes: ...
def decode_stats(blobs: Sequence[bytes], /) -> tuple[_I32, _U16, _U16, _U8, _I32]: ...
def merge_windows(
    windows: Sequence[tuple[int, int, int, bytes, bytes]],
    rosters: Sequence[_I64],
    corrections: Sequence[_I32],
    directions: Sequence[bool],
    words_too: bool,
    /,
) -> tuple[_I64, _I64, _I32, _U16, _U16, _U8, _I64, _U16] | None: ...
def decode_stats_at(blobs: Sequence[bytes], places: _I64, /) -> tuple[_I32, _U16, _U16, _U8] | None: ...
def round_trip_values(blobs: Sequence[bytes], quantile: int, /) -> _I64: ...
def decode_sketches(
    blobs: Sequence[bytes], columns: _I32, wanted: Sequence[bool], shifts_ns: _I64, /
) -> tuple[_I64, _U16]: ...
def merge_columns(columns: _I32, owners: _I64, groups: int, /) -> _I32: ...
def newest_windows(sources: _I64, targets: _I64, ended_at_s: _I64, size: int, /) -> _I64: ...
def describe_cells(at: _I64, old: _U8, origins: _U8, /) -> tuple[_I64, _U8, _I64]: ...
def measure_cells(
    columns: _I32,
    codes: _U16,
    at: _I64,
    one_way: _I32,
    one_way_at: _I64,
    exchanges: _I32,
    round_at: _I64,
    planned: _U8,
    stale: _U8,
    quantile: int | None,
    column: int,
    above_min: bool,
    /,
) -> tuple[_I64, _I64, _U8, _U8]: ...
def bin_codes(values: _I64, valued: _U8, /) -> _U16: ...

@final
class WindowColumns:
    def targets(self) -> _I64: ...
    def columns(self) -> _I32: ...
    def quantiles(self) -> _U16: ...
    def flows(self) -> _U16: ...
    def lengths(self) -> _I64: ...
    def words(self) -> _U16: ...
    def blocks(self) -> list[tuple[bytes, bytes]] | None: ...
    def are_among(self, keys: _I64, /) -> bool: ...
    @property
    def clamped(self) -> int: ...

ReadReport: TypeAlias = tuple[bytes, list[tuple[bytes, WindowColumns | None, tuple[str, str] | None]]]

def read_reports(
    reports: Sequence[tuple[bytes, bool, int]], bytes_max: int, fields_max: int, /
) -> list[ReadReport | OverflowError | None]: ...
def anneal(
    problem: Any,
    links: Any,
    waiting_cost: float,
    begin: _I64,
    proposals: int,
    seed: int,
    watch: Callable[[float, float], object] | None = None,
) -> _I64: ...
def placement_bound(
    problem: Any,
    links: Any,
    waiting_cost: float,
    upper: float,
    rounds: int,
    watch: Callable[[float, float], object] | None = None,
) -> tuple[float, _F64]: ...
def branch(
    problem: Any,
    links: Any,
    waiting_cost: float,
    begin: _I64,
    prices: _F64,
    work: int,
    watch: Callable[[float, float], object] | None = None,
) -> tuple[_I64, bool]: ...
def place_by_job(
    problem: Any,
    links: Any,
    waiting_cost: float,
    begin: _I64,
    work: int,
    watch: Callable[[float, float], object] | None = None,
) -> tuple[_I64, float]: ...
def cluster_latency(
    sources: _I64, rack: _I64, pod: _I64, base_ns: _I64, seed: int, noise: float, draw: int, /
) -> _I32: ...
def traced_latency(
    sources: _I64,
    targets: _I64 | None,
    rack: _I64,
    pod: _I64,
    round_trip_ns: _I32,
    scales: _F64,
    seed: int,
    noise: float,
    draw: int,
    /,
) -> _I32: ...
def chunk_lengths(path: str, least: int, mean: int, most: int) -> list[int]:
    """Return the lengths of the blocks of a file, cut where its content says (FastCDC).

    `least` to `most` bytes, `mean` on average. OSError, ValueError.
    """

def simulate_link(
    arrivals_ps: _I64,
    sizes: _I64,
    byte_ps: int,
    packet_bytes: int,
    policy: Any,
    record: bool,
    watch: Callable[[int], object] | None,
    /,
) -> tuple[_I64, int, list[int], _F64, _I64]: ...
