"""Cost tables: cost of a task on a machine in whole points, by latency step.

The source (UCAM-CL-TR-937, 6.1.1) takes 100 / p, p the predicted performance between 0.1 and 1, and rounds latency to
the nearest 10 µs. It says "two significant digits" of 1 / p, which would make every cost a multiple of 10 and its own
thresholds of 105 meaningless. Two decimals are assumed, so costs are whole numbers from 100 to 1000.
"""

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.table import CurveTable

LEAST_PERFORMANCE = 0.1
CostTable = npt.NDArray[np.int32]


class Objective(StrEnum):
    """Objective of a plan, summed over tasks and minimised."""

    slowdown = "slowdown"
    """100 / p, as published: penalises the tail."""
    loss = "loss"
    """1000 (1 − p): performance lost; maximises the mean over tasks."""
    fair = "fair"
    """Performance lost, with equal weight for each job."""
    worst_first = "worst_first"
    """As `fair`, with the most weight on the worst jobs."""


def table(curves: CurveTable, objective: Objective = Objective.slowdown) -> CostTable:
    """Return cost points of every curve at every latency step, shape (curves, steps)."""
    performance = curves.values.T
    if objective is Objective.slowdown:
        return np.rint(100.0 / np.clip(performance, LEAST_PERFORMANCE, 1.0)).astype(np.int32)
    return np.rint(1000.0 * (1.0 - np.clip(performance, 0.0, 1.0))).astype(np.int32)


def step_ns(curves: CurveTable) -> int:
    """Return the width of a table's step in ns."""
    return round(curves.step_us * 1000)
