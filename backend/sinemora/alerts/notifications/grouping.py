"""Grouping of notifications: when the next notification of a group is sent. Pure.

Notices about the network that come in numbers are one notification in a while instead of one each. The first of a
group is sent at once. Those that follow within the hold are sent together when it ends, and the next hold is twice as
long, up to the longest. Without notices it becomes shorter again, by half for each hold that passed. Chronic trouble
is therefore a notification every few hours, and a new one is notified at once (cf. `group_interval` of Alertmanager).

The first notice of an info incident waits a little before it joins its group (cf. `group_wait`): when the severity
rises meanwhile, the notice of that replaces it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sinemora.alerts.evaluation.root_cause import OF_PAIR, OF_ZONES, Suspect
from sinemora.alerts.evaluation.rule import Severity, Symptom

FIRST_HOLD_S = 1800
"""The shortest hold, after the first notification of a group."""
INFO_WAIT_S = 30
"""Wait of the first notice of an info incident, s. Most incidents that become a warning do so within two windows."""
LASTS_S = 900
"""An incident that lasts this long is no spike: its notice is no longer held."""
_OF_NETWORK = (*OF_PAIR, *OF_ZONES, Suspect.EGRESS, Suspect.INGRESS, Suspect.VM)


@dataclass(frozen=True, slots=True)
class Sending:
    """A notification of a group: when it is sent, and for how long later notices are held."""

    at_s: int
    hold_s: int


def is_grouped(suspect: Suspect, severity: Severity) -> bool:
    """Return whether notices of an incident are grouped: the network is suspected, and it is not critical."""
    return suspect in _OF_NETWORK and severity is not Severity.CRITICAL


def first_wait_s(severity: Severity) -> int:
    """Return how long the notice that an incident began or returned waits, s."""
    return INFO_WAIT_S if severity is Severity.INFO else 0


def group_key(mesh_id: object, symptoms: Iterable[Symptom | str], suspect: Suspect) -> str:
    """Return the name of a group: incidents of a mesh with the same symptoms.

    Those about more than a pair are a group of their own: single paths that spike all day do not hold back the first
    notice about a VM or a zone.
    """
    return f"{mesh_id} {'+'.join(sorted(map(str, symptoms)))}{'' if suspect in OF_PAIR else ' broad'}"


def next_sending(last: Sending | None, at_s: int, longest_s: int) -> Sending:
    """Return the notification that a notice at a time is part of. `last`: the newest one, which may be waiting."""
    first_s = min(FIRST_HOLD_S, longest_s)
    if last is None:
        return Sending(at_s, first_s)
    if at_s < last.at_s:
        return last
    free_s = last.at_s + last.hold_s
    if at_s < free_s:
        return Sending(free_s, min(2 * last.hold_s, longest_s))
    halvings = 1 + (at_s - free_s) // max(last.hold_s, 1)
    return Sending(at_s, max(first_s, last.hold_s >> min(halvings, 30)))
