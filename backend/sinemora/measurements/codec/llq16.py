"""LLQ16, the quantile sketch: a fixed log-linear histogram in 16-bit words, for many groups at once.

A value is a delay in integer nanoseconds; values outside 0 … 2^37-1 are clamped to that range, so zero and negative
delays share bin 0. Bins below 128 hold one value each, above there are 64 bins per octave (relative error of a bin's
middle at most 1/128). A word is ``bin << 5 | code`` and stands for 1 … 16 (codes 0-15) or 2^5 … 2^20 (codes 16-31)
values; words of one bin add up, so concatenating sketches merges them. The bytes of a sketch are its words,
little-endian. Every writer emits the canonical form.

A *group* is one distribution. Functions that work on many groups take the words of all groups one group after the
other, and how many words each group has. The work is done by the crate `sinemora-native`, which the agent uses too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sinemora_native as native

Words = npt.NDArray[np.uint16]
Ints = npt.NDArray[np.int64]

VALUE_MAX = (1 << 37) - 1
BINS = 2048
EMPTY = -1

COUNT_OF_CODE = np.array(native.counts_of_codes(), np.int32)
"""The number of values that a word stands for, by its low five bits."""
VALUE_OF_BIN: Ints = np.array(native.values_of_bins(), np.int64)
"""The value a bin stands for (its middle), by bin."""


def bins_of(values_ns: npt.ArrayLike) -> Ints:
    values = np.asarray(values_ns, np.int64)
    return native.bins_of(values.reshape(-1)).reshape(values.shape)


def values_of(bins: npt.NDArray[np.integer]) -> Ints:
    """Return the value each bin stands for, in nanoseconds."""
    values: Ints = VALUE_OF_BIN[bins]
    return values


def values_within(codes: npt.NDArray[np.integer], least_ns: npt.ArrayLike, most_ns: npt.ArrayLike) -> Ints:
    """Return the delay of each quantile, ns: the middle of its bin, but never outside the smallest and largest delay.

    Those are known exactly, and lie in bins of their own, so the bin of the quantile stays what it was. `codes` are bin
    + 1; the delay of code 0 means nothing.
    """
    middles = values_of(np.maximum(np.asarray(codes, np.int64) - 1, 0))
    return np.minimum(np.maximum(middles, least_ns), most_ns).astype(np.int64)


def encode(values_ns: npt.ArrayLike) -> Words:
    """Return the canonical sketch of one group of values."""
    bins, counts = np.unique(bins_of(values_ns), return_counts=True)
    return canonical_words(bins, counts)[0]


def is_ordered(words: Words, lengths: Ints) -> bool:
    """Return whether the bins ascend within every group, as in the canonical form."""
    return native.is_ordered(words, lengths)


def merge(words: Words, owners: Ints, groups: int) -> tuple[Words, Ints]:
    """Return canonical sketches of `groups` groups, and their lengths in words.

    `owners` names the group of each word; words come in any order and may repeat.
    """
    merged = merge_groups(words, np.ones(words.size, np.int64), owners, groups, ())
    assert merged.words is not None
    return merged.words, merged.lengths


def canonical(words: Words, lengths: Ints) -> tuple[Words, Ints]:
    """Return the same distributions in canonical form."""
    merged = merge_groups(words, lengths, np.arange(lengths.size), lengths.size, ())
    assert merged.words is not None
    return merged.words, merged.lengths


@dataclass(frozen=True, slots=True)
class Merged:
    """Distributions by group: totals, and bins at the quantiles asked for, shape (quantiles, groups).

    `words` are their canonical sketches of `lengths` words each; None, and lengths 0, where they are not wanted.
    """

    totals: Ints
    bins: Ints
    words: Words | None
    lengths: Ints


def merge_groups(
    words: Words, lengths: Ints, owners: Ints, groups: int, at: Sequence[float], *, words_too: bool = True
) -> Merged:
    """Merge sketches of `lengths` words each into `groups` groups; `owners` names the group of each, `EMPTY` none.

    `at` are quantiles, ascending.
    """
    totals, bins, merged, sizes = native.merge_sketches(words, lengths, owners, groups, list(at), words_too)
    return Merged(totals, bins, merged if words_too else None, sizes)


def quantiles(words: Words, lengths: Ints, at: Sequence[float]) -> Ints:
    """Return bins at the quantiles `at` of every group, shape (quantiles, groups); `EMPTY` for a group without values.

    The quantile q of n values is the smallest bin whose cumulative count reaches max(1, ceil(q * n)).
    """
    if not is_ordered(words, lengths):
        words, lengths = canonical(words, lengths)
    return summarise(words, lengths, at)[1]


def summarise(words: Words, lengths: Ints, at: Sequence[float]) -> tuple[Ints, Ints]:
    """Return how many values each group holds, and its `quantiles`; for words that are ordered (see `is_ordered`)."""
    return native.summarise(words, lengths, list(at))


def canonical_words(bins: Ints, counts: Ints) -> tuple[Words, Ints]:
    """Return canonical words of (bin, count > 0) pairs in their order, and how many words each pair takes."""
    return native.canonical_words(bins, counts)
