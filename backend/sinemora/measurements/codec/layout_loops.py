"""Compiled loops of `layouts.py`: bodies of stats and sketches, many frames at once.

Frames to be read stand in words of 64 bits, each from a word of its own on, `at`; `sizes` are their numbers of bytes,
heads and checksums left out, `targets` their numbers of targets, `first` the position of the first of these among all
N. Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.codec.coding_loops import checksum
from sinemora.measurements.codec.frame import STATS, VERSIONS
from sinemora.measurements.codec.rice import MASK
from sinemora.measurements.codec.sketch_loops import pack_sketches, unpack_lengths, unpack_words
from sinemora.measurements.codec.stats_loops import STATS_COLUMNS, pack_stats, unpack_stats, unpack_stats_at

__all__ = [
    "first_harmed", "seal", "sealed_words", "unpack_lengths", "unpack_stats", "unpack_stats_at", "unpack_words",
]  # fmt: skip

Array = Any


@compiled
def first_harmed(words: Array, at: Array, sizes: Array) -> Any:
    """The first frame that does not fit the checksum in the word before it, beside its head; or -1."""
    for f in range(at.size):
        before = words[at[f] - 1]
        head, told = np.int64(before & np.uint64(MASK)), np.int64(before >> np.uint64(32))
        if checksum(words, at[f], sizes[f], head) != told:
            return np.int64(f)
    return np.int64(-1)


@compiled
def seal(
    columns: Array, quantiles: Array, flows: Array, sources: Array, by_flow: Array, lengths: Array, words: Array,
    block: int, out: Array, found: Array,
) -> None:  # fmt: skip
    """Write stats and sketches of all targets as frames of at most `block` of them, heads and checksums included.

    `out` are words of 0, `sealed_words` of them; where in it the two of each frame begin and how many bytes they have
    is told in `found` (frames, 2, 2).
    """
    n = columns.shape[2]
    to: Any = np.int64(0)
    told: Any = np.int64(0)
    for f in range(found.shape[0]):
        low, high, told_from = f * block, min((f + 1) * block, n), told
        if by_flow.shape[2]:
            for i in range(low, high):
                told += flows[i] if flows[i] > 1 else 0
        for kind in range(2):
            body = out[to + 1 :]
            if kind == STATS:
                size = pack_stats(columns, quantiles, flows, sources, by_flow, low, high, told_from, told, body)
            else:
                size = pack_sketches(words, lengths, columns, low, high, body)
            head = VERSIONS[kind] | kind << 8 | (high - low) << 16
            out[to] = np.uint64(head) | np.uint64(checksum(body, 0, size, head)) << np.uint64(32)
            found[f, kind, 0], found[f, kind, 1] = 8 * to, 8 + size
            to += 1 + (size + 7) // 8


@compiled
def sealed_words(columns: Array, by_flow: Array, words: Array, blocks: int) -> Any:
    """Words that `seal` needs for so many frames."""
    n, m = columns.shape[2], by_flow.shape[2]
    size = n * 8 * STATS_COLUMNS + 48 * m + 144 * n + 16 * words.size
    return size // 8 + blocks * (64 + 12 * STATS_COLUMNS + 48 + 256) // 8 + 8
