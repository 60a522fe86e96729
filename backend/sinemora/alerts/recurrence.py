"""Recurrence of a stored incident."""

from sinemora.alerts.evaluation import recurrence
from sinemora.alerts.evaluation.recurrence import Recurrence
from sinemora.alerts.models import Incident


def recurrence_of(row: Incident) -> Recurrence | None:
    """Return how an incident recurs; None if it was seen once."""
    since_s, seen_s = (round(at.timestamp()) for at in (row.first_onset_at, row.seen_at))
    return recurrence.recurrence_of(row.episodes, row.occurrences, since_s, seen_s)
