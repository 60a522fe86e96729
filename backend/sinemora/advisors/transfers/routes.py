"""Routes of the transfer planner."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.advisors.transfers import service
from sinemora.advisors.transfers.core.shape import TrafficShape, shape_of
from sinemora.advisors.transfers.schemas import (
    TrafficShapeCreate,
    TrafficShapeRead,
    TransferPlanCreate,
    TransferPlanRead,
    VmTrafficShape,
)
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.routes import accepts

router = signed_in_router("/v1", "advisors")


@router.post("/advisors/transfer-plans", responses=responses(404, 422))
@only_reads
def advise_transfers(body: TransferPlanCreate, session: SessionDep, actor: Viewer) -> TransferPlanRead:
    """Plan the rates, connections and order of a shuffle or broadcast, and estimate its finish. Stores nothing."""
    return service.plan_transfers(session, body)


@router.post("/advisors/traffic-shapes", response_model=TrafficShapeRead, responses=responses(422))
@accepts(lambda settings: settings.data_limit_bytes)
@only_reads
def classify_traffic(body: TrafficShapeCreate, actor: Viewer) -> TrafficShape:
    """Tell traffic in bursts (as of a sort) from steady traffic (as of k-means) by byte counters. Stores nothing."""
    return shape_of(body.sent_bytes)


@router.get("/meshes/{mesh_id}/traffic-shapes", responses=responses(404))
def list_traffic_shapes(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    minutes: Annotated[int, Query(ge=2, le=1_440)] = 60,
) -> list[VmTrafficShape]:
    """Return whether each VM of a mesh sends in bursts (as in a sort) or steadily (as in k-means), by its counters."""
    return service.traffic_shapes(session, mesh_id, minutes)
