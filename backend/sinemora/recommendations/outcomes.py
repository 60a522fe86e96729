"""What applications do since their tasks were moved, weighed as it was when it was promised."""

from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach
from sinemora.applications import queries as applications
from sinemora.applications.reading import links_of
from sinemora.measurements.query.history import History
from sinemora.meshes.plan import MeshState
from sinemora.recommendations import explanation, holdout, load_instance
from sinemora.recommendations.schemas import ExpectedRead, Policy, Question
from sinemora.recommendations.tail_risk import Felt


def observed(
    session: Session, mesh_id: UUID, moved: set[UUID], question: Question, mesh: MeshState, seen: History
) -> ExpectedRead | None:
    """The mean performance of the applications `moved` in the windows seen; None when too few tell."""
    found = [one for one in applications.applications_of(session, mesh_id) if one.id in moved]
    if not found or not seen.started_at_s.size:
        return None
    entries = attach.entries(session, found)
    machine_of = {axis.id: at for at, axis in enumerate(mesh.members)}
    places = [load_instance.machines_of(one, machine_of) for one in found]
    felt: Felt | None = None
    if question.policy is Policy.ROBUST:
        roots = [int(at[task]) for one, at in zip(found, places, strict=True) for task in load_instance.roots_of(one)]
        felt = load_instance.felt_in(session, mesh, seen, question.risk, roots)
    lines = [
        holdout.series(
            links_of(one),
            at,
            seen.round_trips_ns,
            attach.sensitivity(one, entries[one.id]),
            felt if load_instance.roots_of(one) else None,
        )
        for one, at in zip(found, places, strict=True)
    ]
    told = holdout.gain(lines, lines, 0.0)
    return None if told is None or told.after.windows < 2 else explanation.expected_read(told.after)


def mean_of(found: list[ExpectedRead]) -> ExpectedRead:
    """The mean over applications of what was expected of each."""
    means, lows, highs = (float(np.mean([getattr(one, part) for one in found])) for part in ("mean", "low", "high"))
    return ExpectedRead(mean=means, low=lows, high=highs, windows=min(one.windows for one in found))
