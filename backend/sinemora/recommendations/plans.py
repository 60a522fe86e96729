"""Plans: the moves of a recommendation in a format that a person or a pipeline carries out."""

from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.alerts.notifications.messages import Notification
from sinemora.applications import queries as applications
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.queries import places_of
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.measurements.query.matrix.compute import read_matrix
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.schemas import By
from sinemora.recommendations import preconditions, queries
from sinemora.recommendations.core import kubernetes
from sinemora.recommendations.core.plan import Limits, NothingToWrite, Place, PlacedTask, Plan, systemd, terraform
from sinemora.recommendations.models import OPEN, OVER, Recommendation, RecommendationState
from sinemora.recommendations.schemas import MoveRead

_NOTICE_MAX = 100_000
"""Most characters of a plan that a notice carries."""
_MEASURED = timedelta(hours=1)
"""Time whose delays are the weights between zones."""


class PlanFormat(StrEnum):
    """Format of a plan."""

    KUBERNETES = "kubernetes"
    NETWORK_TOPOLOGY = "network-topology"
    TERRAFORM = "terraform"
    SYSTEMD = "systemd"


def written(session: Session, recommendation: Recommendation, form: PlanFormat, *, back: bool = False) -> str:
    """Return a plan with today's names; `back`: the way back.

    ProductError `moves_none`, `recommendation_over`, `recommendation_outdated`, `plan_impossible`.
    """
    plan = _plan(session, recommendation)
    writers: dict[PlanFormat, Callable[[Plan], str]] = {
        PlanFormat.KUBERNETES: kubernetes.patches,
        PlanFormat.NETWORK_TOPOLOGY: lambda one: _network_topology(session, recommendation.mesh_id, one),
        PlanFormat.TERRAFORM: terraform,
        PlanFormat.SYSTEMD: systemd,
    }
    try:
        return writers[form](plan.reversed() if back else plan)
    except NothingToWrite as error:
        detail = f"Plan impossible: {form} expresses none of these moves: {error}. Choose another format."
        raise ProductError("plan_impossible", 409, detail) from None


def notice(session: Session, recommendation: Recommendation) -> Notification:
    """Return the notice that moves were accepted, with the plans of both ways, each or the reason why there is none.

    Delays between zones change while a notice waits, so it has none.
    """

    def text(form: PlanFormat, *, back: bool) -> dict[str, str]:
        try:
            found = written(session, recommendation, form, back=back)
        except ProductError as error:
            return {"refused": error.detail}
        return (
            {"text": found} if len(found) <= _NOTICE_MAX else {"refused": "Too long for a notice: read it by its URL."}
        )

    forms = (PlanFormat.KUBERNETES, PlanFormat.TERRAFORM, PlanFormat.SYSTEMD)
    plans = {form: {"there": text(form, back=False), "back": text(form, back=True)} for form in forms}
    at = (recommendation.decided_at or recommendation.created_at).isoformat(timespec="seconds")
    names = ", ".join(sorted({move["application"]["name"] for move in recommendation.moves}))
    return Notification(
        id="",
        incident_id=None,
        about="accepted",
        title=f"Moves of {names}",
        severity="info",
        mesh=recommendation.mesh.name,
        mesh_id=str(recommendation.mesh_id),
        suspect="application",
        rules=(),
        onset_at=at,
        opened_at=at,
        ended_at=None,
        runbooks=(),
        url=f"{settings().public_url}/recommendations/{recommendation.id}",
        recommendation={"id": str(recommendation.id), "plans": plans},
    )


def _plan(session: Session, recommendation: Recommendation) -> Plan:
    steps = [MoveRead.model_validate(move) for move in recommendation.moves]
    if not steps:
        raise ProductError("moves_none", 409, "No moves: this recommendation has none to carry out.")
    late = recommendation.expires_at is not None and recommendation.expires_at <= datetime.now(UTC)
    is_open = recommendation.state in OPEN
    if recommendation.state in (*OVER, RecommendationState.dismissed) or (is_open and late):
        state = RecommendationState.expired if is_open else recommendation.state
        why = recommendation.reason or "Its moves are no longer offered."
        raise ProductError("recommendation_over", 409, f"{state.capitalize()}: {why} Request a new recommendation.")
    if is_open:
        preconditions.check(session, recommendation.mesh_id, steps)
    ends = {end.id: end.name for step in steps for end in (step.source, step.target, step.via) if end is not None}
    vms = queries.vms(session, ends)
    rows = applications.applications_of(session, recommendation.mesh_id)
    present = vms.keys() | {task.id for application in rows for task in application.tasks}
    ends |= {step.task.id: step.task.name for step in steps}
    if gone := [name for id, name in ends.items() if id not in present]:
        raise ProductError(
            "recommendation_outdated", 409, f"Outdated: {gone[0]} was deleted. Request a new recommendation."
        )
    # Applications of other meshes share no VM with these, and a caller may not see them.
    apart: dict[UUID, set[str]] = defaultdict(set)
    name_of = {application.id: application.name for application in rows}
    for application in rows:
        for other in (one.other_id for one in application.apart_from if one.other_id in name_of):
            apart[application.id].add(name_of[other])
            apart[other].add(application.name)
    step_of = {step.task.id: (at, step) for at, step in enumerate(steps)}
    tasks = []
    limits = {}
    for application in rows:
        limits[application.name] = Limits(application.per_zone_max, frozenset(apart[application.id]))
        for task in application.tasks:
            here = None if task.vm is None else _place(task.vm)
            if task.id not in step_of:
                tasks.append(PlacedTask(application.name, task.name, here, here))
                continue
            at, step = step_of[task.id]
            source, via = (None if end is None else _place(vms[end.id]) for end in (step.source, step.via))
            tasks.append(PlacedTask(application.name, task.name, source, _place(vms[step.target.id]), via, at))
    return Plan(str(recommendation.id), recommendation.mesh.name, tuple(tasks), limits)


def _place(vm: Vm) -> Place:
    return Place(vm.name, vm.zone.name, vm.zone.region)


def _network_topology(session: Session, mesh_id: UUID, plan: Plan) -> str:
    now = datetime.now(UTC)
    request = MatrixRequest(by=By.ZONE, statistic="p50", **{"from": now - _MEASURED, "to": now})
    found = read_matrix(session, mesh_id, request)
    places = places_of(session, {axis.id for axis in found.axis})
    zones = [(places[axis.id][1], axis.name) for axis in found.axis]
    values = found.matrix.values.tolist()
    delays_ns = [
        [value if valued else None for value, valued in zip(row, known, strict=True)]
        for row, known in zip(values, found.matrix.valued.tolist(), strict=True)
    ]
    return kubernetes.network_topology_text(plan, zones, delays_ns)
