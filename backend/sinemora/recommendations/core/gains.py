"""Gains of placements and moves on hold-out windows, and the gain that noise alone explains."""

from collections.abc import Iterable

import numpy as np

from sinemora.applications.performance import Indices, Links
from sinemora.recommendations.core.holdout import Gain, block_errors, estimate_gain, performance_series
from sinemora.recommendations.core.instance import Deployment, Instance, PerformanceSeries
from sinemora.recommendations.core.tail_risk import RiskModel, link_performance
from sinemora.recommendations.placement.move_sequence import TaskMove


def apply_moves(at: tuple[Indices, ...], moves: Iterable[TaskMove]) -> tuple[Indices, ...]:
    """Return the placement after `moves`."""
    after = [machines.copy() for machines in at]
    for move in moves:
        after[move.task[0]][move.task[1]] = move.target
    return tuple(after)


def expected_gain(
    instance: Instance, before: tuple[Indices, ...], after: tuple[Indices, ...], places: Iterable[int], price: float
) -> Gain | None:
    """Estimate the gain of applications `places` between two placements, on hold-out windows."""
    chosen = list(places)
    first, then = ([_series(instance, place, side[place]) for place in chosen] for side in (before, after))
    return estimate_gain(first, then, price, instance.holdout_blocks, instance.recency)


def task_gain(
    instance: Instance, move: TaskMove, before: tuple[Indices, ...], after: tuple[Indices, ...]
) -> Gain | None:
    """Estimate the gain of a move for its own task, over its links."""
    place, task = move.task
    application = instance.applications[place]
    mine = (application.links.sources == task) | (application.links.targets == task)
    links = Links(application.links.sources[mine], application.links.targets[mine], application.links.weights[mine])
    first, then = (
        performance_series(
            links, side[place], instance.holdout, application.sensitivity, _of_star(application, instance.holdout_risk)
        )
        for side in (before, after)
    )
    return estimate_gain([first], [then], 0.0, instance.holdout_blocks, instance.recency)


def min_gain(instance: Instance, places: Iterable[int]) -> float:
    """Return twice the standard error of a link's performance: the apparent gain that noise alone produces.

    The optimiser picks the places whose noise looks best; a move for less follows noise. The error is that of the means
    of blocks of time, because windows autocorrelate.
    """
    errors = []
    for place in places:
        application = instance.applications[place]
        windows = link_performance(
            application.links,
            application.at,
            instance.training,
            application.sensitivity,
            _of_star(application, instance.training_risk),
        )
        of_links = block_errors(windows, instance.training_blocks)
        errors.append(of_links[np.isfinite(of_links)])
    known = np.concatenate(errors) if errors else np.empty(0)
    return float(2 * np.median(known)) if known.size else 0.0


def _of_star(application: Deployment, by: RiskModel | None) -> RiskModel | None:
    """Return the risk model for stars; it covers paths from roots, so graphs have none."""
    return None if application.root is None else by


def _series(instance: Instance, place: int, at: Indices) -> PerformanceSeries:
    application, known = instance.applications[place], instance.known_series
    key = (place, at.tobytes())
    if key not in known:
        by = _of_star(application, instance.holdout_risk)
        known[key] = performance_series(application.links, at, instance.holdout, application.sensitivity, by)
    return known[key]
