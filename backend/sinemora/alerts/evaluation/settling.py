"""Settling: how long each path has been measured. Rules hold back on a path that has only just begun.

In its first minutes a path is slower than usual: the clocks of its agents are still being learnt, and everything on a
machine that has just booted starts at once. Each window with data makes a path one window older, each missing one a
window younger, so that a path settles again after a long break.
"""

from dataclasses import dataclass

import numpy as np

from sinemora.alerts.evaluation.baseline import LEARNT, SHORT, Baseline, Counts, Flags

SETTLING_S = 300
"""Default of the setting `alert_settling_s`."""


@dataclass(frozen=True, slots=True)
class Learning:
    """How much a mesh has learnt, over its planned paths.

    `settling`: paths too young for rules, `settled_windows` their median age. `unlearnt`: paths without a short
    baseline, `learnt_windows` the median number of windows that theirs have learnt from.
    """

    paths: int = 0
    settling: int = 0
    settled_windows: int = 0
    unlearnt: int = 0
    learnt_windows: int = 0

    @property
    def settles(self) -> bool:
        """Return whether most paths are too young for rules: then what is computed from them is held back too."""
        return 2 * self.settling > self.paths


def settled(ages: Counts, settling: int) -> Flags:
    """Return the mask of paths that had data in enough windows before this one."""
    mask: Flags = ages >= settling
    return mask


def rested(ages: Counts, settling: int, missed: int) -> Counts:
    """Return the ages after windows that were missed by all.

    An age is at most twice what is needed: a path that has settled keeps that through a break as long as it took.
    """
    most = 2 * settling
    kept: Counts = np.minimum(ages, np.uint16(most))
    kept -= np.minimum(kept, np.uint16(min(missed, most)))
    return kept


def aged(ages: Counts, known: Flags, active: Flags | None) -> Counts:
    """Return the ages after a window. With `active`, only the paths change whose turn the window is."""
    after: Counts = np.where(known, ages + np.uint16(1), ages - np.minimum(ages, np.uint16(1)))
    return after if active is None else np.where(active, after, ages)


def learning(planned: Flags, settled_mask: Flags, ages: Counts, baseline: Baseline | None) -> Learning:
    """Return how much the planned paths have learnt."""
    settling, settled_windows = _young(planned & ~settled_mask, ages)
    unlearnt = learnt_windows = 0
    if baseline is not None:
        unlearnt, learnt_windows = _young(planned & ~baseline.known(SHORT), baseline.count)
    return Learning(int(np.count_nonzero(planned)), settling, settled_windows, unlearnt, min(learnt_windows, LEARNT))


def _young(paths: Flags, ages: Counts) -> tuple[int, int]:
    """Return the number of these paths and their median age."""
    count = int(np.count_nonzero(paths))
    return count, int(np.median(ages[paths])) if count else 0
