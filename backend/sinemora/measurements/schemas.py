"""Shapes of measurements on the wire. Null is "no value", never zero; `state` says why."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from sinemora.kit.schemas import Read
from sinemora.measurements.aggregate.matrix import Metric, State, Statistic


class By(StrEnum):
    """What the rows and columns of a matrix are."""

    VM = "vm"
    ZONE = "zone"


class Resolution(StrEnum):
    """Length of a step of a series; `auto` picks the finest that stays readable."""

    AUTO = "auto"
    WINDOW = "window"
    MINUTE = "1m"
    QUARTER = "15m"
    HOUR = "1h"
    DAY = "1d"


class TraceTimes(StrEnum):
    """Where an imported trace is put: at its own times, or moved by whole minutes so that it ends now."""

    KEEP = "keep"
    END_NOW = "end_now"


class StateName(StrEnum):
    """`measured`; `not_planned`; `no_data` yet; `stale`: the agent is silent; `lost`: asked, and nothing came back."""

    measured = "measured"
    not_planned = "not_planned"
    no_data = "no_data"
    stale = "stale"
    lost = "lost"


AsymmetrySource = Literal["assumed", "mesh", "hardware"]
"""What a one-way delay stands on, beside the exchange itself."""

SOURCE_NAMES: tuple[AsymmetrySource, ...] = ("assumed", "mesh", "hardware")
STATE_NAMES = {state: StateName(state.name.lower()) for state in State}


class Span(Read):
    """A stretch of time [from, to); both null without any data."""

    from_: datetime | None
    to: datetime | None

    model_config = Read.model_config | {"alias_generator": lambda name: name.rstrip("_"), "populate_by_name": True}


class Axis(Read):
    """A row and column of a matrix."""

    id: UUID
    name: str


class MatrixRead(Read):
    """A matrix in the order of the mesh's roster; all tables are [source][target].

    `more` has the values of further statistics; states and errors are those of the first.
    """

    mesh_id: UUID
    revision: int
    by: By
    metric: Metric
    statistic: Statistic
    unit: Literal["ns", "ratio"]
    window: Span
    axis: list[Axis]
    values: list[list[int | float | None]]
    more: dict[Statistic, list[list[int | float | None]]]
    clock_error_ns: list[list[int | None]]
    asymmetry_sources: list[list[AsymmetrySource | None]]
    states: list[list[StateName]]


class PathEnd(Read):
    """A VM at one end of a path."""

    id: UUID
    name: str
    zone_name: str


class WorstPath(Read):
    """One row of the table of worst paths."""

    source: PathEnd
    target: PathEnd
    value: int | float
    clock_error_ns: int | None
    state: StateName


class WorstPaths(Read):
    """The paths with the highest values (of asymmetry: farthest from zero), worst first."""

    mesh_id: UUID
    revision: int
    metric: Metric
    statistic: Statistic
    unit: Literal["ns", "ratio"]
    items: list[WorstPath]


class DirectionRead(Read):
    """One direction of a pair, or its round trip, in one window. Counts are null when nobody knows them."""

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
    """A direction; without synchronised clocks its value is right within `clock_error_ns`.

    `asymmetry_source`: `assumed` means the clock offset was estimated as if the fastest exchange took equally long
    both ways, `mesh` that it was corrected by the loops of the mesh, `hardware` that both ends have hardware clocks.
    """

    clock_error_ns: int | None
    asymmetry_source: AsymmetrySource


class FlowDirectionRead(Read):
    """Delays of one source port in one direction; null where it has none."""

    count: int
    min_ns: int | None
    p50_ns: int | None


class FlowRead(Read):
    """One source port of a path, numbered from 0: equal-cost routing may send each another way."""

    flow: int
    outbound: FlowDirectionRead
    inbound: FlowDirectionRead


class PathRead(Read):
    """The newest window of a path; `outbound` is source to target, whichever VM was the client.

    `by_flow` has every source port of a path with several, and is empty otherwise. What an application gets that
    cannot choose its way is the largest `p50_ns` of them: `slowest_outbound_ns` and `slowest_inbound_ns`, null with one
    flow.
    """

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


class OneWaySeries(Read):
    """Values by step; null where there is none."""

    delay_ns: list[int | None]
    clock_error_ns: list[int | None]
    loss: list[float | None]


class RoundTripSeries(Read):
    """Values by step; null where there is none."""

    delay_ns: list[int | None]
    loss: list[float | None]


class SeriesRead(Read):
    """One path over time: a value per step, `points_at` being the starts of the steps."""

    source: PathEnd
    target: PathEnd
    statistic: Statistic
    resolution_s: int
    points_at: list[datetime]
    outbound: OneWaySeries
    inbound: OneWaySeries
    round_trip: RoundTripSeries
