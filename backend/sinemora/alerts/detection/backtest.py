"""Back-test of a rule on stored windows, as a job: the incidents it would have created, with their suspects."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.alerts.detection.replay import ReplaySpan, in_steps, replay
from sinemora.alerts.detection.replay_inputs import Completion
from sinemora.alerts.detection.schemas import BackTestCreate
from sinemora.alerts.evaluation.rule import Rule
from sinemora.alerts.evaluation.tracking import Track
from sinemora.alerts.evaluation.window import EvaluationState
from sinemora.alerts.incidents import presentation
from sinemora.alerts.rules.load import condition_of, scope_mask
from sinemora.fleet.meshes.service import get_mesh, mesh_state
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.kit.config import settings
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier

_INCIDENTS_MAX = 200


def submit(session: Session, actor: Actor, body: BackTestCreate) -> Job:
    """Submit a back-test. ProductError `mesh_unknown`, `jobs_too_many`."""
    mesh = get_mesh(session, body.mesh_id)
    return jobs.submit(session, actor, BACK_TEST, f"Rule {body.name} on {mesh.name}", body.model_dump(mode="json"))


def run(job: JobContext) -> dict[str, Any]:
    """Evaluate the stored windows in order; baselines learn from each as in live evaluation.

    Beyond the retention of windows the steps are minutes. `notes`: limits of the stored data.
    """
    request = BackTestCreate.model_validate(job.params)
    end = datetime.now(UTC)
    tracks: dict[str, Track] = {}
    with job.session() as session:
        mesh = mesh_state(session, UUID(str(request.mesh_id)))
        rule = Rule(
            "back-test",
            request.name,
            condition_of(request.condition.model_dump(mode="json")),
            request.severity,
            request.windows_x,
            request.windows_y,
            request.sources_min,
            request.hold_s,
            request.keep_firing_s,
            scope_mask(session, mesh, request.scope.model_dump()),
        )
        tier, step_s = Tier.RAW, mesh.window_s
        if request.hours > 24 * settings().retention_raw_days:
            tier, step_s = Tier.MINUTE, Tier.MINUTE.step_s
            rule = in_steps(rule, step_s / mesh.window_s)
        last_s = int(end.timestamp()) // step_s * step_s
        first_s = int((end - timedelta(hours=request.hours)).timestamp()) // step_s * step_s
        span = ReplaySpan(tier, first_s + step_s, last_s, step_s)
        complete = Completion(session, mesh, [rule], span)
        for step in replay(session, mesh, [rule], EvaluationState(np.zeros(0, np.int64)), span, complete):
            tracks = step.tracks
            if step.window.ended_at_s % 600 < step_s:
                job.progress((step.window.ended_at_s - first_s) / max(1, last_s - first_s), "evaluating")
        incidents = sorted(tracks.values(), key=lambda step: step.opened_at_s)
        return {
            "hours": request.hours,
            "by": "windows" if tier is Tier.RAW else "minutes",
            "incidents": len(incidents),
            "found": [
                {
                    "opened_at": utc(step.opened_at_s).isoformat(),
                    "seen_at": utc(step.seen_at_s).isoformat(),
                    "culprit": presentation.culprit_json(step.culprit, mesh, step.application),
                    "paths": int(step.cells.size),
                }
                for step in incidents[:_INCIDENTS_MAX]
            ],
            "notes": complete.notes(),
        }


BACK_TEST = register(JobKind("alerts.back_test", Queue.bulk, run))
