"""JSON schemas of latency budgets."""

from datetime import date
from uuid import UUID

from sinemora.kit.schemas import Read
from sinemora.measurements.aggregate.matrix import Metric
from sinemora.measurements.latency_budget.published import PathClass
from sinemora.measurements.latency_budget.reference import BudgetVerdict, Component
from sinemora.measurements.latency_budget.split import Cause, Separation
from sinemora.measurements.schemas import Span


class BoundedDelay(Read):
    """Delay with bounds by the clock error and, of percentiles, by the resolution of the stored distribution."""

    delay_ns: int
    low_ns: int
    high_ns: int


class ShareRead(BoundedDelay):
    """Part of a delay. Its `delay_ns` adds up with those of the other shares; no bound is below zero."""

    cause: Cause


class PartsRead(BoundedDelay):
    """Delay and its shares, which add up to `delay_ns` exactly."""

    shares: list[ShareRead]


class BudgetReferenceRead(Read):
    """Published contribution of a component, for the ways of the metric. It was not measured here."""

    component: Component
    low_ns: int
    high_ns: int
    source: str


class PublishedTrace(Read):
    """Delays of one trace between two VMs of a public cloud, for the ways of the metric."""

    name: str
    started_on: date
    messages_per_second: int
    mean_ns: int
    p50_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int
    sd_ns: int


class VmWaits(Read):
    """Waits in the VMs at the ends, which the delays do not hold, in an ordinary window; null is not reported."""

    sending_p50_ns: int | None
    sending_p99_ns: int | None
    receiving_p50_ns: int | None
    receiving_p99_ns: int | None


class LatencyBudgetItem(Read):
    """Latency budget of a selection; of several paths, each figure is the lower median over the `paths` with delays."""

    selection: str
    title: str
    paths: int
    count: int
    clock_error_ns: int | None
    separation: Separation | None
    base: PartsRead | None
    p50: PartsRead | None
    p99: PartsRead | None
    base_verdict: BudgetVerdict | None
    provider: str | None
    path_class: PathClass | None
    published: list[PublishedTrace]
    vm_waits: VmWaits | None


class LatencyBudgetsRead(Read):
    """Latency budgets of selections, ns."""

    mesh_id: UUID
    metric: Metric
    window: Span
    distance_km: float | None
    reference: list[BudgetReferenceRead]
    reference_source: str
    published_source: str
    items: list[LatencyBudgetItem]
