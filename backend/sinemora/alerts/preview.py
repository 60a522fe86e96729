"""A rule on one path, window by window: what it compares, with which limit, and when it would fire."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts import world
from sinemora.alerts.evaluation.baseline import Baseline, Floats
from sinemora.alerts.evaluation.judge import judge, least_spread, limit, magnitude
from sinemora.alerts.evaluation.rule import Kind, Rule
from sinemora.alerts.evaluation.standing import Standing
from sinemora.alerts.schemas import RulePreview, RulePreviewCreate
from sinemora.kit.errors import ProductError
from sinemora.measurements.matrix import Metric, Statistic
from sinemora.measurements.paths import series
from sinemora.measurements.schemas import Resolution, SeriesRead
from sinemora.meshes.service import get_mesh

_DRAWN = (Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP, Metric.LOSS, Metric.CLOCK_ERROR, Metric.ASYMMETRY)
# Baselines learn from what was before the range that is shown.
_LEARNS = timedelta(hours=1)


def preview(session: Session, body: RulePreviewCreate) -> RulePreview:
    """Go through the windows of a path. ProductError `mesh_unknown`, `path_unknown`, `preview_unsupported`."""
    mesh = get_mesh(session, body.mesh_id)
    condition = world.condition_of(body.condition.model_dump(mode="json"))
    if condition.kind in (Kind.SILENT, Kind.PERFORMANCE) or condition.metric not in _DRAWN:
        raise ProductError(
            "preview_unsupported", 422, f"A condition of kind {condition.kind} on {condition.metric} has no course."
        )
    end = datetime.now(UTC)
    start = end - timedelta(hours=body.hours)
    asked = dict.fromkeys([condition.statistic, *([Statistic.MAX, Statistic.P50] * (condition.kind is Kind.SPIKE))])
    courses = {
        one: series(session, body.mesh_id, body.source_id, body.target_id, start - _LEARNS, end, Resolution.WINDOW, one)
        for one in asked
    }
    rule = Rule("tried", body.name, condition, x=body.windows_x, y=body.windows_y,
                hold_s=body.hold_s, keep_firing_s=body.keep_firing_s)  # fmt: skip
    columns = {one: _column(course, condition.metric) for one, course in courses.items()}
    shown, limits, firing = _evaluated(rule, columns, mesh.window_s)
    points_at = next(iter(courses.values())).points_at
    first = next((at for at, one in enumerate(points_at) if one >= start), len(points_at))
    return RulePreview(
        points_at=points_at[first:],
        values=_told(shown[first:]),
        limits=_told(limits[first:]),
        firing=firing[first:].tolist(),
    )


def _evaluated(rule: Rule, columns: dict[Statistic, Floats], window_s: int) -> tuple[Floats, Floats, np.ndarray]:
    """What is compared, the limit, and whether the rule fires, by window; as evaluation does it, for a single path."""
    condition, patience = rule.condition, rule.patience(window_s)
    baseline = Baseline.new((1,)) if condition.kind is Kind.BASELINE else None
    standing, size = Standing.new((1,)), next(iter(columns.values())).size
    shown, limits = np.full((2, size), np.nan, np.float32)
    firing = np.zeros(size, np.bool_)
    for at in range(size):

        def values(_: Metric, statistic: Statistic, at: int = at) -> Floats:
            return columns[statistic][at : at + 1]

        what = Statistic.MAX if condition.kind is Kind.SPIKE else condition.statistic
        shown[at] = magnitude(condition.metric, what, values)[0]
        limits[at] = limit(condition, values, baseline)[0]
        judged = judge(condition, values, baseline)
        standing.step(judged.breach & judged.known, judged.known, patience)
        firing[at] = standing.firing[0]
        if baseline is not None:
            seen = magnitude(condition.metric, condition.statistic, values)
            baseline.learn(seen, floor=least_spread(condition.metric))
    return shown, limits, firing


def _column(course: SeriesRead, metric: Metric) -> Floats:
    """One number a window, NaN where there is none."""
    outbound = course.outbound
    if metric is Metric.ASYMMETRY:
        return _floats(outbound.delay_ns) - _floats(course.inbound.delay_ns)
    found: Sequence[float | None] = outbound.delay_ns
    if metric is Metric.ROUND_TRIP:
        found = course.round_trip.delay_ns
    elif metric is Metric.LOSS:
        found = outbound.loss
    elif metric is Metric.CLOCK_ERROR:
        found = outbound.clock_error_ns
    return _floats(found)


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if one is None else one for one in values], np.float32)


def _told(values: Floats) -> list[float | None]:
    return [None if np.isnan(one) else float(one) for one in values]
