"""Impact at the newest windows, the basis of the performance of an application (`applications.reading.performance`)."""

from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications.performance import Links, Reached, reached
from sinemora.applications.reading import newest_round_trips
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.schemas import Span
from sinemora.recommendations import load_instance
from sinemora.recommendations.core.holdout import Estimate, Gain
from sinemora.recommendations.core.instance import WAITING, Deployment, Instance, Trips
from sinemora.recommendations.schemas import Percentile

_UNKNOWN_GAIN = (-1.0, 1.0)
"""Interval of a gain from one window: one observation has no spread."""


def load_newest(session: Session, mesh_id: UUID, statistic: Percentile) -> tuple[Instance, Span]:
    """Return the instance of a mesh with the newest window of each path as its only one.

    ProductError `mesh_unknown`, `matrix_missing`.
    """
    mesh = mesh_state(session, mesh_id)
    net = newest_round_trips(session, mesh, Statistic(statistic))
    if net.result.started_at is None:
        raise ProductError(
            "matrix_missing", 409, f"No measurements: the mesh {mesh.name} has no window yet. Check its agents."
        )
    instance = load_instance.load_placement(session, mesh, [])
    at = [net.machine_of[machine.id] for machine in instance.machines]
    trips = net.round_trips_ns[np.ix_(at, at)].astype(np.float32)[None]
    first = np.zeros(1, np.intp)
    span = Span(from_=net.result.started_at, to=net.result.ended_at)
    return load_instance.with_windows(instance, trips, first), span


def sides(before: Instance, after: Instance, place: int) -> tuple[Estimate | None, Estimate | None, Gain | None]:
    """Return the performance of an application before and after, and the gain; None where unknown.

    Both cover the links that are known before: links without measurements do not count, those of waiting tasks perform
    nothing. `low` and `high` are the band of the curve. A single window has no spread, so that the interval of the gain
    is -1 … 1.
    """
    first, then = before.applications[place], after.applications[place]
    known = _known(first, _reached(first, first.links, before.training))
    links = Links(first.links.sources[known], first.links.targets[known], first.links.weights[known])
    ends = [_estimate(one, links, instance.training) for one, instance in ((first, before), (then, after))]
    if ends[0] is None or ends[1] is None:
        return ends[0], ends[1], None
    gain = Estimate(ends[1].mean - ends[0].mean, *_UNKNOWN_GAIN, 1)
    return ends[0], ends[1], Gain(ends[0], ends[1], gain, 0.5, 1)


def _reached(application: Deployment, links: Links, trips: Trips) -> Reached:
    return reached(links, application.at, trips[0], application.sensitivity)


def _waits(application: Deployment, links: Links) -> np.ndarray:
    return np.asarray((application.at[links.sources] == WAITING) | (application.at[links.targets] == WAITING))


def _known(application: Deployment, there: Reached) -> np.ndarray:
    return np.asarray(np.isfinite(there.performance) | _waits(application, there.links))


def _estimate(application: Deployment, links: Links, trips: Trips) -> Estimate | None:
    there = _reached(application, links, trips)
    if not len(links) or not _known(application, there).all():
        return None
    waits = _waits(application, links)
    mean, low, high = (
        float(np.average(np.where(waits, 0.0, side), weights=links.weights))
        for side in (there.performance, there.low, there.high)
    )
    return Estimate(mean, low, high, 1)
