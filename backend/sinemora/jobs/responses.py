"""Response of a route that starts a job: 202 with the address of the job."""

from typing import Any

from fastapi.responses import Response

from sinemora.jobs.models import Job
from sinemora.jobs.schemas import JobRead
from sinemora.jobs.service import read

ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": JobRead,
        "description": "Job accepted. Poll `Location`.",
        "headers": {"Location": {"description": "The job", "schema": {"type": "string"}}},
    }
}


def accepted(job: Job) -> Response:
    """Return 202 with the job and its address."""
    return Response(
        read(job).model_dump_json(),
        202,
        headers={"Location": f"/v1/jobs/{job.id}"},
        media_type="application/json",
    )
