"""Applications that an incident affects."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.tracking import Track
from sinemora.applications import queries as applications
from sinemora.applications import reading
from sinemora.applications.models import Application
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.meshes.plan import MeshState


def performance_of(session: Session, application: Application) -> float | None:
    """Return the predicted performance of an application now; None when it is unknown."""
    try:
        return reading.performance(session, application, Statistic.P50).performance
    except ProductError:
        return None


def vms_of(mesh: MeshState, track: Track) -> set[UUID]:
    """Return the VMs at the ends of its paths."""
    size = len(mesh.members)
    return {mesh.members[at].id for at in np.unique(np.concatenate((track.cells // size, track.cells % size))).tolist()}


def affected(
    session: Session, mesh: MeshState, track: Track, predicted: Callable[[Application], float | None]
) -> list[dict[str, Any]]:
    """Return the applications with a link on the paths of an incident, with their predicted performance."""
    ends = vms_of(mesh, track)
    rows = []
    for application in applications.applications_of(session, mesh.id):
        vms = {task.vm_id for task in application.tasks if task.vm_id is not None}
        if len(vms & ends) > 1 or application.name == track.application:
            rows.append(
                {
                    "id": str(application.id),
                    "name": application.name,
                    "performance": predicted(application),
                    "objective": application.objective,
                }
            )
    return rows
