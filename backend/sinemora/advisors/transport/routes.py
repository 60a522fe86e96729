"""Routes of the transport advisor."""

from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.advisors.transport import service
from sinemora.advisors.transport.schemas import TransportCreate, TransportRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import only_reads

router = signed_in_router("/v1/advisors", "advisors")


@router.post("/transports", responses=responses(404, 409, 422))
@only_reads
def advise_transport(body: TransportCreate, session: SessionDep, actor: Viewer) -> TransportRead:
    """Choose the transport of a path or transfer, with the rule and the measurement behind it. Stores nothing."""
    return service.transport(session, body)
