"""A rule on one path, window by window: what it compares, with which limit, and when it would fire."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.detection import seasons
from sinemora.alerts.detection.schemas import RulePreview, RulePreviewCreate
from sinemora.alerts.evaluation.baseline import LEARNT_LONG, Baseline, Floats
from sinemora.alerts.evaluation.breach import Season, judge, least_spread, limit, magnitude
from sinemora.alerts.evaluation.rule import Condition, Kind, Rule, Timescale
from sinemora.alerts.evaluation.rule_state import RuleState
from sinemora.alerts.rules.load import condition_of
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.paths import series
from sinemora.measurements.schemas import Resolution, SeriesRead
from sinemora.measurements.store.tiers import floor
from sinemora.meshes.service import get_mesh

_DRAWN = (Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP, Metric.LOSS, Metric.CLOCK_ERROR, Metric.ASYMMETRY)
# Baselines learn from what was before the range that is shown: an hour, and enough for their memory of days to speak.
_LEARNS, _LEARNT = timedelta(hours=1), LEARNT_LONG + 60
_HOUR_S = 3600


def preview(session: Session, body: RulePreviewCreate) -> RulePreview:
    """Go through the windows of a path. ProductError `mesh_unknown`, `path_unknown`, `preview_unsupported`."""
    mesh = get_mesh(session, body.mesh_id)
    condition = condition_of(body.condition.model_dump(mode="json"))
    if condition.kind in (Kind.SILENT, Kind.PERFORMANCE) or condition.metric not in _DRAWN:
        raise ProductError(
            "preview_unsupported", 422, f"A condition of kind {condition.kind} on {condition.metric} has no course."
        )
    end = datetime.now(UTC)
    start = end - timedelta(hours=body.hours)
    learns = max(_LEARNS, timedelta(seconds=_LEARNT * mesh.window_s)) if condition.kind is Kind.BASELINE else _LEARNS
    asked = dict.fromkeys([condition.statistic, *([Statistic.MAX, Statistic.P50] * (condition.kind is Kind.SPIKE))])
    courses = {
        one: series(session, body.mesh_id, body.source_id, body.target_id, start - learns, end, Resolution.WINDOW, one)
        for one in asked
    }
    rule = Rule("tried", body.name, condition, x=body.windows_x, y=body.windows_y,
                hold_s=body.hold_s, keep_firing_s=body.keep_firing_s)  # fmt: skip
    columns = {one: _column(course, condition.metric) for one, course in courses.items()}
    points_at = next(iter(courses.values())).points_at
    ordinary = _ordinary(session, body, condition, points_at)
    shown, limits, firing = evaluated(rule, columns, ordinary, mesh.window_s)
    first = next((at for at, one in enumerate(points_at) if one >= start), len(points_at))
    return RulePreview(
        points_at=points_at[first:],
        values=_told(shown[first:]),
        limits=_told(limits[first:]),
        firing=firing[first:].tolist(),
        notes=_notes(body, condition, ordinary),
    )


def _ordinary(
    session: Session, body: RulePreviewCreate, condition: Condition, points_at: Sequence[datetime]
) -> list[Season | None]:
    """Return the usual value of the path at the hour of the week of each window."""
    if condition.kind is not Kind.BASELINE or not points_at:
        return [None] * len(points_at)
    first = floor(points_at[0], _HOUR_S) - timedelta(weeks=seasons.WEEKS, hours=1)
    course = series(
        session,
        body.mesh_id,
        body.source_id,
        body.target_id,
        first,
        points_at[-1],
        Resolution.HOUR,
        condition.statistic,
    )
    column = _column(course, condition.metric)
    values = np.abs(column) if condition.metric is Metric.ASYMMETRY else column
    hours = dict(zip(course.points_at, values.tolist(), strict=True))
    found = {hour: seasons.season_of_path(hours, hour) for hour in {floor(at, _HOUR_S) for at in points_at}}
    return [found[floor(at, _HOUR_S)] for at in points_at]


def _notes(body: RulePreviewCreate, condition: Condition, ordinary: Sequence[Season | None]) -> list[str]:
    """Return in words what a single path cannot show."""
    found = []
    if body.sources_min > 1:
        found.append(f"It is an incident only where {body.sources_min} VMs see it: one path alone does not tell.")
    if condition.timescale is Timescale.LONG:
        found.append("Evaluation remembers days; here what is usual for days is learnt from the hours before.")
    if condition.kind is Kind.BASELINE and not any(ordinary):
        weeks = f"{seasons.WEEKS_MIN} of the last {seasons.WEEKS} weeks"
        found.append(f"Nothing is known of this hour in {weeks}: no season is taken into account.")
    return found


def evaluated(
    rule: Rule, columns: dict[Statistic, Floats], ordinary: Sequence[Season | None], window_s: int
) -> tuple[Floats, Floats, np.ndarray]:
    """Return value, limit and firing by window, as evaluation does it for a single path."""
    condition, m_of_n = rule.condition, rule.m_of_n(window_s)
    baseline = Baseline.new((1,)) if condition.kind is Kind.BASELINE else None
    rule_state, size = RuleState.new((1,)), next(iter(columns.values())).size
    shown, limits = np.full((2, size), np.nan, np.float32)
    firing = np.zeros(size, np.bool_)
    for at in range(size):

        def values(_: Metric, statistic: Statistic, at: int = at) -> Floats:
            return columns[statistic][at : at + 1]

        what = Statistic.MAX if condition.kind is Kind.SPIKE else condition.statistic
        shown[at] = magnitude(condition.metric, what, values)[0]
        limits[at] = limit(condition, values, baseline, ordinary[at])[0]
        judged = judge(condition, values, baseline, ordinary[at])
        rule_state.step(judged.breach & judged.known, judged.known, m_of_n)
        firing[at] = rule_state.firing[0]
        if baseline is not None:
            seen = magnitude(condition.metric, condition.statistic, values)
            baseline.learn(seen, floor=least_spread(condition.metric))
    return shown, limits, firing


def _column(course: SeriesRead, metric: Metric) -> Floats:
    """Return one number a window, NaN where there is none."""
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
