"""Incidents as rows: what evaluation changes of them, and which notifications follow."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import update
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.change_point import change_point
from sinemora.alerts.evaluation.engine import State, Window
from sinemora.alerts.evaluation.rule import SEVERITIES, Rule, Severity
from sinemora.alerts.evaluation.tracking import Change, Track, Turn
from sinemora.alerts.incidents import presentation, queries
from sinemora.alerts.incidents.affected import affected, performance_of, vms_of
from sinemora.alerts.labels import labels_of
from sinemora.alerts.matchers import matches
from sinemora.alerts.models import Incident, IncidentEvent, IncidentState
from sinemora.alerts.notifications import dispatch
from sinemora.alerts.paths import path_bytes
from sinemora.alerts.silences import queries as silence_queries
from sinemora.alerts.silences.schedule import in_force
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.query.paths import series
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.schemas import Resolution
from sinemora.meshes.plan import MeshState

_LOOKED_BACK = 40
_PATHS_LOOKED_AT = 3
_ONSET_OFF = 10
_TOLD_BEFORE, _TOLD_MOST = timedelta(minutes=2), 5


def tracks_of(rows: Sequence[Incident], mesh: MeshState) -> list[Track]:
    """Return the tracks that evaluation follows, from rows."""
    found = (presentation.track_of(row, mesh) for row in rows)
    return [track for track in found if track is not None]


def write(
    session: Session,
    mesh: MeshState,
    rules: Sequence[Rule],
    changes: Sequence[Change],
    rows: Sequence[Incident],
    state: State,
    window: Window,
    now: datetime,
) -> list[UUID]:
    """Store what changed. Return ids of incidents to announce to watchers. Notifications depend on the time now."""
    by_id = {str(row.id): row for row in rows}
    ruled = {rule.id: rule for rule in rules}
    told: list[UUID] = []
    at = utc(window.ended_at_s)
    for change in changes:
        row = by_id.get(change.track.id)
        if row is None:
            row = _opened(session, mesh, ruled, change, state, window)
            mute(session, row, mesh, now)
            dispatch.tell(session, row, mesh, "opened", now)
            told.append(row.id)
        elif change.turn in (Turn.SEEN, Turn.REOPENED):
            if _seen(session, row, mesh, ruled, change, state, window, now):
                told.append(row.id)
        else:
            _ended(session, row, change, at)
            if row.merged_into is None:
                dispatch.tell(session, row, mesh, "resolved", now)
            told.append(row.id)
    return told


def _opened(
    session: Session, mesh: MeshState, ruled: dict[str, Rule], change: Change, state: State, window: Window
) -> Incident:
    row = new_incident(session, mesh, ruled, change, state, window)
    row.applications = _affected(session, mesh, change.track)
    put(session, row, mesh, change.track)
    return row


def new_incident(
    session: Session, mesh: MeshState, ruled: dict[str, Rule], change: Change, state: State, window: Window
) -> Incident:
    """Return a new incident as a row that is not yet in the database, without affected applications."""
    found, track = change.found, change.track
    assert found is not None  # what opens has a cause
    at = utc(window.ended_at_s)
    culprit = presentation.culprit_json(track.culprit, mesh, track.application)
    return Incident(
        id=UUID(track.id),
        mesh_id=mesh.id,
        state=IncidentState.open,
        severity=found.severity,
        title=presentation.title_of(culprit, found, ruled, mesh),
        suspect=track.culprit.suspect.value,
        culprit=culprit,
        score=track.score,
        evidence=presentation.evidence_of(found, mesh, state, window),
        paths=path_bytes(track.cells, mesh),
        rules=[{"id": id, "name": _name(ruled, id), "paths": count} for id, count in found.rules.items()],
        applications=[],
        onset_at=_onset(session, mesh, track, window, found.windows_ago),
        opened_at=at,
        seen_at=at,
    )


def put(session: Session, row: Incident, mesh: MeshState, track: Track) -> None:
    """Add an incident to the database, with the beginning of its timeline."""
    session.add(row)
    session.flush()
    rules = ", ".join(one["name"] for one in row.rules)
    note(session, row.id, row.opened_at, "opened", f"{row.title}: {rules}")
    _told(session, row, mesh, track)


def _name(ruled: dict[str, Rule], id: str) -> str:
    return ruled[id].name if id in ruled else ""


def _told(session: Session, row: Incident, mesh: MeshState, track: Track) -> None:
    """Add to an incident the clock steps and route changes that agents on its VMs reported when it began."""
    own = [UUID(one["id"]) for one in (row.culprit["at"], row.culprit["other"]) if one]
    known = {member.id for member in mesh.members}
    vm_ids = [one for one in own if one in known] or list(vms_of(mesh, track))
    found = queries.agent_events(session, vm_ids, row.onset_at - _TOLD_BEFORE, row.ended_at, _TOLD_MOST)
    for told_at, name, message in reversed(found):
        note(session, row.id, told_at, "told", message, f"agent of {name}")


def grown(
    row: Incident, mesh: MeshState, ruled: dict[str, Rule], change: Change, state: State, window: Window
) -> dict[str, Any]:
    """Return the columns of a row that a window of its incident changes, except affected applications."""
    found, track = change.found, change.track
    said: dict[str, Any] = {"seen_at": utc(window.ended_at_s), "ended_at": None, "score": track.score}
    if found is None:
        return said
    severity = max(Severity(row.severity), found.severity, key=SEVERITIES.index)
    rules = {one["id"]: one for one in row.rules}
    for id, count in found.rules.items():
        rules[id] = {"id": id, "name": _name(ruled, id), "paths": max(count, rules.get(id, {}).get("paths", 0))}
    said |= {"severity": severity, "rules": list(rules.values())}
    culprit = presentation.culprit_json(track.culprit, mesh, track.application)
    paths = path_bytes(track.cells, mesh)
    if culprit != row.culprit:
        title = presentation.title_of(culprit, found, ruled, mesh)
        said |= {"culprit": culprit, "suspect": track.culprit.suspect.value, "title": title}
    if len(paths) != len(row.paths) or culprit != row.culprit:
        said |= {"paths": paths, "evidence": presentation.evidence_of(found, mesh, state, window)}
    return said


def _seen(
    session: Session,
    row: Incident,
    mesh: MeshState,
    ruled: dict[str, Rule],
    change: Change,
    state: State,
    window: Window,
    now: datetime,
) -> bool:
    """Take in what a window adds; whether watchers should hear of it. People's versions of the row stay valid."""
    at = utc(window.ended_at_s)
    said = grown(row, mesh, ruled, change, state, window)
    news = change.turn is Turn.REOPENED or "paths" in said
    if "title" in said:
        note(session, row.id, at, "culprit", f"{row.title} → {said['title']}")
    if "paths" in said:
        said["applications"] = _affected(session, mesh, change.track)
    if change.turn is Turn.REOPENED:
        said |= {"state": IncidentState.open}
        note(session, row.id, at, "reopened", "seen again")
    session.execute(update(Incident).where(Incident.id == row.id).values(**said))
    session.refresh(row)
    before = row.silenced_by
    mute(session, row, mesh, now)
    if change.turn is Turn.REOPENED or (before and not row.silenced_by):
        dispatch.tell(session, row, mesh, "opened", now)
    else:
        dispatch.tell(session, row, mesh, "repeated", now)
    return news or before != row.silenced_by


def _ended(session: Session, row: Incident, change: Change, at: datetime) -> None:
    into = None if change.into is None else UUID(change.into)
    said = {
        "ended_at": utc(change.track.ended_at_s or change.track.seen_at_s),
        "state": IncidentState.resolved,
        "merged_into": into,
    }
    session.execute(update(Incident).where(Incident.id == row.id).values(**said))
    session.refresh(row)
    if into is None:
        note(session, row.id, at, "ended", "not seen any more")
    else:
        note(session, row.id, at, "merged", "part of another incident")


def mute(session: Session, row: Incident, mesh: MeshState, at: datetime) -> None:
    """Find whether a silence mutes an incident at a time."""
    labels = labels_of(row, mesh)
    reason = next(
        (
            f"silence: {one.comment}"
            for one in silence_queries.silences(session, at)
            if in_force(one.starts_at, one.ends_at, one.weekly, at) and matches(one.matchers, labels)
        ),
        None,
    )
    if reason != row.silenced_by:
        session.execute(update(Incident).where(Incident.id == row.id).values(silenced_by=reason))
        session.refresh(row)
        note(session, row.id, at, "silenced" if reason else "unsilenced", reason or "no silence any more")


def note(session: Session, incident_id: UUID, at: datetime, kind: str, text: str, actor: str = "Sinemora") -> None:
    """Add to a timeline."""
    session.add(IncidentEvent(incident_id=incident_id, at=at, kind=kind, actor=actor, text=text))


def _affected(session: Session, mesh: MeshState, track: Track) -> list[dict[str, Any]]:
    return affected(session, mesh, track, partial(performance_of, session))


def _onset(session: Session, mesh: MeshState, track: Track, window: Window, windows_ago: int) -> datetime:
    """Return the time when the delays of some paths changed, if it agrees with the windows in breach."""
    guess = utc(window.ended_at_s - windows_ago * mesh.window_s)
    start = utc(window.ended_at_s - _LOOKED_BACK * mesh.window_s)
    size = len(mesh.members)
    found = []
    for cell in track.cells[:: max(1, track.cells.size // _PATHS_LOOKED_AT)][:_PATHS_LOOKED_AT].tolist():
        source, target = (mesh.members[at].id for at in divmod(cell, size))
        try:
            course = series(
                session, mesh.id, source, target, start, utc(window.ended_at_s), Resolution.WINDOW, Statistic.P50
            )
        except ProductError:
            continue
        changed = change_point([np.nan if one is None else one for one in course.outbound.delay_ns])
        if changed is not None:
            found.append(course.points_at[changed[0]])
    if found:
        onset = sorted(found)[len(found) // 2]
        if abs(onset - guess) <= timedelta(seconds=_ONSET_OFF * mesh.window_s):
            return onset
    return guess
