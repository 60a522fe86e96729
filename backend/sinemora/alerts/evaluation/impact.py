"""Impact of a cause on its paths: their values against the usual ones, and each path against its reverse.

The sum of the changes of both directions is the change of the round trip, which no clock offset enters: an offset adds
to one direction what it takes from the other.
"""

from dataclasses import dataclass

import numpy as np

from sinemora.alerts.evaluation.baseline import SHORT, Baseline, Floats, Ints
from sinemora.alerts.evaluation.breach import limit, magnitude
from sinemora.alerts.evaluation.rule import Condition, Kind
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric, Statistic


@dataclass(frozen=True, slots=True)
class Impact:
    """Values of paths in one window by the metric of a condition, in ns or as ratios, NaN where unknown.

    `cells`: the paths (flat), the one with the largest change first. `usual`: baselines; of spikes the median of the
    window. `limits`: values above which the window is a breach.
    """

    cells: Ints
    values: Floats
    usual: Floats
    limits: Floats


@dataclass(frozen=True, slots=True)
class Shift:
    """Change of one-way medians from their baselines, in ns: medians over the affected paths with both directions.

    `slower`: number of the `compared` paths with a rise.
    """

    compared: int
    slower: int
    change_ns: int
    reverse_change_ns: int
    round_trip_change_ns: int


def statistic_of(condition: Condition) -> Statistic:
    """Return the statistic that a condition compares with its limit."""
    return Statistic.MAX if condition.kind is Kind.SPIKE else condition.statistic


def impact_of(cells: Ints, condition: Condition, state: EvaluationState, window: EvaluationWindow) -> Impact:
    """Return the values of affected paths against their usual values and limits."""
    values, usual = compared(condition, state, window)
    limits = np.broadcast_to(limit(condition, window.values, state.history(condition, window)), values.shape)
    values, usual, limits = (one.reshape(-1)[cells] for one in (values, usual, limits))
    change = np.where(np.isfinite(usual), values - usual, values)
    order = np.argsort(-np.nan_to_num(change, nan=-np.inf), kind="stable")
    return Impact(cells[order], values[order], usual[order], limits[order])


def compared(condition: Condition, state: EvaluationState, window: EvaluationWindow) -> tuple[Floats, Floats]:
    """Return the values that a condition compares and the usual ones, by path; NaN where unknown."""
    history = state.history(condition, window)
    baseline = state.baselines.get((condition.metric, condition.statistic))
    values = magnitude(condition.metric, statistic_of(condition), window.values)
    if condition.kind is Kind.LOSS and history.counts is not None:
        values = history.counts.ratio()
    if condition.kind is Kind.SPIKE:
        return values, window.values(condition.metric, Statistic.P50)
    return values, np.full(values.shape, np.nan, np.float32) if baseline is None else _levels(baseline)


def shift_of(cells: Ints, state: EvaluationState, window: EvaluationWindow) -> Shift | None:
    """Return the change of affected paths and of their reverse; None where no baseline of both is known."""
    changes = changes_of(state, window)
    if changes is None:
        return None
    out, back = changes.reshape(-1)[cells], changes.T.reshape(-1)[cells]
    known = np.isfinite(out) & np.isfinite(back)
    if not known.any():
        return None
    out, back = out[known], back[known]
    medians = (round(float(np.median(one))) for one in (out, back, out + back))
    return Shift(out.size, int(np.count_nonzero(out > 0)), *medians)


def changes_of(state: EvaluationState, window: EvaluationWindow) -> Floats | None:
    """Return by path the one-way delay minus its baseline, ns, NaN where unknown; None without any baseline."""
    for (metric, statistic), baseline in state.baselines.items():
        if metric is Metric.ONE_WAY_DELAY:
            changes: Floats = window.values(metric, statistic) - _levels(baseline)
            return changes
    return None


def _levels(baseline: Baseline) -> Floats:
    levels: Floats = np.where(baseline.known(SHORT), baseline.level[SHORT], np.float32(np.nan))
    return levels
