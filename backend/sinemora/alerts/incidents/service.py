"""Use cases of incidents."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.alerts.incidents import queries, store
from sinemora.alerts.incidents.schemas import (
    AffectedRead,
    CulpritRead,
    EpisodeRead,
    IncidentEvidenceRead,
    IncidentPath,
    IncidentRead,
    IncidentSummary,
    MeshName,
    RecurrenceRead,
    Runbook,
    SilencePreview,
    TimelineEntry,
    VerdictRead,
)
from sinemora.alerts.labels import labels_of
from sinemora.alerts.matchers import matches
from sinemora.alerts.models import AlertRule, Incident, IncidentEvent, IncidentState
from sinemora.alerts.named import notes_on
from sinemora.alerts.notifications import dispatch, ends
from sinemora.alerts.notifications import queries as notification_queries
from sinemora.alerts.paths import share_of_paths
from sinemora.alerts.silences.schemas import SilenceCreate
from sinemora.alerts.silences.service import silence_of
from sinemora.alerts.summary import costs, figures_of, recurrence_of, verdict_on
from sinemora.fleet.meshes.service import before_deletion, mesh_state
from sinemora.kit.db import locked
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.measurements.query.ranges import utc

LONG = timedelta(hours=1)


def _end_with_mesh(session: Session, mesh_id: UUID) -> None:
    """Tell receivers that the incidents of a mesh end with it, and delete them in slices.

    Years of incidents in one statement would take longer than a statement may.
    """
    ends.notify_of_mesh(session, mesh_state(session, mesh_id), datetime.now(UTC))
    while queries.delete_some(session, mesh_id, _DELETED_AT_ONCE):
        pass


before_deletion.append(_end_with_mesh)
_DELETED_AT_ONCE = 1000


_PREVIEW_RANGE = timedelta(days=7)


_SIMILAR = 5
_SIMILAR_DAYS = timedelta(days=30)
_SIMILAR_PATHS = 0.5
_COMPARED_MAX = 50


def get_incident(session: Session, incident_id: UUID, *, lock: bool = False) -> Incident:
    """Return the tenant's incident. ProductError `incident_unknown`."""
    row = locked(session, Incident, incident_id) if lock else session.get(Incident, incident_id)
    return existing(row, "incident")


def decide(
    session: Session, actor: Actor, incident_id: UUID, state: IncidentState, text: str, precondition: IfMatch
) -> Incident:
    """Acknowledge, resolve or reopen an incident. ProductError `incident_unknown`, `incident_state_conflict`."""
    row = get_incident(session, incident_id, lock=True)
    precondition.check(row)
    if row.state == state:
        raise ProductError("incident_state_conflict", 409, f"Conflict: this incident is already {row.state}.")
    if state is IncidentState.acknowledged and row.state == IncidentState.resolved:
        raise ProductError("incident_state_conflict", 409, "Conflict: this incident is resolved. Reopen it first.")
    row.state = state
    if state is IncidentState.open:
        row.merged_into = None
        notification_queries.withdraw_ends(session, row.id)
    row.end_notice_at = None
    session.flush()
    event = {"open": "reopened", "acknowledged": "acknowledged", "resolved": "resolved"}[state.value]
    now = datetime.now(UTC)
    store.add_event(session, row.id, now, event, text, actor.name)
    if state is IncidentState.resolved:
        ends.notify(session, row, mesh_state(session, row.mesh_id), now)
    elif state is IncidentState.open:
        dispatch.notify(session, row, mesh_state(session, row.mesh_id), "returned", now, at_once=True, only_new=True)
    audit.record(session, actor, f"incident.{event}", row.id, row.title)
    return row


def add_note(session: Session, actor: Actor, incident_id: UUID, text: str) -> Incident:
    """Add a note to the timeline of an incident. ProductError `incident_unknown`."""
    row = get_incident(session, incident_id)
    store.add_event(session, row.id, datetime.now(UTC), "note", text, actor.name)
    session.flush()
    return row


def assign(session: Session, actor: Actor, incident_id: UUID, assignee: str | None, precondition: IfMatch) -> Incident:
    """Assign an incident to a person, or to no one. ProductError `incident_unknown`."""
    row = get_incident(session, incident_id, lock=True)
    precondition.check(row)
    row.assignee = assignee
    session.flush()
    store.add_event(session, row.id, datetime.now(UTC), "assigned", assignee or "no one", actor.name)
    audit.record(session, actor, "incident.assigned", row.id, row.title)
    return row


def summary(row: Incident) -> IncidentSummary:
    """Return an incident as an item of a list."""
    return IncidentSummary(**_summary(row))


def incident_read(session: Session, row: Incident) -> IncidentRead:
    """Return an incident with evidence, affected applications, timeline and similar incidents."""
    timeline = session.scalars(
        select(IncidentEvent).where(IncidentEvent.incident_id == row.id).order_by(IncidentEvent.at, IncidentEvent.id)
    )
    verdict = verdict_on(session, row)
    return IncidentRead(
        **_summary(row),
        figures=figures_of(session, row, verdict),
        evidence=IncidentEvidenceRead.model_validate(row.evidence),
        verdict=VerdictRead.model_validate(verdict),
        runbooks=_runbooks(session, row),
        applications=[AffectedRead.model_validate(one) for one in costs(row)],
        episodes=[_episode(*one) for one in row.episodes],
        timeline=[TimelineEntry.model_validate(one) for one in timeline],
        similar=[summary(one) for one in _similar(session, row)],
    )


def _runbooks(session: Session, row: Incident) -> list[Runbook]:
    rules = [session.get(AlertRule, UUID(one["id"])) for one in row.rules]
    return [Runbook(rule=rule.name, url=rule.runbook_url) for rule in rules if rule and rule.runbook_url]


def _similar(session: Session, row: Incident) -> list[Incident]:
    """Return earlier incidents with the same culprit or most of the same paths, newest first."""
    earlier = queries.earlier(session, row, row.opened_at - _SIMILAR_DAYS, _COMPARED_MAX)
    alike = (
        one for one in earlier if one.culprit == row.culprit or share_of_paths(one.paths, row.paths) >= _SIMILAR_PATHS
    )
    return list(islice(alike, _SIMILAR))


def _summary(row: Incident) -> dict[str, Any]:
    names = (
        "id",
        "state",
        "severity",
        "title",
        "onset_at",
        "opened_at",
        "seen_at",
        "ended_at",
        "assignee",
        "silenced_by",
    )
    return {
        **{name: getattr(row, name) for name in (*names, "merged_into", "found_late_at", "version")},
        "mesh": MeshName.model_validate(row.mesh),
        "culprit": CulpritRead.model_validate(row.culprit),
        "paths": int(row.evidence.get("paths", 0)),
        "worst_path": _worst_path(row),
        "rules": [one["name"] for one in row.rules],
        "recurrence": recurrence_read(row),
        "timescale": "long" if row.seen_at - row.onset_at > LONG else "short",
    }


def _worst_path(row: Incident) -> IncidentPath | None:
    impact = row.evidence.get("impact")
    if not impact or not impact["worst"]:
        return None
    return IncidentPath.model_validate(
        {**impact["worst"][0], **{name: impact[name] for name in ("metric", "statistic")}}
    )


def _episode(start_s: int, end_s: int | None = None) -> EpisodeRead:
    return EpisodeRead(started_at=utc(start_s), ended_at=None if end_s is None else utc(end_s))


def recurrence_read(row: Incident) -> RecurrenceRead | None:
    """Return how an incident recurs; None if it was seen once."""
    found = recurrence_of(row)
    if found is None:
        return None
    return RecurrenceRead(times=found.times, since=row.first_onset_at, last_hour=found.last_hour, flaps=found.flaps)


def preview_silence(session: Session, body: SilenceCreate) -> SilencePreview:
    """Return the incidents of the last week that match. ProductError `range_invalid`."""
    silence = silence_of(body)
    since = datetime.now(UTC) - _PREVIEW_RANGE
    incidents = session.scalars(select(Incident).where(Incident.opened_at >= since).order_by(Incident.opened_at.desc()))
    meshes: dict[UUID, Any] = {}
    matching = []
    for incident in incidents:
        mesh = meshes.setdefault(incident.mesh_id, None) or mesh_state(session, incident.mesh_id)
        meshes[incident.mesh_id] = mesh
        if matches(silence.matchers, labels_of(incident, mesh)):
            matching.append(summary(incident))
    return SilencePreview(incidents=matching, notes=notes_on(session, silence.matchers))
