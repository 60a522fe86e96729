"""HTTP of back-tests and previews of rules."""

from fastapi import Response

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.alerts.detection import backtest, preview
from sinemora.alerts.detection.schemas import BackTestCreate, RulePreview, RulePreviewCreate
from sinemora.jobs import service as jobs
from sinemora.jobs.schemas import JobRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import only_reads

router = signed_in_router("/v1", "alerts")


@router.post("/alert-back-tests", status_code=202, responses=responses(404, 409, 422))
def create_alert_back_test(response: Response, body: BackTestCreate, session: SessionDep, actor: Editor) -> JobRead:
    """Back-test a rule on stored windows; the job's result lists the incidents it would have created."""
    job = backtest.submit(session, actor, body)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return jobs.read(job)


@router.post("/alert-rule-previews", responses=responses(404, 409, 422))
@only_reads
def preview_alert_rule(body: RulePreviewCreate, session: SessionDep, actor: Viewer) -> RulePreview:
    """Evaluate a rule on one path: its values, the limit, and when it would fire. Nothing is saved."""
    return preview.preview(session, body)
