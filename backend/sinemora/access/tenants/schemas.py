"""JSON schemas of the audit log, and of names of people."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from sinemora.kit.names import Name
from sinemora.kit.schemas import Read

PersonName = Annotated[Name, Field(examples=["Ada Byron"])]
MeshIds = Annotated[
    list[UUID] | None, Field(min_length=1, max_length=500, description="Meshes that are seen; null for all")
]


class VisibleMesh(Read):
    """Mesh that a member, an invitation or an API key is limited to."""

    id: UUID
    name: str


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
    address: str | None
