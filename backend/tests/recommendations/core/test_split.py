"""Windows held out: separated blocks of time, in other hours where there are some."""

import numpy as np
import pytest

from sinemora.recommendations.core.split import BLOCKS_LEAST, GAP_S, split


def parts(minutes: float, window_s: int):
    starts = np.arange(0, round(minutes * 60), window_s)
    lengths = np.full(starts.size, window_s)
    return starts, lengths, split(starts, lengths)


@pytest.mark.parametrize(("minutes", "window_s"), [(15, 10), (30, 10), (30, 60), (119, 60), (120, 60), (600, 60)])
def test_held_out_windows_are_minutes_away_from_those_that_train(minutes, window_s):
    starts, lengths, found = parts(minutes, window_s)
    ends = starts + lengths
    assert found.shortage is None
    assert not (found.training & found.holdout).any()
    for start, end in zip(starts[found.holdout], ends[found.holdout], strict=True):
        apart = np.maximum(starts[found.training] - end, start - ends[found.training])
        assert apart.min() >= GAP_S
    assert found.training.sum() * window_s >= 60
    assert np.unique(found.blocks[found.holdout]).size >= BLOCKS_LEAST
    # The newest time is nearest to the hour that is promised.
    assert found.holdout[-1]


@pytest.mark.parametrize(("minutes", "gap_s"), [(3, 60), (5, 60), (10, 120), (14, 168)])
def test_short_histories_have_shorter_gaps(minutes, gap_s):
    starts, lengths, found = parts(minutes, 10)
    assert found.gap_s == gap_s
    assert starts[found.holdout][0] - (starts + lengths)[found.training][-1] >= gap_s
    assert np.unique(found.blocks[found.holdout]).size >= BLOCKS_LEAST


def test_other_hours_are_held_out():
    starts, _, found = parts(360, 60)
    hours = starts // 3600
    assert set(hours[found.training]) == {0, 2, 4}
    assert set(hours[found.holdout]) == {1, 3, 5}


def test_blocks_do_not_cross_from_one_hour_to_the_next():
    starts, _, found = parts(240, 60)
    for block in np.unique(found.blocks):
        assert np.ptp(starts[found.blocks == block]) < 3600


@pytest.mark.parametrize(("window_s", "needed"), [(10, 18), (60, 7), (900, 6)])
def test_the_number_of_missing_windows_is_true(window_s, needed):
    """With one window fewer than promised nothing is judged, with the promised ones a move can be."""
    for count in range(1, needed):
        starts = np.arange(count) * window_s
        found = split(starts, np.full(count, window_s))
        assert found.training.all()
        minutes = count * window_s / 60
        assert found.shortage.startswith(f"too few windows to evaluate moves: {count} over {minutes:.1f} minutes, ")
        more = int(found.shortage.split(", ")[1].split()[0])
        assert f"one every {window_s} s" in found.shortage
        assert count + more == needed
    enough = split(np.arange(needed) * window_s, np.full(needed, window_s))
    assert enough.shortage is None
    assert np.unique(enough.blocks[enough.holdout]).size >= BLOCKS_LEAST
    assert enough.training.any()


def test_sampled_windows_of_a_large_mesh_are_blocks_of_their_own():
    starts = (np.arange(6) * 300 + 150).astype(int)
    found = split(starts, np.full(6, 60))
    assert found.holdout.sum() == np.unique(found.blocks[found.holdout]).size >= BLOCKS_LEAST
