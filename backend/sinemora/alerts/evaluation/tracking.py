"""Track incidents through time: match the causes of a window to incidents, open new ones, end old ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sinemora.alerts.evaluation.baseline import Flags, Ints
from sinemora.alerts.evaluation.detections import Detection
from sinemora.alerts.evaluation.root_cause import OF_PAIR, OF_SHARES, OF_VM, OF_ZONES, Culprit, Suspect, explains
from sinemora.alerts.evaluation.rule import Severity, Symptom

SETTLED_S = 180
"""An incident ends when it has not been seen for this long …"""
REOPENED_S = 900
"""… and the same cause within this time after its end continues it."""
REMEMBERED_S = 86_400
"""The same cause within this time after its end is the same incident once more."""
# A path that spikes every other hour is notified a few times a day.
_INFO_QUIET_S = 4 * 3600
_OVERLAP = 0.3
_PART = 0.5
# Windows in which a new incident may change its culprit freely; later only on much better evidence.
_YOUNG_WINDOWS = 6
_MUCH_BETTER = 1.5
# Time after a change of its culprit in which an incident keeps it: a title that changes in each window names nothing.
_KEPT_S = 60


@dataclass(frozen=True, slots=True)
class Track:
    """An incident during evaluation. `cells`: all paths (flat) it ever had; `score`: of its culprit.

    `spikes`: only rules about spikes have fired. `sharp`: it was critical, or far worse than other paths.
    `symptoms`: those of the rules that have fired; empty where unknown. `returns`: how often it was seen once more
    after it had been gone for longer than `REOPENED_S`. `named_at_s`: when its culprit changed last, if it did.
    """

    id: str
    culprit: Culprit
    cells: Ints
    score: float
    opened_at_s: int
    seen_at_s: int
    ended_at_s: int | None = None
    application: str | None = None
    spikes: bool = False
    sharp: bool = False
    symptoms: frozenset[Symptom] = frozenset()
    returns: int = 0
    named_at_s: int | None = None


class Transition(StrEnum):
    """Effect of a window on an incident."""

    OPENED = "opened"
    SEEN = "seen"
    REOPENED = "reopened"
    ENDED = "ended"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class IncidentChange:
    """A transition of an incident, with its detection if any; `into`: the incident it was merged into."""

    transition: Transition
    track: Track
    detection: Detection | None = None
    into: str | None = None


def advance(
    tracks: Sequence[Track],
    detections: Sequence[Detection],
    zone_of: Ints,
    ended_at_s: int,
    window_s: int,
    new_id: Sequence[str] | None = None,
) -> list[IncidentChange]:
    """Return the changes that a window makes to incidents.

    `tracks`: oldest first, including those that ended within `REMEMBERED_S`. Ids of new incidents are taken from
    `new_id`, else counted. Paths without data keep incidents open, and change nothing else about them.
    """
    ids = iter(new_id or ())
    alive = [one for one in tracks if one.ended_at_s is None or ended_at_s - one.ended_at_s <= REMEMBERED_S]
    detections, confirmed = _confirmed(detections, alive)
    matched: dict[int, list[Track]] = {at: [] for at in range(len(detections))}
    inside = [explains(detection.cause.culprit, zone_of).reshape(-1) for detection in detections]
    silent = [area for detection, area in zip(detections, inside, strict=True) if _many_silent(detection)]
    changes: list[IncidentChange] = []
    remainders: dict[str, tuple[Track, list[Detection]]] = {}
    for track in alive:
        likeness = [_likeness(detection, inside[at], track, ended_at_s) for at, detection in enumerate(detections)]
        best = int(np.argmax(likeness)) if likeness else -1
        if best >= 0 and likeness[best] >= (_OVERLAP if track.ended_at_s is None else 1.0):
            matched[best].append(track)
        elif track.id in confirmed or _falls_silent(track, silent, zone_of):
            changes.append(IncidentChange(Transition.SEEN, replace(track, seen_at_s=ended_at_s)))
        elif track.ended_at_s is None and ended_at_s - track.seen_at_s >= SETTLED_S:
            changes.append(IncidentChange(Transition.ENDED, replace(track, ended_at_s=track.seen_at_s)))
    for at, detection in enumerate(detections):
        # An open incident is continued first, then the one that ended last.
        matches = sorted(
            matched[at], key=lambda one: (one.ended_at_s is not None, -(one.ended_at_s or 0), one.opened_at_s)
        )
        if not matches:
            if (parent := _parent_of(detection, alive, zone_of, ended_at_s)) is not None:
                remainders.setdefault(parent.id, (parent, []))[1].append(detection)
                continue
            id = next(ids, None) or f"{ended_at_s}-{at}"
            track = Track(
                id,
                detection.cause.culprit,
                detection.cause.cells,
                _score(detection),
                ended_at_s,
                ended_at_s,
                None,
                detection.application,
                detection.spikes,
                detection.sharp,
                detection.symptoms,
            )
            changes.append(IncidentChange(Transition.OPENED, track, detection))
            continue
        first, *others = matches
        transition = Transition.SEEN if first.ended_at_s is None else Transition.REOPENED
        changes.append(IncidentChange(transition, _updated(first, detection, ended_at_s, window_s), detection))
        changes += [
            IncidentChange(Transition.MERGED, replace(track, ended_at_s=track.seen_at_s), None, first.id)
            for track in others
            if track.ended_at_s is None
        ]
    return _keep_alive(changes, remainders, ended_at_s)


def _confirmed(detections: Sequence[Detection], tracks: Sequence[Track]) -> tuple[list[Detection], set[str]]:
    """Return the detections that may change incidents, and the open incidents that the other ones confirm.

    A cause without current data is found from what its paths were before: which paths are far worse, or lose
    everything, is unknown. It confirms the incidents that have its paths; if most of its paths are in none, it may
    open one.
    """
    left: list[Detection] = []
    confirmed: set[str] = set()
    for detection in detections:
        cells = detection.cause.cells
        same = [
            track
            for track in tracks
            if track.ended_at_s is None
            and track.application == detection.application
            and _both_shares_or_none(track.culprit, detection.cause.culprit)
        ]
        parts = [track for track in same if track.cells.size and np.isin(track.cells, cells).mean() >= _OVERLAP]
        known = np.concatenate([np.zeros(0, np.int64), *(track.cells for track in parts)])
        if detection.current or np.isin(cells, known).mean() < _PART:
            left.append(detection)
        else:
            confirmed |= {track.id for track in parts}
    return left, confirmed


def _parent_of(detection: Detection, tracks: Sequence[Track], zone_of: Ints, ended_at_s: int) -> Track | None:
    """Return the incident that explains these paths: no new incident is opened for them, whichever rule fires.

    It is open and had most of them, or they are paths of its culprit. An incident that ended a short time ago explains
    paths of its culprit with its own symptom: they are the rest of it, or it has returned.
    """
    cells = detection.cause.cells
    if not cells.size or _many_silent(detection):
        return None
    for track in sorted(tracks, key=lambda one: one.ended_at_s is not None):
        open_ = track.ended_at_s is None
        same_symptom = not track.symptoms.isdisjoint(detection.symptoms)
        if returned(track, ended_at_s) or not (open_ or same_symptom):
            continue
        same_kind = track.application == detection.application
        same_kind &= _both_shares_or_none(track.culprit, detection.cause.culprit)
        # A rise that lasts is no part of spikes, and a sharp cause among the paths of a weak one is another incident.
        same_kind &= (detection.spikes or not track.spikes) and (track.sharp or not detection.sharp)
        if not same_kind:
            continue
        if open_ and np.isin(cells, track.cells).mean() >= _PART:
            return track
        suspect = track.culprit.suspect
        of_culprit = (suspect in OF_VM and suspect is not Suspect.CLOCK) or (suspect in OF_ZONES and same_symptom)
        if of_culprit and explains(track.culprit, zone_of).reshape(-1)[cells].all():
            return track
    return None


def _keep_alive(
    changes: list[IncidentChange], remainders: dict[str, tuple[Track, list[Detection]]], ended_at_s: int
) -> list[IncidentChange]:
    """Return the changes; an incident of which only paths are seen, not its cause, is seen through them."""
    result = []
    for change in changes:
        parent, parts = remainders.pop(change.track.id, (change.track, []))
        ends = parts and change.transition is Transition.ENDED
        result.append(_through(parent, parts, ended_at_s) if ends else change)
    return result + [_through(parent, parts, ended_at_s) for parent, parts in remainders.values()]


def _through(track: Track, parts: Sequence[Detection], ended_at_s: int) -> IncidentChange:
    """Return the incident seen through paths of its culprit; its culprit stays."""
    transition = Transition.SEEN if track.ended_at_s is None else Transition.REOPENED
    symptoms = track.symptoms.union(*(part.symptoms for part in parts))
    seen = replace(track, symptoms=symptoms, seen_at_s=ended_at_s, ended_at_s=None)
    return IncidentChange(transition, seen, parts[0])


def same_cause(track: Track, others: Sequence[Track]) -> Track | None:
    """Return a simultaneous incident with the same cause: same culprit or VM, or most of the paths."""
    for other in others:
        if other.application != track.application or not _both_shares_or_none(other.culprit, track.culprit):
            continue
        if other.culprit == track.culprit or _same_vm(other.culprit, track.culprit):
            return other
        if track.spikes == other.spikes and track.cells.size and np.isin(track.cells, other.cells).mean() >= _PART:
            return other
    return None


def returned(track: Track, ended_at_s: int) -> bool:
    """Return whether an incident that ended is seen once more, after more than a short pause."""
    return track.ended_at_s is not None and ended_at_s - track.ended_at_s > REOPENED_S


def quiet_s(returns: int, severity: Severity) -> int:
    """Return how long an incident must be gone before receivers hear that it ended, after so many returns.

    The time doubles with each return, as in the damping of flapping routes (RFC 2439): an incident that returns
    meanwhile is neither notified as ended nor as new. It is longer for what is only informative.
    """
    first_s = _INFO_QUIET_S if severity is Severity.INFO else REOPENED_S
    return min(first_s << min(returns, 10), REMEMBERED_S)


def _updated(track: Track, detection: Detection, ended_at_s: int, window_s: int) -> Track:
    """Return the incident updated by this window."""
    if returned(track, ended_at_s):
        track = replace(track, opened_at_s=ended_at_s, returns=track.returns + 1)
    score, culprit, named_at_s = track.score, track.culprit, track.named_at_s
    if detection.cause.culprit == culprit:
        score = max(score, _score(detection))
    elif _may_rename(track, detection, ended_at_s, window_s):
        score, culprit, named_at_s = max(score, _score(detection)), detection.cause.culprit, ended_at_s
    return replace(
        track,
        culprit=culprit,
        score=score,
        cells=np.union1d(track.cells, detection.cause.cells),
        seen_at_s=ended_at_s,
        ended_at_s=None,
        spikes=track.spikes and detection.spikes,
        sharp=track.sharp or detection.sharp,
        symptoms=track.symptoms | detection.symptoms,
        named_at_s=named_at_s,
    )


def _may_rename(track: Track, detection: Detection, ended_at_s: int, window_s: int) -> bool:
    """Return whether an incident takes another culprit: while it is young, or on much better evidence.

    Never twice within a minute. A young incident that had to keep its culprit may take another one afterwards. An older
    one of a single path keeps it while no other path fires: what others do in one window is noise.
    """
    young_s = _YOUNG_WINDOWS * window_s
    young = ended_at_s - track.opened_at_s <= young_s
    if track.named_at_s is not None:
        kept_s = ended_at_s - track.named_at_s
        if kept_s < _KEPT_S:
            return False
        young |= track.named_at_s - track.opened_at_s <= young_s and kept_s <= _KEPT_S + young_s
    is_alone = track.culprit.suspect in OF_PAIR and bool(np.isin(detection.cause.cells, track.cells).all())
    return young or (not is_alone and _score(detection) > _MUCH_BETTER * track.score)


def _same_vm(one: Culprit, other: Culprit) -> bool:
    """Return whether two culprits are parts of the same VM."""
    return one.at == other.at and one.suspect in OF_VM and other.suspect in OF_VM


def _both_shares_or_none(one: Culprit, other: Culprit) -> bool:
    """Return whether two causes can be one: uneven flows of a path are another one than its delay."""
    return one.suspect is other.suspect or (one.suspect not in OF_SHARES and other.suspect not in OF_SHARES)


def _same_pair(one: Culprit, other: Culprit) -> bool:
    """Return whether two culprits are directions of the same pair of VMs, or the pair."""
    of_pair = one.suspect in OF_PAIR and other.suspect in OF_PAIR
    return of_pair and {one.at, one.other} == {other.at, other.other}


def _score(detection: Detection) -> float:
    return detection.cause.hypotheses[0].score


def _likeness(detection: Detection, inside: Flags, track: Track, ended_at_s: int) -> float:
    """Return the share of an incident's paths that a cause explains; the same culprit counts as more than 1."""
    if detection.application != track.application:
        return 0.0
    if track.symptoms.isdisjoint(detection.symptoms) and track.symptoms and returned(track, ended_at_s):
        return 0.0  # loss of a VM is no return of its delay hours ago
    if detection.cause.culprit == track.culprit:
        return 2.0
    if _same_vm(detection.cause.culprit, track.culprit):
        return 1.5
    if track.ended_at_s is not None and _same_pair(detection.cause.culprit, track.culprit):
        return 1.2
    # Spikes all over a mesh are another incident than a lasting rise within it, and a weak cause of many paths another
    # than a sharp one of a few of them.
    if not track.cells.size or detection.spikes != track.spikes or (track.sharp and not detection.sharp):
        return 0.0
    if not _both_shares_or_none(detection.cause.culprit, track.culprit):
        return 0.0
    shared = float(np.isin(track.cells, detection.cause.cells, assume_unique=True).mean())
    if _many_silent(detection):  # paths among silent agents are no consequence
        return 0.0 if detection.cause.culprit.suspect is Suspect.MESH else min(1.0 - 1e-9, shared)
    return min(1.0 - 1e-9, max(shared, float(inside[track.cells].mean())))


def _many_silent(detection: Detection) -> bool:
    """Return whether a cause is the silence of a zone or the mesh: it shows nothing about what paths were before."""
    return detection.symptoms == {Symptom.SILENCE} and detection.cause.culprit.suspect is not Suspect.AGENT


def _falls_silent(track: Track, silent: Sequence[Flags], zone_of: Ints) -> bool:
    """Return whether an open incident of silence is part of a larger silence: its agents have not returned."""
    if track.ended_at_s is not None or Symptom.SILENCE not in track.symptoms:
        return False
    own = explains(track.culprit, zone_of).reshape(-1)
    return any(bool(area[own].all()) for area in silent)
