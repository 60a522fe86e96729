"""Schemas of a demonstration."""

from datetime import datetime

from sinemora.kit.schemas import Read


class ObservedWork(Read):
    """Requests per second that one connection of an application reaches now, and what is usual in the story."""

    application: str
    now_per_s: float
    usual_per_s: float


class Chapter(Read):
    """Part of the story: what happens, since when, and when the next part begins."""

    title: str
    text: str
    started_at: datetime
    ends_at: datetime


class Notified(Read):
    """Notification that the demonstration's receiver got."""

    at: datetime
    title: str


class Demonstration(Read):
    """Demonstration that is being played."""

    chapter: Chapter
    observed: ObservedWork | None
    notified: Notified | None
    waiting_percent: float | None = None


class DemonstrationRead(Read):
    """State of the demonstration; `playing` is null where none is played."""

    playing: Demonstration | None
