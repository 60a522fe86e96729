"""HTTP of jobs."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.jobs import service
from sinemora.jobs.models import Job, JobState
from sinemora.jobs.schemas import JobRead
from sinemora.jobs.watch import MAX_WAIT_S, TenantJob
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.kit.long_poll import LongPoll

router = signed_in_router("/v1/jobs", "jobs")


@router.get("", response_model=Page[JobRead])
def list_jobs(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    state: Annotated[list[JobState] | None, Query(description="Only these states")] = None,
    kind: Annotated[str | None, Query(description="Only this kind")] = None,
) -> Slice[JobRead]:
    """List the tenant's jobs, newest first."""
    statement = select(Job)
    if state:
        statement = statement.where(Job.state.in_(state))
    if kind:
        statement = statement.where(Job.kind == kind)
    return paginate(session, statement, page, Job.created_at, Job.id, descending=True).mapped(service.read)


async def wait_for_end(
    request: Request,
    actor: Viewer,
    job_id: UUID,
    wait_s: Annotated[float, Query(ge=0, le=MAX_WAIT_S, description="Longest wait for the end of the job, s")] = 0,
) -> UUID:
    """Wait for the end of the job, without a database connection, before the route opens its session."""
    if wait_s > 0:
        watch: LongPoll[TenantJob, bool] = request.app.state.job_watch
        await watch.changed((actor.tenant_id, job_id), True, wait_s)
    return job_id


AwaitedJob = Annotated[UUID, Depends(wait_for_end)]
_LOCATED: dict[str, Any] = {
    "headers": {"Location": {"description": "`result_href`, once the job has succeeded", "schema": {"type": "string"}}}
}


@router.get("/{job_id}", responses={200: _LOCATED, **responses(404, 422)})
def read_job(job_id: AwaitedJob, session: SessionDep, actor: Viewer, response: Response) -> JobRead:
    """Return a job with its progress, and its result once it has succeeded; `wait_s` waits for its end."""
    job = service.read(service.get_job(session, job_id))
    if job.result_href is not None:
        response.headers["Location"] = job.result_href
    return job


@router.get(
    "/{job_id}/result",
    responses={303: {"description": "The result is at `Location`", **_LOCATED}, **responses(404, 409, 422)},
)
def read_job_result(job_id: AwaitedJob, session: SessionDep, actor: Viewer) -> dict[str, Any]:
    """Return the result of a job, or go to it (303); the failure of a job as its own problem and status."""
    job = service.result(session, job_id)
    if job.result_href != f"/v1/jobs/{job_id}/result":
        return RedirectResponse(job.result_href or "", 303)  # type: ignore[return-value]
    return job.result or {}


@router.get("/{job_id}/output", response_class=Response, responses=responses(404, 409))
def read_job_output(job_id: UUID, session: SessionDep, actor: Viewer) -> StreamingResponse:
    """Download the output file of a job."""
    job, data = service.output(session, actor, job_id)
    return StreamingResponse(
        data,
        media_type=job.output_media_type,
        headers={
            "Content-Length": str(job.output_bytes),
            "Content-Disposition": f'attachment; filename="{job.output_name}"',
        },
    )


@router.post("/{job_id}/cancel", responses=responses(404))
def cancel_job(job_id: UUID, session: SessionDep, actor: Editor) -> JobRead:
    """Cancel a job. A running job stops at its worker's next check; a finished job does not change."""
    return service.read(service.cancel(session, actor, job_id))


@router.delete("/{job_id}", status_code=204, responses=responses(404, 409))
def delete_job(job_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Delete a finished job and its output."""
    service.delete_job(session, actor, job_id)
