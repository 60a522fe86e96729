"""JSON schemas of aged measurements."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sinemora.kit.schemas import Read


class AgedTierRead(Read):
    """Aged objects of one tier of a mesh; their rows are not in the database, except for restored ones."""

    mesh_id: UUID
    mesh: str
    tier: Annotated[str, Field(description="`probe_frames_…` of VMs or `zone_frames_…` of zones, and the step")]
    objects: int
    restored: Annotated[int, Field(description="Objects whose rows were copied back to the database for some days")]
    rows: int
    bytes: int
    started_at: datetime
    ended_at: datetime


class AgingRunRead(Read):
    """Newest run of ageing of the tenant."""

    started_at: datetime
    ended_at: datetime
    objects: int
    rows: int
    bytes: int
    error: Annotated[str | None, Field(description="Why it stopped; null when it did all its work")]


class AgedRead(Read):
    """Measurements in object storage. `after_days`: age at which measurements are moved there; 0: never."""

    after_days: int
    items: list[AgedTierRead]
    run: AgingRunRead | None
