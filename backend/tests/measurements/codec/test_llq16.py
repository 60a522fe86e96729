"""LLQ16 against the vectors shared with the agent, and against naive answers."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.measurements.codec import llq16

VECTORS = json.loads((Path(__file__).parents[4] / "agent/native/vectors.json").read_text())
values = st.integers(-(10**6), 2**38) | st.integers(0, 5000)
samples = st.lists(values, max_size=60)


def words_of(text: str) -> llq16.Words:
    return np.frombuffer(bytes.fromhex(text), "<u2")


def hex_of(words: llq16.Words) -> str:
    return words.astype("<u2").tobytes().hex()


def clamped(value: int) -> int:
    return min(max(value, 0), llq16.VALUE_MAX)


@pytest.mark.parametrize(
    ("values_ns", "expected"),
    [
        ([], ""),
        ([45_000], "e052"),
        ([45_000, 45_000, 1_000_000], "e1524077"),
        ([45_000] * 17, "ef52e052"),
        ([45_000] * 1000 + [10**9], "f452f352f252f152f052e752e0c6"),
        ([0] * 33, "10000000"),
        ([5] * 3_000_000, "bf00bf00be00bd00bb00ba00b900b500b400b200b100"),
    ],
)
def test_words_of_the_definition(values_ns, expected):
    assert hex_of(llq16.encode(values_ns)) == expected


def test_bins_agree_with_the_agent():
    bins = [vector["bin"] for vector in VECTORS["bins"]]
    assert llq16.bins_of([vector["value_ns"] for vector in VECTORS["bins"]]).tolist() == bins
    assert llq16.values_of(np.array(bins)).tolist() == [vector["stands_for_ns"] for vector in VECTORS["bins"]]


@pytest.mark.parametrize("vector", VECTORS["sketches"], ids=lambda v: v["name"])
def test_sketches_agree_with_the_agent(vector):
    raw = np.repeat([v for v, _ in vector["runs"]], [c for _, c in vector["runs"]]).astype(np.int64)
    assert hex_of(llq16.encode(raw)) == vector["hex"]
    words = words_of(vector["hex"])
    lengths = np.array([words.size])
    assert llq16.summarise(words, lengths, [0.5])[0] == [vector["total"]]
    result = llq16.quantiles(words, lengths, [q / 1000 for q, _ in vector["quantiles"]])
    assert llq16.values_of(result[:, 0]).tolist() == [value for _, value in vector["quantiles"]]


@pytest.mark.parametrize("vector", VECTORS["merges"], ids=lambda v: str(len(v["joined"])))
def test_merges_agree_with_the_agent(vector):
    joined = words_of(vector["joined"])
    words, lengths = llq16.canonical(joined, np.array([joined.size]))
    assert hex_of(words) == vector["canonical"]
    assert lengths.tolist() == [words.size]


@given(st.integers(0, llq16.VALUE_MAX))
def test_a_bin_keeps_one_part_in_128(value):
    middle = int(llq16.values_of(llq16.bins_of([value]))[0])
    assert abs(middle - value) <= value / 128


@given(st.lists(samples, min_size=1, max_size=8))
def test_merging_is_sketching_all_values_together(groups):
    parts = [llq16.encode(group) for group in groups]
    lengths = np.array([part.size for part in parts])
    words, _ = llq16.merge(np.concatenate(parts), np.zeros(int(lengths.sum()), np.int64), 1)
    assert hex_of(words) == hex_of(llq16.encode([v for group in groups for v in group]))


@given(st.lists(samples, min_size=1, max_size=8), st.floats(0, 1), st.booleans())
def test_quantiles_of_many_groups_are_those_of_each(groups, q, shuffled):
    parts = [llq16.encode(group) for group in groups]
    if shuffled:  # readers accept any order of words
        parts = [part[::-1] for part in parts]
    lengths = np.array([part.size for part in parts])
    result = llq16.quantiles(np.concatenate(parts), lengths, [q])[0]
    for group, got in zip(groups, result.tolist(), strict=True):
        if group:
            ranked = sorted(map(clamped, group))
            exact = ranked[max(1, math.ceil(q * len(ranked))) - 1]
            assert got == int(llq16.bins_of(exact))
        else:
            assert got == llq16.EMPTY


@given(st.lists(st.tuples(st.integers(0, 2047), st.integers(1, 2**40)), max_size=20))
def test_canonical_words_are_few_ordered_and_keep_every_count(runs):
    totals: dict[int, int] = {}
    for bin_, count in runs:
        totals[bin_] = totals.get(bin_, 0) + count % 2**22
    bins = np.array(sorted(b for b in totals if totals[b]), np.int64)
    counts = np.array([totals[b] for b in bins.tolist()], np.int64)
    words, taken = llq16.canonical_words(bins, counts)
    assert naive_canonical(bins.tolist(), counts.tolist()) == words.tolist()
    assert taken.sum() == words.size


def naive_canonical(bins: list[int], counts: list[int]) -> list[int]:
    """Return the canonical form by its definition."""
    out = []
    for bin_, left in zip(bins, counts, strict=True):
        while left >= 2**21:
            out.append(bin_ << 5 | 31)
            left -= 2**20
        for code in range(31, 15, -1):
            if left > 16 and left >= 2 ** (code - 11):
                out.append(bin_ << 5 | code)
                left -= 2 ** (code - 11)
        if left > 16:
            out.append(bin_ << 5 | 15)
            left -= 16
        if left > 0:
            out.append(bin_ << 5 | left - 1)
    return out
