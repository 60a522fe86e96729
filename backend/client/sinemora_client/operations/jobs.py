"""Operations with the tag `jobs`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Any

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class JobsOperations(Calls):
    """Operations with the tag `jobs`."""

    def cancel_job(self, job_id: str | UUID, *, idempotency_key: str | None = None) -> models.JobRead:
        """Cancel a job. A running job stops at its worker's next check; a finished job does not change.

        POST /v1/jobs/{job_id}/cancel, role editor. Raises `ApiError` with `conflict`, `job_unknown`.
        """
        answer: models.JobRead = self._json("POST", f"/v1/jobs/{segment(job_id)}/cancel", idempotency_key=idempotency_key)
        return answer

    def delete_job(self, job_id: str | UUID) -> None:
        """Delete a finished job and its output.

        DELETE /v1/jobs/{job_id}, role editor. Raises `ApiError` with `conflict`, `job_running`, `job_unknown`.
        """
        self._json("DELETE", f"/v1/jobs/{segment(job_id)}")

    def list_jobs(
        self,
        *,
        state: list[models.JobState] | None = None,
        kind: str | None = None,
    ) -> Iterator[models.JobRead]:
        """List the tenant's jobs, newest first.

        GET /v1/jobs, role viewer.
        """
        return self._items("/v1/jobs", {"state": state, "kind": kind})

    def read_job(self, job_id: str | UUID, *, wait_s: float | None = None) -> models.JobRead:
        """Return a job with its progress, and its result once it has succeeded; `wait_s` waits for its end.

        GET /v1/jobs/{job_id}, role viewer. Raises `ApiError` with `job_unknown`.
        """
        answer: models.JobRead = self._json("GET", f"/v1/jobs/{segment(job_id)}", params={"wait_s": wait_s})
        return answer

    def read_job_output(self, job_id: str | UUID) -> bytes:
        """Download the output file of a job.

        GET /v1/jobs/{job_id}/output, role viewer. Raises `ApiError` with `conflict`, `job_not_done`,
        `job_output_none`, `job_unknown`.
        """
        answer: bytes = self._bytes("GET", f"/v1/jobs/{segment(job_id)}/output")
        return answer

    def read_job_result(self, job_id: str | UUID, *, wait_s: float | None = None) -> dict[str, Any]:
        """Return the result of a job, or go to it (303); the failure of a job as its own problem and status.

        GET /v1/jobs/{job_id}/result, role viewer. Raises `ApiError` with `conflict`, `job_cancelled`,
        `job_not_done`, `job_unknown`.
        """
        answer: dict[str, Any] = self._json("GET", f"/v1/jobs/{segment(job_id)}/result", params={"wait_s": wait_s})
        return answer

