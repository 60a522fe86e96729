"""Operations with the tag `annotations`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class AnnotationsOperations(Calls):
    """Operations with the tag `annotations`."""

    def create_annotation(
        self,
        body: models.AnnotationCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.AnnotationRead:
        """Create an annotation: a deploy, maintenance or a note, at a time or over a span.

        POST /v1/annotations, role editor. Raises `ApiError` with `annotations_too_many`, `application_unknown`,
        `conflict`, `mesh_unknown`, `range_invalid`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.AnnotationRead = self._json("POST", "/v1/annotations", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_annotation(self, annotation_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete an annotation.

        DELETE /v1/annotations/{annotation_id}, role editor. Raises `ApiError` with `annotation_unknown`,
        `if_match_weak`, `version_changed`.
        """
        self._json("DELETE", f"/v1/annotations/{segment(annotation_id)}", version=version)

    def list_annotations(
        self,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        mesh_id: str | UUID | None = None,
    ) -> Iterator[models.AnnotationRead]:
        """List annotations, latest start first.

        GET /v1/annotations, role viewer. Raises `ApiError` with `mesh_unknown`, `range_invalid`.
        """
        return self._items("/v1/annotations", {"from": from_, "to": to, "mesh_id": mesh_id})

    def read_annotation(self, annotation_id: str | UUID) -> models.AnnotationRead:
        """Return an annotation.

        GET /v1/annotations/{annotation_id}, role viewer. Raises `ApiError` with `annotation_unknown`.
        """
        answer: models.AnnotationRead = self._json("GET", f"/v1/annotations/{segment(annotation_id)}")
        return answer

    def update_annotation(
        self,
        annotation_id: str | UUID,
        body: models.AnnotationUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.AnnotationRead:
        """Change an annotation, for example set its end when a deploy is done.

        PATCH /v1/annotations/{annotation_id}, role editor. Raises `ApiError` with `annotation_unknown`,
        `application_unknown`, `if_match_required`, `if_match_weak`, `mesh_unknown`, `range_invalid`,
        `version_changed`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.AnnotationRead = self._json("PATCH", f"/v1/annotations/{segment(annotation_id)}", body=body, version=version)
        return answer

