"""Operations with the tag `artifacts`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class ArtifactsOperations(Calls):
    """Operations with the tag `artifacts`."""

    def delete_artifact(self, artifact_id: str | UUID) -> None:
        """Delete an artifact. Agents delete their copies of it.

        DELETE /v1/artifacts/{artifact_id}, role editor. Raises `ApiError` with `artifact_unknown`.
        """
        self._json("DELETE", f"/v1/artifacts/{segment(artifact_id)}")

    def download_artifact(self, artifact_id: str | UUID) -> bytes:
        """Download the file of an artifact.

        GET /v1/artifacts/{artifact_id}/content, role viewer. Raises `ApiError` with `artifact_unknown`.
        """
        answer: bytes = self._bytes("GET", f"/v1/artifacts/{segment(artifact_id)}/content")
        return answer

    def find_missing_blocks(self, body: models.BlockDigests) -> models.MissingBlocks:
        """Return those blocks that must be uploaded before an artifact with them can be published.

        POST /v1/artifacts/missing-blocks, role viewer.
        """
        answer: models.MissingBlocks = self._json("POST", "/v1/artifacts/missing-blocks", body=body)
        return answer

    def list_artifacts(self, *, mesh_id: str | UUID | None = None) -> Iterator[models.ArtifactRead]:
        """List the published artifacts, newest first.

        GET /v1/artifacts, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        return self._items("/v1/artifacts", {"mesh_id": mesh_id})

    def publish_artifact(
        self,
        body: models.ArtifactCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.ArtifactRead:
        """Publish an artifact whose blocks are stored. The agents of its mesh begin to fetch it within seconds.

        POST /v1/artifacts, role editor. Raises `ApiError` with `artifact_exists`, `artifacts_off`,
        `blocks_missing`, `conflict`, `mesh_unknown`.
        """
        answer: models.ArtifactRead = self._json("POST", "/v1/artifacts", body=body, idempotency_key=idempotency_key)
        return answer

    def read_artifact(self, artifact_id: str | UUID) -> models.ArtifactRead:
        """Return an artifact.

        GET /v1/artifacts/{artifact_id}, role viewer. Raises `ApiError` with `artifact_unknown`.
        """
        answer: models.ArtifactRead = self._json("GET", f"/v1/artifacts/{segment(artifact_id)}")
        return answer

    def read_artifact_copies(self, artifact_id: str | UUID) -> models.CopiesRead:
        """Return how far an artifact has spread: the share on each VM, and from whom it came.

        GET /v1/artifacts/{artifact_id}/copies, role viewer. Raises `ApiError` with `artifact_unknown`.
        """
        answer: models.CopiesRead = self._json("GET", f"/v1/artifacts/{segment(artifact_id)}/copies")
        return answer

    def read_artifact_move_cost(
        self,
        artifact_id: str | UUID,
        target_vm_id: str | UUID,
        *,
        source_vm_id: str | UUID | None = None,
    ) -> models.MoveCostRead:
        """Return the bytes and the time to bring an artifact to the target VM, which holds some of its blocks already.

        GET /v1/artifacts/{artifact_id}/move-costs/{target_vm_id}, role viewer. Raises `ApiError` with
        `artifact_unknown`, `conflict`, `flows_unsupported`, `mesh_unknown`, `range_invalid`, `vm_not_in_mesh`,
        `vm_unknown`.
        """
        answer: models.MoveCostRead = self._json("GET", f"/v1/artifacts/{segment(artifact_id)}/move-costs/{segment(target_vm_id)}", params={"source_vm_id": source_vm_id})
        return answer

    def read_artifact_settings(self, mesh_id: str | UUID) -> models.ArtifactSettingsRead:
        """Return whether the agents of a mesh bring each other artifacts, and their limits.

        GET /v1/meshes/{mesh_id}/artifact-settings, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: models.ArtifactSettingsRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/artifact-settings")
        return answer

    def request_artifact_copies(
        self,
        artifact_id: str | UUID,
        body: models.CopyCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.CopiesRead:
        """Ask VMs to get a copy; repeating is no error.

        POST /v1/artifacts/{artifact_id}/copies, role editor. Raises `ApiError` with `artifact_unknown`, `conflict`,
        `vm_not_in_mesh`.
        """
        answer: models.CopiesRead = self._json("POST", f"/v1/artifacts/{segment(artifact_id)}/copies", body=body, idempotency_key=idempotency_key)
        return answer

    def store_artifact_block(self, digest: str | UUID, content: bytes | str) -> None:
        """Store a block of at most 1 MiB under its SHA-256; repeating is no error.

        Blocks that no artifact has are kept for an hour at least.

        PUT /v1/artifact-blocks/{digest}, role editor. Raises `ApiError` with `block_mismatch`,
        `block_size_invalid`, `conflict`, `quota_exceeded`.
        """
        self._json("PUT", f"/v1/artifact-blocks/{segment(digest)}", content=content, media_type="application/octet-stream")

    def write_artifact_settings(
        self,
        mesh_id: str | UUID,
        body: models.ArtifactSettingsWrite,
    ) -> models.ArtifactSettingsRead:
        """Switch the distribution of artifacts in a mesh on or off, and set its limits. Off is the default.

        An agent takes part when its own setting `artifacts` is on too.

        PUT /v1/meshes/{mesh_id}/artifact-settings, role editor. Raises `ApiError` with `conflict`, `mesh_unknown`,
        `secret_key_missing`.
        """
        answer: models.ArtifactSettingsRead = self._json("PUT", f"/v1/meshes/{segment(mesh_id)}/artifact-settings", body=body)
        return answer

