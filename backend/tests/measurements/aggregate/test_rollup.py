"""Merging windows against brute force on the raw values."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sinemora.measurements.aggregate import rollup
from sinemora.measurements.codec import frame, llq16
from tests.measurements.worlds import Raw, RawWindow, frame_of, frames_of, merged_of, simple

delays = st.lists(st.integers(-2_000, 3_000_000), max_size=12)
known = st.sampled_from([(-1, -1), (20, -1), (0, 0), (20, 0), (20, 7), (3, 3)])


@st.composite
def raws(draw):
    out, into, both = draw(delays), draw(delays), draw(delays)
    losses = [draw(known) for _ in range(3)]
    return Raw(
        (out, into, both),
        tuple(s for s, _ in losses),
        tuple(lo for _, lo in losses),
        draw(st.integers(0, 10_000)),
        draw(st.integers(1, 8)),
    )


windows = st.builds(RawWindow, st.integers(1, 3), st.dictionaries(st.integers(1, 6), raws(), min_size=1))


@given(st.lists(windows, min_size=1, max_size=6))
def test_merged_frames_are_those_of_all_raw_values(parts):
    merged = {part.vm_key: part for part in frames_of(merged_of([frame_of(part) for part in parts]))}
    assert set(merged) == {part.vm_key for part in parts}
    for vm_key, item in merged.items():
        together: dict[int, list[Raw]] = {}
        for part in parts:
            if part.vm_key == vm_key:
                for target, raw in part.peers.items():
                    together.setdefault(target, []).append(raw)
        assert item.targets.tolist() == sorted(together)
        offset = 0
        for direction in range(3):
            for i, target in enumerate(sorted(together)):
                length = int(item.sketches.lengths[direction, i])
                words = item.sketches.words[offset : offset + length]
                offset += length
                check(item.stats, words, direction, i, together[target])
        assert item.stats.flows.tolist() == [max(r.flows for r in together[t]) for t in sorted(together)]


def check(stats: frame.Stats, words: llq16.Words, direction: int, i: int, raws: list[Raw]) -> None:
    values = [v for raw in raws for v in raw.delays_ns[direction]]
    column = stats.columns[:, direction, i]
    assert column[frame.COUNT] == len(values)
    assert words.tolist() == llq16.encode(values).tolist()
    if values:
        assert column[frame.MIN] == min(values)
        assert column[frame.MAX] == max(values)
        assert abs(column[frame.MEAN] - np.mean(values)) <= 1  # means of windows are whole nanoseconds
        variance = stats.m2[direction, i] / len(values)
        assert np.isclose(np.sqrt(variance), np.std(values), rtol=3e-5, atol=1)
        error = max(r.clock_error_ns for r in raws if r.delays_ns[direction])
        assert column[frame.CLOCK_ERROR] == (0 if direction == frame.ROUND_TRIP else error)
    else:
        assert column[[frame.MIN, frame.MEAN, frame.MAX, frame.CLOCK_ERROR, frame.M2]].tolist() == [0] * 5
    both = [(r.sent[direction], r.lost[direction]) for r in raws if r.sent[direction] >= 0 and r.lost[direction] >= 0]
    some = [r.sent[direction] for r in raws if r.sent[direction] >= 0]
    if both:
        assert (column[frame.SENT], column[frame.LOST]) == (sum(s for s, _ in both), sum(lo for _, lo in both))
    else:
        assert (column[frame.SENT], column[frame.LOST]) == (sum(some) if some else -1, -1)
    for which, q in enumerate(frame.QUANTILES):
        bins = llq16.quantiles(llq16.encode(values), np.array([llq16.encode(values).size]), [q])
        assert stats.quantiles[which, direction, i] == bins[0, 0] + 1


def test_the_group_without_members_is_not_known():
    columns = rollup.merge_columns(np.empty((8, 0), np.int32), np.empty(0, np.int64), 2)
    assert columns[frame.COUNT].tolist() == [0, 0]
    assert columns[frame.SENT].tolist() == [-1, -1]


def flowing(counts: list[int], lows: list[int], medians: list[int], source: int) -> frame.Frame:
    """Return a window of one peer with these flows, equal in both directions."""
    part = frame_of(RawWindow(1, {2: simple(50_000, count=sum(counts))}))
    column = np.array([counts, lows, medians], np.int32)[:, None]
    stats = replace(
        part.stats,
        flows=np.array([len(counts)], np.uint16),
        asymmetry_source=np.array([source], np.uint8),
        by_flow=np.repeat(column, 2, axis=1),
    )
    return replace(part, stats=stats)


def test_flows_of_windows_are_merged_one_by_one():
    few = flowing([3, 1], [100, 500], [200, 500], frame.HARDWARE)
    more = flowing([1, 0, 4], [90, 0, 700], [240, 0, 800], frame.ASSUMED)
    (result,) = frames_of(merged_of([few, more]))
    assert result.stats.by_flow[:, 0].tolist() == [[4, 1, 4], [90, 500, 700], [210, 500, 800]]
    assert result.stats.asymmetry_source.tolist() == [frame.ASSUMED]
    plain = frame_of(RawWindow(1, {3: simple(50_000)}))
    (result,) = frames_of(merged_of([few, plain]))  # the other peer has one flow and no part in them
    assert result.stats.by_flow[:, 1].tolist() == [[3, 1], [100, 500], [200, 500]]
    assert result.stats.asymmetry_source.tolist() == [frame.HARDWARE, frame.ASSUMED]
