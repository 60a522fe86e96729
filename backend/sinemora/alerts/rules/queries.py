"""SQL of rules."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from sinemora.alerts.models import AlertRule


def rules_of(session: Session, mesh_id: UUID) -> list[AlertRule]:
    return list(session.scalars(select(AlertRule).where(AlertRule.mesh_id == mesh_id).order_by(AlertRule.name)))


def versions_of_rules(session: Session, mesh_ids: Sequence[UUID]) -> dict[UUID, list[tuple[UUID, int]]]:
    """Return ids and versions of the enabled rules of meshes, by mesh."""
    rows = session.execute(
        text(
            "SELECT mesh_id, id, version FROM alert_rules WHERE tenant_id = :tenant_id AND mesh_id = ANY(:mesh_ids)"
            " AND enabled ORDER BY mesh_id, name"
        ),
        {"tenant_id": session.info["tenant_id"], "mesh_ids": list(mesh_ids)},
    )
    found: dict[UUID, list[tuple[UUID, int]]] = {}
    for mesh_id, rule_id, version in rows:
        found.setdefault(mesh_id, []).append((rule_id, version))
    return found


def rule_named(session: Session, mesh_id: UUID, name: str) -> AlertRule | None:
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
