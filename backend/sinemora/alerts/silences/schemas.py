"""Wire shapes of silences."""

from datetime import datetime
from typing import Annotated
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from sinemora.alerts.schemas import Matcher
from sinemora.kit.schemas import Read, Write


def _time_zone(name: str) -> str:
    try:
        return name if name == "UTC" else ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("Not a time zone of the IANA database, such as Europe/Berlin or UTC.") from None


class Weekly(Write):
    """A weekly recurrence by the local time of `time_zone`, also over a change of clocks. `weekday`: 0 is Monday."""

    weekday: Annotated[int, Field(ge=0, le=6)]
    minute: Annotated[int, Field(ge=0, lt=1440, description="Minute of the day")]
    lasts_min: Annotated[int, Field(ge=1, le=10_080)]
    time_zone: Annotated[str, AfterValidator(_time_zone), Field(max_length=60, examples=["Europe/Berlin"])] = "UTC"


class SilenceCreate(Write):
    """A silence of incidents that match all matchers, from `starts_at` to `ends_at`, or weekly within that."""

    comment: Annotated[str, Field(min_length=1, max_length=1000)]
    matchers: Annotated[list[Matcher], Field(min_length=1, max_length=20)]
    starts_at: datetime | None = None
    ends_at: datetime
    weekly: Weekly | None = None


class SilenceRead(Read):
    """A silence; `active`: it applies now."""

    id: UUID
    comment: str
    matchers: list[Matcher]
    starts_at: datetime
    ends_at: datetime
    weekly: Weekly | None
    created_by: str
    active: bool
    version: int
