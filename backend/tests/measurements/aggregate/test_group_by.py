"""Distributions merged by key, against sums made by hand; and how often each is merged."""

import numpy as np
import pytest

from sinemora.measurements.aggregate import group_by
from sinemora.measurements.aggregate.group_by import GroupedDistributions
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.frame import COUNT, MAX, MIN


def part_of(delay_of: dict[int, int]) -> GroupedDistributions:
    """Return one delay (ns) under each key."""
    delays = np.array(list(delay_of.values()), np.int64)
    columns = np.zeros((8, delays.size), np.int32)
    columns[COUNT], columns[MIN], columns[MAX] = 1, delays, delays
    words = np.concatenate([llq16.encode(delays[at : at + 1]) for at in range(delays.size)])
    return GroupedDistributions(np.array(list(delay_of)), columns, words, np.ones(delays.size, np.int64))


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 63, 64, 65, 200])
def test_every_key_has_what_its_parts_have(size):
    parts = [part_of({-1: 1_000 + n, n: 5_000 * (n + 1)}) for n in range(size)]
    whole = group_by.merge_by_key(iter(parts))
    assert whole.keys.tolist() == ([-1, *range(size)] if size else [])
    if size:
        assert whole.columns[COUNT].tolist() == [size] + [1] * size
        assert whole.columns[MAX].tolist() == [1_000 + size - 1] + [5_000 * (n + 1) for n in range(size)]
        sketches = np.split(whole.words, np.cumsum(whole.lengths))[:-1]
        counts = [int(llq16.COUNT_OF_CODE[words & 31].sum()) for words in sketches]
        assert counts == [size] + [1] * size


def test_work_grows_with_the_number_of_parts_not_with_its_square(monkeypatch):
    merged: list[int] = []
    merge = group_by._merge
    monkeypatch.setattr(
        group_by, "_merge", lambda parts: merged.append(sum(p.keys.size for p in parts)) or merge(parts)
    )
    group_by.merge_by_key(part_of({n: 5_000}) for n in range(512))
    assert sum(merged) <= 512 * 5  # once alone, once at each of three ranks, once at the end
