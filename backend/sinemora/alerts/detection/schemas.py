"""Wire shapes of back-tests and previews of rules. Delays in ns, loss and performance as ratios."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sinemora.alerts.rules.schemas import RuleFields
from sinemora.kit.schemas import Read


class BackTestCreate(RuleFields):
    """A rule to evaluate on stored windows; nothing is saved, no one is notified."""

    mesh_id: UUID
    hours: Annotated[int, Field(ge=1, le=720)] = 24


class RulePreviewCreate(RuleFields):
    """A rule to preview on one path; nothing is saved."""

    mesh_id: UUID
    source_id: UUID
    target_id: UUID
    hours: Annotated[int, Field(ge=1, le=24, description="Look-back in hours")] = 3


class RulePreview(Read):
    """Value, limit and firing of a rule by window of a path (`points_at`: its start)."""

    points_at: list[datetime]
    values: list[float | None]
    limits: list[float | None]
    firing: list[bool]
    notes: list[str]
