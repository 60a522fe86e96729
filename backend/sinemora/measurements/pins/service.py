"""Use cases of kept ranges."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sinemora.kit.errors import NotFound, ProductError
from sinemora.measurements.pins.models import Pin
from sinemora.measurements.pins.schemas import PinCreate, PinRead
from sinemora.measurements.query.ranges import check_range
from sinemora.meshes.service import get_mesh
from sinemora.tenants import audit, quotas
from sinemora.tenants.access import Actor

# Kept ranges are evidence, not a way round the days a tenant may keep.
LONGEST = timedelta(days=7)
PINS_MAX = 200


def create_pin(session: Session, actor: Actor, body: PinCreate) -> Pin:
    """Keep a range. ProductError `mesh_unknown`, `range_invalid`, `pin_too_long`, `pins_too_many`."""
    mesh = get_mesh(session, body.mesh_id)
    check_range(body.started_at, body.ended_at)
    if body.ended_at - body.started_at > LONGEST:
        raise ProductError(
            "pin_too_long",
            409,
            f"A kept range is at most {LONGEST.days} days long. Keep the part that matters, or several.",
            days_max=LONGEST.days,
        )
    quotas.hold(session)
    if (session.scalar(select(func.count()).select_from(Pin)) or 0) >= PINS_MAX:
        raise ProductError(
            "pins_too_many", 409, f"There are {PINS_MAX} kept ranges already. Let one go first.", pins_max=PINS_MAX
        )
    pin = Pin(
        mesh_id=mesh.id,
        started_at=body.started_at,
        ended_at=body.ended_at,
        reason=body.reason,
        made_by=actor.name,
    )
    session.add(pin)
    session.flush()
    session.refresh(pin)
    audit.record(session, actor, "pin.created", pin.id, mesh.name, reason=pin.reason)
    return pin


def get_pin(session: Session, pin_id: UUID) -> Pin:
    """Return the tenant's kept range. ProductError `pin_unknown`."""
    pin = session.get(Pin, pin_id)
    if pin is None:
        raise NotFound("pin")
    return pin


def delete_pin(session: Session, actor: Actor, pin_id: UUID) -> None:
    """Let a range go: retention takes it with its next sweep. ProductError `pin_unknown`."""
    pin = get_pin(session, pin_id)
    session.delete(pin)
    audit.record(session, actor, "pin.deleted", pin.id, pin.mesh.name, reason=pin.reason)


def shown(pin: Pin) -> PinRead:
    """Return a kept range on the wire."""
    return PinRead(
        id=pin.id,
        mesh_id=pin.mesh_id,
        mesh_name=pin.mesh.name,
        started_at=pin.started_at,
        ended_at=pin.ended_at,
        reason=pin.reason,
        made_by=pin.made_by,
        created_at=pin.created_at,
    )
