"""Windows that came long after their time: what they show of the past is found apart from the present.

An agent that could not reach the backend sends what it kept for hours. Evaluation takes in what is at most 16 windows
late; the rest is seen when its minutes have been merged anew, and once nothing more has come for two minutes it is gone
through in order, beginning with what is usual now for each path. What it shows is an incident that is over. The state
of the present is read, never written. Silence is left out: whoever could not be heard then was told of then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.alerts.detection import queries
from sinemora.alerts.detection.replay import Span, Step, in_steps, replay
from sinemora.alerts.detection.replay_inputs import Completed, Predictions
from sinemora.alerts.evaluation import state_codec
from sinemora.alerts.evaluation.engine import State, Window
from sinemora.alerts.evaluation.rule import SEVERITIES, Kind, Rule, Severity
from sinemora.alerts.evaluation.rule_state import WINDOWS_MAX
from sinemora.alerts.evaluation.tracking import REOPENED_S, Track, same_cause
from sinemora.alerts.incidents import queries as incident_queries
from sinemora.alerts.incidents import store as incident_store
from sinemora.alerts.incidents.affected import affected
from sinemora.alerts.models import AlertState, Incident, IncidentState, LateDataProgress
from sinemora.alerts.notifications import dispatch
from sinemora.alerts.rules.load import rules_of
from sinemora.kit.config import settings
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier, floor
from sinemora.meshes.plan import MeshState
from sinemora.meshes.service import get_mesh, mesh_state

log = structlog.get_logger(__name__)

REACH = timedelta(days=1)
"""What is older than this when it comes is stored, and not looked at: a back-test tells of it."""
QUIET = timedelta(minutes=2)
"""Late windows are looked at when no more have come for so long …"""
PATIENCE = timedelta(minutes=30)
"""… or when the first of them has waited so long."""
# Merging minutes takes up to so long after their end; what takes longer holds something that was late.
_MERGING = timedelta(seconds=90)
# Rules see so much before and after what came late, and what lies closer together is gone through as one.
_AROUND = timedelta(seconds=REOPENED_S)
# Windows times paths that are gone through as they were reported; more than that by minutes.
_BY_WINDOWS_MAX = 30_000_000


@dataclass(frozen=True, slots=True)
class Late:
    """Minutes that hold late windows, in one stretch: begins and ends (Unix s)."""

    first_s: int
    last_s: int


@dataclass(slots=True)
class _Seen:
    """An incident of the past as it grows: its row (not in the database), its track, from when to when it was seen.

    Rules stand still where nothing is known; the past is seen only where something is.
    """

    row: Incident
    track: Track
    begins_s: int
    seen_s: int


@dataclass(slots=True)
class Looked:
    """What a look back came to: stretches, ids of incidents found, of incidents known that late windows show too."""

    stretches: list[Late] = field(default_factory=list)
    found: list[UUID] = field(default_factory=list)
    known: list[UUID] = field(default_factory=list)


def look_back(session: Session, mesh_id: UUID, now: datetime) -> Looked | None:
    """Find incidents in late data of a mesh. Return None when there is nothing to do, or another process does it."""
    evaluated_until = session.scalar(select(AlertState.evaluated_until).where(AlertState.mesh_id == mesh_id))
    if evaluated_until is None:
        return None
    row = queries.locked_late_data_progress(session, mesh_id)
    if row is None:
        if session.get(LateDataProgress, mesh_id) is None:
            session.add(LateDataProgress(mesh_id=mesh_id, looked_until=now))
        return None
    mesh = get_mesh(session, mesh_id)
    lateness = max(_MERGING, timedelta(seconds=WINDOWS_MAX * mesh.window_s - Tier.MINUTE.step_s))
    reach = floor(now - min(REACH, timedelta(days=settings().retention_raw_days)), Tier.MINUTE.step_s)
    merged = queries.minutes_merged(session, mesh.key, reach, evaluated_until, row.looked_until, lateness)
    if not merged:
        return None
    times = [merged_at for _, merged_at in merged]
    if now - max(times) < QUIET and now - min(times) < PATIENCE:
        return None
    ready = [(start, merged_at) for start, merged_at in merged if merged_at <= now - QUIET]
    if not ready:
        return None
    looked = Looked(stretches_of([int(start.timestamp()) for start, _ in ready]))
    _look(session, mesh_state(session, mesh_id), looked, now)
    row.looked_until = max(merged_at for _, merged_at in ready)
    log.info("late windows looked at", mesh=str(mesh_id), stretches=len(looked.stretches), found=len(looked.found))
    return looked


def _look(session: Session, mesh: MeshState, looked: Looked, now: datetime) -> None:
    if len(mesh.members) < 2:
        return
    present = session.get_one(AlertState, mesh.id)
    rules = [rule for rule in rules_of(session, mesh) if rule.condition.kind is not Kind.SILENT]
    seen: list[_Seen] = []
    for late in looked.stretches:
        seen += _replayed(session, mesh, rules, present, late)
    _write(session, mesh, seen, looked, now)


def stretches_of(minutes_s: Sequence[int]) -> list[Late]:
    """Minutes (begins, ascending) as stretches: those close together are one."""
    found: list[Late] = []
    for start_s in minutes_s:
        end_s = start_s + Tier.MINUTE.step_s
        if found and start_s - found[-1].last_s <= 2 * _AROUND.total_seconds():
            found[-1] = Late(found[-1].first_s, end_s)
        else:
            found.append(Late(start_s, end_s))
    return found


def _span(mesh: MeshState, present: AlertState, late: Late) -> Span:
    """Return the span to replay for a range: some time before it, so that rule states settle, and after it."""
    assert present.evaluated_until is not None  # asked before
    around_s = int(_AROUND.total_seconds())
    end_s = min(late.last_s + around_s, int(present.evaluated_until.timestamp()))
    paths = len(mesh.members) * (len(mesh.members) - 1)
    by_windows = (end_s - late.first_s + around_s) // mesh.window_s * paths <= _BY_WINDOWS_MAX
    tier, step_s = (Tier.RAW, mesh.window_s) if by_windows else (Tier.MINUTE, Tier.MINUTE.step_s)
    first_s = (late.first_s - around_s) // step_s * step_s
    return Span(tier, first_s + step_s, end_s // step_s * step_s, step_s)


def _replayed(session: Session, mesh: MeshState, rules: Sequence[Rule], present: AlertState, late: Late) -> list[_Seen]:
    """Return the incidents of a range, over or not, that involve late data."""
    span = _span(mesh, present, late)
    asked = [in_steps(rule, span.step_s / mesh.window_s) for rule in rules] if span.tier is not Tier.RAW else rules
    ruled = {rule.id: rule for rule in asked}
    state = _current_baselines(present)
    predictions = Predictions(session, mesh)
    seen: dict[str, _Seen] = {}
    for step in replay(session, mesh, asked, state, span, Completed(session, mesh, asked, span)):
        _follow(session, mesh, ruled, state, step, seen, predictions)
        seen = {id: one for id, one in seen.items() if id in step.tracks}
    return [one for one in seen.values() if one.begins_s < late.last_s and one.seen_s > late.first_s]


def _current_baselines(present: AlertState) -> State:
    """Return a separate state with today's baselines and no rule states."""
    try:
        state = state_codec.decode(None, present.baselines)
    except state_codec.StateError as error:
        log.warning("baselines cannot be read; they are learnt anew", error=str(error))
        state = state_codec.decode(None, None)
    state.ended_at_s = None
    return state


def _follow(
    session: Session,
    mesh: MeshState,
    ruled: dict[str, Rule],
    state: State,
    step: Step,
    seen: dict[str, _Seen],
    predictions: Predictions,
) -> None:
    window = step.window
    for change in step.changes:
        one = seen.get(change.track.id)
        if one is not None and not _any_known(window, change.track):
            continue
        if one is None and change.found is not None:
            row = incident_store.new_incident(session, mesh, ruled, change, state, window)
            begins_s = window.ended_at_s - change.found.windows_ago * window.window_s
            one = seen[change.track.id] = _Seen(row, change.track, begins_s, window.ended_at_s)
            said = {"paths": row.paths}
        elif one is not None:
            one.track, said = change.track, {}
            if change.found is not None:
                one.seen_s = window.ended_at_s
                said = incident_store.grown(one.row, mesh, ruled, change, state, window)
        else:
            continue
        for name, value in said.items():
            setattr(one.row, name, value)
        if "paths" in said:
            predicted = predictions.at(window)
            one.row.applications = affected(session, mesh, change.track, predicted)


def _any_known(window: Window, track: Track) -> bool:
    """Return whether a window has data for the paths of an incident (of one without paths: for any)."""
    known = np.isfinite(window.values(Metric.LOSS, Statistic.MEAN)).reshape(-1)
    return bool((known[track.cells] if track.cells.size else known).any())


def _write(session: Session, mesh: MeshState, seen: Sequence[_Seen], looked: Looked, now: datetime) -> None:
    """Add what is new to the incidents, say of those known that late windows show them too, tell of the gravest."""
    new: list[Incident] = []
    for one in sorted(seen, key=lambda one: one.track.opened_at_s):
        start, end = utc(one.begins_s - REOPENED_S), utc(one.seen_s + REOPENED_S)
        past = incident_store.tracks_of(incident_queries.going_on(session, mesh.id, start, end), mesh)
        known = same_cause(one.track, past)
        if known is not None:
            _said_of_known(session, UUID(known.id), one, looked, now)
            continue
        row = one.row
        row.state, row.found_late_at = IncidentState.resolved, now
        row.seen_at = row.ended_at = utc(one.seen_s)
        incident_store.put(session, row, mesh, one.track)
        late = _words(now - row.seen_at)
        incident_store.note(session, row.id, row.ended_at, "ended", "not seen any more")
        incident_store.note(session, row.id, now, "late", f"found in windows that came late: it was over {late} ago")
        incident_store.mute(session, row, mesh, row.opened_at)
        new.append(row)
        looked.found.append(row.id)
    told = [row for row in new if row.silenced_by is None]
    if told:
        gravest = max(told, key=lambda row: (SEVERITIES.index(Severity(row.severity)), len(row.paths)))
        dispatch.tell(session, gravest, mesh, "late", now)


def _said_of_known(session: Session, incident_id: UUID, one: _Seen, looked: Looked, now: datetime) -> None:
    looked.known.append(incident_id)
    if not incident_queries.has_event(session, incident_id, "late"):
        times = f"{utc(one.begins_s):%Y-%m-%d %H:%M:%S} to {utc(one.seen_s):%H:%M:%S} UTC"
        incident_store.note(session, incident_id, now, "late", f"windows that came late show it too, from {times}")


def _words(ago: timedelta) -> str:
    hours, minutes = divmod(round(ago.total_seconds() / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
