"""Use cases of pins."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.fleet.meshes.service import get_mesh
from sinemora.kit.errors import ProductError, existing
from sinemora.measurements.pins.models import Pin
from sinemora.measurements.pins.schemas import PinCreate, PinRead
from sinemora.measurements.query.ranges import check_range

# Limits: pins keep evidence; they must not replace the quota of retention.
LONGEST = timedelta(days=7)
PINS_MAX = 200


def create_pin(session: Session, actor: Actor, body: PinCreate) -> Pin:
    """Create a pin. ProductError `mesh_unknown`, `range_invalid`, `pin_too_long`, `pins_too_many`."""
    mesh = get_mesh(session, body.mesh_id)
    check_range(body.started_at, body.ended_at)
    if body.ended_at - body.started_at > LONGEST:
        raise ProductError(
            "pin_too_long",
            409,
            f"Pin too long: at most {LONGEST.days} days. Pin the relevant part, or create several pins.",
            days_max=LONGEST.days,
        )
    quotas.lock(session)
    if (session.scalar(select(func.count()).select_from(Pin)) or 0) >= PINS_MAX:
        raise ProductError(
            "pins_too_many", 409, f"Too many pins: {PINS_MAX} exist. Delete one first.", pins_max=PINS_MAX
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
    """Return the tenant's pin. ProductError `pin_unknown`."""
    return existing(session.get(Pin, pin_id), "pin")


def delete_pin(session: Session, actor: Actor, pin_id: UUID) -> None:
    """Delete a pin; the next sweep of retention deletes its range. ProductError `pin_unknown`."""
    pin = get_pin(session, pin_id)
    session.delete(pin)
    audit.record(session, actor, "pin.deleted", pin.id, pin.mesh.name, reason=pin.reason)


def read(pin: Pin) -> PinRead:
    """Convert a pin to its JSON form."""
    return PinRead.from_row(pin, mesh_name=pin.mesh.name)
