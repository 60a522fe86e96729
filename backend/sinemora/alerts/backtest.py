"""A rule tried on what was stored, as a job: when it would have fired, where, and at whom it points."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts import describe, seasons, world
from sinemora.alerts.evaluation.engine import State, step
from sinemora.alerts.evaluation.incidents import REOPENED_S, Track, Turn, advance
from sinemora.alerts.evaluation.rule import PER_PATH, Rule
from sinemora.alerts.schemas import BackTestCreate
from sinemora.jobs import service as jobs
from sinemora.jobs.kinds import Kind, register
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.running import Running
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.measurements.service import utc
from sinemora.measurements.tiers import Stretch, Tier
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
    """Evaluate the stored windows one after the other; baselines learn from them as they would have.

    Further back than windows are kept it goes by minutes.
    """
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
        tier, step_s = Tier.RAW, mesh.window_s
        if body.hours > 24 * settings().retention_raw_days:
            tier, step_s = Tier.MINUTE, Tier.MINUTE.step_s
            rule = _in_steps(rule, step_s / mesh.window_s)
        state, hours = State(np.zeros(0, np.int64)), seasons.Memory()
        last_s = int(end.timestamp()) // step_s * step_s
        first_s = int((end - timedelta(hours=body.hours)).timestamp()) // step_s * step_s
        for ended_at_s in range(first_s + step_s, last_s + 1, step_s):
            ordinary = seasons.seasons_of(session, mesh, [rule], ended_at_s, hours)
            stretch = Stretch(tier, utc(ended_at_s - step_s), utc(ended_at_s))
            window = world.window_of(mesh, world.cells_of(session, mesh, stretch), ended_at_s, step_s, ordinary)
            outcome = step(state, [rule], window)
            alive = [
                one for one in tracks.values() if one.ended_at_s is None or ended_at_s - one.ended_at_s <= REOPENED_S
            ]
            for change in advance(alive, outcome.found, window.zone_of, ended_at_s, step_s):
                tracks[change.track.id] = change.track
                if change.turn is Turn.MERGED:
                    del tracks[change.track.id]
            if ended_at_s % 600 < step_s:
                running.progress((ended_at_s - first_s) / max(1, last_s - first_s), "evaluating")
        found = sorted(tracks.values(), key=lambda one: one.opened_at_s)
        return {
            "hours": body.hours,
            "by": "windows" if tier is Tier.RAW else "minutes",
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


def _in_steps(rule: Rule, windows: float) -> Rule:
    """The rule where one step holds so many windows: X of Y in about the same time, at least one of one."""
    x, y = (max(1, math.ceil(one / windows)) for one in (rule.x, rule.y))
    return replace(rule, x=x, y=y)


BACK_TEST = register(Kind("alerts.back_test", Queue.bulk, work))
