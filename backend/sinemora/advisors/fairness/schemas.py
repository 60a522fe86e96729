"""JSON schemas of the fairness meter."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sinemora.kit.schemas import Read, Write


class FairnessOf(StrEnum):
    """Those among which fairness is measured."""

    VMS = "vms"
    FLOWS = "flows"
    APPLICATIONS = "applications"
    METRIC_SOURCES = "metric_sources"


class FairnessMember(Read):
    """Share of one member; `relative` is it over the mean share."""

    name: str
    share: float
    relative: float


class FairnessRead(Read):
    """Jain's index over the members with a share."""

    mesh_id: UUID
    of: FairnessOf
    share: str
    started_at: datetime | None
    ended_at: datetime | None
    index: float | None
    alert_below: float
    below: bool | None
    members: list[FairnessMember]
    left_out: list[str]


class FairnessImportCreate(Write):
    """Table measured elsewhere, as CSV: `group`, `window`, and `throughput` of each flow, or `index` of the window."""

    csv: Annotated[str, Field(max_length=4_000_000)]


class WindowIndexRead(Read):
    """Index of one window; `members` is 0 where the table holds indices."""

    window: str
    index: float | None
    members: int


class GroupIndexRead(Read):
    """Indices of a group, and their mean."""

    group: str
    mean: float | None
    windows: list[WindowIndexRead]


class FairnessImportRead(Read):
    """Groups in the order of the table."""

    groups: list[GroupIndexRead]
