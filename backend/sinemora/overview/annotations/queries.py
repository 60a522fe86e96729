"""SQL of annotations."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from sinemora.applications.models import Application, Task
from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.overview.annotations.models import Annotation


def overlapping(mesh_id: UUID | None, start: datetime | None, end: datetime | None) -> Select[Annotation]:
    """Return the statement of annotations that overlap [`start`, `end`) and are about a mesh or about all meshes."""
    statement = select(Annotation)
    if mesh_id is not None:
        statement = statement.where(or_(Annotation.mesh_id == mesh_id, Annotation.mesh_id.is_(None)))
    if start is not None:
        statement = statement.where(or_(Annotation.starts_at >= start, Annotation.ends_at > start))
    if end is not None:
        statement = statement.where(Annotation.starts_at < end)
    return statement


def count(session: Session) -> int:
    """Return the number of the tenant's annotations."""
    return session.scalar(select(func.count()).select_from(Annotation)) or 0


def known(session: Session, table: type[Vm | Zone | Application], ids: Collection[UUID]) -> set[UUID]:
    """Return those of `ids` that are the tenant's."""
    return set(session.scalars(select(table.id).where(table.id.in_(ids)))) if ids else set()


def task_vms(session: Session, application_ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """Return the VMs that run tasks, by application."""
    vms: dict[UUID, list[UUID]] = defaultdict(list)
    if application_ids:
        pairs = (
            select(Task.application_id, Task.vm_id)
            .where(Task.application_id.in_(application_ids))
            .distinct()
            .order_by(Task.vm_id)
        )
        for application_id, vm_id in session.execute(pairs):
            if vm_id is not None:
                vms[application_id].append(vm_id)
    return vms
