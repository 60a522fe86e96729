"""JSON schemas of the transport advisor."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, model_validator

from sinemora.advisors.transport.core.evidence import Ecn, Pattern
from sinemora.advisors.transport.core.rules import Part
from sinemora.kit.schemas import Read, Write

Reference = Annotated[str, Field(min_length=1, max_length=100, description="Name or id")]
Microseconds = Annotated[float, Field(gt=0, le=6e7, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class TransportCreate(Write):
    """Question for a transport. Fields of the path are measured between `source` and `target`, unless given here.

    Agents measure round trips, loss and routes. ECN and reordering are those of the newest measurement on demand of the
    last 24 hours that probed them.
    """

    mesh: Reference | None = None
    source: Reference | None = None
    target: Reference | None = None
    minutes: Annotated[int, Field(ge=2, le=1440, description="Look-back of round trips")] = 60
    min_round_trip_us: Microseconds | None = None
    round_trip_us: Microseconds | None = None
    loss: Share | None = None
    reordering: Share | None = None
    ecn: Ecn | None = None
    routes: Annotated[int, Field(ge=1, le=1000)] | None = None
    same_host: bool | None = None
    interfaces: Annotated[int, Field(ge=1, le=64)] | None = None
    is_split: bool | None = None
    pattern: Pattern = Pattern.ONE_TO_ONE
    fan_in: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    volume_ratio: Annotated[float, Field(ge=1, le=1e12)] | None = None
    encrypt: bool = False
    deadlines: bool = False
    programmable_network: bool = False
    prioritised_streams: bool = False
    prefers_low_latency: bool = False
    short_flows_fair: bool = False
    transfer_share: Annotated[Share, Field(description="Share of the job's time that is transfer")] = 0.5
    available: Annotated[list[Annotated[str, Field(max_length=40)]] | None, Field(max_length=64)] = None

    @model_validator(mode="after")
    def _whole_path(self) -> Self:
        given = [field is not None for field in (self.mesh, self.source, self.target)]
        if any(given) and not all(given):
            raise ValueError("give all of `mesh`, `source` and `target`, or none")
        return self


class TransportEvidenceRead(Read):
    """Evidence that was used; null is unknown."""

    min_round_trip_us: float | None
    round_trip_us: float | None
    loss: float | None
    reordering: float | None
    ecn: Ecn | None
    routes: int | None
    same_host: bool | None
    measured: list[str]
    probed_at: datetime | None


class FiredRead(Read):
    """Rule that fired, with its measurement."""

    rule: str
    part: Part
    condition: str
    measurement: str
    choice: str
    effect: str
    transfer_saved: float | None
    job_saved: float | None
    is_available: bool | None
    overridden_by: str | None


class TransportRead(Read):
    """Rules that fired, in the order of precedence; the first of each part is the advice."""

    evidence: TransportEvidenceRead
    fired: list[FiredRead]
    source: str
