"""JSON schemas of responses to queries. Null means no value, never zero."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from sinemora.kit.schemas import Read
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.requests import Interval
from sinemora.measurements.schemas import Axis, BasisName, By, DeviationState, PathEnd, Span, StateName

Unit = Literal["ns", "ratio"]
Number = int | float | None


class ComparisonRead(Read):
    """Two matrices with one axis and their difference, `values` - `base_values`. Tables are [source][target]."""

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


class DeviationRead(Read):
    """Deviation of a path's or zone pair's one-way p50 from its baseline; null where it is not known.

    Of a range longer than an hour it is that of the worst hour, which began at `worst_hour_at`.
    """

    source: Axis
    target: Axis
    state: DeviationState
    value_ns: int | None
    baseline_ns: int | None
    deviation_ns: int | None
    dead_band_ns: int | None
    clock_error_ns: int | None
    basis: BasisName | None
    steps: int
    is_unusual: bool | None
    worst_hour_at: datetime | None
    unusual_s: int | None


class StepsRead(Read):
    """One-way p50 of a path by step, oldest first, null where a step has none; `points_at` are their starts."""

    points_at: list[datetime]
    delay_ns: list[int | None]


class UnusualSince(Read):
    """Time since which a path or zone pair is unusual."""

    onset_at: datetime
    is_onset_known: bool
    last_hour: StepsRead


class UnusualRead(DeviationRead, UnusualSince):
    """Unusual path or zone pair.

    `alike`: further unusual paths that it stands for, since they share its VMs or its pair of zones.
    """

    alike: int


class LosingPath(Read):
    """Path or zone pair with the share of packets that it lost in its newest window."""

    source: Axis
    target: Axis
    loss: float


class DeviationsRead(Read):
    """Unusual paths or zone pairs, worst first."""

    mesh_id: UUID
    revision: int
    by: By
    window: Span
    compared: int
    unusual: int
    no_baseline: int
    basis: dict[BasisName, int]
    items: list[UnusualRead]
    losing: int
    losses: list[LosingPath]


class VmPath(DeviationRead):
    """Path at one end of which the VM is, with the share of packets lost; null while unknown."""

    loss: float | None
    since: UnusualSince | None


class VmDirection(Read):
    """Paths from (or to) a VM."""

    paths: int
    measured: int
    lost: int
    unusual: int
    lossy: int
    median_ns: int | None
    worst: list[VmPath]


class VmMesh(Read):
    """Paths of a VM in one mesh. `clock_error_ns`: median over its outbound paths."""

    mesh: Axis
    ended_at: datetime | None
    clock_error_ns: int | None
    outbound: VmDirection
    inbound: VmDirection


class VmPathsRead(Read):
    """Newest windows of the paths of a VM, mesh by mesh."""

    vm_id: UUID
    meshes: list[VmMesh]


class VmClock(Read):
    """Clock errors of the outbound paths of a VM in one mesh by step: median and largest."""

    mesh: Axis
    resolution_s: int
    points_at: list[datetime]
    paths: list[int]
    median_ns: list[int | None]
    largest_ns: list[int | None]


class VmClocksRead(Read):
    """Clock errors of a VM in a range, mesh by mesh. In meshes of many VMs, only of paths whose client is the VM."""

    vm_id: UUID
    window: Span
    meshes: list[VmClock]


class VmTrafficRead(Read):
    """Traffic of a VM's network interface in a range, by the kernel's counters of bytes and packets."""

    vm_id: UUID
    window: Span
    interface: str | None
    resolution_s: int
    points_at: list[datetime]
    sent_bit_per_s: list[float | None]
    received_bit_per_s: list[float | None]
    sent_packets_per_s: list[float | None]
    received_packets_per_s: list[float | None]
    peak_sent_bit_per_s: list[float | None]
    peak_received_bit_per_s: list[float | None]


class WaitSeries(Read):
    """One kind of wait over time, us: the largest median, 99th percentile and maximum of a window in each step."""

    count: list[int | None]
    p50_us: list[int | None]
    p99_us: list[int | None]
    max_us: list[int | None]


class StallRead(Read):
    """A moment in which the agent of a VM waited for a processor."""

    at: datetime
    length_us: int


class VmHostWaitsRead(Read):
    """Waiting on a VM itself in a range, by timestamps of its agent's own packets and counters of its kernel."""

    vm_id: UUID
    window: Span
    resolution_s: int
    points_at: list[datetime]
    wake: WaitSeries
    receive: WaitSeries
    send: WaitSeries
    queue: WaitSeries
    stalled_ratio: list[float | None]
    steal_ratio: list[float | None]
    pressure_ratio: list[float | None]
    throttled_ratio: list[float | None]
    softirq_squeezed: list[int | None]
    receive_drops: list[int | None]
    stalls: list[StallRead]


class SeriesItem(Read):
    """Time series of a selection, a value per step; `values` by statistic."""

    selection: str
    title: str
    values: dict[Statistic, list[Number]]
    clock_error_ns: list[int | None]
    loss: list[float | None]
    count: list[int]


class ManySeriesRead(Read):
    """Time series of selections; `points_at` are the starts of the steps of `resolution_s` seconds."""

    mesh_id: UUID
    metric: Metric
    unit: Unit
    window: Span
    resolution_s: int
    points_at: list[datetime]
    items: list[SeriesItem]


class BinsRead(Read):
    """Histogram of non-empty bins: values in [low, high); `cumulative` is the share below `high`."""

    low: list[int]
    high: list[int]
    count: list[int]
    cumulative: list[float]


class OverRead(Read):
    """Delays over a limit, wherever the median of their window is."""

    limit_ns: int
    count: int
    spikes: int


class DistributionItem(Read):
    """Distribution of the delays of a selection; without delays all fields but `count` are null."""

    selection: str
    title: str
    count: int
    min_ns: int | None
    mean_ns: int | None
    max_ns: int | None
    sd_ns: int | None
    quantiles_ns: dict[str, int | None]
    clock_error_ns: int | None
    over: OverRead
    bins: BinsRead


class DistributionRead(Read):
    """Distributions of delays, ns."""

    mesh_id: UUID
    metric: Metric
    window: Span
    items: list[DistributionItem]


class VariabilityInterval(Read):
    """Distribution of standard deviations within intervals of one length; `count` is paths times intervals."""

    interval: Interval
    count: int
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    bins: BinsRead


class VariabilityItem(Read):
    """Variability of a selection."""

    selection: str
    title: str
    intervals: list[VariabilityInterval]


class VariabilityRead(Read):
    """Variability of delay within a minute, ten minutes, an hour."""

    mesh_id: UUID
    metric: Metric
    window: Span
    items: list[VariabilityItem]


class LossItem(Read):
    """Loss of a selection: packets by interval, and the distribution of ratios over paths and intervals."""

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
    """Loss by `interval`."""

    mesh_id: UUID
    interval: Interval
    window: Span
    points_at: list[datetime]
    items: list[LossItem]


class SpikeRead(Read):
    """Spike: a window whose largest delay is `rise_ns` above its median."""

    id: str
    source: PathEnd
    target: PathEnd
    started_at: datetime
    window_s: int
    max_ns: int
    median_ns: int
    rise_ns: int


class SpikeEvidence(SpikeRead):
    """Spike with the exchanges around it; `outbound_ns` is source to target. Times are relative to `started_at`."""

    at_ns: list[int]
    outbound_ns: list[int]
    inbound_ns: list[int]
