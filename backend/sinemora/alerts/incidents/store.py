"""Store incidents: apply the changes of evaluation to rows, add timeline events, notify receivers."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.change_point import change_point
from sinemora.alerts.evaluation.detections import Detection
from sinemora.alerts.evaluation.recurrence import ended, started
from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import SEVERITIES, Kind, Rule, Severity
from sinemora.alerts.evaluation.tracking import REOPENED_S, IncidentChange, Track, Transition, quiet_s
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.alerts.incidents import gone, presentation, queries
from sinemora.alerts.incidents.affected import Predict, affected, followed, newest, vms_of
from sinemora.alerts.labels import labels_of
from sinemora.alerts.matchers import matches
from sinemora.alerts.models import Incident, IncidentEvent, IncidentState, Silence
from sinemora.alerts.notifications import dispatch, ends
from sinemora.alerts.notifications import queries as notification_queries
from sinemora.alerts.notifications.grouping import lasts
from sinemora.alerts.paths import path_bytes
from sinemora.alerts.silences.schedule import in_force
from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.series.paths import series
from sinemora.measurements.schemas import Resolution

# Later times of a recurring incident are in its list of episodes, not in its timeline.
_OCCURRENCES_TOLD = 20
# The worst of these windows is kept, later the worst of one a minute.
_YOUNG_WINDOWS = 6
_ONSET_WINDOWS = 40
_ONSET_PATHS = 3
_ONSET_TOLERANCE = 10
_EVENTS_BEFORE, _EVENTS_MAX = timedelta(minutes=2), 5


def tracks_of(rows: Sequence[Incident], mesh: MeshState) -> list[Track]:
    """Return the tracks of rows, without those whose culprit has left the mesh."""
    tracks = (presentation.track_of(row, mesh) for row in rows)
    return [track for track in tracks if track is not None]


def apply(
    session: Session,
    mesh: MeshState,
    rules: Sequence[Rule],
    changes: Sequence[IncidentChange],
    rows: Sequence[Incident],
    state: EvaluationState,
    window: EvaluationWindow,
    now: datetime,
) -> list[UUID]:
    """Store changes and notify receivers (silences apply at the time now). Return ids of changed incidents."""
    by_id = {str(row.id): row for row in rows}
    rules_by_id = {rule.id: rule for rule in rules}
    changed: list[UUID] = []
    at = utc(window.ended_at_s)
    predict = newest(session, mesh.id)
    for change in changes:
        row = by_id.get(change.track.id)
        if row is None:
            row = _opened(session, mesh, rules_by_id, change, state, window, predict)
            apply_silences(session, row, mesh, now)
            dispatch.notify(session, row, mesh, "opened", now)
            changed.append(row.id)
        elif change.transition in (Transition.SEEN, Transition.REOPENED):
            if _seen(session, row, mesh, rules_by_id, change, state, window, now, predict):
                changed.append(row.id)
        else:
            _ended(session, row, mesh, change, at, now)
            changed.append(row.id)
    return changed


def end_gone(session: Session, mesh: MeshState, rows: Sequence[Incident], at: datetime) -> list[UUID]:
    """End the incidents about what no longer exists; their receivers are notified. Return their ids."""
    ended_ids = []
    for row in rows:
        if row.state == IncidentState.resolved and row.ended_at is not None:
            continue
        reason = gone.reason(session, row, mesh)
        if reason is None:
            continue
        columns: dict[str, Any] = {"state": IncidentState.resolved, "end_notice_at": None}
        if row.ended_at is None:
            columns |= {"ended_at": row.seen_at, "episodes": ended(row.episodes, round(row.seen_at.timestamp()))}
        session.execute(update(Incident).where(Incident.id == row.id).values(**columns))
        session.refresh(row)
        add_event(session, row.id, at, "ended", reason)
        ends.notify(session, row, mesh, at)
        ended_ids.append(row.id)
    return ended_ids


def _opened(
    session: Session,
    mesh: MeshState,
    rules_by_id: dict[str, Rule],
    change: IncidentChange,
    state: EvaluationState,
    window: EvaluationWindow,
    predict: Predict,
) -> Incident:
    row = new_incident(session, mesh, rules_by_id, change, state, window)
    row.applications = followed((), affected(session, mesh, change.track, predict))
    insert(session, row, mesh, change.track)
    return row


def new_incident(
    session: Session,
    mesh: MeshState,
    rules_by_id: dict[str, Rule],
    change: IncidentChange,
    state: EvaluationState,
    window: EvaluationWindow,
) -> Incident:
    """Return a new incident as a row that is not yet in the database, without affected applications."""
    detection, track = change.detection, change.track
    assert detection is not None  # an opening change has a detection
    at = utc(window.ended_at_s)
    culprit = presentation.culprit_json(track.culprit, mesh, track.application)
    onset_at = _onset(session, mesh, rules_by_id, detection, track, window)
    return Incident(
        id=UUID(track.id),
        mesh_id=mesh.id,
        state=IncidentState.open,
        severity=detection.severity,
        title=presentation.title_of(culprit, detection, rules_by_id, mesh),
        suspect=track.culprit.suspect.value,
        culprit=culprit,
        score=track.score,
        evidence=presentation.evidence_of(detection, track, rules_by_id, mesh, state, window),
        paths=path_bytes(track.cells, mesh),
        rules=[{"id": id, "name": _name(rules_by_id, id), "paths": count} for id, count in detection.rules.items()],
        applications=[],
        onset_at=onset_at,
        first_onset_at=onset_at,
        occurrences=1,
        episodes=started((), round(onset_at.timestamp())),
        opened_at=at,
        seen_at=at,
    )


def insert(session: Session, row: Incident, mesh: MeshState, track: Track) -> None:
    """Add an incident to the database, with its first timeline events."""
    session.add(row)
    session.flush()
    rules = ", ".join(one["name"] for one in row.rules)
    add_event(session, row.id, row.opened_at, "opened", f"{row.title} (rules: {rules})")
    _add_agent_events(session, row, mesh, track)


def _name(rules_by_id: dict[str, Rule], id: str) -> str:
    return rules_by_id[id].name if id in rules_by_id else ""


def _add_agent_events(session: Session, row: Incident, mesh: MeshState, track: Track) -> None:
    """Add clock steps and route changes that agents on its VMs reported around the onset."""
    culprit_ids = [UUID(vm_id["id"]) for vm_id in (row.culprit["at"], row.culprit["other"]) if vm_id]
    known = {member.id for member in mesh.members}
    vm_ids = [vm_id for vm_id in culprit_ids if vm_id in known] or list(vms_of(mesh, track))
    events = queries.agent_events(session, vm_ids, row.onset_at - _EVENTS_BEFORE, row.ended_at, _EVENTS_MAX)
    for at, name, message in reversed(events):
        add_event(session, row.id, at, "agent_event", message, f"agent of {name}")


def columns_of_change(
    row: Incident,
    mesh: MeshState,
    rules_by_id: dict[str, Rule],
    change: IncidentChange,
    state: EvaluationState,
    window: EvaluationWindow,
) -> dict[str, Any]:
    """Return the columns of a row that a change updates, except affected applications."""
    detection, track = change.detection, change.track
    columns: dict[str, Any] = {"seen_at": utc(window.ended_at_s), "ended_at": None, "score": track.score}
    if detection is None:
        return columns
    severity = max(Severity(row.severity), detection.severity, key=SEVERITIES.index)
    rules = {one["id"]: one for one in row.rules}
    for id, count in detection.rules.items():
        rules[id] = {"id": id, "name": _name(rules_by_id, id), "paths": max(count, rules.get(id, {}).get("paths", 0))}
    columns |= {"severity": severity, "rules": list(rules.values())}
    culprit = presentation.culprit_json(track.culprit, mesh, track.application)
    paths = path_bytes(track.cells, mesh)
    becomes_lasting = _becomes_lasting(row, change)
    if becomes_lasting:
        columns["onset_at"] = utc(window.ended_at_s - detection.windows_ago * mesh.window_s)
    if culprit != row.culprit or becomes_lasting:
        title = presentation.title_of(culprit, detection, rules_by_id, mesh)
        columns |= {"culprit": culprit, "suspect": track.culprit.suspect.value, "title": title}
    begins = culprit != row.culprit or becomes_lasting or _is_return(row, change, window)
    grew = begins or len(paths) != len(row.paths)
    if grew:
        columns["paths"] = paths
    if grew or _is_young(row, mesh, window) or _begins_minute(window, mesh):
        found = presentation.evidence_of(detection, track, rules_by_id, mesh, state, window)
        keeps = not begins and not presentation.is_worse(found, row.evidence)
        columns["evidence"] = (row.evidence if keeps else found) | {"now": presentation.now_json(found)}
    if "evidence" in columns or sorted(track.symptoms) != row.evidence.get("symptoms"):
        columns["evidence"] = columns.get("evidence", row.evidence) | presentation.track_json(track)
    return columns


def _is_young(row: Incident, mesh: MeshState, window: EvaluationWindow) -> bool:
    """Return whether an incident opened so lately that each of its windows may be its worst."""
    return window.ended_at_s - row.opened_at.timestamp() <= _YOUNG_WINDOWS * mesh.window_s


def _becomes_lasting(row: Incident, change: IncidentChange) -> bool:
    """Return whether spikes are now a symptom that lasts: the incident is named after that, since it began."""
    return bool(row.evidence.get("spikes")) and change.detection is not None and not change.track.spikes


def _is_return(row: Incident, change: IncidentChange, window: EvaluationWindow) -> bool:
    """Return whether an incident is seen once more after a long pause."""
    if change.transition is not Transition.REOPENED or row.ended_at is None:
        return False
    return window.ended_at_s - row.ended_at.timestamp() > REOPENED_S


def _reopened(
    session: Session,
    row: Incident,
    mesh: MeshState,
    rules_by_id: dict[str, Rule],
    change: IncidentChange,
    window: EvaluationWindow,
) -> dict[str, Any]:
    """Return the columns of an incident that is seen once more. After a long pause it begins again."""
    assert change.detection is not None  # a reopening change has a detection
    at = utc(window.ended_at_s)
    onset_at = at - timedelta(seconds=change.detection.windows_ago * mesh.window_s)
    columns: dict[str, Any] = {"state": IncidentState.open, "end_notice_at": None, "occurrences": row.occurrences + 1}
    if _is_return(row, change, window):
        onset_at = _onset(session, mesh, rules_by_id, change.detection, change.track, window)
        columns |= {"opened_at": at, "onset_at": onset_at}
    if row.occurrences < _OCCURRENCES_TOLD:
        add_event(session, row.id, at, "reopened", f"Condition met again; seen {row.occurrences + 1} times so far.")
    return columns | {"episodes": started(row.episodes, round(onset_at.timestamp()))}


def _seen(
    session: Session,
    row: Incident,
    mesh: MeshState,
    rules_by_id: dict[str, Rule],
    change: IncidentChange,
    state: EvaluationState,
    window: EvaluationWindow,
    now: datetime,
    predict: Predict,
) -> bool:
    """Apply a change to a row; return whether to announce it. Versions that people hold of the row stay valid."""
    at = utc(window.ended_at_s)
    columns = columns_of_change(row, mesh, rules_by_id, change, state, window)
    announce = change.transition is Transition.REOPENED or "paths" in columns
    if "title" in columns:
        add_event(session, row.id, at, "culprit", f"{row.title} → {columns['title']}")
    if "paths" in columns or _begins_minute(window, mesh):
        columns["applications"] = followed(row.applications, affected(session, mesh, change.track, predict))
    notice_at = row.end_notice_at
    rose = SEVERITIES.index(columns.get("severity", row.severity)) > SEVERITIES.index(Severity(row.severity))
    becomes_lasting = _becomes_lasting(row, change)
    rose |= becomes_lasting
    if change.transition is Transition.REOPENED:
        notification_queries.withdraw_ends(session, row.id)
        columns |= _reopened(session, row, mesh, rules_by_id, change, window)
    elif rose and row.state == IncidentState.resolved:
        columns["state"] = IncidentState.open
        why = "It lasts now." if becomes_lasting else f"Severity rose to {columns['severity']}."
        add_event(session, row.id, at, "reopened", why)
    session.execute(update(Incident).where(Incident.id == row.id).values(**columns))
    session.refresh(row)
    before = row.silenced_by
    apply_silences(session, row, mesh, now)
    is_resolved_by_person = change.transition is Transition.REOPENED and notice_at is None
    if change.transition is Transition.REOPENED and (notice_at is None or notice_at <= at):
        about = "returned"  # receivers were notified that it ended
    elif row.state == IncidentState.resolved:
        about = "repeated"  # a person resolved it and it continues
    else:
        about = "opened" if rose or (before and not row.silenced_by) else "repeated"
    if change.transition is Transition.REOPENED and about == "repeated":
        dispatch.notify(session, row, mesh, "returned", now, only_new=True)
    dispatch.notify(session, row, mesh, about, now, at_once=is_resolved_by_person)
    since_s = round((at - row.onset_at).total_seconds())
    if change.detection is not None:
        windows = change.detection.lasts
        if lasts(Suspect(row.suspect), windows, mesh.window_s, since_s):
            dispatch.release(session, row)
    return announce or before != row.silenced_by


def _ended(
    session: Session, row: Incident, mesh: MeshState, change: IncidentChange, at: datetime, now: datetime
) -> None:
    """Store the end of an incident. Receivers are notified once it has been gone for long enough not to return soon."""
    into = None if change.into is None else UUID(change.into)
    ended_at = utc(change.track.ended_at_s or change.track.seen_at_s)
    # When a person resolved it, receivers were notified then.
    is_notified = row.state == IncidentState.resolved or into is not None
    quiet = quiet_s(change.track.returns, Severity(row.severity))
    columns = {
        "ended_at": ended_at,
        "episodes": ended(row.episodes, round(ended_at.timestamp())),
        "state": IncidentState.resolved,
        "merged_into": into,
        "end_notice_at": None if is_notified else ended_at + timedelta(seconds=quiet),
    }
    session.execute(update(Incident).where(Incident.id == row.id).values(**columns))
    session.refresh(row)
    if into is not None:
        add_event(session, row.id, at, "merged", "Part of another incident.")
        notification_queries.withdraw_beginnings(session, row.id)
        ends.notify(session, row, mesh, now, due_at=now)
        return
    if row.occurrences <= _OCCURRENCES_TOLD:
        add_event(session, row.id, at, "ended", "Condition no longer met.")
    if row.end_notice_at is not None:
        ends.notify(session, row, mesh, now, due_at=max(now, row.end_notice_at))


def apply_silences(session: Session, row: Incident, mesh: MeshState, at: datetime) -> None:
    """Set or clear the silence of an incident at a time; add a timeline event on a change."""
    labels = labels_of(row, mesh)
    reason = next(
        (
            f"silence: {silence.comment}"
            for silence in session.scalars(select(Silence).where(Silence.starts_at <= at, Silence.ends_at > at))
            if in_force(silence.starts_at, silence.ends_at, silence.weekly, at) and matches(silence.matchers, labels)
        ),
        None,
    )
    if reason != row.silenced_by:
        session.execute(update(Incident).where(Incident.id == row.id).values(silenced_by=reason))
        session.refresh(row)
        add_event(session, row.id, at, "silenced" if reason else "unsilenced", reason or "No silence matches any more.")


def add_event(session: Session, incident_id: UUID, at: datetime, kind: str, text: str, actor: str = "Sinemora") -> None:
    """Add an event to a timeline."""
    session.add(IncidentEvent(incident_id=incident_id, at=at, kind=kind, actor=actor, text=text))


def _begins_minute(window: EvaluationWindow, mesh: MeshState) -> bool:
    """Return whether a window is the first to end in its minute: costs follow the network once a minute."""
    return window.ended_at_s % 60 < mesh.window_s


def _onset(
    session: Session,
    mesh: MeshState,
    rules_by_id: dict[str, Rule],
    detection: Detection,
    track: Track,
    window: EvaluationWindow,
) -> datetime:
    """Return the first window in breach.

    For a rise of delay it is the median change point of some paths' delays, if that agrees.
    """
    expected = utc(window.ended_at_s - detection.windows_ago * mesh.window_s)
    rule = presentation.main_rule(detection, rules_by_id)
    if rule is None or not rule.condition.about_delay or rule.condition.kind is Kind.SPIKE:
        return expected
    start = utc(window.ended_at_s - _ONSET_WINDOWS * mesh.window_s)
    size = len(mesh.members)
    change_points = []
    for cell in track.cells[:: max(1, track.cells.size // _ONSET_PATHS)][:_ONSET_PATHS].tolist():
        source, target = (mesh.members[at].id for at in divmod(cell, size))
        try:
            delays = series(
                session, mesh.id, source, target, start, utc(window.ended_at_s), Resolution.WINDOW, Statistic.P50
            )
        except ProductError:
            continue
        change = change_point([np.nan if one is None else one for one in delays.outbound.delay_ns])
        if change is not None:
            change_points.append(delays.points_at[change[0]])
    if change_points:
        onset = sorted(change_points)[len(change_points) // 2]
        if abs(onset - expected) <= timedelta(seconds=_ONSET_TOLERANCE * mesh.window_s):
            return onset
    return expected
