"""Shapes of answers on the wire. Null is "no value", never zero."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from sinemora.kit.schemas import Read
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.requests import Interval
from sinemora.measurements.schemas import Axis, By, PathEnd, Span, StateName

Unit = Literal["ns", "ratio"]
Number = int | float | None


class ComparisonRead(Read):
    """Two matrices of the same axis and their difference: `values` less `base_values`. Tables are [source][target].

    `percent` is the difference by the base value, null where that is zero.
    """

    mesh_id: UUID
    revision: int
    by: By
    metric: Metric
    statistic: Statistic
    unit: Unit
    window: Span
    base_window: Span
    axis: list[Axis]
    values: list[list[Number]]
    base_values: list[list[Number]]
    difference: list[list[Number]]
    percent: list[list[float | None]]
    clock_error_ns: list[list[int | None]]
    states: list[list[StateName]]


class Mover(Read):
    """A path, or two zones, and how it changed. `beyond_clock_error`: the clocks alone cannot explain the change."""

    source: Axis
    target: Axis
    value: int | float
    base_value: int | float
    difference: int | float
    percent: float | None
    clock_error_ns: int | None
    beyond_clock_error: bool | None


class MoversRead(Read):
    """Those that changed most, first; `compared` is how many have a value in both ranges."""

    mesh_id: UUID
    by: By
    metric: Metric
    statistic: Statistic
    unit: Unit
    window: Span
    base_window: Span
    compared: int
    items: list[Mover]


class SeriesItem(Read):
    """One selection over time, a value per step. `values` by statistic."""

    selection: str
    title: str
    values: dict[Statistic, list[Number]]
    clock_error_ns: list[int | None]
    loss: list[float | None]
    count: list[int]


class ManySeriesRead(Read):
    """Selections over time; `points_at` are the starts of the steps of `resolution_s` seconds."""

    mesh_id: UUID
    metric: Metric
    unit: Unit
    window: Span
    resolution_s: int
    points_at: list[datetime]
    items: list[SeriesItem]


class BinsRead(Read):
    """A histogram of the bins that hold something: values in [low, high); `cumulative` is the share below `high`."""

    low: list[int]
    high: list[int]
    count: list[int]
    cumulative: list[float]


class DistributionItem(Read):
    """All delays of one selection; everything but `count` is null when there are none."""

    selection: str
    title: str
    count: int
    min_ns: int | None
    mean_ns: int | None
    max_ns: int | None
    sd_ns: int | None
    quantiles_ns: dict[str, int | None]
    clock_error_ns: int | None
    bins: BinsRead


class DistributionRead(Read):
    """Distributions of delays, ns."""

    mesh_id: UUID
    metric: Metric
    window: Span
    items: list[DistributionItem]


class VariabilityInterval(Read):
    """Standard deviations within intervals of one length: `count` of them, one per path and interval."""

    interval: Interval
    count: int
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    bins: BinsRead


class VariabilityItem(Read):
    """One selection."""

    selection: str
    title: str
    intervals: list[VariabilityInterval]


class VariabilityRead(Read):
    """How much delay varies within a minute, ten minutes, an hour."""

    mesh_id: UUID
    metric: Metric
    window: Span
    items: list[VariabilityItem]


class LossItem(Read):
    """One selection: packets by interval, and how the ratios of single paths and intervals are distributed."""

    selection: str
    title: str
    sent: list[int | None]
    lost: list[int | None]
    ratio: list[float | None]
    sent_total: int | None
    lost_total: int | None
    ratio_total: float | None
    path_intervals: int
    lossless_share: float | None
    ratio_p50: float | None
    ratio_p99: float | None
    ratio_max: float | None


class LossRead(Read):
    """Loss over time, by interval of `interval`."""

    mesh_id: UUID
    interval: Interval
    window: Span
    points_at: list[datetime]
    items: list[LossItem]


class SpikeRead(Read):
    """A window whose largest delay stood out: `rise_ns` above its median."""

    id: str
    source: PathEnd
    target: PathEnd
    started_at: datetime
    window_s: int
    max_ns: int
    median_ns: int
    rise_ns: int


class SpikeEvidence(SpikeRead):
    """A spike with the exchanges around it; `outbound_ns` is source to target. Times are from `started_at`."""

    at_ns: list[int]
    outbound_ns: list[int]
    inbound_ns: list[int]
