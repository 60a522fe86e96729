"""Plans before and after they are applied: the cost of each strategy of a mesh, and the agents that follow its plan."""

from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.inventory.status import AgentStatus, status_of
from sinemora.fleet.meshes import adoption, queries, schemas
from sinemora.fleet.meshes.control_group import GroupMember, barrier
from sinemora.fleet.meshes.plan import PACKETS_PER_S, MeshState, planned, revision_of
from sinemora.fleet.meshes.queries import MeshAgent
from sinemora.fleet.meshes.service import get_mesh, mesh_state, zone_runs
from sinemora.fleet.meshes.strategies import prices
from sinemora.fleet.meshes.strategies.cost import Probing, ZonePlace, cost_of
from sinemora.fleet.meshes.strategies.detection import detections_of
from sinemora.fleet.meshes.strategies.prices import EgressPrice
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.fleet.meshes.strategies.turns import turns_of
from sinemora.kit.config import settings
from sinemora.kit.db import every_mesh

_SHOWN_BEHIND = 20


def preview(session: Session, mesh_id: UUID, body: schemas.PlanPreviewCreate) -> schemas.PlanPreviewRead:
    """Return every strategy of a mesh under equal settings. ProductError `mesh_unknown`."""
    mesh = mesh_state(session, mesh_id)
    runs = zone_runs(mesh)
    known = queries.places_of(session, [run.id for run in runs])
    places = [ZonePlace(*known[run.id]) for run in runs]
    providers = sorted({place.provider for place in places})
    checked_on, listed = prices.listed()
    used = {provider: listed[provider] for provider in providers if provider in listed}
    if body.prices is not None:
        used = {provider: EgressPrice(provider, **body.prices.model_dump(), source="") for provider in providers}
    period = body.period_windows or mesh.strategy.period_windows
    representatives = body.representatives or mesh.strategy.representatives
    strategies = [Strategy(kind, period, representatives) for kind in StrategyKind]
    return schemas.PlanPreviewRead(
        mesh_id=mesh.id,
        vms=len(mesh.members),
        items=[_preview(mesh, strategy, body, places, used) for strategy in strategies],
        prices=[]
        if body.prices is not None
        else [schemas.ListedPrice.model_validate(price) for price in used.values()],
        prices_checked_on=checked_on,
    )


def _preview(
    mesh: MeshState,
    strategy: Strategy,
    body: schemas.PlanPreviewCreate,
    places: list[ZonePlace],
    used: dict[str, EgressPrice],
) -> schemas.StrategyPreview:
    zone_of = np.repeat(np.arange(len(places)), [run.count for run in zone_runs(mesh)])
    can = planned(mesh.members)
    fixed = np.array([member.is_master for member in mesh.members], np.bool_)
    # Without the focus of incidents: it lasts as long as they do.
    turns = turns_of(strategy, zone_of, can, fixed, None, mesh.key)
    probing = Probing(body.rate_hz or mesh.rate_hz, body.flows or mesh.flows, mesh.loss_deadline_ms)
    cost = cost_of(turns, strategy.period, probing, zone_of, places, used)
    return schemas.StrategyPreview(
        strategy=strategy.kind,
        period_s=strategy.period * (body.window_s or mesh.window_s),
        measured=int(np.count_nonzero(turns)) / max(1, int(np.count_nonzero(can))),
        cost=schemas.ProbingCostRead.model_validate(cost),
        detection=schemas.DetectionsRead.model_validate(detections_of(turns, strategy.period, zone_of, can)),
        exceeds_agent_cap=cost.agent_packets_per_s_max > PACKETS_PER_S,
    )


def plan_adoption(session: Session, mesh_id: UUID) -> schemas.PlanAdoptionRead:
    """Return which agents follow the newest plan of a mesh. ProductError `mesh_unknown`."""
    mesh = get_mesh(session, mesh_id)
    # Before the agents: a revision that is named later could be newer than theirs.
    polls = adoption.polls(session.info["tenant_id"])
    # An agent's revision depends on all meshes of its VM. Of the others, a limited caller learns nothing by it.
    with every_mesh(session):
        agents = queries.agents_of(session, mesh_id)
    now = datetime.now(UTC)
    members = [
        GroupMember(agent.id, agent.name, revision_of(agent.id, agent.meshes), _reports(agent, now)) for agent in agents
    ]
    found = barrier(members, polls, now.timestamp())
    following = set(found.following)
    waiting = [*found.behind, *found.unnamed]
    return schemas.PlanAdoptionRead(
        # That of the agents, which may be newer than `mesh`.
        revision=dict(agents[0].meshes)[mesh_id] if agents else mesh.revision,
        agents=len(members),
        following=len(found.following),
        behind=len(found.behind),
        unknown=len(found.unnamed) + len(found.absent),
        first_behind=[member.name for member in members if member.name not in following][:_SHOWN_BEHIND],
        live=found.live,
        active_everywhere=found.active_everywhere,
        active_since=None if found.since_s is None else datetime.fromtimestamp(found.since_s, UTC),
        first_waited_for=sorted(waiting)[:_SHOWN_BEHIND],
        first_not_live=list(found.absent[:_SHOWN_BEHIND]),
    )


def _reports(agent: MeshAgent, now: datetime) -> bool:
    status = status_of(None, agent.last_report_at, agent.report_every_s, now, settings().stale_windows)
    return status is AgentStatus.reporting
