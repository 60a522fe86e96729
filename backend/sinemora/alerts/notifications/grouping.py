"""Grouping of notifications: when the next notification of a group is sent. Pure.

Only notices of the same kind of culprit (a path or pair, a VM, a zone, the mesh) and the same symptom wait for each
other, and only until they are known to last. The first notice of a group is sent at once. Those that follow
within the hold are sent together when it ends, and the next hold is twice as long, up to the longest. Without notices
it becomes shorter again, by half for each hold that passed. Chronic spikes are therefore a notification every few hours
(cf. `group_interval` of Alertmanager). A rise that lasts for five minutes, or for one where the culprit is more than a
pair, is a notification of its own.

The first notice of an info incident waits a little before it joins its group (cf. `group_wait`): when the severity
rises meanwhile, the notice of that replaces it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sinemora.alerts.evaluation.m_of_n import WINDOWS_MAX
from sinemora.alerts.evaluation.root_cause import OF_PAIR, OF_ZONES, Suspect
from sinemora.alerts.evaluation.rule import Severity, Symptom

FIRST_HOLD_S = 1800
"""The shortest hold, after the first notification of a group."""
INFO_WAIT_S = 30
"""Wait of the first notice of an info incident, s. Most incidents that become a warning do so within two windows."""
LASTS_S = 300
"""A breach of a pair that lasts this long is no spike: the notice of its incident is no longer held. Spikes of a minute
are usual on some networks (UCAM-CL-TR-937, table 4.3: EC2 EU West)."""
SOON_S = 60
"""The same of a VM, a zone or a pair of zones: many paths that rise together for a minute are no spike."""
_KINDS = {"pair": OF_PAIR, "vm": (Suspect.EGRESS, Suspect.INGRESS, Suspect.VM), "zone": OF_ZONES}
_OF_NETWORK = tuple(suspect for suspects in _KINDS.values() for suspect in suspects)


@dataclass(frozen=True, slots=True)
class Sending:
    """A notification of a group: when it is sent, and for how long later notices are held."""

    at_s: int
    hold_s: int


def is_grouped(suspect: Suspect, severity: Severity) -> bool:
    """Return whether a notice of an incident is grouped: the network is suspected, and it is not critical."""
    return suspect in _OF_NETWORK and severity is not Severity.CRITICAL


def lasts(suspect: Suspect, windows: int, window_s: int, since_s: int) -> bool:
    """Return whether a breach is no spike: it has lasted for `since_s`, without a pause in the windows that are known.

    `windows`: those of the breach, of which at most 16 are known.
    """
    least_s = LASTS_S if suspect in OF_PAIR else SOON_S
    return since_s >= least_s and windows >= min(WINDOWS_MAX, -(-least_s // window_s))


def first_wait_s(severity: Severity) -> int:
    """Return how long the notice that an incident began or returned waits, s."""
    return INFO_WAIT_S if severity is Severity.INFO else 0


def group_key(
    mesh_id: object, symptoms: Iterable[Symptom | str], suspect: Suspect, *, spikes: bool, ends: bool = False
) -> str:
    """Return the name of a group: incidents of a mesh with the same kind of culprit and the same symptoms.

    Spikes are another symptom than a rise that lasts. Ends wait with the notices of paths: they hide nothing, and most
    are of paths.
    """
    suspect, spikes = (Suspect.PATH, False) if ends else (suspect, spikes)
    kind = next((name for name, suspects in _KINDS.items() if suspect in suspects), "mesh")
    return f"{mesh_id} {kind} {'+'.join(sorted(map(str, symptoms)))}{' spikes' if spikes else ''}"


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
