"""SQL of the overview."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Float, and_, case, cast, func, or_, select, true
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session, defer

from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import SEVERITIES, Severity
from sinemora.alerts.models import AlertRule, AlertState, Delivery, DeliveryState, Incident, IncidentState
from sinemora.fleet.inventory.models import Agent, Vm, Zone
from sinemora.fleet.inventory.status import stopped_since
from sinemora.measurements.query.ranges import utc
from sinemora.overview.schemas import AppliedMoves
from sinemora.recommendations.models import Recommendation, RecommendationState

_UNRESOLVED = (Incident.merged_into.is_(None), Incident.state != IncidentState.resolved)
COST_MIN = 0.0005
"""Smallest share of its best that an application is said to lose: a smaller one is written as 0.0 points."""
_SEVERITY = case({severity.value: rank for rank, severity in enumerate(SEVERITIES)}, value=Incident.severity)


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An unrevoked agent and its VM."""

    vm_id: UUID
    vm_key: int
    vm_name: str
    agent_version: str
    last_report_at: datetime | None
    report_every_s: int
    stopped_since: datetime | None


@dataclass(frozen=True, slots=True)
class IncidentTimes:
    """Times of an incident. `ended_at` is the last window with it if people resolved it earlier."""

    id: UUID
    severity: Severity
    title: str
    onset_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class MeshEvaluation:
    """Evaluation of a mesh's alert rules, and how much it has learnt (`AlertState`)."""

    since: datetime | None = None
    until: datetime | None = None
    settling_paths: int = 0
    settled_s: int = 0
    unlearnt_paths: int = 0
    learnt_s: int = 0
    lateness_s: float = 0.0


def agents(session: Session) -> list[AgentRow]:
    """Return the tenant's unrevoked agents by name of their VM."""
    statement = (
        select(
            Vm.id,
            Vm.key,
            Vm.name,
            Agent.agent_version,
            Agent.last_report_at,
            Agent.report_every_s,
            Agent.stopped_at,
            Agent.started_at,
        )
        .select_from(Agent)
        .join(Vm, and_(Vm.tenant_id == Agent.tenant_id, Vm.id == Agent.vm_id))
        .where(Agent.revoked_at.is_(None))
        .order_by(Vm.name)
    )
    return [AgentRow(*row[:6], stopped_since(*row[6:])) for row in session.execute(statement)]


def regions(session: Session) -> dict[UUID, str]:
    """Return the region of each zone."""
    return {zone_id: region for zone_id, region in session.execute(select(Zone.id, Zone.region))}


def open_incidents(session: Session) -> dict[UUID, int]:
    """Return the number of unresolved incidents by mesh."""
    statement = select(Incident.mesh_id, func.count()).where(*_UNRESOLVED).group_by(Incident.mesh_id)
    return {mesh_id: count for mesh_id, count in session.execute(statement)}


def worst_incidents(session: Session, mesh_id: UUID, limit: int) -> Sequence[Incident]:
    """Return unresolved incidents of a mesh, those first on whose paths an application loses performance.

    Of these, and of the others, lasting causes come before applications below their objectives, which they explain, and
    before spikes, on whose paths applications also lose what the lasting causes cost them. Then follow those that break
    an objective, then the costliest, those with most paths, the most severe, the oldest.
    """
    rank = case((Incident.evidence["spikes"].as_boolean(), 2), (Incident.suspect == Suspect.APPLICATION, 1), else_=0)
    affected = func.jsonb_array_elements(Incident.applications).table_valued("value", name="affected")
    loss, performance, objective = (
        cast(affected.c.value.op("->>")(name), Float) for name in ("cost", "performance", "objective")
    )
    cost, breaks = (
        select(func.coalesce(one, none)).select_from(affected).scalar_subquery()
        for one, none in ((func.max(loss), 0.0), (func.bool_or(performance < objective), False))
    )
    paths = cast(Incident.evidence.op("->>")("paths"), Float)
    statement = (
        select(Incident)
        .where(Incident.mesh_id == mesh_id, *_UNRESOLVED)
        .order_by(
            (cost >= COST_MIN).desc(),
            rank,
            breaks.desc(),
            cost.desc(),
            paths.desc().nulls_last(),
            _SEVERITY.desc(),
            Incident.onset_at,
            Incident.id,
        )
        .limit(limit)
        .options(defer(Incident.paths, raiseload=True))
    )
    return session.scalars(statement).all()


def receivers_notified(session: Session, incident_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the number of receivers that accepted a notification, by incident; none of an incident without any."""
    accepted = (Delivery.incident_id.in_(incident_ids), Delivery.state == DeliveryState.sent)
    statement = select(Delivery.incident_id, func.count(Delivery.receiver_id.distinct())).where(*accepted)
    rows = session.execute(statement.group_by(Delivery.incident_id)).all() if incident_ids else []
    return {incident_id: count for incident_id, count in rows if incident_id is not None}


def recent_incidents(
    session: Session, mesh_id: UUID, since: datetime, limit: int, application_id: UUID | None = None
) -> list[IncidentTimes]:
    """Return incidents of a mesh that continued after a time, newest first; one that recurs once for each time.

    `application_id`: only those that affected this application.
    """
    resolved = Incident.state == IncidentState.resolved
    ended_at = func.coalesce(Incident.ended_at, case((resolved, Incident.seen_at)))
    statement = (
        select(Incident.id, Incident.severity, Incident.title, Incident.onset_at, ended_at, Incident.episodes)
        .where(
            Incident.mesh_id == mesh_id,
            Incident.merged_into.is_(None),
            or_(ended_at.is_(None), ended_at >= since),
            true() if application_id is None else Incident.applications.contains([{"id": str(application_id)}]),
        )
        .order_by(Incident.onset_at.desc(), Incident.id)
        .limit(limit)
    )
    rows = session.execute(statement).all()
    times = [
        IncidentTimes(id, severity, title, utc(start_s), utc(end_s))
        for id, severity, title, _, _, episodes in rows
        for start_s, end_s in episodes[:-1]
        if end_s >= since.timestamp()
    ]
    times += [IncidentTimes(*row[:5]) for row in rows]
    return sorted(times, key=lambda one: one.onset_at, reverse=True)[:limit]


def applied_moves(session: Session, application_id: UUID, since: datetime) -> list[AppliedMoves]:
    """Return the recommendations with moves of an application that were applied since a time, oldest first."""
    own = str(application_id)
    statement = (
        select(Recommendation.id, Recommendation.applied_at, Recommendation.moves)
        .where(Recommendation.applied_at >= since, Recommendation.moves.contains([{"application": {"id": own}}]))
        .order_by(Recommendation.applied_at)
    )
    return [
        AppliedMoves(recommendation_id=id, applied_at=at, moves=sum(one["application"]["id"] == own for one in moves))
        for id, at, moves in session.execute(statement)
        if at is not None
    ]


def last_ends(session: Session) -> dict[UUID, datetime]:
    """Return the end of the last incident by mesh."""
    statement = (
        select(Incident.mesh_id, func.max(Incident.ended_at))
        .where(Incident.merged_into.is_(None))
        .group_by(Incident.mesh_id)
    )
    return {mesh_id: ended_at for mesh_id, ended_at in session.execute(statement) if ended_at is not None}


def alert_rules(session: Session) -> dict[UUID, int]:
    """Return the number of enabled alert rules by mesh."""
    statement = select(AlertRule.mesh_id, func.count()).where(AlertRule.enabled).group_by(AlertRule.mesh_id)
    return {mesh_id: count for mesh_id, count in session.execute(statement)}


def evaluations(session: Session) -> dict[UUID, MeshEvaluation]:
    """Return the evaluation of alert rules by mesh."""
    statement = select(
        AlertState.mesh_id,
        AlertState.watched_since,
        AlertState.evaluated_until,
        AlertState.settling_paths,
        AlertState.settled_s,
        AlertState.unlearnt_paths,
        AlertState.learnt_s,
        AlertState.lateness_s,
    )
    return {
        mesh_id: MeshEvaluation(since, until, settling_paths, settled_s, unlearnt_paths, learnt_s, lateness_s)
        for mesh_id, since, until, settling_paths, settled_s, unlearnt_paths, learnt_s, lateness_s in session.execute(
            statement
        )
    }


def proposed(session: Session) -> dict[UUID, Recommendation]:
    """Return the newest proposed recommendation with moves by mesh."""
    statement = (
        select(Recommendation)
        .ext(distinct_on(Recommendation.mesh_id))
        .where(Recommendation.state == RecommendationState.proposed, func.jsonb_array_length(Recommendation.moves) > 0)
        .order_by(Recommendation.mesh_id, Recommendation.created_at.desc())
    )
    return {one.mesh_id: one for one in session.scalars(statement)}
