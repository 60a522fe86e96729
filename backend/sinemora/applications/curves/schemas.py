"""Schemas of curves. Latencies are microseconds added to the round trip; performance is relative."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.applications.curves.core.observations import ROWS_MAX, LatencyKind, Metric, ObservationError
from sinemora.applications.curves.core.upload import text_of
from sinemora.kit.names import Name
from sinemora.kit.schemas import Omittable, Read, Write
from sinemora.measurements.schemas import Axis, By, Span, StateName

Unit = Annotated[str, Field(max_length=40, examples=["queries/s"])]
Description = Annotated[str, Field(max_length=2_000)]
Source = Annotated[
    str, Field(max_length=2_000, description="Origin of the measurements: machines, load, repeats, author")
]


class CurveOrigin(StrEnum):
    """Origin of a curve: published by others, or measured by the tenant."""

    PUBLISHED = "published"
    OWN = "own"


class Waiting(StrEnum):
    """Pattern of requests: rounds that wait for the slowest of many replies, or nearly independent requests."""

    ROUNDS = "rounds"
    REQUESTS = "requests"


class SampleRow(Write):
    """Performance at one latency; `spread` is the standard deviation of its runs."""

    latency_us: float
    performance: float
    spread: float | None = None
    repeats: int | None = None


class Measurements(Write):
    """Measurements to fit: `rows`, or a CSV file as `csv` or as the whole body."""

    metric: Metric = "rate"
    latency: LatencyKind = Field("added", description="`measured` latencies count from the smallest of them")
    baseline: float | None = None
    source: Source = ""
    rows: Annotated[list[SampleRow], Field(max_length=ROWS_MAX)] | None = None
    csv: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _whole_body(cls, body: Any) -> Any:
        """Accept the bytes of a body that is not JSON as the CSV file."""
        if not isinstance(body, bytes):
            return body
        try:
            return {"csv": text_of(body)}
        except ObservationError as error:
            raise ValueError(error.message) from None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.rows is None) == (self.csv is None):
            raise ValueError("give either rows or csv")
        return self


class CurveCreate(Measurements):
    """Curve with its first measurements. With a CSV body, the query has name, description, unit and source."""

    name: Name | None = None
    description: Description = ""
    unit: Unit = ""


class CurveVersionCreate(Measurements):
    """Newer measurements of the same application in the same configuration."""


class CurveUpdate(Write):
    """Update of a curve; omitted fields stay."""

    name: Omittable[Name] = None
    description: Omittable[Description] = None
    unit: Omittable[Unit] = None


class ThresholdRead(Read):
    """Latency up to which no performance is lost, with its 95 % interval; bounds are null if unknown."""

    at_us: float
    low_us: float | None
    high_us: float | None


class CurveWarning(Read):
    """Warning about a curve."""

    code: str
    message: str


class BandOrigin(StrEnum):
    """Origin of a band: fitted to the tenant's measurements, or the default for transfer to other hardware."""

    MEASURED = "measured"
    TRANSFER = "transfer"


class BandRead(Read):
    """Origin of the 95 % band of a curve."""

    origin: BandOrigin
    latency_factor: float | None
    residual: float | None
    words: str


class CandidateRead(Read):
    """Fit of one family of functions; `error` is the relative leave-one-out prediction error."""

    family: str
    words: str
    weight: float
    log_score: float
    error: float
    formula: str


class SampleRead(Read):
    """Sample with its fitted value. `standardised` is the residual in units of its standard error."""

    added_us: float
    performance: float
    repeats: float
    error: float | None
    fitted: float
    residual: float
    standardised: float


class StatedRead(Read):
    """Measurement as stated by a source, and the value of the curve there. `setup` names differing configuration."""

    added_us: float
    relation: Literal["=", "≈", "<", ">"]
    performance: float
    curve: float
    words: str
    source: str
    setup: str


class CurveVersionRead(Read):
    """Measurements and fit. For published curves, rows, noise, author and date are unknown."""

    number: int
    source: str
    made_by: str | None
    created_at: datetime | None
    family: str
    formula: str | None
    reason: str
    baseline: float | None
    latency_offset_us: float
    reference_source: str | None = None
    threshold: ThresholdRead | None
    domain_us: float
    smallest: float
    band: BandRead
    noise: float | None
    rows: int | None
    warnings: list[CurveWarning]


class CurveVersionDetail(CurveVersionRead):
    """Version with its samples and every candidate family; `stated` quotes published sources."""

    samples: list[SampleRead]
    candidates: list[CandidateRead]
    stated: list[StatedRead]


class CurvePoints(Read):
    """Curve as a table; `low` and `high` are its 95 % band."""

    added_us: list[float]
    performance: list[float]
    low: list[float]
    high: list[float]


class CurveTableRead(CurvePoints):
    """Curve in equal steps, including the end of its domain."""

    curve_id: str
    number: int
    step_us: float


class CurveRead(Read):
    """Application in one configuration; `id` is the key of a published curve. `outline` suffices to draw it."""

    id: str
    origin: CurveOrigin
    name: str
    description: str
    metric: Metric
    unit: str
    created_at: datetime | None
    updated_at: datetime | None
    version: CurveVersionRead
    outline: CurvePoints


class CurveDetail(CurveRead):
    """Curve with one of its versions; `newest` is the newest version number."""

    newest: int
    version: CurveVersionDetail


class PerformanceRead(Read):
    """Share of the best performance with its 95 % band. `extrapolated`: beyond the domain, where `low` is 0."""

    performance: float
    low: float
    high: float
    extrapolated: bool


class MeasuredCost(Read):
    """Cost of a path or a pair of zones now and with added latency."""

    mesh_id: UUID
    by: By
    source: Axis
    target: Axis
    state: StateName
    window: Span
    count: int
    percentiles_ns: list[int] | None
    excess_us: float | None
    now: PerformanceRead | None
    then: PerformanceRead | None
    change: float | None


class CostRead(Read):
    """Cost of `added_us` more round trip: without other latency (`alone`), and on top of measured round trips."""

    curve_id: str
    number: int
    added_us: float
    reference_us: float
    reference_source: str | None = None
    waiting: Waiting
    alone: PerformanceRead
    measured: MeasuredCost | None
