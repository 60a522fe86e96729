"""Blocks of frames as they are read from the store: bytes that `frame` decodes."""

from dataclasses import dataclass

from sinemora.measurements.codec.llq16 import Ints


@dataclass(frozen=True, slots=True)
class StoredFrame:
    """A block of a frame as it is stored; `sketch` is empty unless asked for."""

    vm_key: int
    started_at_s: int
    window_s: int
    targets: Ints
    stats: bytes
    sketch: bytes


@dataclass(frozen=True, slots=True)
class StoredPath:
    """A block that has one pair: `at` is the pair's position in it, `forward` whether the asked source was client."""

    forward: bool
    started_at_s: int
    window_s: int
    at: int
    stats: bytes
    sketch: bytes
