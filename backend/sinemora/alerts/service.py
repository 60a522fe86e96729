"""Use cases of alerts: rules, incidents, silences, receivers, routes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.alerts import describe, evaluating, following, queries, routing, telling
from sinemora.alerts.models import (
    AlertRouting,
    AlertRule,
    Delivery,
    Incident,
    IncidentEvent,
    IncidentState,
    Receiver,
    ReceiverKind,
    Silence,
)
from sinemora.alerts.schemas import (
    AffectedRead,
    CulpritRead,
    DeliveryRead,
    EvidenceRead,
    IncidentRead,
    IncidentSummary,
    MeshName,
    ReceiverFields,
    ReceiverRead,
    ReceiverUpdate,
    Route,
    RoutingRead,
    RoutingWrite,
    RuleCreate,
    RuleRead,
    RuleUpdate,
    SilenceCreate,
    SilencePreview,
    SilenceRead,
    TimelineEntry,
)
from sinemora.kit import vault
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.etag import IfMatch
from sinemora.meshes.service import mesh_state
from sinemora.tenants import audit
from sinemora.tenants.access import Actor

LONG = timedelta(hours=1)
_PREVIEWED = timedelta(days=7)
_SIMILAR = 5
_SECRETS = {
    ReceiverKind.email: (),
    ReceiverKind.webhook: (),
    ReceiverKind.slack: ("url",),
    ReceiverKind.teams: ("url",),
    ReceiverKind.pagerduty: ("routing_key",),
}


def get_rule(session: Session, rule_id: UUID) -> AlertRule:
    """The tenant's rule. ProductError `alert_rule_unknown`."""
    found = session.get(AlertRule, rule_id)
    if found is None:
        raise NotFound("alert rule")
    return found


def create_rule(session: Session, actor: Actor, body: RuleCreate) -> AlertRule:
    """A new rule. ProductError `mesh_unknown`, `alert_rule_name_taken`."""
    evaluating.watch(session, body.mesh_id)
    _rule_name_free(session, body.mesh_id, body.name)
    row = AlertRule(**_said(body.model_dump(mode="json", exclude={"mesh_id"})), mesh_id=body.mesh_id)
    session.add(row)
    session.flush()
    session.refresh(row)
    audit.record(session, actor, "alert_rule.created", row.id, row.name)
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
    session.flush()
    session.refresh(row)
    audit.record(session, actor, "alert_rule.updated", row.id, row.name, fields=sorted(said))
    return row


def delete_rule(session: Session, actor: Actor, rule_id: UUID, precondition: IfMatch) -> None:
    """Delete a rule; its incidents stay. ProductError `alert_rule_unknown`."""
    row = get_rule(session, rule_id)
    precondition.check(row)
    session.delete(row)
    audit.record(session, actor, "alert_rule.deleted", row.id, row.name)


def rule_read(row: AlertRule) -> RuleRead:
    """A rule as it goes over the wire."""
    return RuleRead.model_validate(row)


def _said(body: dict[str, Any]) -> dict[str, Any]:
    return body


def _rule_name_free(session: Session, mesh_id: UUID, name: str) -> None:
    if queries.rule_named(session, mesh_id, name):
        raise ProductError("alert_rule_name_taken", 409, f"The mesh has a rule named {name} already.")


def get_incident(session: Session, incident_id: UUID, *, lock: bool = False) -> Incident:
    """The tenant's incident. ProductError `incident_unknown`."""
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
    following.note(session, row.id, now, words, text, actor.name)
    if state is IncidentState.resolved:
        telling.tell(session, row, mesh_state(session, row.mesh_id), "resolved", now)
    audit.record(session, actor, f"incident.{words}", row.id, row.title)
    return row


def add_note(session: Session, actor: Actor, incident_id: UUID, text: str) -> Incident:
    """Add to the timeline of an incident. ProductError `incident_unknown`."""
    row = get_incident(session, incident_id)
    following.note(session, row.id, datetime.now(UTC), "note", text, actor.name)
    session.flush()
    return row


def assign(session: Session, actor: Actor, incident_id: UUID, assignee: str | None, precondition: IfMatch) -> Incident:
    """Say who sees to an incident. ProductError `incident_unknown`."""
    row = get_incident(session, incident_id, lock=True)
    precondition.check(row)
    row.assignee = assignee
    session.flush()
    following.note(session, row.id, datetime.now(UTC), "assigned", assignee or "nobody", actor.name)
    audit.record(session, actor, "incident.assigned", row.id, row.title)
    return row


def summary(row: Incident) -> IncidentSummary:
    """An incident as an item of a list."""
    return IncidentSummary(**_summary(row))


def incident_read(session: Session, row: Incident) -> IncidentRead:
    """An incident with everything known of it."""
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
    names = ("id", "state", "severity", "title", "onset_at", "opened_at", "seen_at", "ended_at", "assignee", "muted")
    return {
        **{name: getattr(row, name) for name in (*names, "merged_into", "version")},
        "mesh": MeshName.model_validate(row.mesh),
        "culprit": CulpritRead.model_validate(row.culprit),
        "paths": int(row.evidence.get("paths", 0)),
        "rules": [one["name"] for one in row.rules],
        "timescale": "long" if row.seen_at - row.onset_at > LONG else "short",
    }


def get_silence(session: Session, silence_id: UUID) -> Silence:
    """The tenant's silence. ProductError `silence_unknown`."""
    found = session.get(Silence, silence_id)
    if found is None:
        raise NotFound("silence")
    return found


def create_silence(session: Session, actor: Actor, body: SilenceCreate) -> Silence:
    """A new silence. ProductError `range_invalid`."""
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
    """Which incidents of the last week match. ProductError `range_invalid`."""
    row = _silence(body)
    since = datetime.now(UTC) - _PREVIEWED
    found = session.scalars(select(Incident).where(Incident.opened_at >= since).order_by(Incident.opened_at.desc()))
    meshes: dict[UUID, Any] = {}
    kept = []
    for one in found:
        mesh = meshes.setdefault(one.mesh_id, None) or mesh_state(session, one.mesh_id)
        meshes[one.mesh_id] = mesh
        if routing.matches(row.matchers, describe.labels_of(one, mesh)):
            kept.append(summary(one))
    return SilencePreview(incidents=kept)


def silence_read(row: Silence) -> SilenceRead:
    """A silence as it goes over the wire."""
    now = datetime.now(UTC)
    names = ("id", "comment", "matchers", "starts_at", "ends_at", "weekly", "created_by", "version")
    active = routing.in_force(row.starts_at, row.ends_at, row.weekly, now)
    return SilenceRead.model_validate({**{name: getattr(row, name) for name in names}, "active": active})


def _silence(body: SilenceCreate) -> Silence:
    starts_at = body.starts_at or datetime.now(UTC)
    for at in (starts_at, body.ends_at):
        if at.tzinfo is None:
            raise ProductError("range_invalid", 422, "Times need a zone, as in 2026-11-20T10:00:00Z.")
    if starts_at >= body.ends_at:
        raise ProductError("range_invalid", 422, "`starts_at` must lie before `ends_at`.")
    said = body.model_dump(mode="json", include={"matchers", "weekly"})
    return Silence(comment=body.comment, starts_at=starts_at, ends_at=body.ends_at, created_by="", **said)


def get_receiver(session: Session, receiver_id: UUID) -> Receiver:
    """The tenant's receiver. ProductError `receiver_unknown`."""
    found = session.get(Receiver, receiver_id)
    if found is None:
        raise NotFound("receiver")
    return found


def create_receiver(session: Session, actor: Actor, body: ReceiverFields) -> Receiver:
    """A new receiver. ProductError `receiver_name_taken`, `receiver_invalid`, `secret_key_missing`."""
    _receiver_name_free(session, body.name)
    _check(body.kind, body.settings, body.secret)
    sealed = vault.seal(body.secret) if body.secret else None
    row = Receiver(name=body.name, kind=body.kind, settings=body.settings, secret=sealed)
    session.add(row)
    session.flush()
    session.refresh(row)
    audit.record(session, actor, "receiver.created", row.id, row.name)
    return row


def update_receiver(
    session: Session, actor: Actor, receiver_id: UUID, body: ReceiverUpdate, precondition: IfMatch
) -> Receiver:
    """Change a receiver. ProductError `receiver_unknown`, `receiver_name_taken`, `receiver_invalid`."""
    row = get_receiver(session, receiver_id)
    precondition.check(row)
    if body.name is not None and body.name != row.name:
        _receiver_name_free(session, body.name)
        _reroute(session, row.name, body.name)
        row.name = body.name
    secret = vault.unseal(row.secret) if body.secret is None else body.secret
    settings = row.settings if body.settings is None else body.settings
    _check(ReceiverKind(row.kind), settings, secret)
    row.settings = settings
    if body.secret is not None:
        row.secret = vault.seal(secret) if secret else None
    session.flush()
    audit.record(session, actor, "receiver.updated", row.id, row.name)
    return row


def delete_receiver(session: Session, actor: Actor, receiver_id: UUID, precondition: IfMatch) -> None:
    """Delete a receiver with its deliveries and its places in the routes. ProductError `receiver_unknown`."""
    row = get_receiver(session, receiver_id)
    precondition.check(row)
    _reroute(session, row.name, None)
    session.delete(row)
    audit.record(session, actor, "receiver.deleted", row.id, row.name)


def test_receiver(session: Session, actor: Actor, receiver_id: UUID) -> DeliveryRead:
    """Send a test to a receiver. ProductError `receiver_unknown`."""
    row = get_receiver(session, receiver_id)
    made = telling.send(session, row.id, None, "test")
    session.refresh(made)
    audit.record(session, actor, "receiver.tested", row.id, row.name)
    return delivery_read(made, row.name)


def receiver_read(row: Receiver) -> ReceiverRead:
    """A receiver as it goes over the wire."""
    names = ("id", "name", "kind", "settings", "version", "created_at")
    return ReceiverRead(**{name: getattr(row, name) for name in names}, has_secret=row.secret is not None)


def deliveries_read(session: Session, rows: Sequence[Delivery]) -> list[DeliveryRead]:
    """Deliveries as they go over the wire."""
    return [delivery_read(row, session.get_one(Receiver, row.receiver_id).name) for row in rows]


def delivery_read(row: Delivery, receiver: str) -> DeliveryRead:
    """A delivery as it goes over the wire."""
    names = ("id", "incident_id", "about", "state", "attempts", "due_at", "sent_at", "answer", "created_at")
    return DeliveryRead(**{name: getattr(row, name) for name in names}, receiver=receiver)


def routing_read(session: Session) -> tuple[AlertRouting | None, RoutingRead]:
    """The tree of routes; an empty one until it is written."""
    row = queries.routing(session)
    if row is None:
        return None, RoutingRead(root=Route(), version=0)
    return row, RoutingRead(root=Route.model_validate(row.tree["root"]), version=row.version)


def write_routing(session: Session, actor: Actor, body: RoutingWrite, precondition: IfMatch) -> AlertRouting:
    """Replace the tree. ProductError `receiver_unknown`."""
    names = _receivers_of(body.root)
    known = queries.receivers_named(session, names)
    if missing := [name for name in names if name not in known]:
        raise ProductError("receiver_unknown", 404, f"There is no receiver named {', '.join(missing)}.")
    row = queries.routing(session)
    tree = body.model_dump(mode="json")
    if row is None:
        row = AlertRouting(id=uuid4(), tree=tree)
        session.add(row)
    else:
        precondition.check(row)
        row.tree = tree
    session.flush()
    audit.record(session, actor, "alert_routing.written", row.id, "routes")
    return row


def _receivers_of(route: Route) -> list[str]:
    return [*route.receivers, *(name for branch in route.routes for name in _receivers_of(branch))]


def _reroute(session: Session, name: str, to: str | None) -> None:
    """Call a receiver by its new name wherever routes name it, or no more at all."""
    row, shown = routing_read(session)
    if row is not None and name in _receivers_of(shown.root):
        row.tree = {**row.tree, "root": _renamed(shown.root, name, to).model_dump(mode="json")}


def _renamed(route: Route, name: str, to: str | None) -> Route:
    named = [to if one == name else one for one in route.receivers]
    return route.model_copy(
        update={
            "receivers": [one for one in named if one is not None],
            "routes": [_renamed(branch, name, to) for branch in route.routes],
        }
    )


def _receiver_name_free(session: Session, name: str) -> None:
    if queries.receiver_named(session, name):
        raise ProductError("receiver_name_taken", 409, f"There is a receiver named {name} already.")


def _check(kind: ReceiverKind, settings: dict[str, Any], secret: dict[str, str]) -> None:
    for name in _SECRETS[kind]:
        if not secret.get(name):
            raise ProductError("receiver_invalid", 422, f"A receiver of kind {kind} needs `secret.{name}`.")
    if kind is ReceiverKind.email:
        to = settings.get("to")
        if not isinstance(to, list) or not to or not all(isinstance(one, str) and _address(one) for one in to):
            raise ProductError("receiver_invalid", 422, "`settings.to` is a list of addresses, such as a@example.com.")
    urls = [settings.get("url")] if kind is ReceiverKind.webhook else [settings.get("url"), secret.get("url")]
    for url in urls if kind is ReceiverKind.webhook else [one for one in urls if one]:
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ProductError("receiver_invalid", 422, "An address looks like https://example.com/hooks/1.")


def _address(text: str) -> bool:
    name, _, domain = text.partition("@")
    return bool(name and domain) and not any(one.isspace() or one in '<>,;:"\\()[]' for one in text)
