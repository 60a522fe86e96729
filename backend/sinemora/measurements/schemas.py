"""JSON schemas of measurements. Null means no value, never zero; `state` gives the reason."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from sinemora.kit.schemas import Read
from sinemora.measurements.aggregate.baselines import Basis
from sinemora.measurements.aggregate.matrix import CellState, Metric, Statistic


class By(StrEnum):
    """Kind of the rows and columns of a matrix."""

    VM = "vm"
    ZONE = "zone"


class Resolution(StrEnum):
    """Length of a step of a series; `auto` selects the finest one that stays readable."""

    AUTO = "auto"
    WINDOW = "window"
    MINUTE = "1m"
    QUARTER = "15m"
    HOUR = "1h"
    DAY = "1d"


class TraceTimes(StrEnum):
    """Times of an imported trace: unchanged, or shifted by whole minutes so that it ends now."""

    KEEP = "keep"
    END_NOW = "end_now"


class StateName(StrEnum):
    """State of a path: `measured`; `not_planned`; `no_data` yet; `stale`: the agent is silent; `lost`: no response.

    `earlier`: measured in an earlier window of the period; its turn has not come again. `no_service`: cannot
    be measured, so that nothing is lost either; of zones if all of their paths have it.
    `estimated`: not measured; only where estimates are asked for.
    """

    measured = "measured"
    not_planned = "not_planned"
    no_data = "no_data"
    stale = "stale"
    lost = "lost"
    earlier = "earlier"
    no_service = "no_service"
    estimated = "estimated"


AsymmetrySource = Literal["assumed", "mesh", "hardware"]
"""Basis of the correction of a one-way delay."""

TimestampSource = Literal["user", "kernel", "hardware"]
"""Origin of packet timestamps: the agent after waking, the kernel at the driver, the network card at the wire."""

TIMESTAMP_SOURCES: tuple[TimestampSource, ...] = ("user", "kernel", "hardware")
SOURCE_NAMES: tuple[AsymmetrySource, ...] = ("assumed", "mesh", "hardware")
STATE_NAMES = {state: StateName(state.name.lower()) for state in CellState}

DeviationState = StateName | Literal["no_baseline"]
"""State of a deviation; `no_baseline`: measured, but too little is stored to say what is usual."""

DEVIATION_STATE_NAMES: tuple[DeviationState, ...] = (
    StateName.measured,
    StateName.not_planned,
    StateName.no_data,
    StateName.stale,
    StateName.lost,
    "no_baseline",
    StateName.earlier,
    StateName.estimated,
    StateName.no_service,
)
"""Names of the states by their codes in binary matrices."""

DEVIATION: Literal["deviation"] = "deviation"
"""Metric of matrices: one-way p50 minus its baseline."""

MatrixMetric = Metric | Literal["deviation"]

BasisName = Literal["same_hour", "last_day", "last_hour", "all_hours"]
"""Steps of a baseline: the same hour of the last 14 days, the last 24 hours, or minutes of the last hour; of a range
longer than an hour, its hours, at least those of 14 days."""

BASIS_NAMES: dict[Basis, BasisName] = {
    Basis.LAST_HOUR: "last_hour",
    Basis.LAST_DAY: "last_day",
    Basis.SAME_HOUR: "same_hour",
    Basis.ALL_HOURS: "all_hours",
}


class Span(Read):
    """Time range [from, to); both null without any data."""

    from_: datetime | None
    to: datetime | None

    model_config = Read.model_config | {"alias_generator": lambda name: name.rstrip("_"), "populate_by_name": True}


class Axis(Read):
    """Row and column of a matrix."""

    id: UUID
    name: str


class BaselineMatrix(Read):
    """Baselines of the paths of a matrix of deviations. A deviation within `dead_band_ns` is usual."""

    value_ns: list[list[int | None]]
    dead_band_ns: list[list[int | None]]
    basis: list[list[BasisName | None]]
    steps: list[list[int]]


class EstimatesRead(Read):
    """Estimates of paths without a window; null where nothing is estimated. All tables are [source][target]."""

    coverage: float
    measured: int
    values_ns: list[list[int | None]]
    low_ns: list[list[int | None]]
    high_ns: list[list[int | None]]


class EstimateRead(Read):
    """Estimate with its interval."""

    value_ns: int
    low_ns: int
    high_ns: int


class PathEstimate(Read):
    """Estimated one-way delays (p50) of a path that is not measured; see `EstimatesRead`."""

    coverage: float
    measured: int
    outbound: EstimateRead | None
    inbound: EstimateRead | None


class MatrixRead(Read):
    """Matrix in the order of the mesh's roster; all tables are [source][target]."""

    mesh_id: UUID
    revision: int
    by: By
    metric: MatrixMetric
    statistic: Statistic
    unit: Literal["ns", "ratio"]
    window: Span
    axis: list[Axis]
    values: list[list[int | float | None]]
    more: dict[Statistic, list[list[int | float | None]]]
    clock_error_ns: list[list[int | None]]
    asymmetry_sources: list[list[AsymmetrySource | None]]
    states: list[list[DeviationState]]
    baseline: BaselineMatrix | None
    estimates: EstimatesRead | None


class PathEnd(Read):
    """VM at one end of a path."""

    id: UUID
    name: str
    zone_name: str


class WorstPath(Read):
    """Path with its value."""

    source: PathEnd
    target: PathEnd
    value: int | float
    clock_error_ns: int | None
    state: StateName


class WorstPaths(Read):
    """Paths with the highest values (for asymmetry: farthest from zero), highest first."""

    mesh_id: UUID
    revision: int
    metric: Metric
    statistic: Statistic
    unit: Literal["ns", "ratio"]
    items: list[WorstPath]


class DirectionRead(Read):
    """One direction of a path, or its round trip, in one window. Counts are null when unknown."""

    state: StateName
    count: int
    sent: int | None
    lost: int | None
    min_ns: int | None
    mean_ns: int | None
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    max_ns: int | None
    sd_ns: float | None


class OneWayRead(DirectionRead):
    """One direction of a path. Its error is at most `clock_error_ns`, also without synchronised clocks."""

    clock_error_ns: int | None
    asymmetry_source: AsymmetrySource
    residence_ns: int | None


class FlowDirectionRead(Read):
    """Delays of one source port in one direction; null without data."""

    count: int
    min_ns: int | None
    p50_ns: int | None


class FlowRead(Read):
    """Source port of a path, numbered from 0. Equal-cost routing may choose another route for each."""

    flow: int
    outbound: FlowDirectionRead
    inbound: FlowDirectionRead


class NoServiceRead(Read):
    """Why a path cannot be measured, by the addresses of its ends or as the agent reported it."""

    reason: str
    message: str
    reported_at: datetime


class PathRead(Read):
    """Newest window of a path; `outbound` is source to target, whichever VM was the client."""

    source: PathEnd
    target: PathEnd
    state: StateName
    started_at: datetime | None
    window_s: int | None
    flows: int | None
    outbound: OneWayRead | None
    inbound: OneWayRead | None
    round_trip: DirectionRead | None
    by_flow: list[FlowRead]
    slowest_outbound_ns: int | None
    slowest_inbound_ns: int | None
    timestamp_source: TimestampSource | None
    is_peer_unnamed: bool
    no_service: NoServiceRead | None
    estimate: PathEstimate | None


class OneWaySeries(Read):
    """Values by step; null without data."""

    delay_ns: list[int | None]
    clock_error_ns: list[int | None]
    loss: list[float | None]


class RoundTripSeries(Read):
    """Values by step; null without data."""

    delay_ns: list[int | None]
    loss: list[float | None]


class SeriesRead(Read):
    """Time series of a path: a value per step; `points_at` are the starts of the steps."""

    source: PathEnd
    target: PathEnd
    statistic: Statistic
    resolution_s: int
    points_at: list[datetime]
    outbound: OneWaySeries
    inbound: OneWaySeries
    round_trip: RoundTripSeries
