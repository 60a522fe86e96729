"""Routes of the transport advisor."""

from fastapi import APIRouter

from sinemora.access.tenants.access import SignedIn, Viewer
from sinemora.advisors.transport import service
from sinemora.advisors.transport.schemas import TransportCreate, TransportRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute, only_reads

router = APIRouter(
    prefix="/v1/advisors",
    dependencies=[SignedIn],
    route_class=ProductRoute,
    tags=["advisors"],
    responses=responses(401, 403, 429),
)


@router.post("/transports", responses=responses(404, 409, 422))
@only_reads
def advise_transport(body: TransportCreate, session: SessionDep, actor: Viewer) -> TransportRead:
    """Choose the transport of a path or transfer, with the rule and the measurement behind it. Stores nothing."""
    return service.transport(session, body)
