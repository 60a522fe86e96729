"""Recurrence of an incident: the times at which it was seen, how often lately, and whether it flaps. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sinemora.alerts.evaluation.tracking import REOPENED_S

Episodes = Sequence[Sequence[int]]
"""Start and end (Unix s) of each time an incident was seen, oldest first; the last has no end while it continues."""

EPISODES_MAX = 100
FLAPS_FROM = 3
"""An incident flaps if it was seen this often within an hour."""
_HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Recurrence:
    """How an incident recurs: how often it was seen since `since_s`, and how often in the hour until `seen_s`."""

    times: int
    since_s: int
    seen_s: int
    last_hour: int

    @property
    def flaps(self) -> bool:
        """Return whether it comes and goes within minutes."""
        return self.last_hour >= FLAPS_FROM

    def words(self) -> str:
        """Return it as text: 23 times in 2 days, lately 3 an hour."""
        lately = f", lately {self.last_hour} an hour" if self.last_hour > 1 else ""
        return f"{self.times} times in {_duration(self.seen_s - self.since_s)}{lately}"


def recurrence_of(episodes: Episodes, times: int, since_s: int, seen_s: int) -> Recurrence | None:
    """Return how an incident recurs; None if it was seen once."""
    if times < 2:
        return None
    last_hour = sum(1 for start, *_ in episodes if start > seen_s - _HOUR_S)
    return Recurrence(times, since_s, seen_s, last_hour)


def returns_of(episodes: Episodes) -> int:
    """Return how often it was seen once more after it had been gone for longer than `REOPENED_S`."""
    return sum(1 for one, following in pairwise(episodes) if len(one) > 1 and following[0] - one[1] > REOPENED_S)


def started(episodes: Episodes, start_s: int) -> list[list[int]]:
    """Return the episodes with a new one."""
    return [*map(list, episodes), [start_s]][-EPISODES_MAX:]


def ended(episodes: Episodes, end_s: int) -> list[list[int]]:
    """Return the episodes, of which the last has ended."""
    *earlier, last = map(list, episodes or [[end_s]])
    return [*earlier, [last[0], max(end_s, last[0])]]


def _duration(seconds: int) -> str:
    for name, length_s in (("day", 86_400), ("hour", 3600)):
        if seconds >= 2 * length_s:
            return f"{round(seconds / length_s)} {name}s"
    return f"{max(1, round(seconds / 60))} min"
