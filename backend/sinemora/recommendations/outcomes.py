"""Measured gain of applied moves: by the metrics of the moved applications, else by the delays of both placements."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach
from sinemora.applications import queries as applications
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.learning import queries as learning
from sinemora.applications.learning.models import MetricSource
from sinemora.applications.models import Application
from sinemora.applications.performance import Indices, Links, Sensitivity, reached
from sinemora.applications.reading import links_of
from sinemora.applications.schemas import Named
from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.query.matrix.history import MatrixHistory
from sinemora.measurements.schemas import Span
from sinemora.recommendations import load_instance, queries
from sinemora.recommendations.core import verdict
from sinemora.recommendations.core.holdout import performance_series
from sinemora.recommendations.core.instance import ELSEWHERE, WAITING
from sinemora.recommendations.core.tail_risk import RiskModel
from sinemora.recommendations.core.verdict import Interval, MetricHistory, Missing, MoveVerdict
from sinemora.recommendations.models import Recommendation
from sinemora.recommendations.schemas import (
    ApplicationGain,
    ApplicationOutcome,
    GainInterval,
    JudgedBy,
    MoveRead,
    RecommendationRequest,
    RecommendationResult,
    VerifiedOutcome,
)

SETTLED = timedelta(minutes=2)
"""Time after the moves that does not count: caches warm up and connections reopen."""
OBSERVED = timedelta(seconds=verdict.OBSERVED_S)
"""Time after that which is compared."""
BEFORE = timedelta(days=7)
"""Time before the moves in which comparable hours of a metric are looked for."""
_Z = 1.959964


@dataclass(frozen=True, slots=True, eq=False)
class _Moved:
    """Application with the placement before and after the moves, and the gain that was promised."""

    application: Application
    links: Links
    sensitivity: Sensitivity
    old: Indices
    new: Indices
    promise: ApplicationGain


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """Gain of one application, or the reason why there is none, and its basis."""

    moved: _Moved
    by: JudgedBy
    observed: Interval | Missing
    sources: Sequence[MetricSource] = ()
    controls: Sequence[Application] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Surroundings:
    """Parts that all moved applications share: their mesh, the time, windows after the moves, and others' metrics."""

    session: Session
    mesh: MeshState
    request: RecommendationRequest
    applied_at: datetime
    before: MatrixHistory
    after: MatrixHistory
    of_application: dict[UUID, list[MetricSource]]
    others: list[Application]
    """Applications that stayed, on VMs that no move touched."""
    begin: datetime
    """Earliest time that is comparable: no moves on the mesh since."""
    disturbed: bool
    """Other moves were applied while the outcome was observed."""

    @property
    def since(self) -> datetime:
        return self.applied_at + SETTLED


def measure(
    session: Session,
    recommendation: Recommendation,
    applied_at: datetime,
    mesh: MeshState,
    steps: list[MoveRead],
    *,
    final: bool,
) -> VerifiedOutcome | None:
    """Return the outcome of applied moves; None while more data may come, unless it is `final`."""
    request = RecommendationRequest.model_validate(recommendation.request)
    promises = RecommendationResult.model_validate(recommendation.result).applications
    around = _surroundings(session, recommendation, applied_at, mesh, request, steps)
    judged = [_judge(around, moved) for moved in _moved(session, mesh, steps, promises)]
    waiting = any(isinstance(one.observed, Missing) and not one.observed.final for one in judged)
    if waiting and not final:
        return None
    return _outcome(judged, Span(from_=around.since, to=around.since + OBSERVED))


def _surroundings(
    session: Session,
    recommendation: Recommendation,
    applied_at: datetime,
    mesh: MeshState,
    request: RecommendationRequest,
    steps: list[MoveRead],
) -> _Surroundings:
    since = applied_at + SETTLED
    other_moves = [
        at for at in queries.applied_times(session, mesh.id, recommendation.id) if at > applied_at - BEFORE - OBSERVED
    ]
    of_application = learning.sources_by_application(session, mesh.id)
    begin = max([applied_at - BEFORE, *(at + SETTLED for at in other_moves if at <= applied_at)])
    moved = {step.application.id for step in steps}
    touched = {end.id for step in steps for end in (step.source, step.target) if end is not None}
    others = [
        application
        for application in applications.applications_of(session, mesh.id)
        if application.id in of_application
        and application.id not in moved
        and not touched & {task.vm_id for task in application.tasks}
    ]
    return _Surroundings(
        session,
        mesh,
        request,
        applied_at,
        load_instance.load_long_history(session, mesh, request, begin, applied_at),
        load_instance.load_history(session, mesh, request, since, since + OBSERVED),
        of_application,
        others,
        begin,
        any(applied_at < at < since + OBSERVED for at in other_moves),
    )


def _moved(session: Session, mesh: MeshState, steps: list[MoveRead], promises: list[ApplicationGain]) -> list[_Moved]:
    promise_of = {promise.application.id: promise for promise in promises}
    members = [one for one in applications.applications_of(session, mesh.id) if one.id in promise_of]
    entries = attach.entries(session, members)
    machine_of = {member.id: position for position, member in enumerate(mesh.members)}
    source_of = {step.task.id: step.source for step in steps}
    moved = []
    for application in members:
        new = load_instance.task_machines(application, machine_of)
        old = new.copy()
        for position, task in enumerate(application.tasks):
            if task.id in source_of:
                source = source_of[task.id]
                old[position] = WAITING if source is None else machine_of.get(source.id, ELSEWHERE)
        sensitivity = attach.sensitivity(application, entries[application.id])
        moved.append(_Moved(application, links_of(application), sensitivity, old, new, promise_of[application.id]))
    return moved


def _judge(around: _Surroundings, moved: _Moved) -> _Judged:
    if (moved.old[moved.old != moved.new] == ELSEWHERE).any():
        return _Judged(moved, JudgedBy.DELAYS, Missing("A VM that a task left is no longer in the mesh."))
    sources = around.of_application.get(moved.application.id, [])
    # A task that was waiting had no metric to compare with.
    if sources and moved.promise.expected.before.mean > 0:
        history = _metric_history(around, moved, sources)
        if np.isfinite(history.moved).any():
            return _by_metric(around, moved, sources, history)
    return _Judged(moved, JudgedBy.DELAYS, _by_delays(around, moved))


def _by_metric(around: _Surroundings, moved: _Moved, sources: list[MetricSource], history: MetricHistory) -> _Judged:
    observed: Interval | Missing
    if around.disturbed:
        observed = Missing("Other moves on this mesh were applied while the outcome was measured.")
    else:
        moved_at_s, since_s = (int(np.ceil(at.timestamp())) for at in (around.applied_at, around.since))
        observed = verdict.by_metric(history, moved_at_s, since_s, moved.promise.expected.before.mean)
    return _Judged(moved, JudgedBy.METRIC, observed, sources, around.others)


def _metric_history(around: _Surroundings, moved: _Moved, sources: list[MetricSource]) -> MetricHistory:
    start_s = int(around.begin.timestamp()) // 60 * 60
    at_s = np.arange(start_s, int((around.since + OBSERVED).timestamp()), 60, dtype=np.int64)
    control = [source for other in around.others for source in around.of_application[other.id]]
    rows = [[_logarithms(around, source, at_s) for source in group] for group in (sources, control)]
    return MetricHistory(
        at_s,
        np.array(rows[0]).reshape(-1, at_s.size),
        np.array(rows[1]).reshape(-1, at_s.size),
        np.concatenate([around.before.started_at_s, around.after.started_at_s]),
        np.concatenate([_old_path_us(moved, part) for part in (around.before, around.after)]),
    )


def _logarithms(around: _Surroundings, source: MetricSource, at_s: np.ndarray) -> Floats:
    """Return the logarithm of a metric in the minutes `at_s`, larger is better; NaN is unknown."""
    values = np.full(at_s.size, np.nan)
    sign = 1 if source.metric == "rate" else -1
    for at, value in learning.points(around.session, source.id, around.begin):
        position = (int(at.timestamp()) - int(at_s[0])) // 60
        if 0 <= position < at_s.size and value > 0:
            values[position] = sign * np.log(value)
    return values


def _old_path_us(moved: _Moved, history: MatrixHistory) -> Floats:
    """Return the mean round trip of the links of moved tasks at the old placement, in each window."""
    leaving = moved.old != moved.new
    concerned = leaving[moved.links.sources] | leaving[moved.links.targets]
    ends = moved.old[moved.links.sources], moved.old[moved.links.targets]
    concerned &= (ends[0] >= 0) & (ends[1] >= 0) & (ends[0] != ends[1])
    if not concerned.any():
        return np.zeros(history.started_at_s.size)
    trips = history.round_trips_ns[:, ends[0][concerned], ends[1][concerned]].astype(np.float64)
    return np.asarray(np.average(trips, axis=1, weights=moved.links.weights[concerned]) / 1e3)


def _by_delays(around: _Surroundings, moved: _Moved) -> Interval | Missing:
    trips = around.after.round_trips_ns
    moved_at_s, since_s = (int(np.ceil(at.timestamp())) for at in (around.applied_at, around.since))
    risk_model: RiskModel | None = None
    roots = load_instance.root_positions(moved.application)
    if around.request.risk is not None and roots:
        from_machines = [int(at[root]) for at in (moved.old, moved.new) for root in roots]
        risk_model = load_instance.load_risk_model(
            around.session, around.mesh, around.after, around.request.risk, from_machines
        )
    # Distributions are those of the hour after the moves: before them the statistic of each window has to do.
    stayed, now = (
        np.concatenate(
            [
                performance_series(moved.links, at, around.before.round_trips_ns, moved.sensitivity).performance,
                performance_series(moved.links, at, trips, moved.sensitivity, risk_model).performance,
            ]
        )
        for at in (moved.old, moved.new)
    )
    at_s = np.concatenate([around.before.started_at_s, around.after.started_at_s])
    return verdict.by_delays(at_s, now, stayed, moved_at_s, since_s, _curve_error(moved, trips))


def _curve_error(moved: _Moved, round_trips_ns: np.ndarray) -> float:
    """Return the standard error of the gain that the curve's band brings in, at the median round trips."""
    measured = np.isfinite(round_trips_ns).any(axis=0)
    typical = np.full(round_trips_ns.shape[1:], np.nan)
    typical[measured] = np.nanmedian(round_trips_ns[:, measured], axis=0)
    ends = []
    for at in (moved.old, moved.new):
        links = reached(moved.links, at, typical, moved.sensitivity)
        ends.append([links.mean(part) or 0.0 for part in (links.low, links.high)])
    (old_low, old_high), (new_low, new_high) = ends
    return abs((new_high - old_high) - (new_low - old_low)) / 2 / _Z


def _outcome(judged: list[_Judged], window: Span) -> VerifiedOutcome:
    promised = verdict.mean_of([_promised(one.moved) for one in judged])
    missing = [one for one in judged if isinstance(one.observed, Missing)]
    gains = [one.observed for one in judged if isinstance(one.observed, Interval)]
    observed = None if missing else verdict.mean_of(gains)
    if isinstance(missing_of := missing[0].observed if missing else None, Missing):
        decision = verdict.Decision(MoveVerdict.CANNOT_TELL, missing_of.reason)
    else:
        decision = verdict.decide(verdict.mean_of(gains), promised)
    kinds = {one.by for one in judged}
    return VerifiedOutcome(
        verdict=decision.verdict,
        reason=decision.reason,
        judged_by=kinds.pop() if len(kinds) == 1 else JudgedBy.BOTH,
        promised=_read(promised),
        observed=None if observed is None else _read(observed),
        window=window,
        applications=[_application_outcome(one) for one in judged],
    )


def _application_outcome(one: _Judged) -> ApplicationOutcome:
    promised = _promised(one.moved)
    if isinstance(one.observed, Missing):
        decision = verdict.Decision(MoveVerdict.CANNOT_TELL, one.observed.reason)
    else:
        decision = verdict.decide(one.observed, promised)
    return ApplicationOutcome(
        application=one.moved.promise.application,
        verdict=decision.verdict,
        reason=decision.reason,
        judged_by=one.by,
        promised=_read(promised),
        observed=None if isinstance(one.observed, Missing) else _read(one.observed),
        metric_sources=[Named.model_validate(source) for source in one.sources],
        controls=[Named.model_validate(control) for control in one.controls],
    )


def _promised(moved: _Moved) -> Interval:
    gain = moved.promise.expected.gain
    return Interval(gain.mean, gain.low, gain.high)


def _read(interval: Interval) -> GainInterval:
    return GainInterval(mean=interval.mean, low=interval.low, high=interval.high)
