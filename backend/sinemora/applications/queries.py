"""Queries of applications."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, defaultload

from sinemora.applications.curves.models import CurveVersion, StoredCurve
from sinemora.applications.models import Application, ApplicationZone, Separation, Task, VmCapacity
from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.fleet.meshes.models import MeshVm
from sinemora.kit.errors import existing


@dataclass(frozen=True, slots=True)
class Carrier:
    """VM with its capacity, defaults where not declared. `slots_taken` counts the tenant's tasks; `rack` is a label."""

    vm_id: UUID
    vm_key: int
    vm_name: str
    slots: int
    slots_taken: int
    cpu_millicores: int | None
    memory_mib: int | None
    price_per_hour: Decimal | None
    host: str | None
    version: int
    rack: str | None


def applications_of(session: Session, mesh_id: UUID) -> list[Application]:
    """Return all applications on a mesh by name; related rows load on access."""
    return list(session.scalars(_by_name().where(Application.mesh_id == mesh_id)))


def applications_between(session: Session, mesh_id: UUID, vm_ids: Collection[UUID]) -> list[Application]:
    """Return the applications on a mesh with tasks on each of these VMs, by name; related rows load on access."""
    on_each = [Application.tasks.any(Task.vm_id == vm_id) for vm_id in vm_ids]
    return list(session.scalars(_by_name().where(Application.mesh_id == mesh_id, *on_each)))


def applications_on(session: Session, mesh_id: UUID, vm_ids: Collection[UUID]) -> list[Application]:
    """Return the applications on a mesh with a task on one of these VMs, by name; related rows load on access."""
    on_any = Application.tasks.any(Task.vm_id.in_(vm_ids))
    return list(session.scalars(_by_name().where(Application.mesh_id == mesh_id, on_any)))


def first_applications(session: Session, limit: int) -> list[Application]:
    """Return the first of the tenant's applications by name; related rows load on access."""
    return list(session.scalars(_by_name().limit(limit)))


def _by_name() -> Select[Application]:
    return (
        select(Application)
        .order_by(Application.name)
        .options(
            defaultload(Application.tasks).lazyload(Task.vm),
            defaultload(Application.zones).lazyload(ApplicationZone.zone),
            defaultload(Application.apart_from).lazyload(Separation.other),
        )
    )


def vms_named(session: Session, names: Collection[str], ids: Collection[UUID]) -> list[Vm]:
    return list(session.scalars(select(Vm).where(Vm.name.in_(names) | Vm.id.in_(ids))))


def members(session: Session, mesh_id: UUID) -> set[UUID]:
    """Return the ids of the VMs of a mesh."""
    return set(session.scalars(select(MeshVm.vm_id).where(MeshVm.mesh_id == mesh_id)))


def zones_named(session: Session, names: Collection[str], ids: Collection[UUID]) -> list[Zone]:
    return list(session.scalars(select(Zone).where(Zone.name.in_(names) | Zone.id.in_(ids))))


def pins_of_apart(session: Session, application_id: UUID, vm_ids: Collection[UUID]) -> list[tuple[UUID, str, str]]:
    """Return VM, application and task of each pin to these VMs, of the applications that must be apart from one."""
    declared = select(Separation.other_id).where(Separation.application_id == application_id)
    declaring = select(Separation.application_id).where(Separation.other_id == application_id)
    statement = (
        select(Task.vm_id, Application.name, Task.name)
        .join(Application, and_(Application.tenant_id == Task.tenant_id, Application.id == Task.application_id))
        .where(Task.pinned, Task.vm_id.in_(vm_ids), Application.id.in_(declared.union(declaring)))
        .order_by(Application.name, Task.name)
    )
    return [(vm_id, name, task) for vm_id, name, task in session.execute(statement) if vm_id is not None]


def applications_named(session: Session, names: Collection[str], ids: Collection[UUID]) -> list[Application]:
    statement = select(Application).where(Application.name.in_(names) | Application.id.in_(ids))
    return list(session.scalars(statement.order_by(Application.created_at.desc())))


def curve_of_version(session: Session, version_ids: Iterable[UUID]) -> dict[UUID, tuple[StoredCurve, CurveVersion]]:
    rows = session.execute(
        select(StoredCurve, CurveVersion)
        .join(
            CurveVersion,
            and_(CurveVersion.tenant_id == StoredCurve.tenant_id, CurveVersion.curve_id == StoredCurve.id),
        )
        .where(CurveVersion.id.in_(set(version_ids)))
    )
    return {version.id: (curve, version) for curve, version in rows}


def carriers(session: Session, mesh_id: UUID) -> list[Carrier]:
    """Return the VMs of a mesh with their capacity."""
    return _carriers(session, Vm.id.in_(select(MeshVm.vm_id).where(MeshVm.mesh_id == mesh_id)))


def carrier(session: Session, vm_id: UUID) -> Carrier | None:
    """Return the tenant's VM with its capacity."""
    return next(iter(_carriers(session, Vm.id == vm_id)), None)


def _carriers(session: Session, which: ColumnElement[bool]) -> list[Carrier]:
    taken = (
        select(Task.vm_id, func.sum(Task.slots).label("slots"))
        .where(Task.vm_id.is_not(None))
        .group_by(Task.vm_id)
        .subquery()
    )
    statement = (
        select(
            Vm.id,
            Vm.key,
            Vm.name,
            func.coalesce(VmCapacity.slots, 1),
            func.coalesce(taken.c.slots, 0),
            VmCapacity.cpu_millicores,
            VmCapacity.memory_mib,
            VmCapacity.price_per_hour,
            VmCapacity.host,
            func.coalesce(VmCapacity.version, 0),
            Vm.labels["rack"].astext,
        )
        .outerjoin(VmCapacity, and_(VmCapacity.tenant_id == Vm.tenant_id, VmCapacity.vm_id == Vm.id))
        .outerjoin(taken, taken.c.vm_id == Vm.id)
        .where(which)
    )
    return [Carrier(*row) for row in session.execute(statement)]


def ensure_capacity(session: Session, vm_id: UUID) -> VmCapacity:
    """Return the capacity row of a VM, locked after its VM, made with defaults if missing. Raises `NotFound`."""
    existing(session.scalar(select(Vm.id).where(Vm.id == vm_id).with_for_update(key_share=True, of=Vm)), "vm")
    first = {"tenant_id": session.info["tenant_id"], "vm_id": vm_id, "slots": 1, "version": 0}
    session.execute(insert(VmCapacity).values(first).on_conflict_do_nothing())
    return session.scalars(select(VmCapacity).where(VmCapacity.vm_id == vm_id).with_for_update()).one()
