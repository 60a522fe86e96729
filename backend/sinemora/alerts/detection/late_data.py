"""Evaluate late data: windows received long after they ended.

Live evaluation notices windows that are a few minutes late, and windows that it left out because it was behind: it
stores their ranges. An agent that could not reach the backend sends hours of buffered windows later. They are noticed
when their minutes are merged again. Once no more has arrived for a minute they are replayed in order, starting from
today's baselines. Incidents found this way have already ended. The live state is read, never written. Silence rules are
left out: live evaluation reported the silence at the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import structlog
from sqlalchemy.orm import Session

from sinemora.alerts.detection import queries
from sinemora.alerts.detection.replay import ReplaySpan, ReplayStep, in_steps, replay
from sinemora.alerts.detection.replay_inputs import Completion, Predictions
from sinemora.alerts.evaluation import state_codec
from sinemora.alerts.evaluation.m_of_n import WINDOWS_MAX
from sinemora.alerts.evaluation.recurrence import ended
from sinemora.alerts.evaluation.rule import SEVERITIES, Kind, Rule, Severity
from sinemora.alerts.evaluation.tracking import REOPENED_S, Track, same_cause
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.alerts.incidents import queries as incident_queries
from sinemora.alerts.incidents import store as incident_store
from sinemora.alerts.incidents.affected import affected, followed
from sinemora.alerts.models import AlertState, Incident, IncidentState
from sinemora.alerts.notifications import dispatch
from sinemora.alerts.rules.load import rules_of
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import get_mesh, mesh_state
from sinemora.kit.config import settings
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier, floor

log = structlog.get_logger(__name__)

REACH = timedelta(days=1)
"""Older data is stored but not evaluated; a back-test covers it."""
QUIET = timedelta(minutes=1)
"""Late windows are evaluated when none has arrived for this long …"""
WAIT_MAX = timedelta(minutes=30)
"""… or when the first of them has waited this long."""
# Minutes are merged at most this long after their end; those merged later contain late data.
_MERGING = timedelta(seconds=90)
# Rules see this much before and after late data; ranges closer together are replayed as one.
_AROUND = timedelta(seconds=REOPENED_S)
# Windows × paths up to which a range is replayed by windows; larger ranges are replayed by minutes.
_BY_WINDOWS_MAX = 30_000_000


@dataclass(frozen=True, slots=True)
class LateRange:
    """A range with late windows: start and end (Unix s)."""

    first_s: int
    last_s: int


@dataclass(slots=True)
class _PastIncident:
    """An incident of the past during replay: its row (not in the database), its track, first and last time seen.

    Rules keep their state where data is missing, so only windows with data count as seen.
    """

    row: Incident
    track: Track
    begins_s: int
    seen_s: int


@dataclass(slots=True)
class LateDataResult:
    """Result of evaluating late data: ranges, ids of new incidents, ids of known incidents it confirms."""

    ranges: list[LateRange] = field(default_factory=list)
    new: list[UUID] = field(default_factory=list)
    confirmed: list[UUID] = field(default_factory=list)


def evaluate_late_data(session: Session, mesh_id: UUID, now: datetime) -> LateDataResult | None:
    """Find incidents in late data of a mesh. Return None if there is none, or another process evaluates it."""
    present = queries.progress(session, mesh_id)
    if present is None or present.evaluated_s is None:
        return None
    row = queries.locked_late_data_progress(session, mesh_id, now)
    if row is None:
        return None
    mesh = get_mesh(session, mesh_id)
    lateness = max(_MERGING, timedelta(seconds=WINDOWS_MAX * mesh.window_s - Tier.MINUTE.step_s))
    reach = floor(now - min(REACH, timedelta(days=settings().retention_raw_days)), Tier.MINUTE.step_s)
    merged = queries.minutes_merged(session, mesh.key, reach, utc(present.evaluated_s), row.looked_until, lateness)
    times = [merged_at for _, merged_at in merged] + [utc(noticed_s) for *_, noticed_s in present.late_ranges]
    if not times or (now - max(times) < QUIET and now - min(times) < WAIT_MAX):
        return None
    ready = [(start, merged_at) for start, merged_at in merged if merged_at <= now - QUIET]
    noticed = [one for one in present.late_ranges if utc(one[2]) <= now - QUIET]
    minutes = [(int(start.timestamp()), int(start.timestamp()) + Tier.MINUTE.step_s) for start, _ in ready]
    within = [(start_s, end_s) for start_s, end_s, _ in noticed if utc(end_s) > reach]
    if not ready and not noticed:
        return None
    result = LateDataResult(ranges_of(sorted([*minutes, *within])))
    _evaluate(session, mesh_state(session, mesh_id), result, now)
    row.looked_until = max((merged_at for _, merged_at in ready), default=row.looked_until)
    too_old_s = sum(end_s - start_s for start_s, end_s, _ in noticed if utc(end_s) <= reach)
    queries.drop_late_ranges(session, mesh_id, noticed, too_old_s // mesh.window_s)
    log.info("late data evaluated", mesh=str(mesh_id), ranges=len(result.ranges), new=len(result.new))
    return result


def _evaluate(session: Session, mesh: MeshState, result: LateDataResult, now: datetime) -> None:
    if len(mesh.members) < 2:
        return
    present = session.get_one(AlertState, mesh.id)
    rules = [rule for rule in rules_of(session, mesh) if rule.condition.kind is not Kind.SILENT]
    seen: list[_PastIncident] = []
    for late in result.ranges:
        seen += _replayed(session, mesh, rules, present, late)
    _write(session, mesh, seen, result, now)


def ranges_of(stretches: Sequence[tuple[int, int]]) -> list[LateRange]:
    """Return stretches (start and end, Unix s, ascending) as ranges; those close together become one."""
    ranges: list[LateRange] = []
    for start_s, end_s in stretches:
        if ranges and start_s - ranges[-1].last_s <= 2 * _AROUND.total_seconds():
            ranges[-1] = LateRange(ranges[-1].first_s, max(end_s, ranges[-1].last_s))
        else:
            ranges.append(LateRange(start_s, end_s))
    return ranges


def _span(mesh: MeshState, present: AlertState, late: LateRange) -> ReplaySpan:
    """Return the span to replay for a range: some time before it, so that rule states settle, and after it."""
    assert present.evaluated_until is not None  # checked by the caller
    around_s = int(_AROUND.total_seconds())
    end_s = min(late.last_s + around_s, int(present.evaluated_until.timestamp()))
    paths = len(mesh.members) * (len(mesh.members) - 1)
    by_windows = (end_s - late.first_s + around_s) // mesh.window_s * paths <= _BY_WINDOWS_MAX
    tier, step_s = (Tier.RAW, mesh.window_s) if by_windows else (Tier.MINUTE, Tier.MINUTE.step_s)
    first_s = (late.first_s - around_s) // step_s * step_s
    return ReplaySpan(tier, first_s + step_s, end_s // step_s * step_s, step_s)


def _replayed(
    session: Session, mesh: MeshState, rules: Sequence[Rule], present: AlertState, late: LateRange
) -> list[_PastIncident]:
    """Return the incidents of a range, over or not, that involve late data."""
    span = _span(mesh, present, late)
    step_rules = [in_steps(rule, span.step_s / mesh.window_s) for rule in rules] if span.tier is not Tier.RAW else rules
    ruled = {rule.id: rule for rule in step_rules}
    state = _current_baselines(present)
    predictions = Predictions(session, mesh)
    seen: dict[str, _PastIncident] = {}
    for step in replay(session, mesh, step_rules, state, span, Completion(session, mesh, step_rules, span)):
        _follow(session, mesh, ruled, state, step, seen, predictions)
        seen = {id: one for id, one in seen.items() if id in step.tracks}
    return [one for one in seen.values() if one.begins_s < late.last_s and one.seen_s > late.first_s]


def _current_baselines(present: AlertState) -> EvaluationState:
    """Return a separate state with today's baselines and no rule states."""
    try:
        state = state_codec.decode(None, present.baselines)
    except state_codec.StateError as error:
        log.warning("baselines unreadable: they start empty", error=str(error))
        state = state_codec.decode(None, None)
    state.ended_at_s = None
    return state


def _follow(
    session: Session,
    mesh: MeshState,
    ruled: dict[str, Rule],
    state: EvaluationState,
    step: ReplayStep,
    seen: dict[str, _PastIncident],
    predictions: Predictions,
) -> None:
    window = step.window
    for change in step.changes:
        past = seen.get(change.track.id)
        if past is not None and not _any_known(window, change.track):
            continue
        if past is None and change.detection is not None:
            row = incident_store.new_incident(session, mesh, ruled, change, state, window)
            begins_s = window.ended_at_s - change.detection.windows_ago * window.window_s
            past = seen[change.track.id] = _PastIncident(row, change.track, begins_s, window.ended_at_s)
            values = {"paths": row.paths}
        elif past is not None:
            past.track, values = change.track, {}
            if change.detection is not None:
                past.seen_s = window.ended_at_s
                values = incident_store.columns_of_change(past.row, mesh, ruled, change, state, window)
        else:
            continue
        for name, value in values.items():
            setattr(past.row, name, value)
        if "paths" in values:
            now = affected(session, mesh, change.track, predictions.at(window))
            past.row.applications = followed(past.row.applications, now)


def _any_known(window: EvaluationWindow, track: Track) -> bool:
    """Return whether a window has data for the paths of an incident (of one without paths: for any)."""
    known = np.isfinite(window.values(Metric.LOSS, Statistic.MEAN)).reshape(-1)
    return bool((known[track.cells] if track.cells.size else known).any())


def _write(
    session: Session, mesh: MeshState, seen: Sequence[_PastIncident], result: LateDataResult, now: datetime
) -> None:
    """Insert new incidents, add a note to known ones that late data confirms, notify about the most severe new one."""
    new: list[Incident] = []
    for found in sorted(seen, key=lambda one: one.track.opened_at_s):
        start, end = utc(found.begins_s - REOPENED_S), utc(found.seen_s + REOPENED_S)
        tracks = incident_store.tracks_of(incident_queries.ongoing(session, mesh.id, start, end), mesh)
        known = same_cause(found.track, tracks)
        if known is not None:
            _confirm(session, UUID(known.id), found, result, now)
            continue
        row = found.row
        row.state, row.found_late_at = IncidentState.resolved, now
        row.seen_at = row.ended_at = utc(found.seen_s)
        row.episodes = ended(row.episodes, found.seen_s)
        incident_store.insert(session, row, mesh, found.track)
        delay = _duration_text(now - row.seen_at)
        incident_store.add_event(session, row.id, row.ended_at, "ended", "Condition no longer met.")
        incident_store.add_event(session, row.id, now, "late", f"Detected in late data, {delay} after it had ended.")
        incident_store.apply_silences(session, row, mesh, row.opened_at)
        new.append(row)
        result.new.append(row.id)
    notifiable = [row for row in new if row.silenced_by is None]
    if notifiable:
        most_severe = max(notifiable, key=lambda row: (SEVERITIES.index(Severity(row.severity)), len(row.paths)))
        dispatch.notify(session, most_severe, mesh, "late", now)


def _confirm(session: Session, incident_id: UUID, past: _PastIncident, result: LateDataResult, now: datetime) -> None:
    result.confirmed.append(incident_id)
    if not incident_queries.has_event(session, incident_id, "late"):
        times = f"{utc(past.begins_s):%Y-%m-%d %H:%M:%S} to {utc(past.seen_s):%H:%M:%S} UTC"
        incident_store.add_event(session, incident_id, now, "late", f"Confirmed by late data from {times}.")


def _duration_text(duration: timedelta) -> str:
    hours, minutes = divmod(round(duration.total_seconds() / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
