"""Shapes of the traffic of VMs, by the byte counters of their agents."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.advisors.transfers.core.shape import shape_of
from sinemora.advisors.transfers.schemas import VmTrafficShape
from sinemora.applications.schemas import Named
from sinemora.fleet.meshes.service import mesh_state
from sinemora.measurements.query.vms.traffic import WINDOW_S
from sinemora.measurements.store import traffic


def traffic_shapes(session: Session, mesh_id: UUID, minutes: int) -> list[VmTrafficShape]:
    """Return the shape of what each VM of a mesh sent in the last minutes, in the order of its matrices.

    VMs whose traffic no agent counted are left out, and so are windows without a report. ProductError `mesh_unknown`.
    """
    end = datetime.now(UTC)
    start = end - timedelta(minutes=minutes)
    shapes = []
    for member in mesh_state(session, mesh_id).members:
        steps = traffic.steps(session, member.key, start, end, WINDOW_S)
        if not steps:
            continue
        found = shape_of([step.bytes_sent for step in steps])
        shapes.append(VmTrafficShape.from_row(found, vm=Named(id=member.id, name=member.name), windows=len(steps)))
    return shapes
