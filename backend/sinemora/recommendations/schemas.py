"""Schemas of recommendations. Performance, gains and prices are shares: 0.05 is five percent."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.applications.schemas import Named
from sinemora.artifacts.schemas import MoveCostRead
from sinemora.kit.schemas import Read, Write
from sinemora.measurements.schemas import Span
from sinemora.recommendations.core.racks import RackSource
from sinemora.recommendations.core.verdict import MoveVerdict
from sinemora.recommendations.models import RecommendationState, Trigger
from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.problem import Risk
from sinemora.recommendations.published import PublishedParameters

MOVES_MAX = 10
MINUTES = 30


class Policy(StrEnum):
    """Placement policy.

    best: all tasks together within all limits, with the largest gap to the optimum. nomora: the published flow network
    for the tasks of stars, whose roots stay; it knows no budget of moves, CPU or memory. Graphs and tasks larger than
    one slot are then placed as under best.
    """

    BEST = "best"
    NOMORA = "nomora"


class Percentile(StrEnum):
    """Statistic of each window's round trips."""

    P50 = "p50"
    P90 = "p90"
    P99 = "p99"


class RecommendationRequest(Write):
    """Scope and limits of a recommendation."""

    applications: Annotated[list[str], Field(max_length=1_000)] = Field(default_factory=list)
    policy: Policy = Policy.BEST
    objective: Objective | None = None
    risk: Risk | None = None
    statistic: Percentile = Percentile.P50
    minutes: Annotated[int, Field(ge=2, le=1440)] = MINUTES
    incident_id: UUID | None = None
    moves_max: Annotated[int, Field(ge=0, le=10_000, description="Maximum number of moves")] = MOVES_MAX
    move_cost: Annotated[float | None, Field(ge=0, le=1)] = None
    artifacts: Annotated[dict[str, str], Field(max_length=1_000)] = Field(default_factory=dict)
    bringing_cost: Annotated[float | None, Field(ge=0, le=1)] = None
    nomora: PublishedParameters | None = None
    explain: bool = False

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.policy is Policy.NOMORA and self.objective not in (None, Objective.slowdown):
            raise ValueError("the policy nomora has one objective, slowdown; omit the objective or choose best")
        if self.policy is Policy.NOMORA and self.risk is not None:
            raise ValueError("the policy nomora has no risk measure; omit `risk` or choose best")
        if self.nomora is not None and self.policy is not Policy.NOMORA:
            raise ValueError("only the policy nomora has these parameters; omit `nomora` or choose the policy nomora")
        if self.nomora is None and self.policy is Policy.NOMORA:
            self.nomora = PublishedParameters()
        if self.explain and self.policy is not Policy.NOMORA:
            raise ValueError("only the policy nomora has a flow network to explain; omit `explain` or choose nomora")
        return self


class RecommendationCreate(RecommendationRequest):
    """Request for a recommendation on one mesh: `mesh` takes a name or an id, `mesh_id` an id."""

    mesh: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    mesh_id: UUID | None = None

    @model_validator(mode="after")
    def _one_mesh(self) -> Self:
        if (self.mesh is None) == (self.mesh_id is None):
            raise ValueError("name one mesh: either `mesh`, by name or id, or `mesh_id`")
        return self


class ScheduleWrite(RecommendationRequest):
    """Request repeated every `every_h` hours."""

    every_h: Annotated[int, Field(ge=1, le=720)] = 24

    @model_validator(mode="after")
    def _for_no_incident(self) -> Self:
        if self.incident_id is not None:
            raise ValueError("a schedule outlives an incident; omit `incident_id`")
        return self


class ScheduleRead(Read):
    """Scheduled request of a mesh and the time of its last run."""

    every_h: int
    request: RecommendationRequest
    asked_at: datetime | None
    version: int


class ExpectedRead(Read):
    """Mean with its 95 % interval and its number of windows."""

    mean: float
    low: float
    high: float
    windows: int


class GainRead(Read):
    """Performance before and after, and the gain, for the next hour."""

    before: ExpectedRead
    after: ExpectedRead
    gain: ExpectedRead
    probability: float
    doubts: list[str] = Field(default_factory=list)


class MoveEndpoint(Read):
    """VM with its location and hourly price."""

    id: UUID
    name: str
    zone: str
    host: str | None
    price_per_hour: float | None


class RunnerUp(Read):
    """Next best VM for the task; `worse_by` is a share of the task's performance."""

    vm: Named
    worse_by: float


class MoveRead(Read):
    """Move of one task, in execution order, with its evidence. Round trips lead to the root or to the neighbours."""

    position: int
    group: int
    application: Named
    task: Named
    source: MoveEndpoint | None
    target: MoveEndpoint
    via: Named | None
    gain: GainRead | None
    round_trip_before_ns: int | None
    round_trip_after_ns: int
    slot_price: float | None
    makes_room: list[str]
    runner_up: RunnerUp | None
    slack_us: float | None
    disturbs: list[str]
    bringing: MoveCostRead | None = None
    explanation: str
    rollback: str
    made_at: datetime | None = None


class ParetoPoint(Read):
    """Best gain for a number of moves; `positions` refer to `steps`."""

    moves: int
    expected: GainRead | None
    positions: list[int]


class CertificateRead(Read):
    """Proof of a flow network: cost of its placement and its lower bound, in cost points, for the tasks it places."""

    primal: int
    dual: int
    gap: int
    proven: bool
    words: str


class Optimality(StrEnum):
    """optimal: proven, no placement is better. bounded: `gap` is proven. heuristic: nothing is proven."""

    OPTIMAL = "optimal"
    BOUNDED = "bounded"
    HEURISTIC = "heuristic"


class OptimalityRead(Read):
    """Proof of the chosen placement, on exact curves at the round trips of the training windows, within all limits."""

    state: Optimality
    gap: float | None
    words: str


class ApplicationGain(Read):
    """Gain of one application."""

    application: Named
    objective: float | None
    expected: GainRead


class Evidence(Read):
    """Windows, paths and noise behind a recommendation."""

    window: Span
    statistic: Percentile
    chosen_on: int
    judged_on: int
    blocks: int | None = None
    gap_s: int | None = None
    age_s: int | None = None
    shortage: str | None = None
    paths: int
    paths_known: int
    paths_assumed: int
    min_gain: float


class NetworkArc(Read):
    """Arc of the solved flow network."""

    tail: str
    head: str
    capacity: int
    cost: int
    flow: int


class BindingLimit(Read):
    """Limit in words and what relaxes it."""

    kind: str
    limit: str
    relax: str


class BindingRead(Read):
    """Limits that together keep a task from a better VM, and the gain of its application if they were relaxed."""

    limits: list[BindingLimit]
    application: Named
    task: Named
    vm: Named
    gain: GainRead


class RecommendationResult(Read):
    """Result of a recommendation."""

    policy: str
    total: GainRead | None
    applications: list[ApplicationGain]
    objective: Objective = Objective.loss
    certificate: CertificateRead | None
    optimality: OptimalityRead | None = None
    pareto_front: list[ParetoPoint]
    constraints: list[str]
    rejected: list[str]
    binding: list[BindingRead] | None = None
    broken: list[str] | None = None
    evidence: Evidence
    price_change_per_hour: float | None
    network: list[NetworkArc] | None = None
    nomora: PublishedParameters | None = None
    racks_from: RackSource | None = None


class JudgedBy(StrEnum):
    """Measurement behind a verdict. metric: the application's own metric. delays: measured delays through its curve,
    which cannot show that the curve is wrong. both: some applications by the one, some by the other.
    """

    METRIC = "metric"
    DELAYS = "delays"
    BOTH = "both"


class GainInterval(Read):
    """Gain of performance with its 95 % interval."""

    mean: float
    low: float
    high: float


class ApplicationOutcome(Read):
    """Measured outcome for one moved application."""

    application: Named
    verdict: MoveVerdict
    reason: str
    judged_by: JudgedBy
    promised: GainInterval
    observed: GainInterval | None
    metric_sources: list[Named]
    controls: list[Named]


class VerifiedOutcome(Read):
    """Measured outcome of applied moves; gains are means over the moved applications."""

    verdict: MoveVerdict
    reason: str
    judged_by: JudgedBy
    promised: GainInterval
    observed: GainInterval | None
    window: Span
    applications: list[ApplicationOutcome]


class CauseRead(Read):
    """Incident that moves are for."""

    id: UUID
    title: str
    onset_at: datetime
    ended_at: datetime | None


class RecommendationSummary(Read):
    """Recommendation as a list item.

    `incident_id`: the incident that the moves are for. `expires_at`: until when they can be applied.
    """

    id: UUID
    mesh: Named
    state: RecommendationState
    trigger: Trigger
    policy: str
    moves: int
    total: GainRead | None
    requested_by: str
    incident_id: UUID | None
    version: int
    created_at: datetime
    expires_at: datetime | None
    decided_at: datetime | None
    applied_at: datetime | None
    verified_at: datetime | None


class RecommendationRead(RecommendationSummary):
    """Recommendation with its moves and evidence. `incident` is null without one, and once it was deleted."""

    incident: CauseRead | None
    request: RecommendationRequest
    result: RecommendationResult
    steps: list[MoveRead]
    reason: str | None
    outcome: VerifiedOutcome | None


class Decision(Write):
    """Reason of a decision."""

    reason: Annotated[str, Field(max_length=2_000)] = ""


class BreachRead(Read):
    """Incident in whose time an application was below its objective, for `broken_s` of measured time."""

    incident_id: UUID
    title: str
    onset_at: datetime
    ended_at: datetime | None
    broken_s: int


class ContractRead(Read):
    """Account of a contract between two times: `kept` is the share of measured time at or above the objective.

    `budget_s`: time below the objective that `kept_share` allows; `budget_left_s` is negative once more was used.
    `moves_today`: moves of the last 24 hours. `breaches`: incidents that broke it, longest first. `recommendation_id`:
    moves that are proposed for it now. Time that was not measured counts as neither kept nor broken.
    """

    application: Named
    started_at: datetime
    ended_at: datetime
    objective: float
    kept_share: float
    moves_per_day: int | None
    kept: float | None
    measured_s: int
    broken_s: int
    budget_s: int
    budget_left_s: int
    moves_today: int
    breaches: list[BreachRead]
    recommendation_id: UUID | None


class Accuracy(Read):
    """Accuracy of applied recommendations, the newest first."""

    held: int
    not_held: int
    cannot_tell: int
    undone: int
    mean_error: float | None
    mean_gain_predicted: float | None
    mean_gain_observed: float | None
    entries: list["AccuracyEntry"]


class AccuracyEntry(Read):
    """Verified recommendation."""

    id: UUID
    mesh: Named
    verified_at: datetime
    outcome: VerifiedOutcome
