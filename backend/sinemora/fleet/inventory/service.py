"""Use cases of zones and VMs."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.quotas import Resource
from sinemora.fleet.inventory import queries
from sinemora.fleet.inventory.models import Responder, Vm, Zone
from sinemora.fleet.inventory.schemas import AgentEnrol, VmCreate, VmUpdate, ZoneCreate, ZoneUpdate
from sinemora.kit.db import named, refuse_taken
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.renames import renamed


def get_zone(session: Session, zone_id: UUID) -> Zone:
    """Return the tenant's zone. ProductError `zone_unknown`."""
    return existing(session.get(Zone, zone_id), "zone")


def get_vm(session: Session, vm_id: UUID) -> Vm:
    """Return the tenant's VM. ProductError `vm_unknown`."""
    return existing(session.get(Vm, vm_id), "vm")


def create_zone(session: Session, actor: Actor, body: ZoneCreate) -> Zone:
    """Return a new zone. ProductError `zone_name_taken`."""
    _check_zone_name(session, body.provider, body.region, body.name)
    zone = Zone(**body.model_dump())
    audit.created(session, actor, "zone", zone)
    return zone


def update_zone(session: Session, actor: Actor, zone_id: UUID, body: ZoneUpdate, precondition: IfMatch) -> Zone:
    """Change a zone. ProductError `zone_unknown`, `zone_name_taken`, `version_changed`."""
    queries.lock_meshes(session, zone_id=zone_id)
    zone = get_zone(session, zone_id)
    precondition.check(zone)
    changes = body.model_dump(exclude_unset=True)
    before = zone.name
    if changes.get("name", before) != before:
        _check_zone_name(session, zone.provider, zone.region, changes["name"])
        zone.name = changes["name"]
    if "physical_id" in changes:
        zone.physical_id = changes["physical_id"]
    renamed(session, "zone", before, zone.name)
    session.flush()
    audit.record(session, actor, "zone.updated", zone.id, zone.name, fields=sorted(changes))
    return zone


def delete_zone(session: Session, actor: Actor, zone_id: UUID, precondition: IfMatch) -> None:
    """Delete an empty zone. ProductError `zone_unknown`, `zone_in_use`."""
    zone = get_zone(session, zone_id)
    precondition.check(zone)
    if queries.zone_in_use(session, zone.id):
        raise ProductError("zone_in_use", 409, "Zone in use: it contains VMs. Move or delete them first.")
    audit.deleted(session, actor, "zone", zone)


def create_vm(session: Session, actor: Actor, body: VmCreate) -> Vm:
    """Return a new VM, without an agent. ProductError `zone_unknown`, `vm_name_taken`, `quota_exceeded`."""
    zone = get_zone(session, body.zone_id)
    refuse_taken(session, Vm, body.name, "vm_name_taken")
    _check_vm_quota(session)
    vm = Vm(**body.model_dump(), zone=zone)
    audit.created(session, actor, "vm", vm)
    return vm


def update_vm(session: Session, actor: Actor, vm_id: UUID, body: VmUpdate, precondition: IfMatch) -> Vm:
    """Change a VM. ProductError `vm_unknown`, `zone_unknown`, `vm_name_taken`, `ports_equal`, `vm_has_agent`,
    `probe_address_missing`, `version_changed`.
    """
    queries.lock_meshes(session, vm_id=vm_id)
    vm = get_vm(session, vm_id)
    precondition.check(vm)
    changes = body.model_dump(exclude_unset=True)
    before = vm.name
    if changes.get("name", before) != before:
        refuse_taken(session, Vm, changes["name"], "vm_name_taken")
    if "zone_id" in changes:
        vm.zone = get_zone(session, changes["zone_id"])
    for field, value in changes.items():
        setattr(vm, field, value)
    if vm.event_port == vm.general_port:
        raise ProductError("ports_equal", 409, "Ports equal: general_port must differ from event_port.")
    if vm.responder != Responder.AGENT:
        _check_master(vm)
    renamed(session, "vm", before, vm.name)
    session.flush()
    audit.record(session, actor, "vm.updated", vm.id, vm.name, fields=sorted(changes))
    return vm


def delete_vm(session: Session, actor: Actor, vm_id: UUID, precondition: IfMatch) -> None:
    """Delete a VM with its agents and memberships. ProductError `vm_unknown`."""
    queries.lock_meshes(session, vm_id=vm_id)
    vm = get_vm(session, vm_id)
    precondition.check(vm)
    audit.deleted(session, actor, "vm", vm)


def vm_for_enrolment(session: Session, body: AgentEnrol) -> Vm:
    """Return the locked VM for an enrolment: the VM of its name or a new one, with the zone, address and ports sent.

    ProductError `quota_exceeded`.
    """
    if named(session, Vm, body.hostname) is None:
        _check_vm_quota(session)
    zone = queries.ensure_zone(session, body.zone.provider, body.zone.region, body.zone.name, body.zone.physical_id)
    vm = queries.ensure_vm(session, body.hostname, zone, body.event_port, body.general_port)
    vm.zone = zone
    vm.probe_address = body.probe_address
    vm.event_port = body.event_port
    vm.general_port = body.general_port
    vm.responder = Responder.AGENT
    session.flush()
    return vm


def _check_master(vm: Vm) -> None:
    if vm.agent is not None:
        raise ProductError("vm_has_agent", 409, f"VM in use: {vm.name} has an agent, which responds. Revoke it first.")
    if vm.probe_address is None:
        raise ProductError("probe_address_missing", 409, "Address missing: an IEEE 1588 master needs a probe_address.")


def _check_zone_name(session: Session, provider: str, region: str, name: str) -> None:
    if queries.zone_named(session, provider, region, name):
        raise ProductError("zone_name_taken", 409, f"Name taken: {provider} {region} has a zone {name} already.")


def _check_vm_quota(session: Session) -> None:
    quotas.lock(session)
    used = session.scalar(select(func.count()).select_from(Vm)) or 0
    quotas.check(Resource.VMS, used + 1, quotas.limits(session))
