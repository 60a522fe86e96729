"""HTTP of pins."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.paging import Page, Paging, paginate
from sinemora.measurements.pins import service
from sinemora.measurements.pins.models import Pin
from sinemora.measurements.pins.schemas import PinCreate, PinRead

router = signed_in_router("/v1/pins", "pins")


@router.get("", responses=responses(422))
def list_pins(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only pins of this mesh")] = None,
) -> Page[PinRead]:
    """List the pins, latest range first."""
    statement = select(Pin) if mesh_id is None else select(Pin).where(Pin.mesh_id == mesh_id)
    pins = paginate(session, statement, page, Pin.started_at, Pin.id, descending=True)
    return Page(items=[service.read(pin) for pin in pins.items], next_cursor=pins.next_cursor)


@router.post("", status_code=201, responses=responses(404, 409, 422))
def create_pin(body: PinCreate, session: SessionDep, actor: Editor) -> PinRead:
    """Create a pin: retention does not delete the measurements of its range."""
    return service.read(service.create_pin(session, actor, body))


@router.get("/{pin_id}", responses=responses(404))
def read_pin(pin_id: UUID, session: SessionDep, actor: Viewer) -> PinRead:
    """Return a pin."""
    return service.read(service.get_pin(session, pin_id))


@router.delete("/{pin_id}", status_code=204, responses=responses(404))
def delete_pin(pin_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Delete a pin. The next sweep of retention deletes its range."""
    service.delete_pin(session, actor, pin_id)
