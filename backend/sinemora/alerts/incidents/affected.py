"""Applications that an incident affects, and what it costs each of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.tracking import Track
from sinemora.applications import attach, reading
from sinemora.applications import queries as applications
from sinemora.applications.models import Application
from sinemora.applications.performance import Flags, Links, Reached
from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic

Predict = Callable[[Application], Reached | None]
"""Predicted performance of the links of an application, None if unknown."""


def newest(session: Session, mesh_id: UUID) -> Predict:
    """Return predictions under the newest round trips of a mesh, which are read once."""
    networks: list[reading.MeasuredPaths] = []

    def predict(application: Application) -> Reached | None:
        try:
            if not networks:
                networks.append(reading.network(session, mesh_id, Statistic.P50))
            return reading.predict(application, networks[0], attach.entries(session, [application])[application.id])
        except ProductError:
            return None

    return predict


def vms_of(mesh: MeshState, track: Track) -> set[UUID]:
    """Return the VMs at the ends of its paths."""
    size = len(mesh.members)
    return {mesh.members[at].id for at in np.unique(np.concatenate((track.cells // size, track.cells % size))).tolist()}


def affected(session: Session, mesh: MeshState, track: Track, predict: Predict) -> list[dict[str, Any]]:
    """Return the applications with a link on the paths of an incident.

    `performance` is the predicted share of the best; `cost` is the part of 1 − `performance` that links on these paths
    cause, so that two incidents do not both count it. An incident about an application itself costs all of it.
    """
    size = len(mesh.members)
    on_paths = np.zeros((size, size), np.bool_)
    on_paths.flat[track.cells] = True
    either_way = on_paths | on_paths.T
    places = {member.id: at for at, member in enumerate(mesh.members)}
    rows = []
    for application in applications.applications_of(session, mesh.id):
        links = reading.links_of(application)
        over = _over(application, links, places, either_way)
        is_subject = application.name == track.application
        if not (is_subject or over.any()):
            continue
        reached = predict(application)
        rows.append(
            {
                "id": str(application.id),
                "name": application.name,
                "performance": None if reached is None else reached.mean(),
                "cost": None if reached is None else reached.cost(np.ones_like(over) if is_subject else over),
                "objective": application.objective,
            }
        )
    return rows


def followed(before: Sequence[Mapping[str, Any]], now: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return `affected` applications of now, with the largest cost each has had as `worst_cost`, and the performance
    at that time as `worst_performance`.

    A cost that is not known now stays the last known one.
    """
    earlier = {one["id"]: one for one in before}
    rows = []
    for one in now:
        then = earlier.get(one["id"], {})
        cost = then.get("cost") if one["cost"] is None else one["cost"]
        worst, reached = then.get("worst_cost", then.get("cost")), then.get("worst_performance")
        if cost is not None and (worst is None or cost >= worst):
            worst, reached = cost, one["performance"]
        rows.append(one | {"cost": cost, "worst_cost": worst, "worst_performance": reached})
    return rows


def _over(application: Application, links: Links, places: dict[UUID, int], either_way: Flags) -> Flags:
    """Return the mask of the links of an application that use a path of the incident, in either direction."""
    at = np.array([-1 if task.vm_id is None else places.get(task.vm_id, -1) for task in application.tasks], np.intp)
    a, b = at[links.sources], at[links.targets]
    over: Flags = (a >= 0) & (b >= 0) & either_way[a, b]
    return over
