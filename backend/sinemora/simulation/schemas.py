"""Wire shapes of simulation reports, as `sinemora simulate --report` writes them. Times in seconds."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.inventory.schemas import Name
from sinemora.kit.schemas import Read, Write

_POINTS = 101
"""Points of the distribution of scores: every percent, both ends included."""

Share = Annotated[float, Field(ge=0, le=1)]
Percent = Annotated[float, Field(ge=0, le=100)]
Amount = Annotated[float, Field(ge=0, le=1e9)]
Whole = Annotated[int, Field(ge=1, le=1_000_000_000)]
PolicyName = Annotated[str, Field(max_length=64, pattern=r"^[a-z][a-z0-9_]*$")]


class Quantiles(Write):
    """Median and tail."""

    p50: Amount
    p90: Amount
    p99: Amount

    @model_validator(mode="after")
    def _ascend(self) -> Self:
        if not self.p50 <= self.p90 <= self.p99:
            raise ValueError("p50, p90 and p99 must ascend")
        return self


class PolicyOutcome(Write):
    """Result of one policy; quantiles are null without values.

    `area_percent`: area above the distribution of scores; `source_percent`: as reported by the source. `solver_s`: per
    step with arrivals; `round_s` and `moved_share`: per round of moves; `placement_latency_s` and `response_s`: per
    job. `scores`: mean performance of a job over its life, at every percent of the jobs.
    """

    policy: PolicyName
    jobs: Annotated[int, Field(ge=0, le=1_000_000_000)]
    area_percent: Percent
    source_percent: Percent | None
    worst_job: Share
    solver_s: Quantiles | None
    round_s: Quantiles | None
    placement_latency_s: Quantiles | None
    response_s: Quantiles | None
    moved_share_mean: Share
    moved_share: Quantiles | None
    scores: Annotated[list[Share], Field(max_length=_POINTS)]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len(self.scores) != (_POINTS if self.jobs else 0):
            raise ValueError(f"scores must be {_POINTS} values, or none without jobs")
        if self.scores != sorted(self.scores):
            raise ValueError("scores must ascend")
        return self


class SimulatedWorld(Write):
    """Parameters of a run; `trace`, `latency` and `statistics` name the input, null where it was drawn."""

    machines: Whole
    slots: Whole
    seconds: Whole
    step_s: Whole
    round_s: Whole
    window_s: Whole
    history_s: Whole
    noise: Share
    move_price: Annotated[int, Field(ge=0, le=1_000_000_000)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    trace: Name | None
    latency: Name | None
    statistics: Name | None


class SimulationCreate(Write):
    """The report of a run under a name: the content of `simulation.json`."""

    name: Name
    world: SimulatedWorld
    policies: Annotated[list[PolicyOutcome], Field(min_length=1, max_length=32)]

    @model_validator(mode="after")
    def _once(self) -> Self:
        names = [policy.policy for policy in self.policies]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"each policy must occur once; repeated: {', '.join(twice)}")
        return self


class SimulatedArea(Read):
    """Area of a policy."""

    policy: str
    area_percent: float


class SimulationRead(Read):
    """A simulation in a list."""

    id: UUID
    name: str
    created_at: datetime
    world: SimulatedWorld
    policies: list[SimulatedArea]


class SimulationDetail(Read):
    """The report of a simulation."""

    id: UUID
    name: str
    created_at: datetime
    world: SimulatedWorld
    policies: list[PolicyOutcome]
