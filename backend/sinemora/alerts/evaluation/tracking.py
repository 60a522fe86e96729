"""From causes in one window to incidents through time: which cause is which incident, what ends, what is new."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sinemora.alerts.evaluation.baseline import Flags, Ints
from sinemora.alerts.evaluation.engine import Found
from sinemora.alerts.evaluation.root_cause import OF_VM, Culprit, explains

SETTLED_S = 180
"""An incident is over when nothing of it has been seen for so long …"""
REOPENED_S = 900
"""… and the same again within so long is the same incident."""
_OVERLAP = 0.3
_PART = 0.5
# How many windows a new incident may still learn who is at fault; later only from much better evidence.
_YOUNG_WINDOWS = 6
_MUCH_BETTER = 1.5


@dataclass(frozen=True, slots=True)
class Track:
    """An incident as evaluation follows it. `cells`: all paths (flat) it ever had; `score`: of its culprit."""

    id: str
    culprit: Culprit
    cells: Ints
    score: float
    opened_at_s: int
    seen_at_s: int
    ended_at_s: int | None = None
    application: str | None = None


class Turn(StrEnum):
    """What a window did to an incident."""

    OPENED = "opened"
    SEEN = "seen"
    REOPENED = "reopened"
    ENDED = "ended"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Change:
    """A turn of an incident, its cause where there is one; `into`: the incident it turned out to be part of."""

    turn: Turn
    track: Track
    found: Found | None = None
    into: str | None = None


def advance(
    tracks: Sequence[Track],
    found: Sequence[Found],
    zone_of: Ints,
    ended_at_s: int,
    window_s: int,
    new_id: Sequence[str] | None = None,
) -> list[Change]:
    """Return the changes that a window makes to incidents.

    `tracks`: oldest first, including those that ended within `REOPENED_S`. Ids of new incidents are taken from
    `new_id`, else counted.
    """
    ids = iter(new_id or ())
    alive = [one for one in tracks if one.ended_at_s is None or ended_at_s - one.ended_at_s <= REOPENED_S]
    taken: dict[int, list[Track]] = {at: [] for at in range(len(found))}
    inside = [explains(one.cause.culprit, zone_of).reshape(-1) for one in found]
    changes: list[Change] = []
    rests: dict[str, list[Found]] = {}
    for track in alive:
        likeness = [_likeness(one, inside[at], track) for at, one in enumerate(found)]
        best = int(np.argmax(likeness)) if likeness else -1
        if best >= 0 and likeness[best] >= (_OVERLAP if track.ended_at_s is None else 1.0):
            taken[best].append(track)
        elif track.ended_at_s is None and ended_at_s - track.seen_at_s >= SETTLED_S:
            changes.append(Change(Turn.ENDED, replace(track, ended_at_s=track.seen_at_s)))
    for at, one in enumerate(found):
        own = sorted(taken[at], key=lambda track: (track.ended_at_s is not None, track.opened_at_s))
        if not own:
            if (whole := _parent_of(one, alive)) is not None:
                rests.setdefault(whole.id, []).append(one)
                continue
            id = next(ids, None) or f"{ended_at_s}-{at}"
            track = Track(
                id, one.cause.culprit, one.cause.cells, _score(one), ended_at_s, ended_at_s, None, one.application
            )
            changes.append(Change(Turn.OPENED, track, one))
            continue
        first, *rest = own
        turn = Turn.SEEN if first.ended_at_s is None else Turn.REOPENED
        changes.append(Change(turn, _followed(first, one, ended_at_s, window_s), one))
        changes += [
            Change(Turn.MERGED, replace(track, ended_at_s=track.seen_at_s), None, first.id)
            for track in rest
            if track.ended_at_s is None
        ]
    return _with_rests(changes, rests, ended_at_s)


def _parent_of(found: Found, tracks: Sequence[Track]) -> Track | None:
    """Return the incident that already had most of these paths: the rest of it is not an incident itself."""
    cells = found.cause.cells
    for track in tracks:
        own = track.ended_at_s is None and track.application == found.application
        if own and cells.size and np.isin(cells, track.cells).mean() >= _PART:
            return track
    return None


def _with_rests(changes: list[Change], rests: dict[str, list[Found]], ended_at_s: int) -> list[Change]:
    """Incidents of which only a rest is seen are seen."""
    done = []
    for change in changes:
        some = rests.pop(change.track.id, [])
        if some and change.turn is Turn.ENDED:
            change = Change(Turn.SEEN, replace(change.track, ended_at_s=None, seen_at_s=ended_at_s), some[0])
        done.append(change)
    return done


def same_cause(track: Track, others: Sequence[Track]) -> Track | None:
    """Return the incident of the same time with the same cause: same culprit or VM, or most of the paths."""
    for other in others:
        if other.application != track.application:
            continue
        if other.culprit == track.culprit or _same_vm(other.culprit, track.culprit):
            return other
        if track.cells.size and np.isin(track.cells, other.cells).mean() >= _PART:
            return other
    return None


def _followed(track: Track, found: Found, ended_at_s: int, window_s: int) -> Track:
    """Return the incident with the additions of this window."""
    score, culprit = track.score, track.culprit
    young = ended_at_s - track.opened_at_s <= _YOUNG_WINDOWS * window_s
    if young or _score(found) > _MUCH_BETTER * score or found.cause.culprit == culprit:
        score, culprit = max(score, _score(found)), found.cause.culprit
    return replace(
        track,
        culprit=culprit,
        score=score,
        cells=np.union1d(track.cells, found.cause.cells),
        seen_at_s=ended_at_s,
        ended_at_s=None,
    )


def _same_vm(one: Culprit, other: Culprit) -> bool:
    """Return whether two culprits are parts of the same VM."""
    return one.at == other.at and one.suspect in OF_VM and other.suspect in OF_VM


def _score(found: Found) -> float:
    return found.cause.hypotheses[0].score


def _likeness(found: Found, inside: Flags, track: Track) -> float:
    """Return the share of an incident's paths that a cause explains; the same culprit counts as more than 1."""
    if found.application != track.application:
        return 0.0
    if found.cause.culprit == track.culprit:
        return 2.0
    if _same_vm(found.cause.culprit, track.culprit):
        return 1.5
    if not track.cells.size:
        return 0.0
    shared = np.isin(track.cells, found.cause.cells, assume_unique=True).mean()
    return min(1.0 - 1e-9, max(float(shared), float(inside[track.cells].mean())))
