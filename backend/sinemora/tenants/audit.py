"""The record of changes, written in the transaction that makes them."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.tenants.access import Actor
from sinemora.tenants.models import AuditEntry


def record(
    session: Session, actor: Actor | None, action: str, subject_id: UUID | None, subject_name: str, **detail: Any
) -> None:
    """Note that `actor` (None: the product itself) did `action` (`mesh.created`) to a subject; `detail` is JSON."""
    session.add(
        AuditEntry(
            actor_kind=actor.kind if actor else "system",
            actor_id=actor.id if actor else None,
            actor_name=actor.name if actor else "Sinemora",
            action=action,
            subject_id=subject_id,
            subject_name=subject_name,
            detail=detail,
        )
    )
