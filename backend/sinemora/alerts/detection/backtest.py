"""A rule tried on what was stored, as a job: when it would have fired, where, and at whom it points."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.detection.replay import Span, in_steps, replay
from sinemora.alerts.detection.replay_inputs import Completed
from sinemora.alerts.detection.schemas import BackTestCreate
from sinemora.alerts.evaluation.engine import State
from sinemora.alerts.evaluation.rule import Rule
from sinemora.alerts.evaluation.tracking import Track
from sinemora.alerts.incidents import presentation
from sinemora.alerts.rules.load import condition_of, scope_mask
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.kit.config import settings
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier
from sinemora.meshes.service import get_mesh, mesh_state
from sinemora.tenants.access import Actor

_SHOWN = 200


def ask(session: Session, actor: Actor, body: BackTestCreate) -> Job:
    """Try a rule. ProductError `mesh_unknown`, `jobs_too_many`."""
    mesh = get_mesh(session, body.mesh_id)
    return jobs.submit(session, actor, BACK_TEST, f"Rule {body.name} on {mesh.name}", body.model_dump(mode="json"))


def work(running: JobContext) -> dict[str, Any]:
    """Evaluate the stored windows one after the other; baselines learn from them as they would have.

    Further back than windows are kept it goes by minutes. `notes`: what cannot be known from what is stored.
    """
    body = BackTestCreate.model_validate(running.params)
    end = datetime.now(UTC)
    tracks: dict[str, Track] = {}
    with running.session() as session:
        mesh = mesh_state(session, UUID(str(body.mesh_id)))
        rule = Rule(
            "tried",
            body.name,
            condition_of(body.condition.model_dump(mode="json")),
            body.severity,
            body.windows_x,
            body.windows_y,
            body.sources_min,
            body.hold_s,
            body.keep_firing_s,
            scope_mask(session, mesh, body.scope.model_dump()),
        )
        tier, step_s = Tier.RAW, mesh.window_s
        if body.hours > 24 * settings().retention_raw_days:
            tier, step_s = Tier.MINUTE, Tier.MINUTE.step_s
            rule = in_steps(rule, step_s / mesh.window_s)
        last_s = int(end.timestamp()) // step_s * step_s
        first_s = int((end - timedelta(hours=body.hours)).timestamp()) // step_s * step_s
        span = Span(tier, first_s + step_s, last_s, step_s)
        complete = Completed(session, mesh, [rule], span)
        for one in replay(session, mesh, [rule], State(np.zeros(0, np.int64)), span, complete):
            tracks = one.tracks
            if one.window.ended_at_s % 600 < step_s:
                running.progress((one.window.ended_at_s - first_s) / max(1, last_s - first_s), "evaluating")
        found = sorted(tracks.values(), key=lambda one: one.opened_at_s)
        return {
            "hours": body.hours,
            "by": "windows" if tier is Tier.RAW else "minutes",
            "incidents": len(found),
            "found": [
                {
                    "opened_at": utc(one.opened_at_s).isoformat(),
                    "seen_at": utc(one.seen_at_s).isoformat(),
                    "culprit": presentation.culprit_json(one.culprit, mesh, one.application),
                    "paths": int(one.cells.size),
                }
                for one in found[:_SHOWN]
            ],
            "notes": complete.notes(),
        }


BACK_TEST = register(JobKind("alerts.back_test", Queue.bulk, work))
