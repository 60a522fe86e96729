import numpy as np
import pytest

from sinemora.fleet.meshes.strategies.detection import DetectionTime, detections_of, waits
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.fleet.meshes.strategies.turns import active
from tests.fleet.meshes.strategies.test_turns import turns


def detections(kind: StrategyKind, sizes: list[int], period: int):
    zone_of = np.repeat(np.arange(len(sizes)), sizes)
    planned, words = ~np.eye(zone_of.size, dtype=bool), turns(kind, sizes, period)
    return detections_of(words, Strategy(kind, period, 2).period, zone_of, planned), words


@pytest.mark.parametrize(
    ("word", "period", "needed", "expected"),
    [
        (0b1, 1, 3, [3]),
        (0b0001, 4, 1, [1, 4, 3, 2]),
        (0b0001, 4, 3, [9, 12, 11, 10]),
        (0b0101, 4, 2, [3, 4, 3, 4]),
    ],
)
def test_windows_until_a_path_has_been_measured_so_often(word, period, needed, expected):
    assert list(waits(word, period, needed)) == expected


def test_a_full_mesh_detects_at_the_number_of_windows_of_its_rules():
    found, _ = detections(StrategyKind.FULL, [4, 4], 10)
    assert found.path == DetectionTime(3, 3, 0.0)
    assert found.vm == found.zone_pair == DetectionTime(2, 2, 0.0)


def test_a_sparse_mesh_detects_a_vm_as_fast_and_a_path_within_three_periods():
    found, _ = detections(StrategyKind.SPARSE, [60, 60], 10)
    assert found.vm == found.zone_pair == DetectionTime(2, 2, 0.0)
    assert found.path == DetectionTime(29, 30, 0.0)


def test_paths_that_are_never_measured_count_as_never_detected():
    found, words = detections(StrategyKind.ZONES, [30, 30], 10)
    unmeasured = (words == 0).sum() - 60
    assert found.path.never == pytest.approx(unmeasured / (60 * 59))
    assert found.vm.never == 0


def test_a_fault_of_a_vm_is_detected_when_played_window_by_window():
    found, words = detections(StrategyKind.SPARSE, [7, 6], 9)
    slowest = 0
    for vm in range(13):
        for start in range(9):
            left, at = 2, start
            while left:
                left -= active(words, 9, at * 10, 10)[vm].sum() >= 2
                at += 1
            slowest = max(slowest, at - start)
    assert found.vm.worst_windows == slowest
