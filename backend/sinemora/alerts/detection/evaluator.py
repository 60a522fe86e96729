"""Evaluate due windows of meshes; store rule states, baselines and incidents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import perf_counter
from uuid import UUID, uuid4

import numpy as np
import structlog
from sqlalchemy.orm import Session

from sinemora.alerts.detection import evaluation_input, queries, seasons
from sinemora.alerts.detection.due import STALE_WINDOWS, MeshReports, lateness_s
from sinemora.alerts.evaluation import focus, state_codec
from sinemora.alerts.evaluation.detections import Evaluation
from sinemora.alerts.evaluation.engine import amend, step
from sinemora.alerts.evaluation.m_of_n import WINDOWS_MAX
from sinemora.alerts.evaluation.rule import Kind
from sinemora.alerts.evaluation.settling import Learning
from sinemora.alerts.evaluation.tracking import REMEMBERED_S, advance
from sinemora.alerts.evaluation.window import BucketForecast, EvaluationState
from sinemora.alerts.incidents import queries as incident_queries
from sinemora.alerts.incidents import store as incident_store
from sinemora.alerts.models import AlertState
from sinemora.alerts.rules.load import rules_of
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state, set_focus
from sinemora.fleet.meshes.strategies.strategy import StrategyKind
from sinemora.measurements.ingest import presence
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.ranges import utc

log = structlog.get_logger(__name__)

_CATCH_UP = 6
# Baselines of small meshes are kept with each window; those of large ones every five minutes.
_SMALL_VMS = 128
_BASELINES_EVERY = timedelta(minutes=5)
_MEMORY_MAX = 64
# After a longer gap between evaluations the backend was down, and agents could not report.
_DOWN_AFTER = timedelta(minutes=1)

_states: dict[UUID, EvaluationState] = {}


@dataclass(frozen=True, slots=True)
class MeshEvaluation:
    """Result for a mesh: end of its newest window (Unix s), detections, ids of the incidents that changed."""

    mesh: MeshState
    ended_at_s: int
    evaluation: Evaluation
    changed: list[UUID]


def evaluate(
    session: Session, mesh_id: UUID, ended_at_s: int, at: datetime, reports: MeshReports | None = None
) -> MeshEvaluation | None:
    """Evaluate a mesh up to a window, with missed windows before it. Return None if another process does."""
    began = perf_counter()
    row = queries.locked_state(session, mesh_id)
    if row is None or (row.evaluated_until is not None and row.evaluated_until >= utc(ended_at_s)):
        return None
    mesh = mesh_state(session, mesh_id)
    if len(mesh.members) < 2:
        row.evaluated_until = utc(ended_at_s)
        return None
    down_after = _DOWN_AFTER + timedelta(seconds=STALE_WINDOWS * mesh.window_s)
    if row.watched_since is None or row.looked_at is None or at - row.looked_at > down_after:
        row.watched_since = at
    rules = rules_of(session, mesh)
    state = _state_of(row)
    usual = seasons.seasons_of(session, mesh, rules, ended_at_s)
    if row.looked_at is not None and state.ended_at_s is not None:
        for late_s in evaluation_input.late_windows(session, mesh, state.ended_at_s, row.looked_at, WINDOWS_MAX):
            amend(state, rules, evaluation_input.window(session, mesh, late_s, _no_member(mesh), {}, usual))
    first_s = ended_at_s
    if state.ended_at_s is not None:
        first_s = max(state.ended_at_s + mesh.window_s, ended_at_s - (_CATCH_UP - 1) * mesh.window_s)
    performances: dict[str, float] = {}
    below: dict[str, float] = {}
    if any(rule.condition.of_applications for rule in rules):
        performances, below = evaluation_input.performances(session, mesh)
    buckets: dict[int, BucketForecast] = {}
    if any(rule.condition.kind is Kind.TOKENS for rule in rules):
        buckets = evaluation_input.bucket_forecasts(session, mesh, at)
    changed: list[UUID] = []
    evaluation = Evaluation([], 0, 0)
    for end_s in range(first_s, ended_at_s + 1, mesh.window_s):
        newest = end_s == ended_at_s
        silent = _silent_members(session, mesh, row.watched_since, at) if newest else _no_member(mesh)
        window = evaluation_input.window(session, mesh, end_s, silent, below if newest else {}, usual)
        if newest:
            window = replace(window, buckets=buckets, performances=performances)
        evaluation = step(state, rules, window)
        # Incidents that ended matter only if something is seen that they could have caused.
        remembered_s = REMEMBERED_S if evaluation.detections else 0
        rows = incident_queries.ongoing(session, mesh.id, utc(end_s - remembered_s))
        if evaluation.detections or rows:
            known = incident_store.tracks_of(rows, mesh)
            ids = [str(uuid4()) for _ in evaluation.detections]
            changes = advance(known, evaluation.detections, window.zone_of, end_s, mesh.window_s, ids)
            changed += incident_store.apply(session, mesh, rules, changes, rows, state, window, at)
    if mesh.strategy.kind is StrategyKind.EVENT:
        _follow_incidents(session, mesh, ended_at_s)
    _store(row, state, mesh, ended_at_s, at)
    if reports is not None:
        row.reported_until, row.lateness_s = utc(reports.newest_s), lateness_s(reports)
    row.firing, row.took_ms = evaluation.firing, round((perf_counter() - began) * 1000)
    _note_learning(row, mesh, evaluation.learning)
    return MeshEvaluation(mesh, ended_at_s, evaluation, changed)


def _silent_members(session: Session, mesh: MeshState, watched_since: datetime, at: datetime) -> np.ndarray:
    """Return the members whose agent is overdue, though it could report."""
    present_since = presence.present_since()
    if present_since is not None and present_since > watched_since:
        watched_since = present_since
    return evaluation_input.silent_members(session, mesh, watched_since, at)


def _note_learning(row: AlertState, mesh: MeshState, learning: Learning) -> None:
    """Store how much the mesh has learnt, in seconds of measurement."""
    every_s = mesh.window_s * (mesh.strategy.period if mesh.strategy.rotates else 1)
    row.settling_paths, row.settled_s = learning.settling, learning.settled_windows * every_s
    row.unlearnt_paths, row.learnt_s = learning.unlearnt, learning.learnt_windows * every_s


def _follow_incidents(session: Session, mesh: MeshState, ended_at_s: int) -> None:
    """Let the mesh measure the paths of its open incidents in every window."""
    rows = incident_queries.ongoing(session, mesh.id, utc(ended_at_s))
    tracks = [track for track in incident_store.tracks_of(rows, mesh) if track.ended_at_s is None]
    pairs = focus.pairs_of((track.culprit for track in tracks), evaluation_input.zone_of(mesh))
    keys = keys_of(mesh)
    set_focus(session, mesh, [(int(keys[one]), int(keys[other])) for one, other in pairs])


def _no_member(mesh: MeshState) -> np.ndarray:
    return np.zeros(len(mesh.members), np.bool_)


def _state_of(row: AlertState) -> EvaluationState:
    """Return the state of a mesh: from memory if this process evaluated the last window, else from the database."""
    cached = _states.get(row.mesh_id)
    if cached is not None and row.evaluated_until is not None and cached.ended_at_s == row.evaluated_until.timestamp():
        return cached
    try:
        return state_codec.decode(row.rule_states, row.baselines)
    except state_codec.StateError as error:
        log.warning(
            "alert state unreadable: rule states and baselines start empty", mesh=str(row.mesh_id), error=str(error)
        )
        return EvaluationState(np.zeros(0, np.int64))


def _store(row: AlertState, state: EvaluationState, mesh: MeshState, ended_at_s: int, at: datetime) -> None:
    row.evaluated_until, row.looked_at = utc(ended_at_s), at
    row.rule_states = state_codec.encode(state, baselines=False)
    small = len(mesh.members) <= _SMALL_VMS
    if small or row.baselines_at is None or at - row.baselines_at >= _BASELINES_EVERY:
        row.baselines, row.baselines_at = state_codec.encode(state, baselines=True), at
    while len(_states) >= _MEMORY_MAX and row.mesh_id not in _states:
        _states.pop(next(iter(_states)))
    _states[row.mesh_id] = state


def forget(meshes: Sequence[UUID] | None = None) -> None:
    """Drop states from memory; the next evaluation reads them from the database."""
    for mesh_id in list(_states) if meshes is None else meshes:
        _states.pop(mesh_id, None)
