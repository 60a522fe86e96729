"""Operations with the tag `recommendations`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class RecommendationsOperations(Calls):
    """Operations with the tag `recommendations`."""

    def accept_recommendation(
        self,
        recommendation_id: str | UUID,
        *,
        version: int | Literal["*"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.RecommendationRead:
        """Mark as accepted. Sinemora itself never moves tasks.

        POST /v1/recommendations/{recommendation_id}/accept, role editor. Raises `ApiError` with `conflict`,
        `if_match_weak`, `recommendation_decided`, `recommendation_unknown`, `version_changed`.
        """
        answer: models.RecommendationRead = self._json("POST", f"/v1/recommendations/{segment(recommendation_id)}/accept", version=version, idempotency_key=idempotency_key)
        return answer

    def apply_recommendation(
        self,
        recommendation_id: str | UUID,
        *,
        version: int | Literal["*"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.RecommendationRead:
        """Mark as applied: the tasks are recorded on their new VMs, and the outcome will be measured.

        POST /v1/recommendations/{recommendation_id}/apply, role editor. Raises `ApiError` with
        `application_unknown`, `conflict`, `if_match_weak`, `mesh_unknown`, `moves_none`, `recommendation_decided`,
        `recommendation_outdated`, `recommendation_unknown`, `version_changed`.
        """
        answer: models.RecommendationRead = self._json("POST", f"/v1/recommendations/{segment(recommendation_id)}/apply", version=version, idempotency_key=idempotency_key)
        return answer

    def create_recommendation(
        self,
        body: models.RecommendationCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.JobRead:
        """Search for moves worth making, as a job whose result names the recommendation.

        POST /v1/recommendations, role editor. Raises `ApiError` with `application_unknown`, `applications_missing`,
        `artifact_unknown`, `conflict`, `flows_unsupported`, `jobs_too_many`, `matrix_missing`,
        `measurements_stale`, `mesh_unknown`, `network_too_large`, `placement_impossible`, `policy_unsupported`,
        `range_invalid`, `vm_not_in_mesh`.
        """
        answer: models.JobRead = self._json("POST", "/v1/recommendations", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_recommendation_schedule(self, mesh_id: str | UUID) -> None:
        """Delete the schedule of a mesh.

        DELETE /v1/meshes/{mesh_id}/recommendation-schedules, role editor. Raises `ApiError` with
        `schedule_unknown`.
        """
        self._json("DELETE", f"/v1/meshes/{segment(mesh_id)}/recommendation-schedules")

    def dismiss_recommendation(
        self,
        recommendation_id: str | UUID,
        body: models.Decision,
        *,
        version: int | Literal["*"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.RecommendationRead:
        """Dismiss, with a reason.

        POST /v1/recommendations/{recommendation_id}/dismiss, role editor. Raises `ApiError` with `conflict`,
        `if_match_weak`, `recommendation_decided`, `recommendation_unknown`, `version_changed`.
        """
        answer: models.RecommendationRead = self._json("POST", f"/v1/recommendations/{segment(recommendation_id)}/dismiss", body=body, version=version, idempotency_key=idempotency_key)
        return answer

    def list_recommendations(
        self,
        *,
        mesh_id: str | UUID | None = None,
        state: list[models.RecommendationState] | None = None,
    ) -> Iterator[models.RecommendationSummary]:
        """List recommendations, newest first.

        GET /v1/recommendations, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        return self._items("/v1/recommendations", {"mesh_id": mesh_id, "state": state})

    def read_recommendation(self, recommendation_id: str | UUID) -> models.RecommendationRead:
        """Return a recommendation with its moves, gains, proof and outcome.

        GET /v1/recommendations/{recommendation_id}, role viewer. Raises `ApiError` with `recommendation_unknown`.
        """
        answer: models.RecommendationRead = self._json("GET", f"/v1/recommendations/{segment(recommendation_id)}")
        return answer

    def read_recommendation_accuracy(self, *, limit: int | None = None) -> models.Accuracy:
        """Report the accuracy of applied and verified recommendations.

        GET /v1/recommendations/accuracy, role viewer.
        """
        answer: models.Accuracy = self._json("GET", "/v1/recommendations/accuracy", params={"limit": limit})
        return answer

    def read_recommendation_schedule(self, mesh_id: str | UUID) -> models.ScheduleRead:
        """Return the schedule of a mesh.

        GET /v1/meshes/{mesh_id}/recommendation-schedules, role viewer. Raises `ApiError` with `schedule_unknown`.
        """
        answer: models.ScheduleRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/recommendation-schedules")
        return answer

    def write_recommendation_schedule(self, mesh_id: str | UUID, body: models.ScheduleWrite) -> models.ScheduleRead:
        """Create or replace the schedule of a mesh.

        PUT /v1/meshes/{mesh_id}/recommendation-schedules, role editor. Raises `ApiError` with
        `application_unknown`, `artifact_unknown`, `mesh_unknown`, `policy_unsupported`.
        """
        answer: models.ScheduleRead = self._json("PUT", f"/v1/meshes/{segment(mesh_id)}/recommendation-schedules", body=body)
        return answer

