"""What can be asked of a mesh's measurements: parameters of a request, and of the job it may become."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.kit.schemas import Write
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.codec.flows import Flows
from sinemora.measurements.query.tables import Format
from sinemora.measurements.schemas import By

SELECTIONS_MAX = 200
Selections = Annotated[
    list[str],
    Field(
        min_length=1,
        max_length=SELECTIONS_MAX,
        description="`mesh`, `path:SOURCE_VM_ID:TARGET_VM_ID`, `zones:SOURCE_ZONE_ID:TARGET_ZONE_ID`; repeatable",
    ),
]
At = Annotated[datetime | None, Field(description="With zone, as in 2026-11-20T10:00:00Z")]


class Order(StrEnum):
    """What makes one mover greater than another."""

    ABSOLUTE = "absolute"
    PERCENT = "percent"


class Interval(StrEnum):
    """A stretch of time by which something is counted."""

    MINUTE = "1m"
    TEN_MINUTES = "10m"
    HOUR = "1h"
    DAY = "1d"

    @property
    def seconds(self) -> int:
        """Its length."""
        return {"1m": 60, "10m": 600, "1h": 3600, "1d": 86_400}[self]


class QueryRequest(Write):
    """A range of time, an hour until now by default, and the format of the answer (else the `Accept` header says)."""

    from_: At = Field(None, alias="from")
    to: At = None
    format: Format | None = None

    model_config = Write.model_config | {"populate_by_name": True}


class PathsRequest(QueryRequest):
    """Every path at once, one number each."""

    by: By = By.VM
    metric: Metric = Metric.ONE_WAY_DELAY
    statistic: Annotated[Statistic, Field(description="Loss and clock error have one number and ignore it")] = (
        Statistic.P50
    )


class MatrixRequest(PathsRequest):
    """Every path at once. Without `from` and `to`: the newest window of each path."""

    more: Annotated[
        list[Statistic],
        Field(max_length=7, description="Further statistics of the same windows, repeatable; read and merged once"),
    ] = []  # noqa: RUF012
    flows: Annotated[
        Flows,
        Field(
            description="`slowest`: percentiles no smaller than the median of the slowest source port of each path, of"
            " a round trip those of both ways together. Only for delays between VMs"
        ),
    ] = Flows.ALL


class ComparisonRequest(PathsRequest):
    """Every path in a range against a base range (by default the one of equal length just before)."""

    base_from: At = None
    base_to: At = None
    difference: Annotated[Order, Field(description="What the binary form holds")] = Order.ABSOLUTE


class MoversRequest(ComparisonRequest):
    """The paths that changed most between two ranges."""

    statistic: Statistic = Statistic.P99
    order: Order = Order.ABSOLUTE
    limit: Annotated[int, Field(ge=1, le=1000)] = 20


class SeriesRequest(QueryRequest):
    """Values over time, of many selections at once."""

    selections: Selections = ["mesh"]  # noqa: RUF012
    metric: Metric = Metric.ONE_WAY_DELAY
    statistics: Annotated[list[Statistic], Field(min_length=1, max_length=8)] = [Statistic.P50]  # noqa: RUF012
    points: Annotated[
        int, Field(ge=2, le=20_000, description="At most so many steps; the finest that fits is taken")
    ] = 1_000


class DistributionRequest(QueryRequest):
    """All values of selections as distributions."""

    selections: Selections = ["mesh"]  # noqa: RUF012
    metric: Literal[Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP] = Metric.ONE_WAY_DELAY


class VariabilityRequest(DistributionRequest):
    """How the standard deviation of each path within intervals is distributed."""

    intervals: Annotated[list[Literal[Interval.MINUTE, Interval.TEN_MINUTES, Interval.HOUR]], Field(min_length=1)] = [  # noqa: RUF012
        Interval.MINUTE,
        Interval.TEN_MINUTES,
        Interval.HOUR,
    ]


class LossRequest(QueryRequest):
    """Loss by hour or day."""

    selections: Selections = ["mesh"]  # noqa: RUF012
    interval: Literal[Interval.HOUR, Interval.DAY] = Interval.HOUR


class WindowsRequest(QueryRequest):
    """Every window of every path, as rows: the export of what was measured."""

    selections: Selections = ["mesh"]  # noqa: RUF012
    metric: Literal[Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP] = Metric.ONE_WAY_DELAY
    merged: Annotated[bool, Field(description="By minute instead of by window")] = False


class SpikesRequest(QueryRequest):
    """Sudden rises of delay; without filters those of the whole mesh."""

    source_vm_id: UUID | None = None
    target_vm_id: UUID | None = None
    source_zone_id: UUID | None = None
    target_zone_id: UUID | None = None
    rise_ns_min: Annotated[int, Field(ge=0, description="At least so far above the median")] = 0


class SpikesPageRequest(SpikesRequest):
    """Some of them."""

    limit: Annotated[int, Field(ge=1, le=500, description="Items per page")] = 100
    cursor: Annotated[str | None, Field(description="`next_cursor` of the page before")] = None


REQUESTS: dict[str, type[QueryRequest]] = {
    "matrix": MatrixRequest,
    "comparison": ComparisonRequest,
    "movers": MoversRequest,
    "series": SeriesRequest,
    "distribution": DistributionRequest,
    "variability": VariabilityRequest,
    "losses": LossRequest,
    "windows": WindowsRequest,
    "spikes": SpikesRequest,
}
"""Questions by name, as jobs know them."""
