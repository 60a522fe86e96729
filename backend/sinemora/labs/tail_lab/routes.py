"""Routes of the tail lab."""

from uuid import UUID

from fastapi import Response

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.jobs.responses import ACCEPTED, accepted
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.routes import accepts
from sinemora.labs.tail_lab import service
from sinemora.labs.tail_lab.schemas import TailStudyCreate, TailStudyRead, TailWorkloadRead

router = signed_in_router("/v1/advisors", "advisors")


@router.get("/tail-workloads")
def list_tail_workloads(actor: Viewer) -> list[TailWorkloadRead]:
    """List the workloads of the source with their distributions of flow sizes."""
    return service.workloads()


@router.post("/tail-studies", status_code=202, responses=responses(422) | ACCEPTED)
@accepts(lambda settings: settings.data_limit_bytes)
def run_tail_study(body: TailStudyCreate, session: SessionDep, actor: Editor) -> Response:
    """Compare orders of packets at a bottleneck link as a job, α by search; its result names the study.

    The job reports its progress and can be cancelled. The study is kept as long as the job.
    """
    return accepted(service.submit(session, actor, body))


@router.get("/tail-studies/{study_id}", responses=responses(404, 409))
def read_tail_study(study_id: UUID, session: SessionDep, actor: Viewer) -> TailStudyRead:
    """Read one study: figures, gains, curves of α and distributions of each policy."""
    return service.get_study(session, actor, study_id)
