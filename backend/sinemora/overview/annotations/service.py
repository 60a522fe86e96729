"""Use cases of annotations."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.applications.models import Application
from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import locked
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.overview.annotations import queries
from sinemora.overview.annotations.models import Annotation, AnnotationTarget
from sinemora.overview.annotations.schemas import (
    AnnotationCreate,
    AnnotationRead,
    AnnotationScope,
    AnnotationUpdate,
    ScopeRead,
)

# A year of 27 deploys a day. Each is small; the limit stops a pipeline that annotates in a loop.
ANNOTATIONS_MAX = 10_000
_TARGETS = (("vm", Vm), ("zone", Zone), ("application", Application))


def get_annotation(session: Session, annotation_id: UUID) -> Annotation:
    """Return the tenant's annotation. ProductError `annotation_unknown`."""
    return existing(session.get(Annotation, annotation_id), "annotation")


def create_annotation(session: Session, actor: Actor, body: AnnotationCreate) -> Annotation:
    """Create an annotation.

    ProductError `range_invalid`, `annotations_too_many`, `mesh_unknown`, `vm_unknown`, `zone_unknown`,
    `application_unknown`.
    """
    starts_at = body.starts_at or datetime.now(UTC)
    _check_times(starts_at, body.ends_at)
    _check_mesh(session, body.mesh_id)
    quotas.lock(session)
    if queries.count(session) >= ANNOTATIONS_MAX:
        raise ProductError(
            "annotations_too_many",
            409,
            f"Too many annotations: {ANNOTATIONS_MAX:,} exist. Delete old ones first.",
            annotations_max=ANNOTATIONS_MAX,
        )
    row = Annotation(
        kind=body.kind,
        text=body.text,
        starts_at=starts_at,
        ends_at=body.ends_at,
        mesh_id=body.mesh_id,
        scoped=body.scope is not None,
        targets=_targets(session, body.scope),
        source=body.source or actor.name,
        url=body.url,
    )
    session.add(row)
    session.flush()
    session.refresh(row)
    audit.record(session, actor, "annotation.created", row.id, row.text)
    return row


def update_annotation(
    session: Session, actor: Actor, annotation_id: UUID, body: AnnotationUpdate, precondition: IfMatch
) -> Annotation:
    """Change an annotation. ProductErrors of `create_annotation`, `annotation_unknown`, `version_changed`."""
    row = existing(locked(session, Annotation, annotation_id), "annotation")
    precondition.check(row)
    changed = body.model_fields_set
    _check_mesh(session, body.mesh_id)
    targets = _targets(session, body.scope)
    for field in changed - {"scope"}:
        setattr(row, field, getattr(body, field))
    _check_times(row.starts_at, row.ends_at)
    if "scope" in changed:
        row.scoped, row.targets = body.scope is not None, targets
    # A change of the scope alone also changes the version.
    row.updated_at = datetime.now(UTC)
    session.flush()
    session.refresh(row)
    audit.record(session, actor, "annotation.updated", row.id, row.text, fields=sorted(changed))
    return row


def delete_annotation(session: Session, actor: Actor, annotation_id: UUID, precondition: IfMatch) -> None:
    """Delete an annotation. ProductError `annotation_unknown`, `version_changed`."""
    row = get_annotation(session, annotation_id)
    precondition.check(row)
    session.delete(row)
    audit.record(session, actor, "annotation.deleted", row.id, row.text)


def read(session: Session, rows: Sequence[Annotation]) -> list[AnnotationRead]:
    """Convert annotations to their JSON form."""
    application_ids = {target.application_id for row in rows for target in row.targets if target.application_id}
    vms = queries.task_vms(session, application_ids)
    return [
        AnnotationRead.from_row(
            row, mesh_name=row.mesh.name if row.mesh else None, scope=_scope_read(row, vms) if row.scoped else None
        )
        for row in rows
    ]


def check_range(start: datetime | None, end: datetime | None) -> None:
    """Check the range of a list. ProductError `range_invalid`."""
    if start is not None and end is not None and start >= end:
        raise _range_invalid("`from` must be before `to`", "#/query/to")


def _check_times(starts_at: datetime, ends_at: datetime | None) -> None:
    if ends_at is not None and starts_at >= ends_at:
        raise _range_invalid("`starts_at` must be before `ends_at`", "#/ends_at")


def _range_invalid(reason: str, pointer: str) -> ProductError:
    return ProductError(
        "range_invalid", 422, f"Invalid range: {reason}.", errors=[{"pointer": pointer, "message": reason}]
    )


def _check_mesh(session: Session, mesh_id: UUID | None) -> None:
    if mesh_id is not None and session.get(Mesh, mesh_id) is None:
        raise _unknown("mesh", mesh_id, "#/mesh_id")


def _unknown(kind: str, id: UUID, pointer: str) -> ProductError:
    return ProductError(
        f"{kind}_unknown", 404, f"Unknown {kind}: {id}.", errors=[{"pointer": pointer, "message": "unknown"}]
    )


def _targets(session: Session, scope: AnnotationScope | None) -> list[AnnotationTarget]:
    """Return the rows of a scope.

    ProductError `vm_unknown`, `zone_unknown`, `application_unknown`.
    """
    if scope is None:
        return []
    rows = []
    for kind, table in _TARGETS:
        field = f"{kind}_ids"
        ids: list[UUID] = list(dict.fromkeys(getattr(scope, field)))
        known = queries.known(session, table, ids)
        for index, id in enumerate(getattr(scope, field)):
            if id not in known:
                raise _unknown(kind, id, f"#/scope/{field}/{index}")
        rows += [AnnotationTarget(**{f"{kind}_id": id}) for id in ids]
    return rows


def _scope_read(row: Annotation, vms: dict[UUID, list[UUID]]) -> ScopeRead:
    application_ids = [target.application_id for target in row.targets if target.application_id]
    return ScopeRead(
        vm_ids=[target.vm_id for target in row.targets if target.vm_id],
        zone_ids=[target.zone_id for target in row.targets if target.zone_id],
        application_ids=application_ids,
        task_vm_ids=list(dict.fromkeys(vm for id in application_ids for vm in vms.get(id, []))),
    )
