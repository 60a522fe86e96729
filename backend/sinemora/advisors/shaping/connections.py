"""Use case: retransmission timeouts in the connections of the VMs of a mesh."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.advisors.shaping.core.connections import judged
from sinemora.advisors.shaping.schemas import ConnectionTimeoutsRead, ConnectionTimeoutsRow
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.service import mesh_state
from sinemora.measurements.store import connections

ROWS_MAX = 200


def connection_timeouts(session: Session, mesh_id: UUID, minutes: int) -> ConnectionTimeoutsRead:
    """Return the timeouts of connections of the VMs of a mesh, by peer, most first. ProductError `mesh_unknown`."""
    mesh = mesh_state(session, mesh_id)
    end = datetime.now(UTC)
    start = end - timedelta(minutes=minutes)
    vms = {vm.key: vm for vm in session.scalars(select(Vm))}
    members = [vms[key] for key in vms if vms[key].id in {member.id for member in mesh.members}]
    rows = connections.sums(session, [vm.key for vm in members], start, end)
    items = []
    for row in rows[:ROWS_MAX]:
        vm, peer = vms[row.vm_key], vms.get(row.peer_key)
        found = judged(
            row.segments_sent, row.segments_retransmitted, row.timeouts, row.timeouts_in_band, row.stalled_ms
        )
        items.append(
            ConnectionTimeoutsRow.from_row(
                row,
                vm_id=vm.id,
                vm_name=vm.name,
                peer_vm_id=None if peer is None else peer.id,
                peer_vm_name=None if peer is None else peer.name,
                connections=row.connections_max,
                rto_ms=None if row.rto_us is None else row.rto_us / 1e3,
                found=found.found,
                evidence=found.evidence,
                stall_ms=found.stall_ms,
                share=found.share,
            )
        )
    reporting = len({row.vm_key for row in rows})
    return ConnectionTimeoutsRead(
        started_at=start, ended_at=end, vms=len(members), vms_reporting=reporting, items=items
    )
