"""Operations with the tag `curves`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class CurvesOperations(Calls):
    """Operations with the tag `curves`."""

    def create_curve(
        self,
        body: models.CurveCreate,
        *,
        name: str | None = None,
        description: str | None = None,
        unit: str | None = None,
        source: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.CurveDetail:
        """Fit measurements of an application and store the curve. Accepts `text/csv` bodies.

        POST /v1/curves, role editor. Raises `ApiError` with `conflict`, `curve_name_taken`, `samples_invalid`.
        """
        answer: models.CurveDetail = self._json("POST", "/v1/curves", params={"name": name, "description": description, "unit": unit, "source": source}, body=body, idempotency_key=idempotency_key)
        return answer

    def create_curve_version(
        self,
        curve_id: str | UUID,
        body: models.CurveVersionCreate,
        *,
        source: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.CurveDetail:
        """Fit newer measurements of the same application. Accepts `text/csv` bodies.

        POST /v1/curves/{curve_id}/versions, role editor. Raises `ApiError` with `conflict`, `curve_metric_differs`,
        `curve_published`, `curve_unknown`, `samples_invalid`.
        """
        answer: models.CurveDetail = self._json("POST", f"/v1/curves/{segment(curve_id)}/versions", params={"source": source}, body=body, idempotency_key=idempotency_key)
        return answer

    def delete_curve(self, curve_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete a curve of the tenant with all its versions.

        DELETE /v1/curves/{curve_id}, role editor. Raises `ApiError` with `conflict`, `curve_in_use`,
        `curve_published`, `curve_unknown`, `if_match_weak`, `version_changed`.
        """
        self._json("DELETE", f"/v1/curves/{segment(curve_id)}", version=version)

    def list_curve_versions(self, curve_id: str | UUID) -> Iterator[models.CurveVersionRead]:
        """List the versions of a curve, newest first.

        GET /v1/curves/{curve_id}/versions, role viewer. Raises `ApiError` with `curve_unknown`,
        `curve_version_unknown`.
        """
        return self._items(f"/v1/curves/{segment(curve_id)}/versions", {})

    def list_curves(self, *, origin: models.OriginInput | None = None) -> Iterator[models.CurveRead]:
        """List the tenant's own curves by name, then the published ones, each with an outline to draw.

        GET /v1/curves, role viewer.
        """
        return self._items("/v1/curves", {"origin": origin})

    def read_curve(self, curve_id: str | UUID, *, number: int | None = None) -> models.CurveDetail:
        """Return a curve by id or published key, with samples, candidates and warnings of one version.

        GET /v1/curves/{curve_id}, role viewer. Raises `ApiError` with `curve_unknown`, `curve_version_unknown`.
        """
        answer: models.CurveDetail = self._json("GET", f"/v1/curves/{segment(curve_id)}", params={"number": number})
        return answer

    def read_curve_cost(
        self,
        curve_id: str | UUID,
        *,
        added_us: float | None = None,
        reference_us: float | None = None,
        waiting: models.Waiting | None = None,
        number: int | None = None,
        mesh_id: str | UUID | None = None,
        source_vm_id: str | UUID | None = None,
        target_vm_id: str | UUID | None = None,
        source_zone_id: str | UUID | None = None,
        target_zone_id: str | UUID | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
    ) -> models.CostRead:
        """Return the cost of added latency: without measured latency, and on top of measured round trips.

        GET /v1/curves/{curve_id}/cost, role viewer. Raises `ApiError` with `aged_data_unavailable`,
        `curve_unknown`, `curve_version_unknown`, `database_busy`, `database_full`, `database_role_unconfined`,
        `database_unavailable`, `mesh_unknown`, `path_incomplete`, `path_unknown`, `range_invalid`.
        """
        answer: models.CostRead = self._json("GET", f"/v1/curves/{segment(curve_id)}/cost", params={"added_us": added_us, "reference_us": reference_us, "waiting": waiting, "number": number, "mesh_id": mesh_id, "source_vm_id": source_vm_id, "target_vm_id": target_vm_id, "source_zone_id": source_zone_id, "target_zone_id": target_zone_id, "from": from_, "to": to})
        return answer

    def read_curve_points(
        self,
        curve_id: str | UUID,
        *,
        step_us: float | None = None,
        number: int | None = None,
    ) -> models.CurveTableRead:
        """Return the curve and its band as a table, from 0 to the end of its domain.

        GET /v1/curves/{curve_id}/points, role viewer. Raises `ApiError` with `conflict`, `curve_unknown`,
        `curve_version_unknown`, `step_too_small`.
        """
        answer: models.CurveTableRead = self._json("GET", f"/v1/curves/{segment(curve_id)}/points", params={"step_us": step_us, "number": number})
        return answer

    def update_curve(
        self,
        curve_id: str | UUID,
        body: models.CurveUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.CurveDetail:
        """Update the name and description of a curve.

        PATCH /v1/curves/{curve_id}, role editor. Raises `ApiError` with `conflict`, `curve_name_taken`,
        `curve_published`, `curve_unknown`, `curve_version_unknown`, `if_match_required`, `if_match_weak`,
        `version_changed`.
        """
        answer: models.CurveDetail = self._json("PATCH", f"/v1/curves/{segment(curve_id)}", body=body, version=version)
        return answer

