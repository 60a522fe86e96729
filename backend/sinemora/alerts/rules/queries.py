"""SQL of rules."""

from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from sinemora.alerts.models import (
    AlertRule,
)


def rules_of(session: Session, mesh_id: UUID) -> list[AlertRule]:
    """Return all rules of a mesh, by name."""
    return list(session.scalars(select(AlertRule).where(AlertRule.mesh_id == mesh_id).order_by(AlertRule.name)))


def rule_named(session: Session, mesh_id: UUID, name: str) -> AlertRule | None:
    """Return a mesh's rule of this name."""
    return session.scalars(select(AlertRule).where(AlertRule.mesh_id == mesh_id, AlertRule.name == name)).one_or_none()


def labels_of_vms(session: Session, mesh_id: UUID) -> dict[int, dict[str, str]]:
    """Labels of the VMs of a mesh, by key."""
    rows = session.execute(
        text(
            "SELECT v.key, v.labels FROM mesh_vms m JOIN vms v ON v.tenant_id = m.tenant_id AND v.id = m.vm_id"
            " WHERE m.tenant_id = :tenant_id AND m.mesh_id = :mesh_id"
        ),
        {"tenant_id": session.info["tenant_id"], "mesh_id": mesh_id},
    )
    return {key: labels for key, labels in rows}
