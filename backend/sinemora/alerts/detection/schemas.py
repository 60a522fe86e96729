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
    hours: Annotated[int, Field(ge=1, le=720, description="How far back; by minutes beyond the windows kept")] = 24


class RulePreviewCreate(RuleFields):
    """A rule to be looked at on one path; nothing is saved."""

    mesh_id: UUID
    source_id: UUID
    target_id: UUID
    hours: Annotated[int, Field(ge=1, le=24, description="How far back")] = 3


class RulePreview(Read):
    """By window of the path (`points_at`: its start): what the rule compares, above which limit it is a breach, and
    whether it fires. ns, or ratios; null where unknown. `notes`: in words, what one path does not show.
    """

    points_at: list[datetime]
    values: list[float | None]
    limits: list[float | None]
    firing: list[bool]
    notes: list[str]
