"""Operations with the tag `applications`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class ApplicationsOperations(Calls):
    """Operations with the tag `applications`."""

    def create_application(
        self,
        body: models.ApplicationCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.ApplicationRead:
        """Declare an application: mesh, curve, tasks and their VMs.

        POST /v1/applications, role editor. Raises `ApiError` with `application_name_taken`, `application_unknown`,
        `conflict`, `constraints_contradict`, `curve_unknown`, `curve_version_unknown`, `mesh_unknown`,
        `vm_not_in_mesh`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.ApplicationRead = self._json("POST", "/v1/applications", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_application(self, application_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete an application; its VMs stay.

        DELETE /v1/applications/{application_id}, role editor. Raises `ApiError` with `application_unknown`,
        `if_match_weak`, `version_changed`.
        """
        self._json("DELETE", f"/v1/applications/{segment(application_id)}", version=version)

    def export_applications(self, *, mesh_id: str | UUID | None = None) -> str:
        """Export all applications as one YAML document for `POST /v1/applications/manifest`.

        GET /v1/applications/manifest, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: str = self._text("GET", "/v1/applications/manifest", params={"mesh_id": mesh_id})
        return answer

    def import_applications(self, content: bytes | str, *, idempotency_key: str | None = None) -> models.ManifestResult:
        """Create or update applications from a YAML document; applications not in it stay.

        POST /v1/applications/manifest, role editor. Raises `ApiError` with `application_name_taken`,
        `application_unknown`, `conflict`, `constraints_contradict`, `curve_unknown`, `curve_version_unknown`,
        `if_match_weak`, `manifest_invalid`, `mesh_fixed`, `mesh_unknown`, `version_changed`, `vm_not_in_mesh`,
        `vm_unknown`, `zone_unknown`.
        """
        answer: models.ManifestResult = self._json("POST", "/v1/applications/manifest", content=content, media_type="application/yaml", idempotency_key=idempotency_key)
        return answer

    def list_applications(self, *, mesh_id: str | UUID | None = None) -> Iterator[models.ApplicationRead]:
        """List the tenant's applications by name.

        GET /v1/applications, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        return self._items("/v1/applications", {"mesh_id": mesh_id})

    def list_path_applications(
        self,
        mesh_id: str | UUID,
        source_vm_id: str | UUID,
        target_vm_id: str | UUID,
    ) -> models.PathApplications:
        """List the applications with links between two VMs, and what the newest round trips of the path cost each.

        GET /v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/applications, role viewer. Raises `ApiError`
        with `flows_unsupported`, `mesh_unknown`, `path_unknown`, `range_invalid`.
        """
        answer: models.PathApplications = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/paths/{segment(source_vm_id)}/{segment(target_vm_id)}/applications")
        return answer

    def list_path_costs(self, mesh_id: str | UUID, *, selections: list[str] | None = None) -> models.PathCosts:
        """List the application that each of some paths or zone pairs costs most, by the newest round trips.

        GET /v1/meshes/{mesh_id}/path-costs, role viewer. Raises `ApiError` with `flows_unsupported`,
        `mesh_unknown`, `path_unknown`, `range_invalid`, `selection_invalid`, `selection_repeated`, `vm_unknown`.
        """
        answer: models.PathCosts = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/path-costs", params={"selections": selections})
        return answer

    def read_application(self, application_id: str | UUID) -> models.ApplicationRead:
        """Return an application.

        GET /v1/applications/{application_id}, role viewer. Raises `ApiError` with `application_unknown`.
        """
        answer: models.ApplicationRead = self._json("GET", f"/v1/applications/{segment(application_id)}")
        return answer

    def read_application_performance(
        self,
        application_id: str | UUID,
        *,
        statistic: models.Statistic | None = None,
    ) -> models.ApplicationPerformance:
        """Return the performance under the newest round trips, link by link.

        GET /v1/applications/{application_id}/performance, role viewer. Raises `ApiError` with
        `application_unknown`, `flows_unsupported`, `mesh_unknown`, `range_invalid`.
        """
        answer: models.ApplicationPerformance = self._json("GET", f"/v1/applications/{segment(application_id)}/performance", params={"statistic": statistic})
        return answer

    def read_application_sensitivity(self, application_id: str | UUID) -> models.ApplicationSensitivity:
        """Return the performance that a link of the application reaches by its round trip, as a table.

        GET /v1/applications/{application_id}/sensitivity, role viewer. Raises `ApiError` with
        `application_unknown`.
        """
        answer: models.ApplicationSensitivity = self._json("GET", f"/v1/applications/{segment(application_id)}/sensitivity")
        return answer

    def read_vm_capacity(self, vm_id: str | UUID) -> models.CapacityRead:
        """Return the capacity of a VM; one slot by default.

        GET /v1/vms/{vm_id}/capacity, role viewer. Raises `ApiError` with `vm_unknown`.
        """
        answer: models.CapacityRead = self._json("GET", f"/v1/vms/{segment(vm_id)}/capacity")
        return answer

    def update_application(
        self,
        application_id: str | UUID,
        body: models.ApplicationUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.ApplicationRead:
        """Update an application; tasks and edges are replaced as a whole.

        PATCH /v1/applications/{application_id}, role editor. Raises `ApiError` with `application_name_taken`,
        `application_unknown`, `conflict`, `constraints_contradict`, `curve_unknown`, `curve_version_unknown`,
        `if_match_required`, `if_match_weak`, `mesh_unknown`, `version_changed`, `vm_not_in_mesh`, `vm_unknown`,
        `zone_unknown`.
        """
        answer: models.ApplicationRead = self._json("PATCH", f"/v1/applications/{segment(application_id)}", body=body, version=version)
        return answer

    def update_vm_capacity(self, vm_id: str | UUID, body: models.CapacityUpdate) -> models.CapacityRead:
        """Update the capacity, price and host of a VM.

        PATCH /v1/vms/{vm_id}/capacity, role editor. Raises `ApiError` with `vm_unknown`.
        """
        answer: models.CapacityRead = self._json("PATCH", f"/v1/vms/{segment(vm_id)}/capacity", body=body)
        return answer

