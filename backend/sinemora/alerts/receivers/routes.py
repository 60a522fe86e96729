"""HTTP of receivers and of the tree of routes to them."""

from uuid import UUID

from fastapi import APIRouter
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, SignedIn, Viewer
from sinemora.alerts.models import Receiver
from sinemora.alerts.receivers import service
from sinemora.alerts.receivers.schemas import ReceiverFields, ReceiverRead, ReceiverUpdate, RoutingRead, RoutingWrite
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.idempotency import ProductRoute
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

router = APIRouter(
    prefix="/v1", dependencies=[SignedIn], route_class=ProductRoute, tags=["alerts"], responses=responses(401, 403, 429)
)


@router.get("/receivers", response_model=Page[ReceiverRead])
def list_receivers(session: SessionDep, actor: Viewer, page: Paging) -> Slice[ReceiverRead]:
    """List receivers by name, without their secrets, to which the URLs of webhooks belong."""
    slice_ = paginate(session, select(Receiver), page, Receiver.name, Receiver.id)
    return Slice(service.receivers_read(session, actor, slice_.items), slice_.next_cursor)


@router.post("/receivers", status_code=201, responses=responses(409, 422))
def create_receiver(body: ReceiverFields, session: SessionDep, actor: Editor) -> ReceiverRead:
    """Create a receiver; it gets no notifications until a route names it."""
    row = service.create_receiver(session, actor, body)
    return service.receiver_read(session, actor, row)


@router.get("/receivers/{receiver_id}", responses=responses(404))
def read_receiver(receiver_id: UUID, session: SessionDep, actor: Viewer) -> ReceiverRead:
    """Read one receiver, without its secret."""
    row = service.get_receiver(session, receiver_id)
    return service.receiver_read(session, actor, row)


@router.patch("/receivers/{receiver_id}", responses=responses(404, 409, 412, 422, 428))
def update_receiver(
    receiver_id: UUID,
    body: ReceiverUpdate,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> ReceiverRead:
    """Change a receiver; an omitted secret stays."""
    row = service.update_receiver(session, actor, receiver_id, body, precondition)
    return service.receiver_read(session, actor, row)


@router.delete("/receivers/{receiver_id}", status_code=204, responses=responses(404, 412))
def delete_receiver(receiver_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a receiver with its deliveries."""
    service.delete_receiver(session, actor, receiver_id, precondition)


@router.get("/alert-routes")
def read_alert_routes(session: SessionDep, actor: Viewer) -> RoutingRead:
    """Read the routing tree."""
    return service.routing_read(session)[1]


@router.put("/alert-routes", responses=responses(404, 412, 422))
def set_alert_routes(body: RoutingWrite, session: SessionDep, actor: Editor, precondition: Precondition) -> RoutingRead:
    """Replace the routing tree."""
    service.write_routing(session, actor, body, precondition)
    return service.routing_read(session)[1]
