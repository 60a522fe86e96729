"""Matrices against naive answers computed cell by cell from raw values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import CellState, Metric, Pairs, Statistic
from sinemora.measurements.codec import frame, llq16
from tests.measurements.worlds import Raw, RawWindow, frame_of, silent, simple

AXIS = np.array([30, 10, 20, 40], np.int64)  # the order of a roster is not that of the keys
ZONE_OF = np.array([0, 0, 1, 1])
NOW = 1_000_100


def pairs_of(windows: list[tuple[int, RawWindow]]) -> tuple[Pairs, frame.Sketches]:
    """Pairs of (end, window), and their sketches in the same order."""
    frames = [frame_of(window) for _, window in windows]
    sizes = [part.targets.size for part in frames]
    clients = np.repeat([part.vm_key for part in frames], sizes).astype(np.int64)
    ended = np.repeat([end for end, _ in windows], sizes).astype(np.int64)
    stats = frame.concatenate([part.stats for part in frames])
    sketches = frame.concatenate_sketches([part.sketches for part in frames])
    targets = np.concatenate([part.targets for part in frames]) if frames else np.empty(0, np.int64)
    return Pairs(clients, targets, ended, np.full(clients.size, 10), stats), sketches


def vm_cells(axis: np.ndarray, pairs: Pairs) -> matrix.Cells:
    """Cells of a full mesh."""
    return matrix.vm_cells(axis, ~np.eye(axis.size, dtype=bool), pairs, NOW, 3)


def raw_paths(windows: list[tuple[int, RawWindow]]) -> dict[tuple[int, int], tuple[int, Raw, int]]:
    """(source, target) → (end, what happened, direction) of the newest window, later in the list wins a tie."""
    collected: dict[tuple[int, int], tuple[int, Raw, int]] = {}
    for end, window in windows:
        for target, raw in window.peers.items():
            for path, direction in (((window.vm_key, target), 0), ((target, window.vm_key), 1)):
                if path not in collected or collected[path][0] <= end:
                    collected[path] = (end, raw, direction)
    return collected


def number(values: list[int], statistic: Statistic) -> int:
    """Return the statistic as the product defines it: quantiles are the middle of a bin, within min and max."""
    if statistic.quantile is not None:
        words = llq16.encode(values)
        middle = int(llq16.values_of(llq16.quantiles(words, np.array([words.size]), [statistic.quantile]))[0, 0])
        return min(max(middle, min(values)), max(values))
    return {
        Statistic.MIN: min(values),
        Statistic.MAX: max(values),
        Statistic.MEAN: round(sum(values) / len(values)),
        Statistic.SD: round(float(np.std(values))),
    }[statistic]


@given(st.lists(st.integers(-(10**6), frame.INT32_MAX) | st.integers(0, 5_000), min_size=1, max_size=60))
def test_quantiles_lie_between_the_smallest_and_the_largest_delay_and_keep_their_bin(values):
    stats = frame_of(RawWindow(1, {2: Raw((values, [], []))})).stats
    table = matrix.DistributionTable(stats.columns[:, 0], stats.quantiles[:, 0])
    result = {item: matrix.statistic_of(table, item).item() for item in Statistic}
    assert (result[Statistic.MIN], result[Statistic.MAX]) == (min(values), max(values))
    quantiles = [result[item] for item in (Statistic.P50, Statistic.P90, Statistic.P99)]
    assert [min(values), *quantiles, max(values)] == sorted([min(values), *quantiles, max(values)])
    assert (llq16.bins_of(quantiles) + 1 == table.quantiles[:3, 0]).all()


# Each pair has one client here, as in the product: the one with the smaller key.
PAIRS = [(10, 20), (10, 30), (10, 40), (20, 30), (20, 40), (30, 40)]
a_raw = st.builds(
    simple,
    st.integers(1_000, 10**7),
    st.integers(1_000, 10**7),
    count=st.integers(1, 40),
    lost=st.integers(0, 5),
    clock_error_ns=st.integers(0, 9_000),
) | st.builds(silent, st.integers(1, 8))
worlds = st.dictionaries(
    st.sampled_from(PAIRS), st.tuples(st.sampled_from([NOW - 5, NOW - 15, NOW - 31]), a_raw), max_size=6
).map(lambda found: [(end, RawWindow(client, {target: raw})) for (client, target), (end, raw) in found.items()])


@given(worlds, st.sampled_from(Metric), st.sampled_from(Statistic))
def test_vm_matrix_is_the_naive_one(windows, metric, statistic):
    pairs, _ = pairs_of(windows)
    measured = matrix.measure(vm_cells(AXIS, pairs), metric, statistic)
    known = raw_paths(windows)
    for i, source in enumerate(AXIS.tolist()):
        for j, target in enumerate(AXIS.tolist()):
            state, value = naive_cell(known, source, target, metric, statistic)
            assert CellState(int(measured.states[i, j])) is state, (source, target)
            assert (measured.values[i, j] if measured.valued[i, j] else None) == pytest.approx(value, abs=1)


def naive_cell(known, source, target, metric, statistic):
    if source == target:
        return CellState.NOT_PLANNED, None
    if (source, target) not in known:
        return CellState.NO_DATA, None
    end, raw, direction = known[source, target]
    stale = NOW - end > 30
    delays = raw.delays_ns[2 if metric is Metric.ROUND_TRIP else direction]
    if metric is Metric.LOSS:
        sent, lost = raw.sent[direction], raw.lost[direction]
        if sent > 0 and lost >= 0:
            return (CellState.STALE if stale else CellState.MEASURED), lost / sent
        return (CellState.STALE if stale else CellState.LOST), None
    if not delays:
        return (CellState.STALE if stale else CellState.LOST), None
    state = CellState.STALE if stale else CellState.MEASURED
    if metric is Metric.CLOCK_ERROR:
        return state, raw.clock_error_ns
    if metric is Metric.ASYMMETRY:
        return state, number(delays, statistic) - number(raw.delays_ns[1 - direction], statistic)
    if metric is Metric.JITTER and statistic is not Statistic.SD:
        return state, number(delays, statistic) - min(delays)
    return state, number(delays, statistic)


@given(worlds, st.sampled_from([Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP, Metric.LOSS]), st.sampled_from(Statistic))
def test_zone_matrix_merges_all_values_of_its_paths(windows, metric, statistic):
    pairs, sketches = pairs_of(windows)
    vms = vm_cells(AXIS, pairs)
    measured = matrix.measure(matrix.zone_cells(vms, ZONE_OF, 2, sketches), metric, statistic)
    zone_of = dict(zip(AXIS.tolist(), ZONE_OF.tolist(), strict=True))
    known = raw_paths(windows)
    for a in (0, 1):
        for b in (0, 1):
            inside = {p: w for p, w in known.items() if (zone_of[p[0]], zone_of[p[1]]) == (a, b)}
            fresh = [w for w in inside.values() if NOW - w[0] <= 30]
            used = fresh or list(inside.values())
            value = None
            if metric is Metric.LOSS:
                both = [(raw.sent[d], raw.lost[d]) for _, raw, d in used if raw.lost[d] >= 0]
                sent, lost = sum(s for s, _ in both), sum(lo for _, lo in both)
                value = lost / sent if sent else None
            else:
                direction = 2 if metric is Metric.ROUND_TRIP else None
                delays = [v for _, raw, d in used for v in raw.delays_ns[d if direction is None else direction]]
                value = number(delays, statistic) if delays else None
            assert bool(measured.valued[a, b]) is (value is not None)
            if value is not None:  # deviations are kept with 16 bits of precision
                close = 2e-5 if statistic is Statistic.SD else 0
                assert measured.values[a, b] == pytest.approx(value, abs=2, rel=close)
            if not used:
                assert measured.states[a, b] == CellState.NO_DATA
            elif not fresh:
                assert measured.states[a, b] == CellState.STALE
            elif value is not None:
                assert measured.states[a, b] == CellState.MEASURED
            else:
                assert measured.states[a, b] == CellState.LOST


def test_a_zone_of_one_vm_has_no_path_inside():
    pairs, sketches = pairs_of([(NOW, RawWindow(10, {20: simple(50_000)}))])
    vms = vm_cells(np.array([10, 20]), pairs)
    measured = matrix.measure(
        matrix.zone_cells(vms, np.array([0, 1]), 2, sketches), Metric.ONE_WAY_DELAY, Statistic.P50
    )
    assert measured.states.tolist() == [
        [CellState.NOT_PLANNED, CellState.MEASURED],
        [CellState.MEASURED, CellState.NOT_PLANNED],
    ]


def test_the_newest_window_of_a_path_wins_whoever_was_client():
    pairs, _ = pairs_of(
        [
            (NOW, RawWindow(10, {20: simple(70_000, 80_000)})),
            (NOW - 10, RawWindow(20, {10: simple(50_000, 60_000)})),
            (NOW - 20, RawWindow(10, {99: simple(1)})),  # no longer in the roster
        ]
    )
    measured = matrix.measure(vm_cells(np.array([10, 20]), pairs), Metric.ONE_WAY_DELAY, Statistic.MIN)
    assert measured.values.tolist() == [[0, 70_000], [80_000, 0]]
    assert measured.codes().tolist() == [[0, 1 + llq16.bins_of(70_000)], [1 + llq16.bins_of(80_000), 0]]


def test_negative_delays_keep_their_sign_and_share_the_first_code():
    """A one-way delay may be negative within the clock error; it is not missing."""
    pairs, _ = pairs_of([(NOW, RawWindow(10, {20: simple(-800, 60_000)}))])
    cells = vm_cells(np.array([10, 20]), pairs)
    measured = matrix.measure(cells, Metric.ONE_WAY_DELAY, Statistic.MIN)
    assert (measured.values[0, 1], measured.codes()[0, 1]) == (-800, 1)
    asymmetry = matrix.measure(cells, Metric.ASYMMETRY, Statistic.MIN)
    assert asymmetry.values[0, 1] == -60_800
    assert asymmetry.codes()[0, 1] == 32768 - llq16.bins_of(60_800)
    assert asymmetry.codes()[1, 0] == 32768 + llq16.bins_of(60_800)
    assert asymmetry.clock_error_ns[0, 1] == 1_000
