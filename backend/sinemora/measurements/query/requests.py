"""Queries of a mesh's measurements: parameters of a request, and of the job that it may become."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from sinemora.kit.schemas import DISTINCT, Write
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.codec.flows import Flows
from sinemora.measurements.query.tables import Format
from sinemora.measurements.schemas import DEVIATION, By, MatrixMetric

SELECTIONS_MAX = 200
# Half the circumference of the Earth is 20,015 km; a length of fibre may be more.
DISTANCE_KM_MAX = 50_000
Selections = Annotated[
    list[str],
    Field(
        min_length=1,
        max_length=SELECTIONS_MAX,
        description="`mesh`, `path:SOURCE_VM_ID:TARGET_VM_ID`, `zones:SOURCE_ZONE_ID:TARGET_ZONE_ID`, or all paths of a"
        " VM: `from:VM_ID`, `to:VM_ID`; repeatable",
    ),
]
At = Annotated[datetime | None, Field(description="With zone, as in 2026-11-20T10:00:00Z; null is as if absent")]


class Order(StrEnum):
    """Kind of difference: in the unit of the values, or in percent."""

    ABSOLUTE = "absolute"
    PERCENT = "percent"


class Interval(StrEnum):
    """Interval of counting."""

    MINUTE = "1m"
    TEN_MINUTES = "10m"
    HOUR = "1h"
    DAY = "1d"

    @property
    def seconds(self) -> int:
        """Return its length, s."""
        return {"1m": 60, "10m": 600, "1h": 3600, "1d": 86_400}[self]


class RangeRequest(Write):
    """Query of a time range."""

    from_: At = Field(None, alias="from")
    to: At = None

    model_config = ConfigDict(populate_by_name=True)


class QueryRequest(RangeRequest):
    """Query of a time range (default: the last hour). `format` takes precedence over the `Accept` header."""

    format: Format | None = None


class PathsRequest(QueryRequest):
    """Query of all paths, one value each."""

    by: By = By.VM
    statistic: Annotated[
        Statistic, Field(description="Ignored for loss, clock error and deviation, which have one value")
    ] = Statistic.P50


class MatrixRequest(PathsRequest):
    """Query of a matrix of all paths. Without `from` and `to`: the newest window of each path.

    The metric `deviation` is the one-way p50 minus its baseline at the start of the window or range; over more than an
    hour, that of the worst hour of each path, minus the median of all hours (of 14 days or more).
    """

    metric: MatrixMetric = Metric.ONE_WAY_DELAY
    more: Annotated[
        list[Statistic],
        Field(max_length=7, description="Further statistics of the same windows, repeatable"),
        *DISTINCT,
    ] = []  # noqa: RUF012
    flows: Annotated[
        Flows,
        Field(
            description="`slowest`: percentiles are at least the median of the slowest source port of each path; for a"
            " round trip, the sum of both directions. Only for delays between VMs"
        ),
    ] = Flows.ALL
    estimates: Annotated[
        bool,
        Field(
            description="Estimate paths that could be measured and have no window from the measured ones, with an"
            " interval. Only delays between VMs"
        ),
    ] = False

    @property
    def of_windows(self) -> Metric:
        """Metric of the windows: deviations are of one-way delays."""
        return Metric.ONE_WAY_DELAY if self.metric == DEVIATION else self.metric

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """All statistics, `statistic` first: deviations are of p50."""
        return (Statistic.P50,) if self.metric == DEVIATION else (self.statistic, *self.more)


class DeviationRequest(RangeRequest):
    """Query of deviations, as of a matrix of them."""

    by: By = By.VM

    def of(self, metric: MatrixMetric) -> MatrixRequest:
        """Return the query of a matrix of the same windows."""
        return MatrixRequest(by=self.by, from_=self.from_, to=self.to, metric=metric)


class DeviationsRequest(DeviationRequest):
    """Query of the largest deviations."""

    limit: Annotated[int, Field(ge=1, le=50)] = 20


class ComparisonRequest(PathsRequest):
    """Comparison of all paths with a base range (default: the preceding range of equal length)."""

    metric: Metric = Metric.ONE_WAY_DELAY
    base_from: At = None
    base_to: At = None
    difference: Annotated[Order, Field(description="Difference in the binary format")] = Order.ABSOLUTE


class SeriesRequest(QueryRequest):
    """Query of time series of selections."""

    selections: Selections = ["mesh"]  # noqa: RUF012
    metric: Metric = Metric.ONE_WAY_DELAY
    statistics: Annotated[list[Statistic], Field(min_length=1, max_length=len(Statistic)), *DISTINCT] = [Statistic.P50]  # noqa: RUF012
    points: Annotated[
        int, Field(ge=2, le=20_000, description="Maximum number of steps; the finest possible step is used")
    ] = 1_000


class DelaysRequest(QueryRequest):
    """Query of all delays of selections."""

    selections: Selections = ["mesh"]  # noqa: RUF012
    metric: Literal[Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP] = Metric.ONE_WAY_DELAY


class DistributionRequest(DelaysRequest):
    """Query of the distributions of selections."""

    over_ns: Annotated[
        int, Field(ge=1, le=60_000_000_000, description="Limit over which delays and spikes are counted, ns")
    ] = 500_000


class LatencyBudgetsRequest(DelaysRequest):
    """Query of latency budgets: for several paths, of the median over them."""

    distance_km: Annotated[
        float | None,
        Field(
            ge=0,
            le=DISTANCE_KM_MAX,
            description="Great-circle distance between the ends, or length of the fibre. Without it, propagation is not"
            " separated from processing",
        ),
    ] = None


class VariabilityRequest(DelaysRequest):
    """Query of the distribution of the standard deviations of paths within intervals."""

    intervals: Annotated[
        list[Literal[Interval.MINUTE, Interval.TEN_MINUTES, Interval.HOUR]], Field(min_length=1), *DISTINCT
    ] = [  # noqa: RUF012
        Interval.MINUTE,
        Interval.TEN_MINUTES,
        Interval.HOUR,
    ]


class LossRequest(QueryRequest):
    """Query of loss by hour or day."""

    selections: Selections = ["mesh"]  # noqa: RUF012
    interval: Literal[Interval.HOUR, Interval.DAY] = Interval.HOUR


class WindowsRequest(QueryRequest):
    """Export of all windows of paths as rows."""

    selections: Selections = ["mesh"]  # noqa: RUF012
    metric: Literal[Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP] = Metric.ONE_WAY_DELAY
    merged: Annotated[bool, Field(description="Minutes instead of windows")] = False


class SpikesRequest(QueryRequest):
    """Query of spikes of delay; without filters, of the whole mesh."""

    source_vm_id: UUID | None = None
    target_vm_id: UUID | None = None
    source_zone_id: UUID | None = None
    target_zone_id: UUID | None = None
    rise_ns_min: Annotated[int, Field(ge=0, description="Smallest rise above the median")] = 0


class SpikesPageRequest(SpikesRequest):
    """Query of a page of spikes."""

    limit: Annotated[int, Field(ge=1, le=500, description="Items per page")] = 100
    cursor: Annotated[str | None, Field(description="`next_cursor` of the previous page")] = None


REQUESTS: dict[str, type[QueryRequest]] = {
    "matrix": MatrixRequest,
    "comparison": ComparisonRequest,
    "series": SeriesRequest,
    "distribution": DistributionRequest,
    "latency-budgets": LatencyBudgetsRequest,
    "variability": VariabilityRequest,
    "losses": LossRequest,
    "windows": WindowsRequest,
    "spikes": SpikesRequest,
}
"""Queries by name; jobs store the name."""
