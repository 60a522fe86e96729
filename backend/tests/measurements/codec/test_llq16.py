"""LLQ16 for many groups; `agent/native/tests/contract.rs` has the rest."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sinemora.measurements.codec import llq16

values = st.integers(-(10**6), 2**38) | st.integers(0, 5000)
samples = st.lists(values, max_size=60)


def clamped(value: int) -> int:
    return min(max(value, 0), llq16.VALUE_MAX)


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
