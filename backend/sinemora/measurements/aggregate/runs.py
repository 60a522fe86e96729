"""Runs of steps in which a path is unusual: since when its delay has been outside its dead band. Pure.

A step without a value (nothing arrived, or all packets were lost) neither begins nor ends a run: it does not show that
the delay was usual.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple


class StoredStep(NamedTuple):
    """One stored step of a path: its start and end (Unix s), and its p50 in ns, None without one."""

    started_at_s: int
    ended_at_s: int
    delay_ns: int | None


class DeadBand(NamedTuple):
    """Usual delay of a path, ns, and the largest usual deviation from it."""

    usual_ns: int
    reach_ns: int

    def contains(self, delay_ns: int) -> bool:
        """Return whether a delay is usual."""
        return abs(delay_ns - self.usual_ns) <= self.reach_ns


class UnusualRun(NamedTuple):
    """Last run of unusual steps, as places in their sequence.

    `first` is its first step; `before` the last usual step, None when all known steps are unusual.
    """

    first: int
    before: int | None


def last_run(steps: Sequence[StoredStep], band: DeadBand) -> UnusualRun | None:
    """Return the run that lasts until the end of `steps`, oldest first; None when the newest known step is usual."""
    first = None
    for at in range(len(steps) - 1, -1, -1):
        delay_ns = steps[at].delay_ns
        if delay_ns is None:
            continue
        if band.contains(delay_ns):
            return None if first is None else UnusualRun(first, at)
        first = at
    return None if first is None else UnusualRun(first, None)


def replaced(steps: Sequence[StoredStep], finer: Sequence[StoredStep]) -> list[StoredStep]:
    """Return the steps with each replaced by the `finer` steps in it if one of those has a delay; all oldest first."""
    merged: list[StoredStep] = []
    starts = [one.started_at_s for one in finer]
    for step in steps:
        within = finer[bisect_left(starts, step.started_at_s) : bisect_left(starts, step.ended_at_s)]
        merged += within if any(one.delay_ns is not None for one in within) else [step]
    return merged
