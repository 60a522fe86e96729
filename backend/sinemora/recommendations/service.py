"""Use cases of recommendations: asking, deciding, and seeing whether they came true."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import queries as applications
from sinemora.applications.schemas import Named
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.etag import IfMatch
from sinemora.measurements.schemas import Span
from sinemora.meshes.models import Mesh
from sinemora.meshes.service import mesh_state
from sinemora.placement import policies
from sinemora.placement.costs import Objective
from sinemora.placement.limits import InfeasibleError
from sinemora.placement.problem import ProblemError
from sinemora.recommendations import explanation, load_instance, optimize, outcomes, queries
from sinemora.recommendations.instance import NothingKnown
from sinemora.recommendations.models import OPEN, Recommendation, RecommendationState, Trigger
from sinemora.recommendations.schemas import (
    Accuracy,
    AccuracyEntry,
    Answer,
    MoveRead,
    Outcome,
    Policy,
    Question,
    RecommendationRead,
    RecommendationSummary,
)
from sinemora.tenants import audit
from sinemora.tenants.access import Actor

SETTLED = timedelta(minutes=2)
"""How long after the moves windows do not count: caches warm up, connections are made anew."""
OBSERVED = timedelta(minutes=10)
"""How long windows are watched before a recommendation is verified."""


def recommend(
    session: Session, mesh_id: UUID, question: Question, trigger: Trigger, requested_by: str
) -> Recommendation:
    """Look for moves worth making, and keep what was found, even if it is that everything should stay.

    ProductError `mesh_unknown`, `application_unknown`, `applications_missing`, `matrix_missing`,
    `placement_impossible`.
    """
    world, seen = load_instance.world(session, mesh_id, question)
    if not any(one.chosen for one in world.applications):
        raise ProductError(
            "applications_missing", 409, "No application is declared on this mesh: there is nothing to place."
        )
    wish = wish_of(question)
    try:
        choice = optimize.choose(world, wish)
    except NothingKnown:
        raise ProductError(
            "matrix_missing", 409, "No path of this mesh was measured lately. Are its agents running?"
        ) from None
    except ProblemError as error:
        raise ProductError(
            "placement_impossible", 409, f"{error.where}: {error}", reason=error.code, where=error.where
        ) from None
    except InfeasibleError as error:
        raise ProductError("placement_impossible", 409, str(error), relax=list(error.relax)) from None
    found = Recommendation(
        mesh_id=mesh_id,
        state=RecommendationState.proposed,
        trigger=trigger,
        requested_by=requested_by,
        question=question.model_dump(mode="json"),
        answer=explanation.answer(world, seen, question, wish.objective, choice).model_dump(mode="json", by_alias=True),
        moves=[one.model_dump(mode="json") for one in explanation.moves(world, choice)],
    )
    session.add(found)
    session.flush()
    session.refresh(found)
    return found


def wish_of(question: Question) -> optimize.Wish:
    """How places are to be chosen."""
    published = Objective.slowdown if question.policy is Policy.NOMORA else Objective.loss
    solver = "nomora_aggregated" if question.policy is Policy.NOMORA else question.policy.value
    return optimize.Wish(
        policy=None if question.policy is Policy.GRAPH else policies.Policy(solver),
        objective=question.objective or published,
        moves_max=question.moves_max,
        move_cost=question.move_cost,
    )


def get_recommendation(session: Session, recommendation_id: UUID) -> Recommendation:
    """The tenant's recommendation. ProductError `recommendation_unknown`."""
    found = session.get(Recommendation, recommendation_id)
    if found is None:
        raise NotFound("recommendation")
    return found


def accept(session: Session, actor: Actor, recommendation_id: UUID, precondition: IfMatch) -> Recommendation:
    """Say that it will be done. ProductError `recommendation_unknown`, `recommendation_decided`, `version_changed`."""
    found = _deciding(session, recommendation_id, precondition, (RecommendationState.proposed,))
    _decide(session, actor, found, RecommendationState.accepted)
    return found


def dismiss(
    session: Session, actor: Actor, recommendation_id: UUID, reason: str, precondition: IfMatch
) -> Recommendation:
    """Say that it will not be done, and why. ProductErrors as `accept`."""
    found = _deciding(session, recommendation_id, precondition, OPEN)
    found.reason = reason or None
    _decide(session, actor, found, RecommendationState.dismissed)
    return found


def apply(session: Session, actor: Actor, recommendation_id: UUID, precondition: IfMatch) -> Recommendation:
    """Say that the moves were made: the tasks are then where it put them. ProductErrors as `accept`, `moves_none`."""
    found = _deciding(session, recommendation_id, precondition, OPEN)
    steps = steps_of(found)
    if not steps:
        raise ProductError("moves_none", 409, "It recommends no moves: there is nothing to apply.")
    target_of = {step.task.id: step.target.id for step in steps}
    for task in queries.tasks(session, list(target_of)):
        task.vm_id = target_of[task.id]
    found.applied_at = datetime.now(UTC)
    _decide(session, actor, found, RecommendationState.applied)
    return found


def notice(session: Session, recommendation_id: UUID) -> bool:
    """Mark a recommendation applied when all its tasks are where it put them; whether it was."""
    found = queries.locked(session, recommendation_id)
    if found is None or found.state not in OPEN or not found.moves:
        return False
    target_of = {step.task.id: step.target.id for step in steps_of(found)}
    if queries.places(session, list(target_of)) != target_of:
        return False
    found.applied_at = datetime.now(UTC)
    _decide(session, None, found, RecommendationState.applied)
    return True


def verify(session: Session, recommendation_id: UUID) -> bool:
    """Compare what was measured since it was applied with what it said; False while too little was measured."""
    found = queries.locked(session, recommendation_id)
    if found is None or found.state != RecommendationState.applied or found.applied_at is None:
        return False
    question, answer = Question.model_validate(found.question), Answer.model_validate(found.answer)
    start = found.applied_at + SETTLED
    mesh = mesh_state(session, found.mesh_id)
    seen = load_instance.recent(session, mesh, question, start)
    moved = {step.application.id for step in steps_of(found)}
    observed = outcomes.observed(session, found.mesh_id, moved, question, mesh, seen)
    if observed is None or answer.total is None or seen.span is None:
        return False
    predicted = outcomes.mean_of([one.expected.after for one in answer.applications])
    before = float(np.mean([one.expected.before.mean for one in answer.applications]))
    outcome = Outcome(
        observed=observed,
        predicted=predicted,
        gain_observed=observed.mean - before,
        gain_predicted=predicted.mean - before,
        # Both are uncertain: they agree when their intervals meet.
        held=observed.low <= predicted.high and predicted.low <= observed.high,
        window=Span(from_=seen.span[0], to=seen.span[1]),
    )
    found.outcome = outcome.model_dump(mode="json", by_alias=True)
    found.verified_at = datetime.now(UTC)
    _decide(session, None, found, RecommendationState.verified)
    return True


def accuracy(session: Session, limit: int) -> Accuracy:
    """How right the newest `limit` verified recommendations were."""
    entries = [
        AccuracyEntry(
            id=one.id,
            mesh=Named.model_validate(one.mesh),
            verified_at=one.verified_at,
            outcome=Outcome.model_validate(one.outcome),
        )
        for one in queries.verified(session, limit)
    ]
    gains = [(entry.outcome.gain_predicted, entry.outcome.gain_observed) for entry in entries]
    means = np.mean(gains, axis=0).tolist() if gains else [None, None]
    return Accuracy(
        verified=len(entries),
        held=sum(entry.outcome.held for entry in entries),
        mean_error=float(np.mean([observed - predicted for predicted, observed in gains])) if gains else None,
        mean_gain_predicted=means[0],
        mean_gain_observed=means[1],
        entries=entries,
    )


def summary(found: Recommendation) -> RecommendationSummary:
    """As an item of the list."""
    return RecommendationSummary(**_summary(found))


def read(found: Recommendation) -> RecommendationRead:
    """With everything it rests on."""
    return RecommendationRead(
        **_summary(found),
        question=Question.model_validate(found.question),
        answer=Answer.model_validate(found.answer),
        steps=steps_of(found),
        reason=found.reason,
        outcome=None if found.outcome is None else Outcome.model_validate(found.outcome),
    )


def steps_of(found: Recommendation) -> list[MoveRead]:
    """Its moves in the order to make them."""
    return [MoveRead.model_validate(one) for one in found.moves]


def mesh_of(session: Session, given: str) -> Mesh:
    """The mesh of this name or id. ProductError `mesh_unknown`."""
    try:
        mesh = session.get(Mesh, UUID(given))
    except ValueError:
        mesh = applications.mesh_named(session, given)
    if mesh is None:
        raise ProductError(
            "mesh_unknown",
            422,
            f"There is no mesh {given}.",
            errors=[{"pointer": "#/mesh", "message": "name or id of a mesh"}],
        )
    return mesh


def _deciding(
    session: Session, recommendation_id: UUID, precondition: IfMatch, states: tuple[RecommendationState, ...]
) -> Recommendation:
    found = queries.locked(session, recommendation_id)
    if found is None:
        raise NotFound("recommendation")
    precondition.check(found)
    if found.state not in states:
        raise ProductError(
            "recommendation_decided",
            409,
            f"It is {found.state} already; this takes one that is {' or '.join(states)}.",
        )
    return found


def _decide(session: Session, actor: Actor | None, found: Recommendation, state: RecommendationState) -> None:
    found.state = state
    found.decided_at = datetime.now(UTC)
    session.flush()
    session.refresh(found)
    audit.record(session, actor, f"recommendation.{state}", found.id, found.mesh.name)


def _summary(found: Recommendation) -> dict[str, Any]:
    fields = ("id", "state", "trigger", "requested_by", "version", "created_at")
    times = ("decided_at", "applied_at", "verified_at")
    return {field: getattr(found, field) for field in (*fields, *times)} | {
        "mesh": Named.model_validate(found.mesh),
        "policy": found.question["policy"],
        "moves": len(found.moves),
        "total": found.answer["total"],
    }
