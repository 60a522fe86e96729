"""Operations with the tag `tenants`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class TenantsOperations(Calls):
    """Operations with the tag `tenants`."""

    def create_bucket_export(
        self,
        body: models.BucketExportCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.BucketExportRead:
        """Create an export of merged measurements to a bucket, as Parquet files, on a schedule.

        POST /v1/bucket-exports, role admin. Raises `ApiError` with `bucket_export_name_taken`,
        `bucket_place_taken`, `conflict`, `secret_key_missing`.
        """
        answer: models.BucketExportRead = self._json("POST", "/v1/bucket-exports", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_bucket_export(self, bucket_export_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete an export and its secret. Objects in the bucket stay.

        DELETE /v1/bucket-exports/{bucket_export_id}, role admin. Raises `ApiError` with `bucket_export_unknown`,
        `if_match_weak`, `version_changed`.
        """
        self._json("DELETE", f"/v1/bucket-exports/{segment(bucket_export_id)}", version=version)

    def list_bucket_exports(self) -> Iterator[models.BucketExportRead]:
        """List exports to buckets by name, without their secrets.

        GET /v1/bucket-exports, role viewer.
        """
        return self._items("/v1/bucket-exports", {})

    def list_own_tenants(self) -> models.OwnTenants:
        """List the tenants that the caller belongs to, with the role in each. An API key belongs to one.

        GET /v1/tenants, role viewer.
        """
        answer: models.OwnTenants = self._json("GET", "/v1/tenants")
        return answer

    def read_bucket_export(self, bucket_export_id: str | UUID) -> models.BucketExportRead:
        """Read one export with its state, without its secret.

        GET /v1/bucket-exports/{bucket_export_id}, role viewer. Raises `ApiError` with `bucket_export_unknown`.
        """
        answer: models.BucketExportRead = self._json("GET", f"/v1/bucket-exports/{segment(bucket_export_id)}")
        return answer

    def read_tenant(self, tenant_id: str | UUID) -> models.OwnTenantRead:
        """Return the tenant of this session or key.

        GET /v1/tenants/{tenant_id}, role viewer. Raises `ApiError` with `tenant_unknown`.
        """
        answer: models.OwnTenantRead = self._json("GET", f"/v1/tenants/{segment(tenant_id)}")
        return answer

    def read_usage(self) -> models.UsageRead:
        """Return the tenant's usage and quotas.

        GET /v1/usage, role viewer.
        """
        answer: models.UsageRead = self._json("GET", "/v1/usage")
        return answer

    def run_bucket_export(self, bucket_export_id: str | UUID, *, idempotency_key: str | None = None) -> models.JobRead:
        """Run an export now, as a job; a run that is queued or running is returned instead of a second one.

        POST /v1/bucket-exports/{bucket_export_id}/runs, role editor. Raises `ApiError` with
        `bucket_export_changed`, `bucket_export_unknown`, `bucket_failed`, `conflict`, `job_unknown`,
        `jobs_too_many`, `secret_key_missing`, `secret_unreadable`.
        """
        answer: models.JobRead = self._json("POST", f"/v1/bucket-exports/{segment(bucket_export_id)}/runs", idempotency_key=idempotency_key)
        return answer

    def test_bucket_export(
        self,
        bucket_export_id: str | UUID,
        *,
        idempotency_key: str | None = None,
    ) -> models.BucketTestRead:
        """Test the bucket: write one object and delete it.

        POST /v1/bucket-exports/{bucket_export_id}/tests, role editor. Raises `ApiError` with
        `bucket_export_unknown`, `conflict`, `secret_key_missing`, `secret_unreadable`.
        """
        answer: models.BucketTestRead = self._json("POST", f"/v1/bucket-exports/{segment(bucket_export_id)}/tests", idempotency_key=idempotency_key)
        return answer

    def update_bucket_export(
        self,
        bucket_export_id: str | UUID,
        body: models.BucketExportUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.BucketExportRead:
        """Change an export; an omitted secret stays. At another place all days are exported again.

        PATCH /v1/bucket-exports/{bucket_export_id}, role admin. Raises `ApiError` with `bucket_export_name_taken`,
        `bucket_export_unknown`, `bucket_place_taken`, `conflict`, `if_match_required`, `if_match_weak`,
        `secret_key_missing`, `secret_needed_again`, `version_changed`.
        """
        answer: models.BucketExportRead = self._json("PATCH", f"/v1/bucket-exports/{segment(bucket_export_id)}", body=body, version=version)
        return answer

