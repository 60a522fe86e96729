"""Time from the start of a fault to the window in which the default rules fire, by the turns of a mesh.

A fault starts with a window, any window of the period. Rules count measured windows: of a single path three of three
(`path`), of a VM or a pair of zones two of three in which at least two of its paths have a turn (`delay`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.fleet.meshes.strategies.turns import Flags, Ints, Words

PATH_WINDOWS, GROUP_WINDOWS = 3, 2
_GROUP_PATHS = 2


@dataclass(frozen=True, slots=True)
class DetectionTime:
    """Windows until a fault is detected, over all subjects and starts. None: of no subject.

    `never`: share of subjects whose fault is not detected.
    """

    p90_windows: int | None
    worst_windows: int | None
    never: float


@dataclass(frozen=True, slots=True)
class Detections:
    """Detection of a fault of one path, of one VM, and between two zones."""

    path: DetectionTime
    vm: DetectionTime
    zone_pair: DetectionTime


def detections_of(turns: Words, period: int, zone_of: Ints, planned: Flags) -> Detections:
    """Return the detection times under turns [n, n]; `planned` [n, n]: pairs that could be measured."""
    words, counts = np.unique(turns[np.triu(planned, 1)], return_counts=True)
    active = [turns >> np.uint64(turn) & np.uint64(1) for turn in range(period)]
    taking_part = planned.any(axis=1)
    of_vms = np.stack([one.sum(axis=1) for one in active])[:, taking_part]
    zones = int(zone_of.max(initial=-1)) + 1
    of_zones, could = [], np.zeros((zones, zones))
    np.add.at(could, (zone_of[:, None], zone_of[None, :]), planned)
    for one in active:
        between = np.zeros((zones, zones))
        np.add.at(between, (zone_of[:, None], zone_of[None, :]), one.astype(np.float64))
        of_zones.append(between[np.triu(could > 0, 1)])
    return Detections(
        _detection(words.tolist(), counts.tolist(), period, PATH_WINDOWS),
        _of_groups(of_vms, period),
        _of_groups(np.stack(of_zones), period),
    )


def _of_groups(measured: np.ndarray, period: int) -> DetectionTime:
    """Return the detection of groups, given the number of their measured paths by turn [period, groups]."""
    bits = np.uint64(1) << np.arange(period, dtype=np.uint64)
    words = ((measured >= _GROUP_PATHS) * bits[:, None]).sum(axis=0).astype(np.uint64)
    known, counts = np.unique(words, return_counts=True)
    return _detection(known.tolist(), counts.tolist(), period, GROUP_WINDOWS)


def _detection(words: Sequence[int], counts: Sequence[int], period: int, needed: int) -> DetectionTime:
    total = sum(counts)
    seen = [(word, count) for word, count in zip(words, counts, strict=True) if word]
    if not seen:
        return DetectionTime(None, None, 1.0 if total else 0.0)
    windows = np.concatenate([np.fromiter(waits(word, period, needed), np.int64) for word, _ in seen])
    weights = np.repeat([count for _, count in seen], period)
    order = np.argsort(windows, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    p90 = windows[order][np.searchsorted(reached, 0.9 - 1e-9)]
    return DetectionTime(int(p90), int(windows.max()), 1.0 - sum(count for _, count in seen) / total)


def waits(word: int, period: int, needed: int) -> Iterable[int]:
    """Return for each turn that a fault may start with the windows until `needed` windows have measured it."""
    for start in range(period):
        left = needed
        for at in range(start, start + period * needed):
            left -= word >> at % period & 1
            if not left:
                yield at - start + 1
                break
