"""Operations with the tag `learning`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class LearningOperations(Calls):
    """Operations with the tag `learning`."""

    def create_metric_finding(
        self,
        metric_source_id: str | UUID,
        *,
        idempotency_key: str | None = None,
    ) -> models.MetricSourceRead:
        """Evaluate all pairs now instead of waiting for the worker.

        POST /v1/metric-sources/{metric_source_id}/findings, role editor. Raises `ApiError` with `conflict`,
        `mesh_unknown`, `metric_source_unknown`, `path_unknown`, `range_invalid`, `range_too_large`.
        """
        answer: models.MetricSourceRead = self._json("POST", f"/v1/metric-sources/{segment(metric_source_id)}/findings", idempotency_key=idempotency_key)
        return answer

    def create_metric_points(
        self,
        metric_source_id: str | UUID,
        body: models.MetricPointsCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.MetricPointsRead:
        """Push values of the metric.

        POST /v1/metric-sources/{metric_source_id}/points, role editor. Raises `ApiError` with `conflict`,
        `metric_source_scraped`, `metric_source_unknown`, `points_too_old`.
        """
        answer: models.MetricPointsRead = self._json("POST", f"/v1/metric-sources/{segment(metric_source_id)}/points", body=body, idempotency_key=idempotency_key)
        return answer

    def create_metric_source(
        self,
        body: models.MetricSourceCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.MetricSourceRead:
        """Declare the source of an application's metric and the paths it waits for.

        POST /v1/metric-sources, role editor. Raises `ApiError` with `application_elsewhere`, `application_unknown`,
        `conflict`, `curve_metric_differs`, `curve_published`, `curve_unknown`, `mesh_unknown`,
        `metric_source_name_taken`, `secret_key_missing`, `vm_not_in_mesh`.
        """
        answer: models.MetricSourceRead = self._json("POST", "/v1/metric-sources", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_metric_source(self, metric_source_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete a metric source and its values; its curve stays.

        DELETE /v1/metric-sources/{metric_source_id}, role editor. Raises `ApiError` with `if_match_weak`,
        `metric_source_unknown`, `version_changed`.
        """
        self._json("DELETE", f"/v1/metric-sources/{segment(metric_source_id)}", version=version)

    def list_metric_sources(self, *, curve_id: str | UUID | None = None) -> Iterator[models.MetricSourceRead]:
        """List the tenant's metric sources by name.

        GET /v1/metric-sources, role viewer. Raises `ApiError` with `curve_unknown`.
        """
        return self._items("/v1/metric-sources", {"curve_id": curve_id})

    def read_metric_pairs(self, metric_source_id: str | UUID) -> models.PairsRead:
        """Return the newest 2,000 minutes with both the metric and the round trips of all its paths.

        GET /v1/metric-sources/{metric_source_id}/pairs, role viewer. Raises `ApiError` with `conflict`,
        `mesh_unknown`, `metric_source_unknown`, `path_unknown`, `range_invalid`, `range_too_large`.
        """
        answer: models.PairsRead = self._json("GET", f"/v1/metric-sources/{segment(metric_source_id)}/pairs")
        return answer

    def read_metric_source(self, metric_source_id: str | UUID) -> models.MetricSourceRead:
        """Return a metric source with its latest finding.

        GET /v1/metric-sources/{metric_source_id}, role viewer. Raises `ApiError` with `metric_source_unknown`.
        """
        answer: models.MetricSourceRead = self._json("GET", f"/v1/metric-sources/{segment(metric_source_id)}")
        return answer

    def update_metric_source(
        self,
        metric_source_id: str | UUID,
        body: models.MetricSourceUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.MetricSourceRead:
        """Update, pause or resume a metric source.

        PATCH /v1/metric-sources/{metric_source_id}, role editor. Raises `ApiError` with `application_elsewhere`,
        `application_unknown`, `conflict`, `if_match_required`, `if_match_weak`, `metric_source_name_taken`,
        `metric_source_pushed`, `metric_source_unknown`, `secret_key_missing`, `version_changed`, `vm_not_in_mesh`.
        """
        answer: models.MetricSourceRead = self._json("PATCH", f"/v1/metric-sources/{segment(metric_source_id)}", body=body, version=version)
        return answer

