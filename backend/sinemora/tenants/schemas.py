"""JSON schemas of API keys and the audit log."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AwareDatetime, Field

from sinemora.kit.schemas import Read, Write
from sinemora.tenants.models import Scope

Name = Annotated[str, Field(min_length=1, max_length=100)]


class ApiKeyCreate(Write):
    """API key to create. `write` includes `read`."""

    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=2)]
    expires_at: AwareDatetime


class ApiKeyRead(Read):
    """API key without its secret."""

    id: UUID
    name: str
    prefix: str
    scopes: list[Scope]
    expires_at: datetime
    created_at: datetime


class ApiKeyCreated(ApiKeyRead):
    """New API key. `secret` is shown only once; send it as `Authorization: Bearer sm_…`."""

    secret: str


class AuditEntryRead(Read):
    """Entry of the audit log."""

    id: UUID
    created_at: datetime
    actor_kind: str
    actor_id: UUID | None
    actor_name: str
    action: str
    subject_id: UUID | None
    subject_name: str
    detail: dict[str, Any]
