"""Routes of the transfer planner."""

from fastapi import APIRouter

from sinemora.advisors.transfers import service
from sinemora.advisors.transfers.core.shape import TrafficShape, shape_of
from sinemora.advisors.transfers.schemas import (
    TrafficShapeCreate,
    TrafficShapeRead,
    TransferPlanCreate,
    TransferPlanRead,
)
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute, only_reads
from sinemora.tenants.access import SignedIn, Viewer

router = APIRouter(
    prefix="/v1/advisors",
    dependencies=[SignedIn],
    route_class=ProductRoute,
    tags=["advisors"],
    responses=responses(401, 403, 429),
)


@router.post("/transfer-plans", responses=responses(404, 422))
@only_reads
def advise_transfers(body: TransferPlanCreate, session: SessionDep, actor: Viewer) -> TransferPlanRead:
    """Plan the rates, connections and order of a shuffle or broadcast, and estimate its finish. Stores nothing."""
    return service.plan_transfers(session, body)


@router.post("/traffic-shapes", response_model=TrafficShapeRead, responses=responses(422))
@only_reads
def classify_traffic(body: TrafficShapeCreate, actor: Viewer) -> TrafficShape:
    """Tell traffic in bursts (as of a sort) from steady traffic (as of k-means) by byte counters. Stores nothing."""
    return shape_of(body.sent_bytes)
