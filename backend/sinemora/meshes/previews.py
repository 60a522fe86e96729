"""Plans before and after they are applied: the cost of each strategy of a mesh, and the agents that follow its plan."""

from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.meshes import adoption, queries
from sinemora.meshes.plan import PACKETS_PER_S, MeshState, planned, revision_of
from sinemora.meshes.schemas import (
    DetectionsRead,
    ListedPrice,
    PlanAdoptionRead,
    PlanPreviewCreate,
    PlanPreviewRead,
    ProbingCostRead,
    StrategyPreview,
)
from sinemora.meshes.service import get_mesh, mesh_state, zone_runs
from sinemora.meshes.strategies import prices
from sinemora.meshes.strategies.cost import Probing, ZonePlace, cost_of
from sinemora.meshes.strategies.detection import detections_of
from sinemora.meshes.strategies.prices import EgressPrice
from sinemora.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.meshes.strategies.turns import turns_of

_SHOWN_BEHIND = 20


def preview(session: Session, mesh_id: UUID, body: PlanPreviewCreate) -> PlanPreviewRead:
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
    return PlanPreviewRead(
        mesh_id=mesh.id,
        vms=len(mesh.members),
        items=[_preview(mesh, strategy, body, places, used) for strategy in strategies],
        prices=[] if body.prices is not None else [ListedPrice.model_validate(price) for price in used.values()],
        prices_checked_on=checked_on,
    )


def _preview(
    mesh: MeshState, strategy: Strategy, body: PlanPreviewCreate, places: list[ZonePlace], used: dict[str, EgressPrice]
) -> StrategyPreview:
    zone_of = np.repeat(np.arange(len(places)), [run.count for run in zone_runs(mesh)])
    can = planned(mesh.members)
    fixed = np.array([member.is_master for member in mesh.members], np.bool_)
    # Without the focus of incidents: it lasts as long as they do.
    turns = turns_of(strategy, zone_of, can, fixed, None, mesh.key)
    probing = Probing(body.rate_hz or mesh.rate_hz, body.flows or mesh.flows, mesh.loss_deadline_ms)
    cost = cost_of(turns, strategy.period, probing, zone_of, places, used)
    return StrategyPreview(
        strategy=strategy.kind,
        period_s=strategy.period * (body.window_s or mesh.window_s),
        measured=int(np.count_nonzero(turns)) / max(1, int(np.count_nonzero(can))),
        cost=ProbingCostRead.model_validate(cost),
        detection=DetectionsRead.model_validate(detections_of(turns, strategy.period, zone_of, can)),
        exceeds_agent_cap=cost.agent_packets_per_s_max > PACKETS_PER_S,
    )


def plan_adoption(session: Session, mesh_id: UUID) -> PlanAdoptionRead:
    """Return how many agents follow the newest plan of a mesh. ProductError `mesh_unknown`."""
    mesh = get_mesh(session, mesh_id)
    followed = adoption.followed(session.info["tenant_id"])
    agents = queries.agents_of(session, mesh_id)
    late = [
        (name, agent_id not in followed)
        for agent_id, name, meshes in agents
        if followed.get(agent_id) != revision_of(agent_id, meshes)
    ]
    unknown = sum(is_unknown for _, is_unknown in late)
    return PlanAdoptionRead(
        revision=mesh.revision,
        agents=len(agents),
        following=len(agents) - len(late),
        behind=len(late) - unknown,
        unknown=unknown,
        first_behind=[name for name, _ in late[:_SHOWN_BEHIND]],
    )
