"""Notices of incidents, and the notifications that a receiver with default settings gets of them.

Follows `alerts/incidents/store.py` and `alerts/notifications`: begin, return, a higher severity and the end of an
incident are notices; those about the network are grouped unless they are critical. An info incident begins with a short
wait, and a notice of its higher severity replaces the one that still waits.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.evaluation.tracking import Track, quiet_s
from sinemora.alerts.notifications.grouping import (
    LASTS_S,
    Sending,
    first_wait_s,
    group_key,
    is_grouped,
    next_sending,
)
from sinemora.alerts.receivers.routing import HOLD_S


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice at a time (s) about an incident; `begins`: it began or returned then."""

    at_s: int
    id: str
    suspect: Suspect
    group: str
    severity: Severity
    begins: bool = False


@dataclass(slots=True)
class NoticeLog:
    """Notices of a mesh in the order in which they arise, and when each incident was seen without a pause."""

    notices: list[Notice] = field(default_factory=list)
    seen: dict[str, list[list[int]]] = field(default_factory=dict)
    _ends: dict[str, Notice] = field(default_factory=dict)
    _first: dict[str, Notice] = field(default_factory=dict)

    def add(self, track: Track, severity: Severity, at_s: int, *, begins: bool) -> bool:
        """Add a notice of now. Return True when it replaces one that still waited."""
        replaces = self.withdraw(track.id, at_s)
        notice = _notice(track, severity, at_s + (first_wait_s(severity) if begins else 0), begins=begins)
        self.notices.append(notice)
        if begins:
            self._first[track.id] = notice
        return replaces

    def withdraw(self, id: str, at_s: int) -> bool:
        """Withdraw the notice that an incident began if it still waits at a time; return True when it did."""
        first = self._first.pop(id, None)
        if first is None or first.at_s <= at_s:
            return False
        self.notices.remove(first)
        return True

    def begin(self, id: str, at_s: int) -> None:
        """Note that an incident is seen from now on; the notice of its end is withdrawn if it has not been sent."""
        self.seen.setdefault(id, []).append([at_s, at_s])
        end = self._ends.pop(id, None)
        if end is not None and end.at_s < at_s:
            self.notices.append(end)

    def end(self, track: Track, severity: Severity, *, told: bool) -> None:
        """Note that an incident has ended, with the notice of its end unless nobody is to hear of it."""
        if self.seen.get(track.id):
            self.seen[track.id][-1][1] = track.seen_at_s
        if told:
            at_s = (track.ended_at_s or track.seen_at_s) + quiet_s(track.returns, severity)
            self._ends[track.id] = _notice(track, severity, at_s, begins=False)

    def sent(self, until_s: int) -> int:
        """Return the number of notifications until a time."""
        ends = [end for end in self._ends.values() if end.at_s <= until_s]
        return count([*self.notices, *ends], self._lasts)

    def _lasts(self, notice: Notice, due_s: int) -> bool:
        """Return whether an incident that a held notice is about lasts so long that it is sent before it is due."""
        spells = [spell for spell in self.seen.get(notice.id, ()) if spell[0] <= notice.at_s]
        released_s = spells[-1][0] + LASTS_S if spells else due_s
        return notice.begins and released_s <= min(due_s, spells[-1][1])


def count(notices: Iterable[Notice], lasts: Callable[[Notice, int], bool]) -> int:
    """Return the number of notifications of notices to a receiver with default settings.

    `lasts`: whether the incident of a held notice lasts so long that it is sent before it is due.
    """
    sent, groups = 0, dict[str, Sending]()
    for notice in sorted(notices, key=lambda one: one.at_s):
        if not is_grouped(notice.suspect, notice.severity):
            sent += 1
            continue
        last = groups.get(notice.group)
        sending = next_sending(last, notice.at_s, HOLD_S)
        if sending is not last:
            sent += 1
            groups[notice.group] = sending
        sent += sending.at_s > notice.at_s and lasts(notice, sending.at_s)
    return sent


def _notice(track: Track, severity: Severity, at_s: int, *, begins: bool) -> Notice:
    suspect = track.culprit.suspect
    return Notice(at_s, track.id, suspect, group_key("", track.symptoms, suspect), severity, begins)
