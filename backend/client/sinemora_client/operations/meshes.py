"""Operations with the tag `meshes`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class MeshesOperations(Calls):
    """Operations with the tag `meshes`."""

    def add_mesh_vm(self, mesh_id: str | UUID, vm_id: str | UUID) -> None:
        """Add a VM to the mesh; repeating is no error.

        PUT /v1/meshes/{mesh_id}/vms/{vm_id}, role editor. Raises `ApiError` with `mesh_unknown`, `quota_exceeded`,
        `vm_unknown`.
        """
        self._json("PUT", f"/v1/meshes/{segment(mesh_id)}/vms/{segment(vm_id)}")

    def create_mesh(self, body: models.MeshCreate, *, idempotency_key: str | None = None) -> models.MeshRead:
        """Create a mesh. VMs join by enrolment, or are added.

        POST /v1/meshes, role editor. Raises `ApiError` with `conflict`, `mesh_name_taken`.
        """
        answer: models.MeshRead = self._json("POST", "/v1/meshes", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_mesh(self, mesh_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete a mesh; its VMs stay.

        DELETE /v1/meshes/{mesh_id}, role editor. Raises `ApiError` with `conflict`, `if_match_weak`, `mesh_in_use`,
        `mesh_unknown`, `version_changed`.
        """
        self._json("DELETE", f"/v1/meshes/{segment(mesh_id)}", version=version)

    def list_meshes(self) -> Iterator[models.MeshRead]:
        """List the tenant's meshes by name.

        GET /v1/meshes, role viewer.
        """
        return self._items("/v1/meshes", {})

    def preview_plans(self, mesh_id: str | UUID, body: models.PlanPreviewCreate) -> models.PlanPreviewRead:
        """Compare the strategies of a mesh: packets, bytes, price and time to detect a fault. Nothing changes.

        POST /v1/meshes/{mesh_id}/plan-previews, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: models.PlanPreviewRead = self._json("POST", f"/v1/meshes/{segment(mesh_id)}/plan-previews", body=body)
        return answer

    def read_mesh(self, mesh_id: str | UUID) -> models.MeshRead:
        """Return a mesh.

        GET /v1/meshes/{mesh_id}, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: models.MeshRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}")
        return answer

    def read_plan_adoption(self, mesh_id: str | UUID) -> models.PlanAdoptionRead:
        """Return how many agents follow the newest plan of the mesh.

        GET /v1/meshes/{mesh_id}/plan-followers, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: models.PlanAdoptionRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/plan-followers")
        return answer

    def read_roster(self, mesh_id: str | UUID) -> models.RosterRead:
        """Return the axes of the mesh's matrices.

        GET /v1/meshes/{mesh_id}/roster, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: models.RosterRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/roster")
        return answer

    def remove_mesh_vm(self, mesh_id: str | UUID, vm_id: str | UUID) -> None:
        """Remove a VM from the mesh.

        DELETE /v1/meshes/{mesh_id}/vms/{vm_id}, role editor. Raises `ApiError` with `mesh_unknown`, `vm_unknown`.
        """
        self._json("DELETE", f"/v1/meshes/{segment(mesh_id)}/vms/{segment(vm_id)}")

    def update_mesh(
        self,
        mesh_id: str | UUID,
        body: models.MeshUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.MeshRead:
        """Change a mesh. Its agents apply the change within seconds.

        PATCH /v1/meshes/{mesh_id}, role editor. Raises `ApiError` with `conflict`, `if_match_required`,
        `if_match_weak`, `mesh_name_taken`, `mesh_unknown`, `quota_exceeded`, `version_changed`.
        """
        answer: models.MeshRead = self._json("PATCH", f"/v1/meshes/{segment(mesh_id)}", body=body, version=version)
        return answer

