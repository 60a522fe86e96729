"""Preview of a rule on one path: by window its value, its limit and whether it fires."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.detection import seasons
from sinemora.alerts.detection.schemas import RulePreview, RulePreviewCreate
from sinemora.alerts.evaluation.baseline import LEARNT_LONG, Baseline, Floats
from sinemora.alerts.evaluation.breach import (
    BreachHistory,
    Season,
    breaches_of,
    least_spread,
    limit,
    magnitude,
    rise_of,
)
from sinemora.alerts.evaluation.loss_counts import LossCounts
from sinemora.alerts.evaluation.m_of_n import RuleState
from sinemora.alerts.evaluation.recurring import Recurring
from sinemora.alerts.evaluation.rule import PER_PATH, Condition, Kind, Rule, Timescale
from sinemora.alerts.rules.load import condition_of
from sinemora.fleet.meshes.service import get_mesh
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.series.paths import series
from sinemora.measurements.schemas import Resolution, SeriesRead
from sinemora.measurements.store.tiers import floor

_DRAWN = (Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP, Metric.LOSS, Metric.CLOCK_ERROR, Metric.ASYMMETRY)
# Baselines learn from windows before the range shown: an hour, and enough windows for the long memory.
_LEARN_FOR, _LEARN_WINDOWS = timedelta(hours=1), LEARNT_LONG + 60
_HOUR_S = 3600


def preview(session: Session, body: RulePreviewCreate) -> RulePreview:
    """Evaluate a rule on the windows of a path. ProductError `mesh_unknown`, `path_unknown`, `preview_unsupported`."""
    mesh = get_mesh(session, body.mesh_id)
    condition = condition_of(body.condition.model_dump(mode="json"))
    if condition.kind not in PER_PATH or condition.metric not in _DRAWN:
        raise ProductError(
            "preview_unsupported",
            422,
            f"Preview not available: a {condition.kind} condition on {condition.metric} has no time series.",
        )
    end = datetime.now(UTC)
    start = end - timedelta(hours=body.hours)
    learn_for = max(_LEARN_FOR, timedelta(seconds=condition.over_s))
    if condition.kind is Kind.BASELINE:
        learn_for = max(_LEARN_FOR, timedelta(seconds=_LEARN_WINDOWS * mesh.window_s))
    spike = [Statistic.MAX, Statistic.P50] if condition.kind is Kind.SPIKE else []
    statistics = dict.fromkeys([condition.statistic, *spike])
    series_by = {
        one: series(
            session, body.mesh_id, body.source_id, body.target_id, start - learn_for, end, Resolution.WINDOW, one
        )
        for one in statistics
    }
    rule = Rule("preview", body.name, condition, x=body.windows_x, y=body.windows_y,
                hold_s=body.hold_s, keep_firing_s=body.keep_firing_s)  # fmt: skip
    columns = {one: _column(time_series, condition.metric) for one, time_series in series_by.items()}
    points_at = next(iter(series_by.values())).points_at
    usual = _usual(session, body, condition, points_at)
    packets = mesh.rate_hz * mesh.flows * mesh.window_s
    values, limits, firing = evaluated(rule, columns, usual, mesh.window_s, packets)
    first = next((at for at, one in enumerate(points_at) if one >= start), len(points_at))
    return RulePreview(
        points_at=points_at[first:],
        values=_nullable(values[first:]),
        limits=_nullable(limits[first:]),
        firing=firing[first:].tolist(),
        notes=_notes(body, condition, usual),
    )


def _usual(
    session: Session, body: RulePreviewCreate, condition: Condition, points_at: Sequence[datetime]
) -> list[Season | None]:
    """Return the usual value of the path at the hour of the week of each window."""
    if condition.kind is not Kind.BASELINE or not points_at:
        return [None] * len(points_at)
    first = floor(points_at[0], _HOUR_S) - timedelta(weeks=seasons.WEEKS, hours=1)
    time_series = series(
        session,
        body.mesh_id,
        body.source_id,
        body.target_id,
        first,
        points_at[-1],
        Resolution.HOUR,
        condition.statistic,
    )
    column = _column(time_series, condition.metric)
    values = np.abs(column) if condition.metric is Metric.ASYMMETRY else column
    hours = dict(zip(time_series.points_at, values.tolist(), strict=True))
    by_hour = {hour: seasons.season_of_path(hours, hour) for hour in {floor(at, _HOUR_S) for at in points_at}}
    return [by_hour[floor(at, _HOUR_S)] for at in points_at]


def _notes(body: RulePreviewCreate, condition: Condition, usual: Sequence[Season | None]) -> list[str]:
    """Return notes on what a single path cannot show."""
    notes = []
    if body.sources_min > 1:
        notes.append(
            f"Needs {body.sources_min} VMs: the rule creates an incident only if {body.sources_min} VMs see the breach."
        )
    if condition.kind is Kind.LOSS:
        notes.append("Packets sent are computed from the rate of the mesh; evaluation counts them.")
    if condition.kind is Kind.SPIKE:
        notes.append("One path: evaluation also compares it with the usual spikes of its pair of zones.")
    if condition.timescale is Timescale.LONG:
        notes.append("Shorter baseline: the preview learns from the hours before the range, evaluation from days.")
    if condition.kind is Kind.BASELINE and not any(usual):
        weeks = f"{seasons.WEEKS_MIN} of the last {seasons.WEEKS} weeks"
        notes.append(f"No weekly baseline: {weeks} have no data for this hour.")
    return notes


def evaluated(
    rule: Rule, columns: dict[Statistic, Floats], usual: Sequence[Season | None], window_s: int, packets: int = 0
) -> tuple[Floats, Floats, np.ndarray]:
    """Return value, limit and firing by window, computed as evaluation does for a single path.

    `packets`: packets sent in a window, for conditions that count them.
    """
    condition, m_of_n = rule.condition, rule.m_of_n(window_s)
    baseline = Baseline.new((1,)) if condition.kind is Kind.BASELINE else None
    rises = Baseline.new((1,)) if condition.kind is Kind.SPIKE else None
    counts = LossCounts.new(1, 1) if condition.kind is Kind.LOSS else None
    recurring = Recurring.new((1,)) if condition.recurs else None
    rule_state, size = RuleState.new((1,)), next(iter(columns.values())).size
    shown, limits = np.full((2, size), np.nan, np.float32)
    firing = np.zeros(size, np.bool_)
    for at in range(size):

        def values(_: Metric, statistic: Statistic, at: int = at) -> Floats:
            return columns[statistic][at : at + 1]

        compared = Statistic.MAX if condition.kind is Kind.SPIKE else condition.statistic
        if counts is not None:
            sent = np.full((1, 1), packets, np.float32)
            lost = np.rint(sent * values(condition.metric, condition.statistic))
            counts.add(sent, lost, (at + 1) * window_s, condition.over_s)
        history = BreachHistory(baseline, usual[at], rises, counts)
        shown[at] = magnitude(condition.metric, compared, values)[0] if counts is None else counts.ratio()[0, 0]
        limits[at] = limit(condition, values, history).flat[0]
        breaches = breaches_of(condition, values, history)
        known, breach = breaches.known.reshape(-1), breaches.breach.reshape(-1)
        if recurring is not None:
            breach, _ = recurring.step(breach, known, condition.over_s, window_s)
        rule_state.step(breach & known, known, m_of_n)
        firing[at] = rule_state.firing[0]
        if rises is not None:
            rises.learn(rise_of(condition, values))
        if baseline is not None:
            seen = magnitude(condition.metric, condition.statistic, values)
            baseline.learn(seen, floor=least_spread(condition.metric))
    return shown, limits, firing


def _column(time_series: SeriesRead, metric: Metric) -> Floats:
    """Return one value per window, NaN where unknown."""
    outbound = time_series.outbound
    if metric is Metric.ASYMMETRY:
        return _floats(outbound.delay_ns) - _floats(time_series.inbound.delay_ns)
    column: Sequence[float | None] = outbound.delay_ns
    if metric is Metric.ROUND_TRIP:
        column = time_series.round_trip.delay_ns
    elif metric is Metric.LOSS:
        column = outbound.loss
    elif metric is Metric.CLOCK_ERROR:
        column = outbound.clock_error_ns
    return _floats(column)


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if one is None else one for one in values], np.float32)


def _nullable(values: Floats) -> list[float | None]:
    return [None if np.isnan(one) else float(one) for one in values]
