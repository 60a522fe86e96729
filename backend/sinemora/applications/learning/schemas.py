"""Schemas of learning."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, model_validator

from sinemora.applications.curves.core.observations import Metric
from sinemora.applications.curves.schemas import Unit
from sinemora.kit.http_authentication import Authentication, Scheme, Url
from sinemora.kit.names import Name
from sinemora.kit.schemas import Omittable, Read, Write

Kind = Literal["push", "prometheus"]
State = Literal["waiting", "cannot_tell", "learnt"]
POINTS_MAX = 20_000
PATHS_MAX = 20


Query = Annotated[str, Field(min_length=1, max_length=2_000, description="PromQL whose result is one series")]
Hours = Annotated[int, Field(ge=1, le=24 * 30, description="Minimum hours between curve versions")]


class MetricPathWrite(Write):
    """Path the application waits for: two VMs of the mesh."""

    source_vm_id: UUID
    target_vm_id: UUID


Paths = Annotated[list[MetricPathWrite], Field(min_length=1, max_length=PATHS_MAX)]


class MetricSourceCreate(Write):
    """Metric source. `curve_id` is a tenant's curve to refresh; without it a new curve is created."""

    name: Name
    mesh_id: UUID
    paths: Paths
    application_id: UUID | None = None
    curve_id: UUID | None = None
    metric: Metric = Field("rate", description="`rate` falls with latency, `duration` grows")
    unit: Unit = ""
    kind: Kind = "push"
    url: Url | None = None
    query: Query | None = None
    authentication: Authentication | None = None
    refresh_hours: Hours = 24

    @model_validator(mode="after")
    def _complete(self) -> Self:
        present = (self.url is not None, self.query is not None)
        if present != ((True, True) if self.kind == "prometheus" else (False, False)):
            raise ValueError("kind prometheus needs url and query; kind push has neither")
        if self.kind == "push" and self.authentication is not None:
            raise ValueError("kind push has no authentication: it comes with an API key")
        return self


class MetricSourceUpdate(Write):
    """Update of a metric source; omitted fields stay.

    A new server in `url` removes the authentication unless it is given again: a secret goes to no other server.
    """

    name: Omittable[Name] = None
    paths: Omittable[Paths] = None
    application_id: UUID | None = None
    url: Omittable[Url] = None
    query: Omittable[Query] = None
    authentication: Authentication | None = None
    refresh_hours: Omittable[Hours] = None
    paused: Omittable[bool] = None


class MetricPointWrite(Write):
    """Value of the metric; values of one minute are averaged, a later request for that minute replaces it."""

    at: AwareDatetime
    value: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class MetricPointsCreate(Write):
    """Values in any order."""

    points: Annotated[list[MetricPointWrite], Field(min_length=1, max_length=POINTS_MAX)]


class MetricPointsRead(Read):
    """Number of minutes stored."""

    stored: int


class FindingReasonRead(Read):
    """Reason why the data is insufficient."""

    code: str
    message: str


class FindingRead(Read):
    """Latest finding."""

    state: State
    reasons: list[FindingReasonRead]
    pairs: int
    latency_us: list[float] | None
    curve_number: int | None


class MetricPathRead(Read):
    """Path with the names of its ends."""

    source_vm_id: UUID
    target_vm_id: UUID
    source_name: str
    target_name: str


class MetricSourceRead(Read):
    """Metric source with its read progress and its finding."""

    id: UUID
    name: str
    mesh_id: UUID
    application_id: UUID | None
    curve_id: UUID | None
    metric: Metric
    unit: str
    kind: Kind
    url: str | None
    query: str | None
    authentication: Scheme | None
    refresh_hours: int
    paused: bool
    paths: list[MetricPathRead]
    created_at: datetime
    updated_at: datetime
    read_at: datetime | None
    read_error: str | None
    judged_at: datetime | None
    learnt_at: datetime | None
    finding: FindingRead


class PairsRead(Read):
    """Minutes with both numbers, oldest first."""

    points_at: list[datetime]
    latency_us: list[float]
    value: list[float]
