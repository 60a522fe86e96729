"""HTTP of the demonstration."""

from fastapi import APIRouter

from sinemora.access.tenants.access import SignedIn, Viewer
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute
from sinemora.overview.demonstration import service
from sinemora.overview.demonstration.schemas import DemonstrationRead

router = APIRouter(
    prefix="/v1/demonstration",
    dependencies=[SignedIn],
    route_class=ProductRoute,
    tags=["demonstration"],
    responses=responses(401, 403, 429),
)


@router.get("")
def read_demonstration(actor: Viewer) -> DemonstrationRead:
    """Return what the demonstration of `make up` plays at this moment."""
    return DemonstrationRead(playing=service.playing(actor.tenant_id, actor.mesh_limit))
