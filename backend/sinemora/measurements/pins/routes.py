"""HTTP of kept ranges."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from sqlalchemy import select

from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.idempotency import ProductRoute
from sinemora.kit.paging import Page, Paging, paginate
from sinemora.measurements.pins import service
from sinemora.measurements.pins.models import Pin
from sinemora.measurements.pins.schemas import PinCreate, PinRead
from sinemora.tenants.access import Editor, SignedIn, Viewer

router = APIRouter(
    prefix="/v1/pins",
    dependencies=[SignedIn],
    route_class=ProductRoute,
    tags=["pins"],
    responses=responses(401, 403, 429),
)


@router.get("", responses=responses(422))
def list_pins(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only ranges of this mesh")] = None,
) -> Page[PinRead]:
    """The ranges that are kept, latest first."""
    wanted = select(Pin) if mesh_id is None else select(Pin).where(Pin.mesh_id == mesh_id)
    found = paginate(session, wanted, page, Pin.started_at, Pin.id, descending=True)
    return Page(items=[service.shown(pin) for pin in found.items], next_cursor=found.next_cursor)


@router.post("", status_code=201, responses=responses(404, 409, 422))
def create_pin(body: PinCreate, session: SessionDep, actor: Editor) -> PinRead:
    """Keep what was measured in a range of a mesh, whatever retention says."""
    return service.shown(service.create_pin(session, actor, body))


@router.get("/{pin_id}", responses=responses(404))
def read_pin(pin_id: UUID, session: SessionDep, actor: Viewer) -> PinRead:
    """One kept range."""
    return service.shown(service.get_pin(session, pin_id))


@router.delete("/{pin_id}", status_code=204, responses=responses(404))
def delete_pin(pin_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Let a range go; retention takes it with its next sweep."""
    service.delete_pin(session, actor, pin_id)
