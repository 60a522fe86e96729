"""Observed performance of applications since their moves, measured as predicted."""

from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach
from sinemora.applications import queries as applications
from sinemora.applications.reading import links_of
from sinemora.measurements.query.history import History
from sinemora.meshes.plan import MeshState
from sinemora.recommendations import explanation, load_instance
from sinemora.recommendations.core import holdout
from sinemora.recommendations.core.tail_risk import RiskModel
from sinemora.recommendations.schemas import ExpectedRead, Policy, RecommendationRequest


def observed(
    session: Session,
    mesh_id: UUID,
    moved: set[UUID],
    request: RecommendationRequest,
    mesh: MeshState,
    history: History,
) -> ExpectedRead | None:
    """Return the mean performance of the applications `moved` in a history; None with too few windows."""
    members = [application for application in applications.applications_of(session, mesh_id) if application.id in moved]
    if not members or not history.started_at_s.size:
        return None
    entries = attach.entries(session, members)
    machine_of = {axis.id: at for at, axis in enumerate(mesh.members)}
    places = [load_instance.task_machines(application, machine_of) for application in members]
    risk_model: RiskModel | None = None
    if request.policy is Policy.ROBUST:
        roots = [
            int(at[task])
            for application, at in zip(members, places, strict=True)
            for task in load_instance.root_positions(application)
        ]
        risk_model = load_instance.load_risk_model(session, mesh, history, request.risk, roots)
    lines = [
        holdout.performance_series(
            links_of(application),
            at,
            history.round_trips_ns,
            attach.sensitivity(application, entries[application.id]),
            risk_model if load_instance.root_positions(application) else None,
        )
        for application, at in zip(members, places, strict=True)
    ]
    gain = holdout.estimate_gain(lines, lines, 0.0)
    return None if gain is None or gain.after.windows < 2 else explanation.expected_read(gain.after)


def mean_of(estimates: list[ExpectedRead]) -> ExpectedRead:
    """Return the mean of the applications' estimates."""
    means, lows, highs = (
        float(np.mean([getattr(estimate, part) for estimate in estimates])) for part in ("mean", "low", "high")
    )
    return ExpectedRead(mean=means, low=lows, high=highs, windows=min(estimate.windows for estimate in estimates))
