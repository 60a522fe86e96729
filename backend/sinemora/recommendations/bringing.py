"""Cost to bring the image or state of a task to another VM, as a term of its moves and in words."""

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.artifacts import moves
from sinemora.artifacts.models import Artifact
from sinemora.artifacts.schemas import MoveCostRead
from sinemora.kit.errors import ProductError
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.placement.move_sequence import TaskMove
from sinemora.recommendations.schemas import RecommendationRequest

Costs = Mapping[int, Mapping[UUID, MoveCostRead]]
"""Costs to bring the artifact of an application to each VM, by place of the application."""


def artifacts_of(
    session: Session, mesh_id: UUID, instance: Instance, request: RecommendationRequest
) -> dict[int, Artifact]:
    """Return the artifacts that a request names, by place. ProductError `application_unknown`, `artifact_unknown`."""
    places = {application.name: place for place, application in enumerate(instance.applications)}
    found: dict[int, Artifact] = {}
    for name, artifact in request.artifacts.items():
        if name not in places:
            raise ProductError("application_unknown", 404, f"Unknown application in artifacts: {name}.")
        found[places[name]] = moves.named(session, mesh_id, artifact)
    return found


def costs_of(session: Session, mesh_id: UUID, instance: Instance, request: RecommendationRequest) -> Costs:
    """Return what bringing the artifacts of a request costs. ProductError `application_unknown`, `artifact_unknown`."""
    vm_ids = [machine.id for machine in instance.machines]
    rows = artifacts_of(session, mesh_id, instance, request)
    return {place: moves.costs(session, row, vm_ids) for place, row in rows.items()}


def priced(instance: Instance, costs: Costs, request: RecommendationRequest) -> Instance:
    """Return the instance whose moves have to gain `bringing_cost` more for each minute that bringing takes."""
    applications = list(instance.applications)
    for place, by_vm in costs.items():
        minutes = np.array([by_vm[machine.id].seconds / 60 for machine in instance.machines])
        applications[place] = replace(applications[place], bringing=(request.bringing_cost or 0.0) * minutes)
    return replace(instance, applications=tuple(applications))


def of_move(instance: Instance, costs: Costs, move: TaskMove) -> MoveCostRead | None:
    """Return what bringing the artifact of a move's task costs; None if the request names none."""
    by_vm = costs.get(move.task[0])
    return None if by_vm is None else by_vm[instance.machines[move.target].id]
