"""Addresses of VMs that share a mesh. An address and event port belong to one VM: its peers know it by nothing else."""

from datetime import UTC, datetime

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.fleet.inventory import queries
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.inventory.status import AgentStatus, status_of
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError

# VMs that share a mesh with one and have its address and event port, with their agents.
_HOLDERS = text(
    "SELECT DISTINCT other.id, other.name, agents.id, agents.last_report_at, agents.report_every_s"
    " FROM mesh_vms own"
    " JOIN mesh_vms shared ON shared.tenant_id = own.tenant_id AND shared.mesh_id = own.mesh_id"
    " JOIN vms other ON other.tenant_id = shared.tenant_id AND other.id = shared.vm_id"
    " LEFT JOIN agents ON agents.tenant_id = other.tenant_id AND agents.vm_id = other.id AND agents.revoked_at IS NULL"
    " WHERE own.vm_id = :vm AND other.id <> :vm AND other.probe_address = :address AND other.event_port = :port"
    " AND other.responder = 'agent'"
)


def claim(session: Session, vm: Vm) -> None:
    """Take the address and port of a VM from the VMs of its meshes that have it and do not report; both get an event.

    ProductError `address_in_use` (409): a VM that reports has it.
    """
    session.flush()
    at = {"vm": vm.id, "address": vm.probe_address, "port": vm.event_port}
    now, place = datetime.now(UTC), f"{vm.probe_address}:{vm.event_port}"
    for id, name, agent_id, last_report_at, every_s in session.execute(_HOLDERS, at).all():
        stale = settings().stale_windows
        if agent_id and status_of(None, last_report_at, every_s, now, stale) is AgentStatus.reporting:
            raise ProductError(
                "address_in_use",
                409,
                f"Address in use: {place} belongs to {name}, which reports. Stop that VM's agent, or set another"
                f" probe_address or event_port for {vm.name}.",
            )
        session.get_one(Vm, id).probe_address = None
        message = f"the address {place} of {name}, which does not report, belongs to {vm.name} now"
        own = queries.active_agent(session, vm.id)
        for informed in {agent_id, own and own.id} - {None}:
            queries.add_events(
                session, informed, [{"kind": "address_taken", "at": now, "detail": {"message": message}}]
            )
    session.flush()
