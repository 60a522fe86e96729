"""JSON schemas of pins."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field

from sinemora.kit.schemas import Read, Write


class PinCreate(Write):
    """Pin to create: range of a mesh and the reason."""

    mesh_id: UUID
    started_at: AwareDatetime
    ended_at: AwareDatetime
    reason: Annotated[str, Field(min_length=1, max_length=500)]


class PinRead(Read):
    """Pin."""

    id: UUID
    mesh_id: UUID
    mesh_name: str
    started_at: datetime
    ended_at: datetime
    reason: str
    made_by: str
    created_at: datetime
