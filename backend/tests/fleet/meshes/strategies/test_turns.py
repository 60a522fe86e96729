from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.fleet.meshes.strategies.load import paths_per_window
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.fleet.meshes.strategies.turns import active, turns_of
from tests.seeds import examples

SPARSE, ZONES, EVENT, FULL = StrategyKind.SPARSE, StrategyKind.ZONES, StrategyKind.EVENT, StrategyKind.FULL
SIZES = st.lists(st.integers(1, 25), min_size=1, max_size=6)
PERIODS = st.integers(2, 60)


def turns(kind: StrategyKind, sizes: list[int], period: int = 10, representatives: int = 2, seed: int = 1, **other):
    zone_of = np.repeat(np.arange(len(sizes)), sizes)
    n = zone_of.size
    planned = other.pop("planned", ~np.eye(n, dtype=bool))
    fixed = other.pop("fixed", np.zeros(n, bool))
    return turns_of(Strategy(kind, period, representatives), zone_of, planned, fixed, other.pop("focus", None), seed)


def windows(words: np.ndarray, period: int) -> list[np.ndarray]:
    return [active(words, period, 30 * turn, 30) for turn in range(period)]


@given(SIZES, PERIODS, st.integers(0, 2**31))
def test_a_sparse_period_measures_every_pair_and_every_window_every_pair_of_zones(sizes, period, seed):
    words = turns(SPARSE, sizes, period, seed=seed)
    n = words.shape[0]
    assert (words == words.T).all()
    assert not np.diagonal(words).any()
    assert ((words > 0) | np.eye(n, dtype=bool)).all()
    assert int(words.max(initial=0)) < 1 << period
    zone_of = np.repeat(np.arange(len(sizes)), sizes)
    for window in windows(words, period):
        for one, other in combinations_with_replacement(range(len(sizes)), 2):
            if one != other or sizes[one] > 1:
                assert window[np.ix_(zone_of == one, zone_of == other)].any()


@given(st.integers(20, 90), PERIODS, st.integers(0, 2**31))
def test_in_a_sparse_window_all_vms_have_equally_many_peers(n, period, seed):
    # One zone: no pair is added to keep zones in contact, but the one of a window that no round falls into.
    for window in windows(turns(SPARSE, [n], period, seed=seed), period):
        peers = window.sum(axis=1)
        if peers.sum() > 2:
            assert peers.max() - peers.min() <= n % 2
            assert abs(peers.mean() - (n - 1) / period) <= 1


@given(st.integers(30, 80), st.integers(2, 6))
@settings(max_examples=examples(30))
def test_a_sparse_window_is_one_connected_graph(n, period):
    for window in windows(turns(SPARSE, [n], period), period):
        reached = np.zeros(n, bool)
        reached[0] = True
        for _ in range(n):
            reached |= window[reached].any(axis=0)
        assert reached.all()


@given(SIZES, PERIODS, st.integers(1, 16))
def test_zones_measure_themselves_always_and_one_another_by_rotating_representatives(sizes, period, representatives):
    words = turns(ZONES, sizes, period, representatives)
    zone_of = np.repeat(np.arange(len(sizes)), sizes)
    same = zone_of[:, None] == zone_of[None, :]
    np.fill_diagonal(same, False)
    for window in windows(words, period):
        assert window[same].all()
        between = window & ~same
        for one, other in ((a, b) for a in range(len(sizes)) for b in range(len(sizes)) if a != b):
            count = between[np.ix_(zone_of == one, zone_of == other)].sum()
            assert count == min(sizes[one], representatives) * min(sizes[other], representatives)
    represented = ((words > 0) & ~same).any(axis=1)
    if len(sizes) > 1:
        for zone, size in enumerate(sizes):
            assert represented[zone_of == zone].sum() >= min(size, period, representatives)
            if size <= period:
                assert represented[zone_of == zone].all()


@given(SIZES, PERIODS, st.data())
def test_pairs_in_focus_have_every_window(sizes, period, data):
    n = sum(sizes)
    focus = np.zeros((n, n), bool)
    pairs = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=5))
    for one, other in pairs:
        focus[one, other] = True
    words, plain = turns(EVENT, sizes, period, focus=focus), turns(SPARSE, sizes, period)
    for one, other in pairs:
        if one != other:
            assert int(words[one, other]) == int(words[other, one]) == (1 << period) - 1
    elsewhere = ~(focus | focus.T)
    assert (words[elsewhere] == plain[elsewhere]).all()


def test_pairs_that_cannot_be_measured_have_no_turn_and_fixed_vms_have_every_one():
    planned = ~np.eye(8, dtype=bool)
    planned[2, :] = planned[:, 2] = False
    fixed = np.zeros(8, bool)
    fixed[7] = True
    words = turns(SPARSE, [4, 4], 3, planned=planned, fixed=fixed)
    assert not words[2].any()
    assert set(words[7][planned[7]].tolist()) == {0b111}
    assert (words[0, [1, 3, 4, 5, 6]] > 0).all()


def test_full_measures_everything_in_every_window():
    words = turns(FULL, [3, 2])
    assert set(words[~np.eye(5, dtype=bool)].tolist()) == {1}
    assert active(words, 1, 12345, 10).sum() == 20


@pytest.mark.parametrize("sizes", [[], [1]])
@pytest.mark.parametrize("kind", list(StrategyKind))
def test_a_mesh_of_few_has_no_pairs(kind, sizes):
    assert not turns(kind, sizes).any()


def test_the_same_mesh_has_the_same_plan_and_another_mesh_another():
    assert (turns(SPARSE, [20, 20], seed=3) == turns(SPARSE, [20, 20], seed=3)).all()
    assert (turns(SPARSE, [20, 20], seed=3) != turns(SPARSE, [20, 20], seed=4)).any()


@pytest.mark.parametrize("kind", list(StrategyKind))
@pytest.mark.parametrize("sizes", [[50, 50, 40], [100], [64, 16]])
def test_the_estimated_load_is_that_of_the_plan(kind, sizes):
    strategy = Strategy(kind, 10, 2)
    words = turns(kind, sizes)
    measured = np.bitwise_count(words).sum() / strategy.period
    assert paths_per_window(strategy, sizes) == pytest.approx(measured, rel=0.01)
