"""Shapes on the wire: kept ranges."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field

from sinemora.kit.schemas import Read, Write


class PinCreate(Write):
    """A range of a mesh to be kept, and why."""

    mesh_id: UUID
    started_at: AwareDatetime
    ended_at: AwareDatetime
    reason: Annotated[str, Field(min_length=1, max_length=500)]


class PinRead(Read):
    """A kept range."""

    id: UUID
    mesh_id: UUID
    mesh_name: str
    started_at: datetime
    ended_at: datetime
    reason: str
    made_by: str
    created_at: datetime
