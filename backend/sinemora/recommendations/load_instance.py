"""Loads an `Instance` from the database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach, queries
from sinemora.applications.models import Application, Task
from sinemora.applications.performance import Flags, Indices
from sinemora.applications.reading import links_of
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.queries import places_of
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.query.matrix import history
from sinemora.measurements.query.matrix.history import MatrixHistory
from sinemora.measurements.store.tiers import Tier
from sinemora.recommendations import queries as recommendation_queries
from sinemora.recommendations.core import split
from sinemora.recommendations.core.instance import ELSEWHERE, WAITING, Deployment, Instance, Machine, TaskDemand, Trips
from sinemora.recommendations.core.recency import Recency
from sinemora.recommendations.core.tail_risk import RiskModel
from sinemora.recommendations.placement.problem import Risk
from sinemora.recommendations.schemas import RecommendationRequest

BLOCKS_BUDGET = 12_000
"""Maximum number of blocks read: large meshes use fewer windows to bound the response time."""
BLOCKS_BUDGET_WHOLE = 6_000
"""Budget for whole distributions, which are larger."""
BLOCKS_BUDGET_DAYS = 60_000
"""Budget for days, which a background task reads."""
STALE_AFTER = timedelta(minutes=15)
"""Greatest age of the newest window: older measurements say little about the next hour."""


def load(session: Session, mesh_id: UUID, request: RecommendationRequest) -> tuple[Instance, MatrixHistory]:
    """Return the instance of a request and its history.

    ProductError `mesh_unknown`, `application_unknown`, `matrix_missing`.
    """
    mesh = mesh_state(session, mesh_id)
    start = datetime.now(UTC) - timedelta(minutes=request.minutes)
    incident = None if request.incident_id is None else recommendation_queries.cause(session, request.incident_id)
    if incident is not None:
        # Times are read by whole minutes: from the first that lies after the onset.
        start = max(start, incident.onset_at.replace(second=0, microsecond=0) + timedelta(minutes=1))
    recent = load_history(session, mesh, request, start)
    if not recent.started_at_s.size:
        since = f"in the last {request.minutes} minutes" if incident is None else "since the onset of the incident"
        raise ProductError(
            "matrix_missing",
            409,
            f"No measurements: the mesh {mesh.name} has no window {since}. Check its agents or extend the look-back.",
        )
    applications = queries.applications_of(session, mesh_id)
    chosen = _select_applications(applications, request.applications)
    machines = _load_machines(session, mesh, applications)
    parts = split.split(recent.started_at_s, recent.window_s)
    sides = (parts.training, parts.holdout)
    deployments = _load_deployments(session, applications, machines, chosen)
    instance = Instance(
        machines,
        deployments,
        training=recent.round_trips_ns[parts.training],
        holdout=recent.round_trips_ns[parts.holdout],
        training_blocks=parts.blocks[parts.training],
        holdout_blocks=parts.blocks[parts.holdout],
        gap_s=parts.gap_s,
        recency=Recency.of(recent.started_at_s, recent.window_s, parts.holdout, age(recent).total_seconds()),
        shortage=parts.shortage,
    )
    if request.risk is None:
        return instance, recent
    roots = [
        int(deployment.at[deployment.root])
        for deployment in deployments
        if deployment.chosen and deployment.root is not None
    ]
    risk_model = load_risk_model(session, mesh, recent, request.risk, roots)
    models = (replace(risk_model, values=risk_model.values.of(windows), known={}) for windows in sides)
    return replace(instance, training_risk=next(models), holdout_risk=next(models)), recent


def age(recent: MatrixHistory) -> timedelta:
    """Return the time since the end of the newest window, at least 0."""
    span = recent.span
    return timedelta(0) if span is None else max(datetime.now(UTC) - span[1], timedelta(0))


def require_fresh(recent: MatrixHistory) -> None:
    """Raise ProductError `measurements_stale` if the newest window is older than `STALE_AFTER`."""
    old = age(recent)
    if old > STALE_AFTER:
        raise ProductError(
            "measurements_stale",
            409,
            f"Stale measurements: the newest window of the mesh ended {old.total_seconds() / 60:.0f} minutes ago, at"
            f" most {STALE_AFTER.total_seconds() / 60:.0f} are allowed. Check its agents.",
        )


def load_placement(session: Session, mesh: MeshState, named: list[str] | None = None) -> Instance:
    """Return the instance of a mesh as declared now, without windows: for constraints, not for gains.

    `named` selects applications, by name or id; an empty list selects all, None none. ProductError
    `application_unknown`.
    """
    applications = queries.applications_of(session, mesh.id)
    machines = _load_machines(session, mesh, applications)
    chosen = set() if named is None else _select_applications(applications, named)
    deployments = _load_deployments(session, applications, machines, chosen)
    nothing, no_blocks = np.empty((0, len(machines), len(machines)), np.float32), np.empty(0, np.intp)
    return Instance(machines, deployments, nothing, nothing, no_blocks, no_blocks, gap_s=0)


def with_windows(instance: Instance, round_trips_ns: Trips, blocks: Indices) -> Instance:
    """Return the instance with windows of which none is held out: for performance, not for the choice of moves."""
    return replace(instance, training=round_trips_ns, training_blocks=blocks)


def load_risk_model(
    session: Session, mesh: MeshState, recent: MatrixHistory, risk: Risk, roots: list[int]
) -> RiskModel:
    """Return the risk model of a history for the machines `roots`; negative entries are ignored."""
    sources = np.unique([root for root in roots if root >= 0]).astype(np.intp)
    return RiskModel(risk, history.values(session, mesh, recent, sources))


def load_history(
    session: Session, mesh: MeshState, request: RecommendationRequest, start: datetime, end: datetime | None = None
) -> MatrixHistory:
    """Return the windows of a mesh from `start` to `end` (default: now), sampled within the block budget."""
    blocks_max = BLOCKS_BUDGET if request.risk is None else BLOCKS_BUDGET_WHOLE
    return history.round_trips(session, mesh, start, end or datetime.now(UTC), Statistic(request.statistic), blocks_max)


def load_long_history(
    session: Session, mesh: MeshState, request: RecommendationRequest, start: datetime, end: datetime
) -> MatrixHistory:
    """Return days of a mesh in quarters of an hour where they are merged, sampled within a larger block budget."""
    merged = (Tier.MINUTE, Tier.QUARTER)
    return history.round_trips(session, mesh, start, end, Statistic(request.statistic), BLOCKS_BUDGET_DAYS, merged)


def _select_applications(applications: list[Application], named: list[str]) -> set[UUID]:
    if not named:
        return {application.id for application in applications}
    known = {key: application.id for application in applications for key in (application.name, str(application.id))}
    missing = [
        {"pointer": f"#/applications/{place}", "message": f"unknown application on this mesh: {name}"}
        for place, name in enumerate(named)
        if name not in known
    ]
    if missing:
        raise ProductError("application_unknown", 404, f"U{missing[0]['message'][1:]}.", errors=missing)
    return {known[name] for name in named}


def _load_machines(session: Session, mesh: MeshState, applications: list[Application]) -> tuple[Machine, ...]:
    carriers = {carrier.vm_id: carrier for carrier in queries.carriers(session, mesh.id)}
    places = places_of(session, {member.zone_id for member in mesh.members})
    machines = []
    for member in mesh.members:
        carrier = carriers[member.id]
        price = None if carrier.price_per_hour is None else float(carrier.price_per_hour)
        machines.append(
            Machine(
                id=member.id,
                name=member.name,
                zone_id=member.zone_id,
                zone=member.zone_name,
                provider=places[member.zone_id][0],
                region=places[member.zone_id][1],
                host=carrier.host,
                # Running tasks fit by definition, whatever the stated number of slots.
                slots=max(carrier.slots, carrier.slots_taken),
                cpu_millicores=carrier.cpu_millicores,
                memory_mib=carrier.memory_mib,
                price_per_hour=price,
                rack=carrier.rack,
                stated_slots=carrier.slots,
            )
        )
    return tuple(machines)


def _load_deployments(
    session: Session, applications: list[Application], machines: tuple[Machine, ...], chosen: set[UUID]
) -> tuple[Deployment, ...]:
    entries = attach.entries(session, applications)
    machine_of = {machine.id: at for at, machine in enumerate(machines)}
    place = {application.id: at for at, application in enumerate(applications)}
    deployments = []
    now = datetime.now(UTC)
    mesh_ids = {application.mesh_id for application in applications}
    made = recommendation_queries.moves_since(session, mesh_ids, now - timedelta(days=1))
    for application in applications:
        apart = {place[other.other_id] for other in application.apart_from if other.other_id in place}
        apart |= {
            place[other.id] for other in applications if any(s.other_id == application.id for s in other.apart_from)
        }
        fields = ("id", "name", "objective", "move_cost", "leaves_region", "moves_for_others")
        # What is left of the moves of a day limits a recommendation as its own maximum does.
        left = None if application.moves_per_day is None else max(application.moves_per_day - made[application.id], 0)
        moves_max = min((one for one in (application.moves_max, left) if one is not None), default=None)
        limits = ("per_vm_max", "per_host_max", "per_zone_max")
        roots = root_positions(application)
        deployments.append(
            Deployment(
                **{field: getattr(application, field) for field in (*fields, *limits)},
                moves_max=moves_max,
                tasks=tuple(_demand(task, now) for task in application.tasks),
                root=roots[0] if roots else None,
                links=links_of(application),
                sensitivity=attach.sensitivity(application, entries[application.id]),
                at=task_machines(application, machine_of),
                allowed=_allowed_machines(application, machines),
                apart_from=frozenset(apart),
                chosen=application.id in chosen,
            )
        )
    return tuple(deployments)


def _demand(task: Task, now: datetime) -> TaskDemand:
    running_s, waited_s = (
        0.0 if since is None else max((now - since).total_seconds(), 0.0)
        for since in (task.placed_at, task.waiting_since)
    )
    fields = (task.id, task.name, task.pinned, task.slots, task.cpu_millicores, task.memory_mib)
    return TaskDemand(*fields, running_s, waited_s)


def root_positions(application: Application) -> list[int]:
    """Return the position of the root of a star; empty for a graph."""
    return [position for position, task in enumerate(application.tasks) if task.root]


def task_machines(application: Application, machine_of: dict[UUID, int]) -> Indices:
    """Return the machine of each task, or `WAITING` or `ELSEWHERE`."""
    machines = [WAITING if t.vm_id is None else machine_of.get(t.vm_id, ELSEWHERE) for t in application.tasks]
    return np.array(machines, np.intp)


def _allowed_machines(application: Application, machines: tuple[Machine, ...]) -> Flags | None:
    if not application.zones:
        return None
    zones = {zone.zone_id for zone in application.zones}
    return np.array([machine.zone_id in zones for machine in machines])
