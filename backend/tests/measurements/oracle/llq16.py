"""LLQ16 in numpy, to compare the native module with (`sinemora.measurements.codec.llq16`)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint16]
Ints = npt.NDArray[np.int64]

VALUE_MAX = (1 << 37) - 1
BINS = 2048
EMPTY = -1

_CODES = np.arange(32)
COUNT_OF_CODE = np.where(_CODES < 16, _CODES + 1, 1 << np.maximum(_CODES - 11, 0)).astype(np.int32)
"""The number of values that a word stands for, by its low five bits."""

_INDEX = np.arange(BINS)
_SHIFT = np.maximum(_INDEX // 64 - 1, 0)
VALUE_OF_BIN: Ints = np.where(_INDEX < 128, _INDEX, (64 + _INDEX % 64 << _SHIFT) + (1 << _SHIFT >> 1)).astype(np.int64)
"""The value a bin stands for (its middle), by bin."""

# Codes 31 … 16 stand for these powers of two, in the order in which the canonical form emits them.
_POWERS = np.arange(20, 4, -1)


def bins_of(values_ns: npt.ArrayLike) -> Ints:
    """Bin of each value. Exact: the exponent and six bits of a float64 hold the bin of every integer below 2^53."""
    values = np.clip(np.asarray(values_ns, np.int64), 0, VALUE_MAX)
    bins: Ints = np.where(values < 128, values, (values.astype(np.float64).view(np.int64) >> 46) - 65792)
    return bins


def values_of(bins: npt.NDArray[np.integer]) -> Ints:
    """Return the value of each bin, ns."""
    values: Ints = VALUE_OF_BIN[bins]
    return values


def encode(values_ns: npt.ArrayLike) -> Words:
    """Canonical sketch of one group of values."""
    bins, counts = np.unique(bins_of(values_ns), return_counts=True)
    return canonical_words(bins, counts)[0]


def owners_of(lengths: Ints) -> Ints:
    """Group of each word."""
    return np.repeat(np.arange(lengths.size), lengths)


def is_ordered(words: Words, lengths: Ints) -> bool:
    """Return whether the bins ascend within every group, as in the canonical form."""
    bins = words >> 5
    falls = bins[1:] < bins[:-1]
    firsts = np.cumsum(lengths)[:-1]  # from one group to the next they may fall
    falls[firsts[(firsts > 0) & (firsts < words.size)] - 1] = False
    return not falls.any()


def merge(words: Words, owners: Ints, groups: int) -> tuple[Words, Ints]:
    """Canonical sketches of `groups` groups, and their lengths in words.

    `owners` names the group of each word; words come in any order and may repeat.
    """
    if not words.size:
        return np.empty(0, np.uint16), np.zeros(groups, np.int64)
    ordered = np.sort(owners << 16 | words)
    keys = ordered >> 5
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    counts = np.add.reduceat(COUNT_OF_CODE[ordered & 31], starts, dtype=np.int64)
    keys = keys[starts]
    merged, words_per_bin = canonical_words(keys & (BINS - 1), counts)
    lengths = np.bincount(keys >> 11, weights=words_per_bin, minlength=groups).astype(np.int64)
    return merged, lengths


def canonical(words: Words, lengths: Ints) -> tuple[Words, Ints]:
    """Return the distributions in canonical form."""
    return merge(words, owners_of(lengths), lengths.size)


@dataclass(frozen=True, slots=True)
class Merged:
    """Distributions by group: number of values, bins at the requested quantiles, shape (quantiles, groups).

    `words` are their canonical sketches of `lengths` words each, None if not requested.
    """

    totals: Ints
    bins: Ints
    words: Words | None
    lengths: Ints


def merge_groups(
    words: Words, lengths: Ints, owners: Ints, groups: int, at: Sequence[float], *, words_too: bool = True
) -> Merged:
    """Sketches of `lengths` words each merged into `groups` groups; `owners` names the group of each, `EMPTY` none.

    `at` are quantiles, ascending.
    """
    of_word = np.repeat(owners, lengths)
    if (owners == EMPTY).any():
        words, of_word = words[of_word != EMPTY], of_word[of_word != EMPTY]
    merged, sizes = merge(words, of_word, groups)
    totals, bins = summarise(merged, sizes, at)
    return Merged(totals, bins, merged if words_too else None, sizes)


def quantiles(words: Words, lengths: Ints, at: Sequence[float]) -> Ints:
    """Bins at the quantiles `at` of every group, shape (quantiles, groups); `EMPTY` for a group without values.

    The quantile q of n values is the smallest bin whose cumulative count reaches max(1, ceil(q * n)).
    """
    if not is_ordered(words, lengths):
        words, lengths = canonical(words, lengths)
    return summarise(words, lengths, at)[1]


def summarise(words: Words, lengths: Ints, at: Sequence[float]) -> tuple[Ints, Ints]:
    """Return the number of values of each group and its `quantiles`, for ordered words (see `is_ordered`)."""
    running = np.zeros(words.size + 1, np.int64)
    np.cumsum(COUNT_OF_CODE[words & 31], out=running[1:])
    ends = np.cumsum(lengths)
    before = running[ends - lengths]
    totals: Ints = running[ends] - before
    ranks = np.maximum(1, np.ceil(np.multiply.outer(np.asarray(at, np.float64), totals)).astype(np.int64))
    # An empty group finds a word of another one, or none; it is masked below.
    result = np.minimum(np.searchsorted(running[1:], before + ranks), words.size - 1)
    bins = words[result].astype(np.int64) >> 5 if words.size else np.zeros(ranks.shape, np.int64)
    return totals, np.where(totals > 0, bins, EMPTY)


def canonical_words(bins: Ints, counts: Ints) -> tuple[Words, Ints]:
    """Canonical words of (bin, count > 0) pairs in their order, and how many words each pair took."""
    bins = bins.astype(np.int64)
    if not counts.size or int(counts.max()) <= 16:
        return (bins << 5 | counts - 1).astype(np.uint16), np.ones(counts.size, np.int64)
    # 2^20 as often as leaves less than 2^21, the set bits 20 … 5 once each, then 1 … 31 as one or two words.
    millions = np.maximum(0, (counts - (1 << 20)) >> 20)
    left = counts - (millions << 20)
    powers = (left[:, None] >> _POWERS & 1).astype(bool)
    rest = left & 31
    word_counts = millions + powers.sum(axis=1)
    lengths = word_counts + (rest > 0) + (rest > 16)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    codes = np.full(int(ends[-1]), 31, np.int64)
    row, column = np.nonzero(powers)
    rank = np.cumsum(powers, axis=1)[row, column] - 1
    codes[starts[row] + millions[row] + rank] = 31 - column
    two = rest > 16
    codes[(starts + word_counts)[two]] = 15
    codes[(ends - 1)[rest > 0]] = (rest - 1 - 16 * two)[rest > 0]
    return (np.repeat(bins, lengths) << 5 | codes).astype(np.uint16), lengths
