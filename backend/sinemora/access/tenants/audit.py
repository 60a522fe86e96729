"""Audit log of changes, written in the transaction of the change.

An entry has the address of the request, and the values before and after of the fields that changed. Both are found
here, so that no feature can forget them. Secrets are recorded as changed, without their values.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import LargeBinary, event, inspect
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import AuditEntry, User
from sinemora.kit.db import SessionMaker, TenantOwned
from sinemora.kit.http.origin import origin

_HIDDEN = "hidden"
_SECRETS = ("secret", "password_hash", "authentication")
# Fields that change with every change.
_UNRECORDED = ("version", "updated_at", "last_used_at", "last_used_from", "authenticated_at")
_TEXT_MAX = 500
_ROWS_MAX = 50
_CHANGES = "audit_changes"


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
            detail=detail | _changes_of(session, subject_id),
            address=origin(),
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
            address=detail.get("address") or origin(),
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


def deleted(session: Session, actor: Actor, kind: str, row: Named) -> None:
    """Delete a row, and record it as `kind.deleted`."""
    session.delete(row)
    record(session, actor, f"{kind}.deleted", row.id, row.name)


@event.listens_for(SessionMaker, "before_flush")
def _note_changes(session: Session, *_: Any) -> None:
    """Note the fields that a flush is about to write: afterwards their values of before are lost."""
    rows = [row for row in session.dirty if isinstance(row, TenantOwned)]
    for row in rows if len(rows) <= _ROWS_MAX else ():  # more are a sweep, not a change by somebody
        _note(session, row)


def _id_of(row: TenantOwned) -> UUID | None:
    """Return the id that an entry about a row names; that of the person for a membership."""
    found: UUID | None = getattr(row, "id", None) or getattr(row, "user_id", None)
    return found


def _note(session: Session, row: TenantOwned) -> None:
    state = inspect(row)
    assert state is not None
    noted = session.info.setdefault(_CHANGES, {}).setdefault(_id_of(row), {})
    for attribute in state.mapper.column_attrs:
        history = state.attrs[attribute.key].history
        if attribute.key in _UNRECORDED or not history.has_changes():
            continue
        is_secret = attribute.key in _SECRETS or isinstance(attribute.columns[0].type, LargeBinary)
        before, after = (_shown(values, is_secret=is_secret) for values in (history.deleted, history.added))
        noted[attribute.key] = {"before": noted.get(attribute.key, {"before": before})["before"], "after": after}


def _changes_of(session: Session, subject_id: UUID | None) -> dict[str, Any]:
    """Return the changed fields of a subject as `{"changes": {field: {"before": …, "after": …}}}`; {} without any."""
    for row in list(session.dirty):
        if isinstance(row, TenantOwned) and _id_of(row) == subject_id:
            _note(session, row)
    noted = session.info.get(_CHANGES, {}).pop(subject_id, {}) if subject_id is not None else {}
    changes = {name: change for name, change in noted.items() if change["before"] != change["after"]}
    changes |= {name: change for name, change in noted.items() if change["after"] == _HIDDEN}
    return {"changes": changes} if changes else {}


def _shown(values: Any, *, is_secret: bool) -> Any:
    """Return the value of a history as JSON, cut to a length that a person reads."""
    value = values[0] if values else None
    if value is None:
        return None
    if is_secret:
        return _HIDDEN
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list) and all(isinstance(one, UUID) for one in value):
        value = [str(one) for one in value]
    if isinstance(value, dict | list | tuple):
        text = str(value)
        return value if len(text) <= _TEXT_MAX and _is_plain(value) else text[:_TEXT_MAX]
    return str(value)[:_TEXT_MAX]


def _is_plain(value: Any) -> bool:
    """Return whether JSON can store a value as it is."""
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(one) for name, one in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | bool | int | float)
