"""HTTP of annotations."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, paginate
from sinemora.overview.annotations import queries, service
from sinemora.overview.annotations.models import Annotation
from sinemora.overview.annotations.schemas import AnnotationCreate, AnnotationRead, AnnotationUpdate, Moment

router = signed_in_router("/v1/annotations", "annotations")


@router.get("", responses=responses(422))
def list_annotations(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    start: Annotated[Moment | None, Query(alias="from", description="Only those that end after this time")] = None,
    end: Annotated[Moment | None, Query(alias="to", description="Only those that start before this time")] = None,
    mesh_id: Annotated[UUID | None, Query(description="Only those of this mesh and those of all meshes")] = None,
) -> Page[AnnotationRead]:
    """List annotations, latest start first."""
    service.check_range(start, end)
    statement = queries.overlapping(mesh_id, start, end)
    rows = paginate(session, statement, page, Annotation.starts_at, Annotation.id, descending=True)
    return Page(items=service.read(session, rows.items), next_cursor=rows.next_cursor)


@router.post("", status_code=201, responses=responses(404, 409, 422))
def create_annotation(body: AnnotationCreate, session: SessionDep, actor: Editor) -> AnnotationRead:
    """Create an annotation: a deploy, maintenance or a note, at a time or over a span."""
    row = service.create_annotation(session, actor, body)
    return service.read(session, [row])[0]


@router.get("/{annotation_id}", responses=responses(404))
def read_annotation(annotation_id: UUID, session: SessionDep, actor: Viewer) -> AnnotationRead:
    """Return an annotation."""
    row = service.get_annotation(session, annotation_id)
    return service.read(session, [row])[0]


@router.patch("/{annotation_id}", responses=responses(404, 412, 422, 428))
def update_annotation(
    annotation_id: UUID,
    body: AnnotationUpdate,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> AnnotationRead:
    """Change an annotation, for example set its end when a deploy is done."""
    row = service.update_annotation(session, actor, annotation_id, body, precondition)
    return service.read(session, [row])[0]


@router.delete("/{annotation_id}", status_code=204, responses=responses(404, 412))
def delete_annotation(annotation_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete an annotation."""
    service.delete_annotation(session, actor, annotation_id, precondition)
