"""Incidents about something that no longer exists: a VM, a zone, an application or a rule."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.root_cause import OF_ZONES
from sinemora.alerts.models import AlertRule, Incident, IncidentState
from sinemora.applications.models import Application
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.plan import MeshState


def reason(session: Session, row: Incident, mesh: MeshState) -> str | None:
    """Return why nothing can be seen of an incident any more, a sentence; None if all it is about exists."""
    of_zones = row.suspect in [one.value for one in OF_ZONES]
    present = {str(one.zone_id if of_zones else one.id) for one in mesh.members}
    for place in (row.culprit.get("at"), row.culprit.get("other")):
        if place is not None and place["id"] not in present:
            return _of_zone(place) if of_zones else _of_vm(session, place)
    if len(mesh.members) < 2:
        return "The mesh has fewer than two VMs."
    application = row.evidence.get("application")
    if application is not None and not _exists(session, application):
        return f"Application {application} was deleted or renamed."
    rules = [UUID(one["id"]) for one in row.rules]
    if rules and not session.scalars(select(AlertRule.id).where(AlertRule.id.in_(rules)).limit(1)).first():
        return "Its alert rules were deleted."
    return None


def _of_zone(place: dict[str, str]) -> str:
    return f"The mesh has no VM in zone {place['name']} any more."


def _of_vm(session: Session, place: dict[str, str]) -> str:
    left = session.get(Vm, UUID(place["id"])) is not None
    return f"VM {place['name']} has left the mesh." if left else f"VM {place['name']} was deleted."


def _exists(session: Session, application: str) -> bool:
    return session.scalar(select(Application.id).where(Application.name == application).limit(1)) is not None


def open_by_mesh(session: Session) -> Sequence[tuple[UUID, UUID]]:
    """Return (tenant, mesh) of the meshes with open incidents. Needs a system session."""
    is_open = (Incident.state != IncidentState.resolved) | Incident.ended_at.is_(None)
    rows = session.execute(select(Incident.tenant_id, Incident.mesh_id).where(is_open).distinct())
    return [(row.tenant_id, row.mesh_id) for row in rows]


def open_of(session: Session, mesh_id: UUID) -> Sequence[Incident]:
    """Return the open incidents of a mesh, and those that a person resolved before they ended."""
    is_open = (Incident.state != IncidentState.resolved) | Incident.ended_at.is_(None)
    return session.scalars(select(Incident).where(Incident.mesh_id == mesh_id, is_open)).all()
