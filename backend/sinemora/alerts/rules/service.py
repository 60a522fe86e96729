"""Use cases of alerts: rules, incidents, silences. Receivers and routes: `receivers/service.py`."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.alerts.detection import evaluator, queries
from sinemora.alerts.incidents import presentation
from sinemora.alerts.incidents import store as incident_store
from sinemora.alerts.incidents.schemas import (
    AffectedRead,
    CulpritRead,
    EvidenceRead,
    IncidentRead,
    IncidentSummary,
    MeshName,
    TimelineEntry,
)
from sinemora.alerts.models import (
    AlertRule,
    Incident,
    IncidentEvent,
    IncidentState,
    Silence,
)
from sinemora.alerts.notifications import dispatch
from sinemora.alerts.receivers import routing
from sinemora.alerts.rules.schemas import RuleCreate, RuleRead, RuleUpdate, SilenceCreate, SilencePreview, SilenceRead
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.http.etag import IfMatch
from sinemora.meshes.service import mesh_state
from sinemora.tenants import audit
from sinemora.tenants.access import Actor

LONG = timedelta(hours=1)
_PREVIEWED = timedelta(days=7)
_SIMILAR = 5


def get_rule(session: Session, rule_id: UUID) -> AlertRule:
    """Return the tenant's rule. ProductError `alert_rule_unknown`."""
    found = session.get(AlertRule, rule_id)
    if found is None:
        raise NotFound("alert rule")
    return found


def create_rule(session: Session, actor: Actor, body: RuleCreate) -> AlertRule:
    """Create a rule. ProductError `mesh_unknown`, `alert_rule_name_taken`."""
    evaluator.watch(session, body.mesh_id)
    _rule_name_free(session, body.mesh_id, body.name)
    row = AlertRule(**_said(body.model_dump(mode="json", exclude={"mesh_id"})), mesh_id=body.mesh_id)
    audit.created(session, actor, "alert_rule", row)
    return row


def update_rule(session: Session, actor: Actor, rule_id: UUID, body: RuleUpdate, precondition: IfMatch) -> AlertRule:
    """Change a rule. ProductError `alert_rule_unknown`, `alert_rule_name_taken`, `rule_windows_invalid`."""
    row = get_rule(session, rule_id)
    precondition.check(row)
    said = _said(body.model_dump(mode="json", exclude_unset=True))
    for field, value in said.items():
        if value is None and field != "runbook_url":
            continue
        if field == "name" and value != row.name:
            _rule_name_free(session, row.mesh_id, value)
        setattr(row, field, value)
    if row.windows_x > row.windows_y:
        raise ProductError("rule_windows_invalid", 422, "`windows_x` cannot be more than `windows_y`.")
    row.updated_at = datetime.now(UTC)
    audit.updated(session, actor, "alert_rule", row, said)
    return row


def delete_rule(session: Session, actor: Actor, rule_id: UUID, precondition: IfMatch) -> None:
    """Delete a rule; its incidents stay. ProductError `alert_rule_unknown`."""
    row = get_rule(session, rule_id)
    precondition.check(row)
    session.delete(row)
    audit.record(session, actor, "alert_rule.deleted", row.id, row.name)


def rule_read(row: AlertRule) -> RuleRead:
    """Return a rule as its schema."""
    return RuleRead.model_validate(row)


def _said(body: dict[str, Any]) -> dict[str, Any]:
    return body


def _rule_name_free(session: Session, mesh_id: UUID, name: str) -> None:
    if queries.rule_named(session, mesh_id, name):
        raise ProductError("alert_rule_name_taken", 409, f"The mesh has a rule named {name} already.")


def get_incident(session: Session, incident_id: UUID, *, lock: bool = False) -> Incident:
    """Return the tenant's incident. ProductError `incident_unknown`."""
    found = queries.locked_incident(session, incident_id) if lock else session.get(Incident, incident_id)
    if found is None:
        raise NotFound("incident")
    return found


def decide(
    session: Session, actor: Actor, incident_id: UUID, state: IncidentState, text: str, precondition: IfMatch
) -> Incident:
    """Acknowledge, resolve or reopen an incident. ProductError `incident_unknown`, `incident_state_conflict`."""
    row = get_incident(session, incident_id, lock=True)
    precondition.check(row)
    if row.state == state:
        raise ProductError("incident_state_conflict", 409, f"This incident is {row.state} already.")
    if state is IncidentState.acknowledged and row.state == IncidentState.resolved:
        raise ProductError("incident_state_conflict", 409, "This incident is resolved. Reopen it first.")
    row.state = state
    if state is IncidentState.open:
        row.merged_into = None
    session.flush()
    words = {"open": "reopened", "acknowledged": "acknowledged", "resolved": "resolved"}[state.value]
    now = datetime.now(UTC)
    incident_store.note(session, row.id, now, words, text, actor.name)
    if state is IncidentState.resolved:
        dispatch.tell(session, row, mesh_state(session, row.mesh_id), "resolved", now)
    audit.record(session, actor, f"incident.{words}", row.id, row.title)
    return row


def add_note(session: Session, actor: Actor, incident_id: UUID, text: str) -> Incident:
    """Add to the timeline of an incident. ProductError `incident_unknown`."""
    row = get_incident(session, incident_id)
    incident_store.note(session, row.id, datetime.now(UTC), "note", text, actor.name)
    session.flush()
    return row


def assign(session: Session, actor: Actor, incident_id: UUID, assignee: str | None, precondition: IfMatch) -> Incident:
    """Say who sees to an incident. ProductError `incident_unknown`."""
    row = get_incident(session, incident_id, lock=True)
    precondition.check(row)
    row.assignee = assignee
    session.flush()
    incident_store.note(session, row.id, datetime.now(UTC), "assigned", assignee or "nobody", actor.name)
    audit.record(session, actor, "incident.assigned", row.id, row.title)
    return row


def summary(row: Incident) -> IncidentSummary:
    """Return an incident as an item of a list."""
    return IncidentSummary(**_summary(row))


def incident_read(session: Session, row: Incident) -> IncidentRead:
    """Return an incident with all its details."""
    timeline = session.scalars(
        select(IncidentEvent).where(IncidentEvent.incident_id == row.id).order_by(IncidentEvent.at, IncidentEvent.id)
    )
    return IncidentRead(
        **_summary(row),
        evidence=EvidenceRead.model_validate(row.evidence),
        applications=[AffectedRead.model_validate(one) for one in row.applications],
        timeline=[TimelineEntry.model_validate(one) for one in timeline],
        similar=[summary(one) for one in queries.similar(session, row, _SIMILAR)],
    )


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
        "rules": [one["name"] for one in row.rules],
        "timescale": "long" if row.seen_at - row.onset_at > LONG else "short",
    }


def get_silence(session: Session, silence_id: UUID) -> Silence:
    """Return the tenant's silence. ProductError `silence_unknown`."""
    found = session.get(Silence, silence_id)
    if found is None:
        raise NotFound("silence")
    return found


def create_silence(session: Session, actor: Actor, body: SilenceCreate) -> Silence:
    """Create a silence. ProductError `range_invalid`."""
    row = _silence(body)
    row.created_by = actor.name
    session.add(row)
    session.flush()
    audit.record(session, actor, "silence.created", row.id, row.comment)
    return row


def end_silence(session: Session, actor: Actor, silence_id: UUID) -> None:
    """End a silence now; one that has not begun is deleted. ProductError `silence_unknown`."""
    row = get_silence(session, silence_id)
    now = datetime.now(UTC)
    if row.starts_at >= now:
        session.delete(row)
    elif row.ends_at > now:
        row.ends_at = now
    audit.record(session, actor, "silence.ended", row.id, row.comment)


def preview_silence(session: Session, body: SilenceCreate) -> SilencePreview:
    """Return the incidents of the last week that match. ProductError `range_invalid`."""
    row = _silence(body)
    since = datetime.now(UTC) - _PREVIEWED
    found = session.scalars(select(Incident).where(Incident.opened_at >= since).order_by(Incident.opened_at.desc()))
    meshes: dict[UUID, Any] = {}
    kept = []
    for one in found:
        mesh = meshes.setdefault(one.mesh_id, None) or mesh_state(session, one.mesh_id)
        meshes[one.mesh_id] = mesh
        if routing.matches(row.matchers, presentation.labels_of(one, mesh)):
            kept.append(summary(one))
    return SilencePreview(incidents=kept)


def silence_read(row: Silence) -> SilenceRead:
    """Return a silence as its schema."""
    now = datetime.now(UTC)
    names = ("id", "comment", "matchers", "starts_at", "ends_at", "weekly", "created_by", "version")
    active = routing.in_force(row.starts_at, row.ends_at, row.weekly, now)
    return SilenceRead.model_validate({**{name: getattr(row, name) for name in names}, "active": active})


def _silence(body: SilenceCreate) -> Silence:
    starts_at = body.starts_at or datetime.now(UTC)
    for at in (starts_at, body.ends_at):
        if at.tzinfo is None:
            raise ProductError("range_invalid", 422, "Invalid time: it needs a time zone, as in 2026-11-20T10:00:00Z.")
    if starts_at >= body.ends_at:
        raise ProductError("range_invalid", 422, "`starts_at` must lie before `ends_at`.")
    said = body.model_dump(mode="json", include={"matchers", "weekly"})
    return Silence(comment=body.comment, starts_at=starts_at, ends_at=body.ends_at, created_by="", **said)
