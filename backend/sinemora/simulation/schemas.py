"""Shapes of reports of simulations on the wire: what `sinemora simulate --report` writes. Times are seconds."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.inventory.schemas import Name
from sinemora.kit.schemas import Read, Write

_POINTS = 101
"""The distribution of scores at every hundredth, both ends included."""

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
    """What one policy came to; quantiles are null where there was nothing to take them of.

    `area_percent` lies above the distribution of scores, `source_percent` is what the source reports. `solver_s` is of
    each step in which something came, `round_s` and `moved_share` of each round of moves, `placement_latency_s` and
    `response_s` of jobs. `scores`: mean performance of a job over its life, at every hundredth of the jobs.
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
            raise ValueError(f"scores must be {_POINTS} values, or none where there are no jobs")
        if self.scores != sorted(self.scores):
            raise ValueError("scores must ascend")
        return self


class SimulatedWorld(Write):
    """The parameters of a run; `trace`, `latency` and `statistics` name what was read, null where it was drawn."""

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
    """The report of a run under a name: `simulation.json` as it was written."""

    name: Name
    world: SimulatedWorld
    policies: Annotated[list[PolicyOutcome], Field(min_length=1, max_length=32)]

    @model_validator(mode="after")
    def _once(self) -> Self:
        names = [one.policy for one in self.policies]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"each policy stands once; {', '.join(twice)} does not")
        return self


class SimulatedArea(Read):
    """What a policy came to, in one number."""

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
