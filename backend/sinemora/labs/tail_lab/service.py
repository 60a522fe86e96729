"""Use cases of the tail lab."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.jobs import service as jobs
from sinemora.jobs.models import Job
from sinemora.kit.errors import NotFound, ProductError
from sinemora.labs.tail_lab import job
from sinemora.labs.tail_lab.core.workloads import WORKLOADS, SizesError, own_workload
from sinemora.labs.tail_lab.schemas import TailStudyCreate, TailStudyRead, TailWorkloadRead, WorkloadKey


def workloads() -> list[TailWorkloadRead]:
    """Return the workloads of the source."""
    return [
        TailWorkloadRead(
            key=WorkloadKey(workload.key),
            name=workload.name,
            mean_bytes=workload.mean_bytes,
            points=[[float(size), share] for size, share in workload.points],
        )
        for workload in WORKLOADS.values()
    ]


def submit(session: Session, actor: Actor, body: TailStudyCreate) -> Job:
    """Submit a study as a job. ProductError `table_invalid`, `study_too_long` (422), `jobs_too_many`."""
    params: dict[str, Any] = {"study": body.model_dump(mode="json", exclude={"sizes_csv"})}
    if body.sizes_csv is not None:
        try:
            params["points"] = own_workload(body.sizes_csv).points
        except SizesError as error:
            raise ProductError(
                "table_invalid",
                422,
                f"Invalid table of flow sizes: {error.message}.",
                errors=[{"pointer": "#/sizes_csv", "message": error.message}],
            ) from error
    if reason := job.asked(params)[1].too_long():
        raise ProductError(
            "study_too_long",
            422,
            f"Study too long: {reason}.",
            errors=[{"pointer": "#/flows", "message": reason}],
        )
    return jobs.submit(session, actor, job.STUDY, f"Tail study {body.name}", params)


def get_study(session: Session, actor: Actor, study_id: UUID) -> TailStudyRead:
    """Return the study that a job has made.

    ProductError `tail_study_unknown`, `tail_study_retired`, `job_not_done`, `job_cancelled`.
    """
    found = jobs.get_job(session, study_id)
    if found.kind != job.STUDY.name:
        raise NotFound("tail_study")
    job.refuse_networks(found.params)
    jobs.result(session, study_id)  # the error that a failed job ended with
    _, content = jobs.output(session, actor, study_id)
    return TailStudyRead.model_validate_json(b"".join(content))
