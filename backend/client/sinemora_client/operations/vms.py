"""Operations with the tag `vms`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class VmsOperations(Calls):
    """Operations with the tag `vms`."""

    def create_vm(self, body: models.VmCreate, *, idempotency_key: str | None = None) -> models.VmRead:
        """Create a VM. The enrolment of an agent also creates one.

        POST /v1/vms, role editor. Raises `ApiError` with `conflict`, `quota_exceeded`, `vm_name_taken`,
        `zone_unknown`.
        """
        answer: models.VmRead = self._json("POST", "/v1/vms", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_token_bucket(self, vm_id: str | UUID) -> None:
        """Delete the token bucket of a VM. Its traffic is still counted.

        DELETE /v1/vms/{vm_id}/token-bucket, role editor. Raises `ApiError` with `token_bucket_unknown`,
        `vm_unknown`.
        """
        self._json("DELETE", f"/v1/vms/{segment(vm_id)}/token-bucket")

    def delete_vm(self, vm_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete a VM and its agent. Its meshes continue without it.

        DELETE /v1/vms/{vm_id}, role editor. Raises `ApiError` with `if_match_weak`, `version_changed`,
        `vm_unknown`.
        """
        self._json("DELETE", f"/v1/vms/{segment(vm_id)}", version=version)

    def list_token_buckets(self) -> Iterator[models.TokenBucketRead]:
        """List the token buckets of the tenant's VMs, newest first, each with the tokens left and when it will be
        empty.

        GET /v1/token-buckets, role viewer.
        """
        return self._items("/v1/token-buckets", {})

    def list_vms(self, *, zone_id: str | UUID | None = None, name: str | None = None) -> Iterator[models.VmRead]:
        """List the tenant's VMs by name.

        GET /v1/vms, role viewer. Raises `ApiError` with `zone_unknown`.
        """
        return self._items("/v1/vms", {"zone_id": zone_id, "name": name})

    def put_token_bucket(self, vm_id: str | UUID, body: models.TokenBucketWrite) -> models.TokenBucketRead:
        """Set the token bucket that shapes a VM: from its provider's documents, or as detected from bursts.

        PUT /v1/vms/{vm_id}/token-bucket, role editor. Raises `ApiError` with `conflict`, `vm_unknown`.
        """
        answer: models.TokenBucketRead = self._json("PUT", f"/v1/vms/{segment(vm_id)}/token-bucket", body=body)
        return answer

    def read_token_bucket(self, vm_id: str | UUID) -> models.TokenBucketRead:
        """Return the token bucket of a VM, the tokens left by its traffic, and when it will be empty at its present
        use.

        GET /v1/vms/{vm_id}/token-bucket, role viewer. Raises `ApiError` with `token_bucket_unknown`, `vm_unknown`.
        """
        answer: models.TokenBucketRead = self._json("GET", f"/v1/vms/{segment(vm_id)}/token-bucket")
        return answer

    def read_vm(self, vm_id: str | UUID) -> models.VmRead:
        """Return a VM.

        GET /v1/vms/{vm_id}, role viewer. Raises `ApiError` with `vm_unknown`.
        """
        answer: models.VmRead = self._json("GET", f"/v1/vms/{segment(vm_id)}")
        return answer

    def update_vm(self, vm_id: str | UUID, body: models.VmUpdate, *, version: int | Literal["*"]) -> models.VmRead:
        """Change a VM.

        PATCH /v1/vms/{vm_id}, role editor. Raises `ApiError` with `conflict`, `if_match_required`, `if_match_weak`,
        `ports_equal`, `probe_address_missing`, `version_changed`, `vm_has_agent`, `vm_name_taken`, `vm_unknown`,
        `zone_unknown`.
        """
        answer: models.VmRead = self._json("PATCH", f"/v1/vms/{segment(vm_id)}", body=body, version=version)
        return answer

