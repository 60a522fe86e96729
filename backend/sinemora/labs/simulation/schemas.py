"""Wire shapes of simulation reports, as `sinemora simulate --report` writes them. Times in seconds."""

import math
from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, field_validator, model_validator

from sinemora.kit.names import Name
from sinemora.kit.schemas import DISTINCT, Read, Write
from sinemora.labs.simulation.core.schemes import Scheme
from sinemora.labs.simulation.core.simulate import ROOTS_MAX, World
from sinemora.labs.simulation.core.workload import MIX
from sinemora.recommendations.published import Amount, PublishedParameters

MACHINES_MAX = 1_250
"""Machines that a simulation on the server may have: a tenth of the source's cluster takes a minute or two."""
_WORLD = World()

_POINTS = 101
"""Points of the distribution of scores: every percent, both ends included."""

Share = Annotated[float, Field(ge=0, le=1)]
Percent = Annotated[float, Field(ge=0, le=100)]
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


Points = Annotated[list[Amount], Field(max_length=_POINTS)]


class Distributions(Write):
    """Quantiles at every percent, as figures 6.6 to 6.9 of the source show them; empty without values."""

    solver_s: Points
    round_s: Points
    moved_share: Points
    placement_latency_s: Points
    response_s: Points

    @model_validator(mode="after")
    def _ascend(self) -> Self:
        for name, points in self:
            if len(points) not in (0, _POINTS) or points != sorted(points):
                raise ValueError(f"{name} must be {_POINTS} ascending values, or none")
        return self


class PolicyOutcome(Write):
    """Result of one policy; quantiles are null without values."""

    policy: PolicyName
    jobs: Annotated[int, Field(ge=0, le=1_000_000_000)]
    area_percent: Percent
    plain_area_percent: Percent | None = None
    placed_area_percent: Percent | None = None
    plain_placed_area_percent: Percent | None = None
    source_percent: Percent | None
    worst_job: Share
    solver_s: Quantiles | None
    round_s: Quantiles | None
    placement_latency_s: Quantiles | None
    response_s: Quantiles | None
    moved_share_mean: Share
    moved_share: Quantiles | None
    scores: Annotated[list[Share], Field(max_length=_POINTS)]
    distributions: Distributions | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len(self.scores) != (_POINTS if self.jobs else 0):
            raise ValueError(f"scores must be {_POINTS} values, or none without jobs")
        if self.scores != sorted(self.scores):
            raise ValueError("scores must ascend")
        return self


_CURVE_POINTS = 5_000
# Not a tuple: the types of the front end have none.
Point = Annotated[list[float], Field(min_length=2, max_length=2)]


class NomoraParameters(PublishedParameters):
    """Parameters of the published policy in a simulation."""

    aggregate: Annotated[bool, Field(description="One node per job; the optimum is the same")] = True


class SimulatedWorld(Write):
    """Parameters of a run."""

    machines: Whole
    slots: Whole
    rack_size: Whole = 48
    pod_racks: Whole = 16
    seconds: Whole
    step_s: Whole
    round_s: Whole
    window_s: Whole
    history_s: Annotated[int, Field(ge=0, le=1_000_000_000)]
    noise: Share
    move_cost: Share | None = None
    moves_max: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    move_price: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    mix: dict[Name, Share] = Field(default=dict(MIX), max_length=64)
    own_curves: dict[Name, Annotated[list[Point], Field(max_length=_CURVE_POINTS)]] = Field(
        default_factory=dict, max_length=64
    )
    nomora: NomoraParameters | None = None
    preemption: bool = False
    roots: Whole = 1
    start_at_random: bool = False
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    trace: Name | None
    latency: Name | None
    statistics: Name | None
    version: Annotated[str | None, Field(max_length=64)] = None
    code: Annotated[str | None, Field(pattern=r"^[0-9a-f]{16}$")] = None
    inputs: Annotated[str | None, Field(pattern=r"^[0-9a-f]{16}$")] = None


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


class SimulationRun(Write):
    """A simulation for the server to run: jobs and latency are drawn from published statistics."""

    name: Name
    policies: Annotated[list[Scheme], Field(min_length=1, max_length=len(Scheme)), *DISTINCT]
    machines: Annotated[int, Field(ge=2, le=MACHINES_MAX)] = 192
    slots: Annotated[int, Field(ge=2, le=1_000)] = _WORLD.slots
    rack_size: Annotated[int, Field(ge=1, le=10_000)] = _WORLD.rack_size
    pod_racks: Annotated[int, Field(ge=1, le=10_000)] = _WORLD.pod_racks
    hours: Annotated[float, Field(ge=0.1, le=24)] = 1.0
    step_s: Annotated[int, Field(ge=10, le=3_600)] = _WORLD.step_s
    round_s: Annotated[int, Field(ge=10, le=86_400)] = _WORLD.round_s
    window_s: Annotated[int, Field(ge=1, le=3_600)] = _WORLD.window_s
    history_s: Annotated[int, Field(ge=0, le=86_400)] = _WORLD.history_s
    noise: Annotated[float, Field(ge=0, lt=1)] = _WORLD.noise
    move_cost: Annotated[Share, Field(description="Only best: least gain of a move in performance")] = _WORLD.move_cost
    moves_max: Annotated[
        Annotated[int, Field(ge=0, le=1_000_000)] | None,
        Field(description="Only best: most moves of a round; null: no limit"),
    ] = _WORLD.moves_max
    mix: Annotated[dict[str, float], Field(min_length=1, max_length=64)] = Field(default_factory=lambda: dict(MIX))
    nomora: NomoraParameters = Field(default_factory=NomoraParameters)
    preemption: bool = False
    roots: Annotated[int, Field(ge=1, le=ROOTS_MAX, description="Roots of a job; a task counts the nearest")] = (
        _WORLD.roots
    )
    start_at_random: bool = False
    seed: Annotated[int, Field(ge=0, lt=2**63)] = _WORLD.seed

    @field_validator("mix")
    @classmethod
    def _shares(cls, mix: dict[str, float]) -> dict[str, float]:
        if any(not 0 < share < math.inf for share in mix.values()):
            raise ValueError("a share must be above 0")
        return mix

    @model_validator(mode="after")
    def _rounds(self) -> Self:
        if self.round_s < self.step_s or self.hours * 3600 < self.step_s:
            raise ValueError("round_s and the length of the simulation must be at least one step (step_s)")
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
