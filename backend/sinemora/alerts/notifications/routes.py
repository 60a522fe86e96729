"""HTTP of test notifications and of the delivery log."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, SignedIn, Viewer
from sinemora.alerts.models import Delivery
from sinemora.alerts.notifications import service
from sinemora.alerts.notifications.schemas import DeliveryRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

router = APIRouter(
    prefix="/v1", dependencies=[SignedIn], route_class=ProductRoute, tags=["alerts"], responses=responses(401, 403, 429)
)


@router.post("/receivers/{receiver_id}/tests", status_code=201, responses=responses(404))
def test_receiver(receiver_id: UUID, session: SessionDep, actor: Editor) -> DeliveryRead:
    """Send a test notification; its result is in the log of deliveries."""
    return service.test_receiver(session, actor, receiver_id)


@router.post("/deliveries/{delivery_id}/redeliver", status_code=202, responses=responses(404, 409))
def redeliver(delivery_id: UUID, session: SessionDep, actor: Editor) -> DeliveryRead:
    """Send a delivery that was sent or has failed once more, with its first id (`webhook-id`) and present facts."""
    return service.redeliver(session, actor, delivery_id)


@router.get("/deliveries", response_model=Page[DeliveryRead])
def list_deliveries(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    incident_id: Annotated[UUID | None, Query(description="Only deliveries of this incident")] = None,
) -> Slice[DeliveryRead]:
    """List deliveries of notifications, newest first: sent, waiting, failed with the reason."""
    query = select(Delivery)
    if actor.mesh_limit is not None:  # what is left of a mesh belongs to none, and not every caller saw it
        query = query.where(Delivery.content.is_(None))
    if incident_id is not None:
        query = query.where(Delivery.incident_id == incident_id)
    slice_ = paginate(session, query, page, Delivery.created_at, Delivery.id, descending=True)
    return Slice(service.deliveries_read(session, slice_.items), slice_.next_cursor)
