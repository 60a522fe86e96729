"""Audit log of changes, written in the transaction of the change."""

from collections.abc import Iterable
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.tenants.access import Actor
from sinemora.tenants.models import AuditEntry, User


class Named(Protocol):
    """A row with an id and a name."""

    @property
    def id(self) -> UUID: ...
    @property
    def name(self) -> str: ...


def record(
    session: Session, actor: Actor | None, action: str, subject_id: UUID | None, subject_name: str, **detail: Any
) -> None:
    """Record that `actor` (None: the product itself) did `action` (`mesh.created`) to a subject; `detail` is JSON."""
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


def record_session(session: Session, tenant_id: UUID, user: User, action: str, detail: dict[str, Any]) -> None:
    """Record in a system session what `user` did to a browser session: `session.created`, `.refused`, `.locked`…"""
    session.add(
        AuditEntry(
            tenant_id=tenant_id,
            actor_kind="user",
            actor_id=user.id,
            actor_name=user.email,
            action=action,
            subject_id=user.id,
            subject_name=user.email,
            detail=detail,
        )
    )


def created(session: Session, actor: Actor | None, kind: str, row: Named, **detail: Any) -> None:
    """Store a new row, read its defaults back, and record it as `kind.created`; `detail` is JSON."""
    session.add(row)
    session.flush()
    session.refresh(row)
    record(session, actor, f"{kind}.created", row.id, row.name, **detail)


def updated(session: Session, actor: Actor | None, kind: str, row: Named, fields: Iterable[str]) -> None:
    """Store a changed row, read it back, and record it as `kind.updated` with the names of the fields."""
    session.flush()
    session.refresh(row)
    record(session, actor, f"{kind}.updated", row.id, row.name, fields=sorted(fields))
