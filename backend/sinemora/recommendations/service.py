"""Use cases: request, decide and verify recommendations."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.alerts.notifications import dispatch
from sinemora.alerts.receivers import queries as receiver_queries
from sinemora.applications.schemas import Named
from sinemora.applications.service import get_application
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.queries import lock_mesh
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.db import locked, named
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.recommendations import bringing, explanation, load_instance, outcomes, plans, preconditions, queries
from sinemora.recommendations.core import optimize
from sinemora.recommendations.core.instance import NothingMeasured
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.core.verdict import MoveVerdict
from sinemora.recommendations.models import OPEN, OVER, Recommendation, RecommendationState, Trigger
from sinemora.recommendations.placement import progress
from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.infeasibility import InfeasibleError
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import ProblemError
from sinemora.recommendations.schemas import (
    Accuracy,
    AccuracyEntry,
    CauseRead,
    MoveRead,
    RecommendationRead,
    RecommendationRequest,
    RecommendationResult,
    RecommendationSummary,
    VerifiedOutcome,
)

_UNSUPPORTED = ("not_supported", "not_together")
"""Codes of `ProblemError` for a policy that cannot keep the limits."""
VALID_FOR = timedelta(days=1)
"""Time in which a recommendation can be applied: its gain was predicted for the hour after it."""
GIVEN_UP = timedelta(days=1)
"""Longest wait for missing data after the observation; then the verdict is `cannot_tell`."""


def recommend(
    session: Session, mesh_id: UUID, request: RecommendationRequest, trigger: Trigger, requested_by: str
) -> Recommendation:
    """Search for moves worth making, and store the result even without moves.

    ProductError `mesh_unknown`, `application_unknown`, `applications_missing`, `artifact_unknown`, `matrix_missing`,
    `measurements_stale`, `placement_impossible`. Proposals for the same applications are superseded. Where the incident
    of the request ended meanwhile, the recommendation is withdrawn at once.
    """
    instance, history = load_instance.load(session, mesh_id, request)
    load_instance.require_fresh(history)
    if not any(application.chosen for application in instance.applications):
        raise ProductError(
            "applications_missing", 409, "No applications: this mesh has none to place. Declare one first."
        )
    costs = bringing.costs_of(session, mesh_id, instance, request)
    instance = bringing.priced(instance, costs, request)
    try:
        solution = optimize.solve(instance, options_of(request))
    except NothingMeasured:
        raise ProductError(
            "matrix_missing", 409, "No measurements: no path of this mesh was measured recently. Check its agents."
        ) from None
    except ProblemError as error:
        if error.code in _UNSUPPORTED:  # limits that were declared after the request
            raise ProductError("policy_unsupported", 409, f"Unsupported {error.where}: {error}.") from None
        raise ProductError(
            "placement_impossible", 409, f"{error.where}: {error}", reason=error.code, where=error.where
        ) from None
    except InfeasibleError as error:
        raise ProductError("placement_impossible", 409, str(error), relax=list(error.relax)) from None
    progress.report(0.9, "comparing alternatives of each move")
    result = explanation.build_result(instance, history, request, solution)
    # Of two searches that end at once the second one sees the proposal of the first.
    lock_mesh(session, mesh_id)
    recommendation = Recommendation(
        mesh_id=mesh_id,
        state=RecommendationState.proposed,
        trigger=trigger,
        requested_by=requested_by,
        request=request.model_dump(mode="json"),
        incident_id=request.incident_id,
        expires_at=datetime.now(UTC) + VALID_FOR,
        result=result.model_dump(mode="json", by_alias=True),
        moves=[
            move.model_dump(mode="json", exclude={"made_at"})
            for move in explanation.build_moves(instance, solution, costs)
        ],
    )
    earlier = queries.proposed_of(session, mesh_id)
    session.add(recommendation)
    session.flush()
    session.refresh(recommendation)
    names = {key: one.id for one in instance.applications for key in (one.name, str(one.id))}
    for other in earlier:
        if result.evidence.shortage is None and _scope(other, names) == _scope(recommendation, names):
            other.reason = f"A newer recommendation has its place: {recommendation.id}."
            _decide(session, None, other, RecommendationState.superseded)
    _end(session, recommendation, datetime.now(UTC))
    return recommendation


def _scope(recommendation: Recommendation, names: Mapping[str, UUID]) -> tuple[object, ...]:
    """Return what a newer recommendation must share to supersede this one: policy and applications."""
    named = recommendation.request.get("applications") or list(names)
    return recommendation.request["policy"], {names.get(name) for name in named}


def options_of(request: RecommendationRequest) -> Options:
    """Translate a request into options of the optimiser."""
    return Options(
        nomora=None if request.nomora is None else Parameters(**request.nomora.model_dump(), aggregate=True),
        objective=request.objective or (Objective.slowdown if request.nomora else Objective.loss),
        moves_max=request.moves_max,
        move_cost=request.move_cost,
    )


def get_recommendation(session: Session, recommendation_id: UUID) -> Recommendation:
    """Return the tenant's recommendation. ProductError `recommendation_unknown`."""
    return existing(session.get(Recommendation, recommendation_id), "recommendation")


def accept(session: Session, actor: Actor, recommendation_id: UUID, precondition: IfMatch) -> Recommendation:
    """Mark as accepted.

    ProductError `recommendation_unknown`, `recommendation_over`, `recommendation_decided`, `version_changed`.
    """
    recommendation = _deciding(session, recommendation_id, precondition, (RecommendationState.proposed,))
    _decide(session, actor, recommendation, RecommendationState.accepted)
    return recommendation


def dismiss(
    session: Session, actor: Actor, recommendation_id: UUID, reason: str, precondition: IfMatch
) -> Recommendation:
    """Dismiss with a reason. Raises the ProductErrors of `accept`."""
    recommendation = _deciding(session, recommendation_id, precondition, OPEN)
    recommendation.reason = reason or None
    _decide(session, actor, recommendation, RecommendationState.dismissed)
    return recommendation


def apply(session: Session, actor: Actor, recommendation_id: UUID, precondition: IfMatch) -> Recommendation:
    """Mark as applied and record the tasks on their new VMs.

    ProductErrors of `accept`, `moves_none`, `recommendation_outdated`.
    """
    lock_mesh(session, get_recommendation(session, recommendation_id).mesh_id)
    recommendation = _deciding(session, recommendation_id, precondition, OPEN)
    steps = steps_of(recommendation)
    if not steps:
        raise ProductError("moves_none", 409, "No moves: this recommendation has none to apply.")
    target_of = {step.task.id: step.target.id for step in steps}
    for task in preconditions.lock_and_check(session, recommendation.mesh_id, steps):
        task.vm_id = target_of[task.id]
    for application_id in {step.application.id for step in steps}:
        # A declaration that was read before the moves must not undo them: its version changes.
        get_application(session, application_id).updated_at = datetime.now(UTC)
    recommendation.applied_at = datetime.now(UTC)
    _decide(session, actor, recommendation, RecommendationState.applied)
    return recommendation


def detect_applied(session: Session, recommendation_id: UUID) -> bool:
    """Mark a recommendation as applied when all its tasks run on their targets; return True if it was marked.

    It is applied since the last of them came there, whoever moved it. One that was over by then is not applied, and a
    proposal is superseded when the moves were made for another recommendation that was accepted.
    """
    recommendation = locked(session, Recommendation, recommendation_id)
    if recommendation is None or recommendation.state not in OPEN or not recommendation.moves:
        return False
    steps = _seen(session, recommendation)
    times = [step.made_at for step in steps if step.made_at is not None]
    if len(times) < len(steps):
        return False
    at = max(times)
    incident_id = recommendation.incident_id
    incident = None if incident_id is None else queries.cause(session, incident_id)
    ends = (recommendation.expires_at, None if incident is None else incident.ended_at)
    if any(end is not None and end <= at for end in ends):
        return False
    if recommendation.state == RecommendationState.proposed:
        other = queries.carried_out_for(session, recommendation)
        if other is not None:
            recommendation.reason = f"Its moves were made for another recommendation: {other}."
            _decide(session, None, recommendation, RecommendationState.superseded)
            return True
    source = queries.source(session, {step.application.id for step in steps}, at)
    recommendation.reason = f"All tasks were on their new VMs at {at:%Y-%m-%d %H:%M:%S} UTC{source}."
    recommendation.applied_at = max(at, recommendation.created_at)
    _decide(session, None, recommendation, RecommendationState.applied)
    return True


def announce(session: Session, recommendation_id: UUID) -> None:
    """Send accepted moves with their plans, once, to each receiver that gets them."""
    receivers = receiver_queries.for_accepted_moves(session)
    recommendation = locked(session, Recommendation, recommendation_id) if receivers else None
    if recommendation is None or recommendation.state != RecommendationState.accepted:
        return
    known = queries.announced(session, recommendation_id)
    waiting = [receiver for receiver in receivers if receiver.id not in known]
    content = plans.notice(session, recommendation) if waiting else None
    for receiver in waiting:
        dispatch.send(session, receiver.id, None, "accepted", content=content)


def end(session: Session, recommendation_id: UUID, now: datetime) -> bool:
    """End a recommendation that nobody applied once its incident or its time has ended; return True if it ended."""
    recommendation = locked(session, Recommendation, recommendation_id)
    return recommendation is not None and recommendation.state in OPEN and _end(session, recommendation, now)


def _end(session: Session, recommendation: Recommendation, now: datetime) -> bool:
    if recommendation.incident_id is not None:
        incident = queries.cause(session, recommendation.incident_id)
        if incident is None or incident.ended_at is not None:
            recommendation.reason = (
                "The incident that the moves were for was deleted."
                if incident is None
                else f"The incident “{incident.title}” ended at {incident.ended_at:%Y-%m-%d %H:%M:%S} UTC."
            )
            _decide(session, None, recommendation, RecommendationState.withdrawn)
            return True
    if recommendation.expires_at is not None and recommendation.expires_at <= now:
        recommendation.reason = f"The moves could be applied until {recommendation.expires_at:%Y-%m-%d %H:%M} UTC."
        _decide(session, None, recommendation, RecommendationState.expired)
        return True
    return False


def detect_undone(session: Session, recommendation_id: UUID) -> bool:
    """Mark an applied recommendation as undone when a task left its new VM; return True if it was marked.

    What was undone is no evidence against the recommendation.
    """
    recommendation = locked(session, Recommendation, recommendation_id)
    if recommendation is None or recommendation.state != RecommendationState.applied:
        return False
    steps = steps_of(recommendation)
    places = queries.places(session, [step.task.id for step in steps])
    left = next((step for step in steps if places.get(step.task.id, (None,))[0] != step.target.id), None)
    if left is None:
        return False
    task = f"{left.application.name}/{left.task.name}"
    recommendation.reason = f"{task} left {left.target.name} before the outcome was measured."
    _decide(session, None, recommendation, RecommendationState.undone)
    return True


def verify(session: Session, recommendation_id: UUID, now: datetime) -> bool:
    """Judge an applied recommendation by what was measured since; return False while data may still come."""
    recommendation = locked(session, Recommendation, recommendation_id)
    if (
        recommendation is None
        or recommendation.state != RecommendationState.applied
        or recommendation.applied_at is None
    ):
        return False
    observed_until = recommendation.applied_at + outcomes.SETTLED + outcomes.OBSERVED
    if now < observed_until:
        return False
    outcome = outcomes.measure(
        session,
        recommendation,
        recommendation.applied_at,
        mesh_state(session, recommendation.mesh_id),
        steps_of(recommendation),
        final=now >= observed_until + GIVEN_UP,
    )
    if outcome is None:
        return False
    recommendation.outcome = outcome.model_dump(mode="json", by_alias=True)
    recommendation.verified_at = now
    _decide(session, None, recommendation, RecommendationState.verified)
    return True


def accuracy(session: Session, limit: int) -> Accuracy:
    """Summarise the newest `limit` verified recommendations, and how many were undone in their time."""
    entries = [
        AccuracyEntry(
            id=recommendation.id,
            mesh=Named.model_validate(recommendation.mesh),
            verified_at=recommendation.verified_at,
            outcome=VerifiedOutcome.model_validate(recommendation.outcome),
        )
        for recommendation in queries.verified(session, limit)
    ]
    verdicts = Counter(entry.outcome.verdict for entry in entries)
    gains = [
        (entry.outcome.promised.mean, entry.outcome.observed.mean)
        for entry in entries
        if entry.outcome.verdict is not MoveVerdict.CANNOT_TELL and entry.outcome.observed is not None
    ]
    means = np.mean(gains, axis=0).tolist() if gains else [None, None]
    return Accuracy(
        held=verdicts[MoveVerdict.HELD],
        not_held=verdicts[MoveVerdict.NOT_HELD],
        cannot_tell=verdicts[MoveVerdict.CANNOT_TELL],
        undone=queries.undone_since(session, entries[-1].verified_at if len(entries) == limit else None),
        mean_error=float(np.mean([observed - promised for promised, observed in gains])) if gains else None,
        mean_gain_predicted=means[0],
        mean_gain_observed=means[1],
        entries=entries,
    )


def summary(recommendation: Recommendation) -> RecommendationSummary:
    """Convert to a list item."""
    return RecommendationSummary(**_summary(recommendation))


def read(session: Session, recommendation: Recommendation) -> RecommendationRead:
    """Convert with moves and evidence."""
    incident_id = recommendation.incident_id
    incident = None if incident_id is None else queries.cause(session, incident_id)
    return RecommendationRead(
        **_summary(recommendation),
        incident=None if incident is None else CauseRead.model_validate(incident),
        request=RecommendationRequest.model_validate(recommendation.request),
        result=RecommendationResult.model_validate(recommendation.result),
        steps=_seen(session, recommendation),
        reason=recommendation.reason,
        outcome=None if recommendation.outcome is None else VerifiedOutcome.model_validate(recommendation.outcome),
    )


def steps_of(recommendation: Recommendation) -> list[MoveRead]:
    """Return the moves in execution order."""
    return [MoveRead.model_validate(move) for move in recommendation.moves]


def _seen(session: Session, recommendation: Recommendation) -> list[MoveRead]:
    """Return the moves with the time since when each task is on its new VM."""
    steps = steps_of(recommendation)
    places = queries.places(session, [step.task.id for step in steps])
    for step in steps:
        vm_id, placed_at = places.get(step.task.id, (None, None))
        step.made_at = placed_at if vm_id == step.target.id else None
    return steps


def resolve_mesh(session: Session, reference: str, field: str = "mesh") -> Mesh:
    """Return the mesh with this name or id, which the body has in `field`. ProductError `mesh_unknown`."""
    try:
        mesh = session.get(Mesh, UUID(reference))
    except ValueError:
        mesh = named(session, Mesh, reference)
    if mesh is None:
        raise ProductError(
            "mesh_unknown",
            404,
            f"Unknown mesh: {reference}. Give the name or id of a mesh.",
            errors=[{"pointer": f"#/{field}", "message": "name or id of a mesh"}],
        )
    return mesh


def _deciding(
    session: Session, recommendation_id: UUID, precondition: IfMatch, states: tuple[RecommendationState, ...]
) -> Recommendation:
    recommendation = existing(locked(session, Recommendation, recommendation_id), "recommendation")
    if recommendation.state in OPEN:
        _end(session, recommendation, datetime.now(UTC))
    if recommendation.state in OVER:  # before the version, which changed with it: this says why
        raise ProductError(
            "recommendation_over",
            409,
            f"{recommendation.state.capitalize()}: {recommendation.reason} Request a new recommendation.",
        )
    precondition.check(recommendation)
    if recommendation.state not in states:
        raise ProductError(
            "recommendation_decided",
            409,
            f"Already decided: the recommendation is {recommendation.state}, not {' or '.join(states)}.",
        )
    return recommendation


def _decide(session: Session, actor: Actor | None, recommendation: Recommendation, state: RecommendationState) -> None:
    recommendation.state = state
    recommendation.decided_at = datetime.now(UTC)
    session.flush()
    session.refresh(recommendation)
    audit.record(session, actor, f"recommendation.{state}", recommendation.id, recommendation.mesh.name)


def _summary(recommendation: Recommendation) -> dict[str, Any]:
    fields = ("id", "state", "trigger", "requested_by", "incident_id", "version", "created_at", "expires_at")
    times = ("decided_at", "applied_at", "verified_at")
    return {field: getattr(recommendation, field) for field in (*fields, *times)} | {
        "mesh": Named.model_validate(recommendation.mesh),
        "policy": recommendation.result["policy"],
        "moves": len(recommendation.moves),
        "total": recommendation.result["total"],
    }
