"""Evaluate due windows of meshes; store rule states, baselines and incidents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import structlog
from sqlalchemy.orm import Session

from sinemora.alerts.detection import batch, due, evaluation_input, host_evidence, queries, seasons
from sinemora.alerts.detection.batch import MeshInput, Wanted
from sinemora.alerts.detection.due import STALE_WINDOWS, MeshReports
from sinemora.alerts.detection.queries import Progress
from sinemora.alerts.evaluation import focus, state_codec
from sinemora.alerts.evaluation.baseline import Flags
from sinemora.alerts.evaluation.breach import Seasons
from sinemora.alerts.evaluation.detections import Evaluation
from sinemora.alerts.evaluation.engine import amend, silence, step
from sinemora.alerts.evaluation.m_of_n import WINDOWS_MAX
from sinemora.alerts.evaluation.rule import Kind, Symptom
from sinemora.alerts.evaluation.settling import Learning
from sinemora.alerts.evaluation.tracking import REMEMBERED_S, Transition, advance
from sinemora.alerts.evaluation.window import BucketForecast, EvaluationState, EvaluationWindow
from sinemora.alerts.incidents import queries as incident_queries
from sinemora.alerts.incidents import store as incident_store
from sinemora.applications import contracts
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import set_focus, zone_of
from sinemora.fleet.meshes.strategies.strategy import StrategyKind
from sinemora.kit.lru_cache import LruCache
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store import frames
from sinemora.measurements.store.tiers import Tier, TierRange

log = structlog.get_logger(__name__)

# Windows that were missed are evaluated in order up to this time; earlier ones as late data.
_CATCH_UP_S = 600
# Baselines of small meshes are kept with each window; those of large ones every five minutes.
SMALL_VMS = 128
_BASELINES_EVERY = timedelta(minutes=5)
# After a longer gap between evaluations the backend was down, and agents could not report.
_DOWN_AFTER = timedelta(minutes=1)
# An incident that opens this long after its window has a note of it: its reports, or evaluation, were late.
_LATE_S = 30
# Paths of all meshes whose states are kept in memory; a state has some 200 bytes for each.
_PATHS_KEPT = 8_000_000


@dataclass(slots=True)
class _Kept:
    """State of a mesh in memory, and which blocks of its last windows were evaluated, by end of the window."""

    state: EvaluationState
    evaluated: dict[int, set[tuple[int, int]]]


_kept: LruCache[UUID, _Kept] = LruCache(_PATHS_KEPT)


@dataclass(frozen=True, slots=True)
class MeshEvaluation:
    """Result for a mesh: end of its newest window (Unix s), detections, ids of the incidents that changed."""

    mesh: MeshState
    ended_at_s: int
    evaluation: Evaluation
    changed: list[UUID]


def evaluate(session: Session, mesh_id: UUID, ended_at_s: int, at: datetime) -> MeshEvaluation | None:
    """Evaluate a mesh up to a window, with missed windows before it, in one transaction.

    Return None if another process evaluates it, or has, or it is gone.
    """
    progress, mesh = queries.progress(session, mesh_id), session.get(Mesh, mesh_id)
    if progress is None or mesh is None:
        return None
    ends_s = missed_windows(session, mesh.key, mesh.window_s, progress.evaluated_s, ended_at_s, at.timestamp())
    wanted = Wanted(mesh_id, ends_s, progress.looked_at_s)
    given = batch.read(session, [wanted]).get(mesh_id)
    result: MeshEvaluation | None = None
    changed: list[UUID] = []
    for end_s in ends_s:
        if given is None:
            return None
        found = evaluate_window(session, given, end_s, at, newest=end_s == ended_at_s)
        if found is not None:
            changed += found.changed
            result = replace(found, changed=changed)
    return result


def missed_windows(
    session: Session, mesh_key: int, window_s: int, evaluated_s: int | None, due_s: int, at_s: float
) -> list[int]:
    """Return the ends of the windows to evaluate up to one that is due: those that were reported, and that one.

    Of a mesh that was never evaluated: those that were reported in time, none that was imported.
    """
    first_s = due_s - max(_CATCH_UP_S, WINDOWS_MAX * window_s)
    if evaluated_s is None:
        in_time = timedelta(seconds=due.LATENESS_MAX_S)
        reported = queries.reporters(session, mesh_key, Tier.RAW, utc(first_s), utc(due_s - window_s), in_time)
        return [start_s + window_s for start_s in sorted(reported)] + [due_s]
    if due.not_ahead(evaluated_s, window_s, at_s) is None or evaluated_s + window_s >= due_s:
        return [due_s]
    missed = TierRange(Tier.RAW, utc(max(evaluated_s, first_s)), utc(due_s - window_s))
    return [round(start.timestamp()) + window_s for start in frames.starts(session, mesh_key, missed)] + [due_s]


def evaluate_window(
    session: Session,
    given: MeshInput,
    ended_at_s: int,
    at: datetime,
    *,
    newest: bool = True,
    reports: MeshReports | None = None,
) -> MeshEvaluation | None:
    """Evaluate one window of a mesh. Return None if another process evaluates the mesh, or has, or it is gone.

    `newest`: it is the newest one that is due, for which silent agents and applications are looked at.
    """
    began = perf_counter()
    mesh, rules = given.mesh, given.rules
    progress = queries.claimed(session, mesh.id)
    if progress is None:
        return None
    evaluated_s = due.not_ahead(progress.evaluated_s, mesh.window_s, at.timestamp())
    if evaluated_s is not None and evaluated_s >= ended_at_s:
        return None
    columns: dict[str, Any] = {"evaluated_until": utc(ended_at_s), "looked_at": at, "reported_until": utc(ended_at_s)}
    if reports is not None:
        columns |= {"reported_until": utc(reports.newest_s), "lateness_s": due.lateness_s(reports)}
    if len(mesh.members) < 2:
        queries.store_state(session, mesh.id, columns)
        return None
    kept = _state_of(session, mesh, progress.evaluated_s)
    state = kept.state
    if evaluated_s is None:
        state.ended_at_s = None  # none before, or the clock was stepped back: the next window follows the last one
    usual = seasons.seasons_of(session, mesh, rules, ended_at_s)
    columns["late_ranges"] = late = _late_ranges(session, given, progress, kept, ended_at_s, usual, at)
    columns["watched_since"] = watched_since = _watched_since(mesh, progress, at)
    window = given.window(ended_at_s, usual)
    if newest:
        window = _with_present(session, given, window, _silent_members(given, watched_since, at), at)
    evaluation = step(state, rules, window)
    changed = _apply(session, given, state, window, evaluation, at, is_live=reports is not None)
    if mesh.strategy.kind is StrategyKind.EVENT:
        _follow_incidents(session, mesh, ended_at_s)
    first_kept_s = ended_at_s - batch.late_reach_s(mesh.window_s)
    kept.evaluated = {end_s: blocks for end_s, blocks in kept.evaluated.items() if end_s >= first_kept_s}
    kept.evaluated[ended_at_s] = given.frames.known.get(ended_at_s, set())
    columns |= _encoded(state, mesh, progress, at) | _learning(mesh, evaluation.learning)
    if late == progress.late_ranges:
        del columns["late_ranges"]
    columns |= {"firing": evaluation.firing, "took_ms": round((perf_counter() - began) * 1000)}
    queries.store_state(session, mesh.id, columns)
    _kept.put(mesh.id, kept, size=len(mesh.members) ** 2)
    return MeshEvaluation(mesh, ended_at_s, evaluation, changed)


def look_for_silence(session: Session, given: MeshInput, at: datetime) -> MeshEvaluation | None:
    """Apply the rules on silent agents to a mesh without new windows, by the wall clock.

    Path rules stay at the newest reported window: they must not count windows that nobody could report.
    """
    mesh = given.mesh
    progress = queries.claimed(session, mesh.id)
    if progress is None:
        return None
    kept = _state_of(session, mesh, progress.evaluated_s)
    watched_since = _watched_since(mesh, progress, at)
    columns: dict[str, Any] = {"looked_at": at, "watched_since": watched_since}
    ended_at_s = int(at.timestamp()) // mesh.window_s * mesh.window_s
    changed: list[UUID] = []
    evaluation = Evaluation([], 0, 0)
    silent = _silent_members(given, watched_since, at)
    if len(mesh.members) > 1 and (silent.any() or given.facts.incidents):
        window = replace(given.window_of((), ended_at_s, lambda *_: None), silent=silent)
        evaluation = silence(kept.state, given.rules, window)
        changed = _apply(session, given, kept.state, window, evaluation, at, of_silence=True)
        columns["rule_states"] = state_codec.encode(kept.state, baselines=False)
        _kept.put(mesh.id, kept, size=len(mesh.members) ** 2)
    queries.store_state(session, mesh.id, columns)
    return MeshEvaluation(mesh, ended_at_s, evaluation, changed)


def _apply(
    session: Session,
    given: MeshInput,
    state: EvaluationState,
    window: EvaluationWindow,
    evaluation: Evaluation,
    at: datetime,
    *,
    is_live: bool = False,
    of_silence: bool = False,
) -> list[UUID]:
    """Apply the detections of a window to the incidents of a mesh; return the ids of those that changed.

    `is_live`: note in new incidents that the window was evaluated late. `of_silence`: only those of silent agents.
    """
    mesh, end_s = given.mesh, window.ended_at_s
    if not evaluation.detections and not given.facts.incidents:
        return []
    # Incidents that ended matter only if something is seen that they could have caused.
    remembered_s = REMEMBERED_S if evaluation.detections else 0
    rows = incident_queries.ongoing(session, mesh.id, utc(end_s - remembered_s))
    known = incident_store.tracks_of(rows, mesh)
    if of_silence:
        known = [track for track in known if Symptom.SILENCE in track.symptoms]
    ids = [str(uuid4()) for _ in evaluation.detections]
    changes = advance(known, evaluation.detections, window.zone_of, end_s, mesh.window_s, ids)
    changed = incident_store.apply(session, mesh, given.rules, changes, rows, state, window, at)
    late = at - utc(end_s)
    if is_live and late > timedelta(seconds=_LATE_S + mesh.window_s):
        text = f"Evaluated {late.total_seconds():.0f} s after the end of the window that shows it."
        for change in changes:
            if change.transition is Transition.OPENED:
                incident_store.add_event(session, UUID(change.track.id), at, "late", text)
    return changed


def _with_present(
    session: Session, given: MeshInput, window: EvaluationWindow, silent: Flags, at: datetime
) -> EvaluationWindow:
    """Return a window with what is known only about the present: silent agents, applications, token buckets, hosts."""
    performances: dict[str, float] = {}
    below: dict[str, float] = {}
    stated = contracts.stated(session, given.mesh.id) if given.facts.applications else {}
    if stated or (given.facts.applications and any(rule.condition.of_applications for rule in given.rules)):
        performances, below = evaluation_input.performances(session, given.mesh)
    contracts.count(session, stated, performances, window.ended_at_s, window.window_s)
    burn_rates = partial(contracts.burn_rates, session, given.mesh.id, utc(window.ended_at_s)) if stated else None
    if burn_rates is not None:
        window = replace(window, burn_rates=burn_rates)
    buckets: dict[int, BucketForecast] = {}
    if given.facts.buckets and any(rule.condition.kind is Kind.TOKENS for rule in given.rules):
        buckets = evaluation_input.bucket_forecasts(session, given.mesh, at)
    hosts = cache(partial(host_evidence.hosts, session, given.mesh, window.ended_at_s))
    return replace(window, silent=silent, below=below, buckets=buckets, performances=performances, hosts=hosts)


def _watched_since(mesh: MeshState, progress: Progress, at: datetime) -> datetime:
    """Return since when the mesh has been evaluated without a break."""
    if progress.watched_since is None or progress.looked_at_s is None or progress.watched_since > at:
        return at
    silent_s = progress.looked_at_s - (progress.reported_s or progress.looked_at_s)
    usual = timedelta(seconds=STALE_WINDOWS * mesh.window_s + due.pause_s(mesh.window_s, silent_s))
    was_down = at.timestamp() - progress.looked_at_s > (_DOWN_AFTER + usual).total_seconds()
    return at if was_down else progress.watched_since


def _silent_members(given: MeshInput, watched_since: datetime, at: datetime) -> Flags:
    """Return the members whose agent is overdue, though it could report."""
    if given.present_since is not None and given.present_since > watched_since:
        watched_since = given.present_since
    return evaluation_input.silent_members(given.mesh, given.agents, watched_since, at)


def _late_ranges(
    session: Session,
    given: MeshInput,
    progress: Progress,
    kept: _Kept,
    ended_at_s: int,
    usual: Seasons,
    at: datetime,
) -> list[list[int]]:
    """Return the ranges of late windows that `late_data` has to evaluate, after applying late windows to the state.

    These are windows before those that are caught up with, and late windows in which paths may be in breach.
    """
    mesh, state, window_s = given.mesh, kept.state, given.mesh.window_s
    noticed_s = int(at.timestamp())
    ranges = [list(one) for one in progress.late_ranges]
    if state.ended_at_s is None:
        return ranges
    first_s = ended_at_s - max(_CATCH_UP_S, WINDOWS_MAX * window_s)
    if state.ended_at_s < first_s:
        left_out = TierRange(Tier.RAW, utc(state.ended_at_s), utc(first_s))
        if starts := frames.starts(session, mesh.key, left_out):
            ranges.append([round(starts[0].timestamp()), round(starts[-1].timestamp()) + window_s, noticed_s])
    late: dict[int, set[int]] = {}
    for block in given.recent:
        end_s = block.started_s + window_s
        evaluated = kept.evaluated.get(end_s)
        if end_s > state.ended_at_s:
            continue
        if block.later if evaluated is None else (block.vm_key, block.block) not in evaluated:
            late.setdefault(end_s, set()).add(block.vm_key)
            kept.evaluated.setdefault(end_s, set()).add((block.vm_key, block.block))
    of_applications = given.facts.applications and any(rule.condition.of_applications for rule in given.rules)
    for end_s, vm_keys in sorted(late.items()):
        place = TierRange(Tier.RAW, utc(end_s - window_s), utc(end_s))
        blocks = [
            block
            for chunk in frames.frames(session, mesh.key, [place], sketches=False, vm_keys=vm_keys)
            for block in chunk
        ]
        if amend(state, given.rules, given.window_of(blocks, end_s, usual)) or of_applications:
            ranges.append([end_s - window_s, end_s, noticed_s])
    return _joined(ranges)


def _joined(ranges: Sequence[list[int]]) -> list[list[int]]:
    """Return ranges in order, those less than a minute apart as one that was noticed with its newest part."""
    joined: list[list[int]] = []
    for start_s, end_s, noticed_s in sorted(ranges):
        if joined and start_s - joined[-1][1] < Tier.MINUTE.step_s:
            last = joined[-1]
            joined[-1] = [last[0], max(last[1], end_s), max(last[2], noticed_s)]
        else:
            joined.append([start_s, end_s, noticed_s])
    return joined


def _learning(mesh: MeshState, learning: Learning) -> dict[str, int]:
    """Return how much the mesh has learnt, in seconds of measurement, as columns."""
    every_s = mesh.window_s * (mesh.strategy.period if mesh.strategy.rotates else 1)
    return {
        "settling_paths": learning.settling,
        "settled_s": learning.settled_windows * every_s,
        "unlearnt_paths": learning.unlearnt,
        "learnt_s": learning.learnt_windows * every_s,
    }


def _follow_incidents(session: Session, mesh: MeshState, ended_at_s: int) -> None:
    """Let the mesh measure the paths of its open incidents in every window."""
    rows = incident_queries.ongoing(session, mesh.id, utc(ended_at_s))
    tracks = [track for track in incident_store.tracks_of(rows, mesh) if track.ended_at_s is None]
    pairs = focus.pairs_of((track.culprit for track in tracks), zone_of(mesh))
    keys = keys_of(mesh)
    set_focus(session, mesh, [(int(keys[one]), int(keys[other])) for one, other in pairs])


def in_memory(mesh_id: UUID, evaluated_s: int | None) -> bool:
    """Return whether this process evaluated the last window of a mesh."""
    kept = _kept.get(mesh_id)
    return kept is not None and kept.state.ended_at_s == evaluated_s


def _state_of(session: Session, mesh: MeshState, evaluated_s: int | None) -> _Kept:
    """Return the state of a mesh: from memory if this process evaluated the last window, else from the database."""
    kept = _kept.get(mesh.id)
    if kept is not None and kept.state.ended_at_s == evaluated_s and evaluated_s is not None:
        return kept
    try:
        return _Kept(state_codec.decode(*queries.stored_state(session, mesh.id)), {})
    except state_codec.StateError as error:
        log.warning(
            "alert state unreadable: rule states and baselines start empty", mesh=str(mesh.id), error=str(error)
        )
        return _Kept(EvaluationState(np.zeros(0, np.int64)), {})


def _encoded(state: EvaluationState, mesh: MeshState, progress: Progress, at: datetime) -> dict[str, Any]:
    """Return the state as columns."""
    columns: dict[str, Any] = {"rule_states": state_codec.encode(state, baselines=False)}
    small = len(mesh.members) <= SMALL_VMS
    if small or progress.baselines_at is None or at - progress.baselines_at >= _BASELINES_EVERY:
        columns |= {"baselines": state_codec.encode(state, baselines=True), "baselines_at": at}
    return columns


def forget(meshes: Sequence[UUID] | None = None) -> None:
    """Drop states from memory; the next evaluation reads them from the database."""
    if meshes is None:
        _kept.clear()
    for mesh_id in meshes or ():
        _kept.remove(mesh_id)
