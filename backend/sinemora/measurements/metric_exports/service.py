"""Use cases of metric exports: create, change, delete, test."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit import encryption
from sinemora.kit.db import locked, refuse_taken
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.http_authentication import Authentication, headers_of
from sinemora.measurements.metric_exports import minutes, push, queries, wire
from sinemora.measurements.metric_exports.models import MetricExport, MetricExportKind
from sinemora.measurements.metric_exports.schemas import (
    ExportedPaths,
    MetricExportCreate,
    MetricExportRead,
    MetricExportState,
    MetricExportTestRead,
    MetricExportUpdate,
)
from sinemora.measurements.metric_exports.wire import SendError
from sinemora.measurements.prometheus.promql import NAME, Labels
from sinemora.measurements.query.selections import paths_of


def get_export(session: Session, export_id: UUID) -> MetricExport:
    """Return the tenant's export. ProductError `metric_export_unknown`."""
    return existing(session.get(MetricExport, export_id), "metric export")


def create_export(session: Session, actor: Actor, body: MetricExportCreate) -> MetricExport:
    """Create an export, which begins with the present minute.

    ProductError `metric_export_name_taken`, `secret_key_missing`, `paths_too_many`, and those of selections.
    """
    refuse_taken(session, MetricExport, body.name, "metric_export_name_taken")
    _check_paths(session, body.paths)
    fields = body.model_dump(exclude={"authentication"}, mode="json")
    row = MetricExport(**fields, **_sealed(body.authentication), **_beginning())
    audit.created(session, actor, "metric_export", row)
    return row


def update_export(
    session: Session, actor: Actor, export_id: UUID, body: MetricExportUpdate, precondition: IfMatch
) -> MetricExport:
    """Change an export. Another place, or the end of a pause, begins with the present minute.

    ProductError `metric_export_unknown`, `metric_export_name_taken`, `secret_needed_again`, `paths_too_many`.
    """
    row = existing(locked(session, MetricExport, export_id), "metric export")
    precondition.check(row)
    changes = body.model_dump(exclude_unset=True, exclude={"authentication"}, mode="json")
    changes = {name: value for name, value in changes.items() if value != getattr(row, name)}
    signs_in = "authentication" in body.model_fields_set
    if "url" in changes and row.secret is not None and not signs_in and _server(changes["url"]) != _server(row.url):
        raise ProductError(
            "secret_needed_again",
            422,
            "Secret needed again: it was given for another server. Send `authentication` together with the new `url`.",
            errors=[{"pointer": "#/authentication", "message": "needed with a URL on another server"}],
        )
    if "name" in changes:
        refuse_taken(session, MetricExport, changes["name"], "metric_export_name_taken")
    if "paths" in changes:
        _check_paths(session, body.paths or [])
    if signs_in:
        changes |= _sealed(body.authentication)
    for name, value in changes.items():
        setattr(row, name, value)
    if changes.keys() - {"name", "paths"}:
        queries.set_progress(session, row.id, **_beginning(row.sent_until))
    audit.updated(session, actor, "metric_export", row, changes.keys() - {"secret"})
    return row


def delete_export(session: Session, actor: Actor, export_id: UUID, precondition: IfMatch) -> None:
    """Delete an export with its secret. ProductError `metric_export_unknown`."""
    row = existing(locked(session, MetricExport, export_id), "metric export")
    precondition.check(row)
    audit.deleted(session, actor, "metric_export", row)


def test_export(session: Session, actor: Actor, export_id: UUID) -> MetricExportTestRead:
    """Send one value. ProductError `metric_export_unknown`, `secret_unreadable`."""
    row = get_export(session, export_id)
    error = None
    try:
        headers = row.headers | headers_of(encryption.decrypt(row.secret))
        value: dict[Labels, float | None] = {((NAME, "sinemora_export_test"),): 1.0}
        wire.send(MetricExportKind(row.kind), row.url, headers, value, int(datetime.now(UTC).timestamp() * 1000))
    except SendError as failure:
        error = str(failure)
    audit.record(session, actor, "metric_export.tested", row.id, row.name, error=error)
    return MetricExportTestRead(error=error)


def read(actor: Actor, row: MetricExport) -> MetricExportRead:
    """Return an export in its JSON form; callers who see some meshes alone do not see what names others."""
    limited = actor.mesh_limit is not None
    return MetricExportRead.from_row(
        row,
        paths=[] if limited else row.paths,
        error=None if limited else row.error,
        next_at=None if row.paused else row.next_at,
        state=_state(row),
    )


def _state(row: MetricExport) -> MetricExportState:
    if row.paused:
        return MetricExportState.paused
    if row.failures:
        return MetricExportState.failing
    return MetricExportState.waiting if row.succeeded_at is None else MetricExportState.sending


def _beginning(sent_until: datetime | None = None) -> dict[str, Any]:
    """Return the progress of an export that begins now, with no minute before the last one that was sent."""
    first = push.newest(datetime.now(UTC))
    first = max(first, sent_until or first)
    again = {"part": 0, "parts": 0, "failures": 0, "error": None, "busy_until": None}
    return {"sent_until": first, "next_at": first + minutes.STEP + push.SETTLED, "series": None} | again


def _sealed(authentication: Authentication | None) -> dict[str, Any]:
    if authentication is None:
        return {"authentication": None, "secret": None}
    return {"authentication": authentication.scheme, "secret": encryption.encrypt(authentication.model_dump())}


def _server(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _check_paths(session: Session, chosen: list[ExportedPaths]) -> None:
    """Check that the paths exist and are not too many. ProductError as `create_export`."""
    count = 0
    for one in chosen:
        mesh = mesh_state(session, one.mesh_id)
        count += int(minutes.flags_of(mesh, paths_of(mesh, one.selections)).sum())
    if count > minutes.PATHS_MAX:
        raise ProductError(
            "paths_too_many",
            409,
            f"Too many paths: {count} chosen, {minutes.PATHS_MAX} allowed. Choose those of some VMs.",
            paths_max=minutes.PATHS_MAX,
        )
