"""A rule tried on what was stored, as a job: when it would have fired, where, and at whom it points."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts import describe, world
from sinemora.alerts.evaluation.engine import State, step
from sinemora.alerts.evaluation.incidents import Track, Turn, advance
from sinemora.alerts.evaluation.rule import PER_PATH, Rule
from sinemora.alerts.schemas import BackTestCreate
from sinemora.jobs import service as jobs
from sinemora.jobs.kinds import Kind, register
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.running import Running
from sinemora.kit.errors import ProductError
from sinemora.measurements.service import utc
from sinemora.meshes.service import get_mesh, mesh_state
from sinemora.tenants.access import Actor

_SHOWN = 200


def ask(session: Session, actor: Actor, body: BackTestCreate) -> Job:
    """Try a rule. ProductError `mesh_unknown`, `back_test_unsupported`, `jobs_too_many`."""
    mesh = get_mesh(session, body.mesh_id)
    if body.condition.kind not in PER_PATH:
        raise ProductError(
            "back_test_unsupported", 422, "Only conditions on paths can be tried: threshold, baseline, spike."
        )
    return jobs.submit(session, actor, BACK_TEST, f"Rule {body.name} on {mesh.name}", body.model_dump(mode="json"))


def work(running: Running) -> dict[str, Any]:
    """Evaluate the stored windows one after the other; baselines learn from them as they would have."""
    body = BackTestCreate.model_validate(running.params)
    end = datetime.now(UTC)
    tracks: dict[str, Track] = {}
    with running.session() as session:
        mesh = mesh_state(session, UUID(str(body.mesh_id)))
        rule = Rule(
            "tried",
            body.name,
            world.condition_of(body.condition.model_dump(mode="json")),
            body.severity,
            body.windows_x,
            body.windows_y,
            body.sources_min,
            body.hold_s,
            body.keep_firing_s,
            world.scope_mask(session, mesh, body.scope.model_dump()),
        )
        state, nobody = State(np.zeros(0, np.int64)), np.zeros(len(mesh.members), np.bool_)
        last_s = int(end.timestamp()) // mesh.window_s * mesh.window_s
        first_s = int((end - timedelta(hours=body.hours)).timestamp()) // mesh.window_s * mesh.window_s
        for ended_at_s in range(first_s + mesh.window_s, last_s + 1, mesh.window_s):
            window = world.window(session, mesh, ended_at_s, nobody, {})
            outcome = step(state, [rule], window)
            for change in advance(list(tracks.values()), outcome.found, window.zone_of, ended_at_s, mesh.window_s):
                tracks[change.track.id] = change.track
                if change.turn is Turn.MERGED:
                    del tracks[change.track.id]
            if ended_at_s % 600 < mesh.window_s:
                running.progress((ended_at_s - first_s) / max(1, last_s - first_s), "evaluating")
        found = sorted(tracks.values(), key=lambda one: one.opened_at_s)
        return {
            "hours": body.hours,
            "incidents": len(found),
            "found": [
                {
                    "opened_at": utc(one.opened_at_s).isoformat(),
                    "seen_at": utc(one.seen_at_s).isoformat(),
                    "culprit": describe.culprit_said(one.culprit, mesh, None),
                    "paths": int(one.cells.size),
                }
                for one in found[:_SHOWN]
            ],
        }


BACK_TEST = register(Kind("alerts.back_test", Queue.bulk, work))
