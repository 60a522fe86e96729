"""JSON schemas of the audit log, and of names and addresses of people."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field

from sinemora.kit import mail
from sinemora.kit.names import Name
from sinemora.kit.schemas import Read


def _address(text: str) -> str:
    if not mail.is_address(text):
        raise ValueError("should be an e-mail address such as ada@example.com")
    return text.lower()


EmailAddress = Annotated[
    str, Field(min_length=3, max_length=254, examples=["ada@example.com"]), AfterValidator(_address)
]
TenantName = Annotated[Name, Field(examples=["Example"])]
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
