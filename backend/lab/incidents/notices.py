"""Notices of incidents, and the notifications that a receiver with default settings gets of them.

Follows `alerts/incidents/store.py` and `alerts/notifications`: begin, return, a higher severity and the end of an
incident are notices; those about the network are grouped unless they are critical. An info incident begins with a short
wait, and a notice of its higher severity replaces the one that still waits.
"""

from dataclasses import dataclass, field

from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.evaluation.tracking import Track, quiet_s
from sinemora.alerts.notifications.grouping import Sending, first_wait_s, group_key, is_grouped, next_sending
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
    """Notices of a mesh in the order in which they arise, and when incidents were known to last."""

    notices: list[Notice] = field(default_factory=list)
    lasting: dict[str, list[int]] = field(default_factory=dict)
    _ends: dict[str, Notice] = field(default_factory=dict)
    _first: dict[str, Notice] = field(default_factory=dict)

    def add(self, track: Track, severity: Severity, at_s: int, *, begins: bool = True) -> bool:
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
        end = self._ends.pop(id, None)
        if end is not None and end.at_s < at_s:
            self.notices.append(end)

    def last(self, id: str, at_s: int) -> None:
        """Note that an incident is known to last at a time."""
        self.lasting.setdefault(id, []).append(at_s)

    def end(self, track: Track, severity: Severity, *, is_notified: bool) -> None:
        """Note that an incident has ended, with the notice of its end unless nobody is to hear of it."""
        if is_notified:
            at_s = (track.ended_at_s or track.seen_at_s) + quiet_s(track.returns, severity)
            self._ends[track.id] = _notice(track, severity, at_s, begins=False, ends=True)

    def deliveries(self, until_s: int) -> tuple[int, dict[str, list[tuple[int, int]]]]:
        """Return the number of notifications until a time, and when each incident's notices arose and were sent, s.

        Notices of ends are counted, not listed.
        """
        ends = [end for end in self._ends.values() if end.at_s <= until_s]
        sent, groups, delivered = 0, dict[str, Sending](), dict[str, list[tuple[int, int]]]()
        for notice in sorted([*self.notices, *ends], key=lambda one: one.at_s):
            at_s = notice.at_s
            if is_grouped(notice.suspect, notice.severity):
                last = groups.get(notice.group)
                sending = next_sending(last, notice.at_s, HOLD_S)
                sent += sending is not last
                groups[notice.group], at_s = sending, sending.at_s
                released_s = self._released_s(notice, sending.at_s)
                if released_s is not None:
                    sent, at_s = sent + 1, released_s
            else:
                sent += 1
            delivered.setdefault(notice.id, []).append((notice.at_s, at_s))
        return sent, delivered

    def _released_s(self, notice: Notice, due_s: int) -> int | None:
        """Return when a held notice is sent because its incident lasts, before it is due; None if not."""
        known = [at_s for at_s in self.lasting.get(notice.id, ()) if notice.at_s <= at_s < due_s]
        return min(known) if known and notice.begins else None


def _notice(track: Track, severity: Severity, at_s: int, *, begins: bool, ends: bool = False) -> Notice:
    suspect = track.culprit.suspect
    group = group_key("", track.symptoms, suspect, spikes=track.spikes, ends=ends)
    return Notice(at_s, track.id, suspect, group, severity, begins)
