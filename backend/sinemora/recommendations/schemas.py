"""Shapes of recommendations on the wire. Performance, gains and prices are shares: 0.05 is five percent."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.applications.schemas import Named
from sinemora.kit.schemas import Read, Write
from sinemora.measurements.schemas import Span
from sinemora.placement.costs import Objective
from sinemora.placement.problem import Risk
from sinemora.recommendations.models import RecommendationState, Trigger

MOVES_MAX = 10
MINUTES = 30


class Policy(StrEnum):
    """How places are chosen.

    exact: roots of stars stay, proven best. gang: roots move with their tasks. robust: as exact, each path costing a
    risk of its whole distribution. pack: CPU, memory and applications apart as well. nomora: the published network.
    graph: all tasks by search, best found. Under every policy graphs and tasks of more than a slot are searched.
    """

    EXACT = "exact"
    GANG = "gang"
    ROBUST = "robust"
    PACK = "pack"
    NOMORA = "nomora"
    GRAPH = "graph"


class Percentile(StrEnum):
    """Which round trip of each window counts."""

    P50 = "p50"
    P90 = "p90"
    P99 = "p99"


class Question(Write):
    """What a recommendation is to look at, and how far it may go."""

    applications: Annotated[
        list[str], Field(max_length=1_000, description="Names or ids; all on the mesh when empty")
    ] = Field(default_factory=list)
    policy: Policy = Policy.EXACT
    objective: Annotated[
        Objective | None,
        Field(
            description="loss: mean performance of tasks (default); slowdown: mean of 1 / performance, as published"
            " (default of nomora); fair: applications count alike; worst_first: those that fare worst first"
        ),
    ] = None
    risk: Annotated[Risk, Field(description="Under robust: what of a path's distribution counts")] = Risk.cvar
    statistic: Percentile = Percentile.P50
    minutes: Annotated[int, Field(ge=2, le=1440, description="How far back windows are looked at")] = MINUTES
    moves_max: Annotated[int, Field(ge=0, le=10_000, description="Most tasks that may move")] = MOVES_MAX
    move_cost: Annotated[
        float | None,
        Field(ge=0, le=1, description="What each move must gain at least; what the applications say by default"),
    ] = None
    explain: Annotated[
        bool, Field(description="Under nomora: keep every arc of the solved network, of up to 5,000")
    ] = False

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.policy is Policy.NOMORA and self.objective not in (None, Objective.slowdown):
            raise ValueError("the published policy knows one objective, slowdown; leave it out or choose exact")
        if self.explain and self.policy is not Policy.NOMORA:
            raise ValueError("only the published policy, nomora, solves a network whose arcs can be told")
        return self


class RecommendationCreate(Question):
    """A question about a mesh, by name or id."""

    mesh: Annotated[str, Field(max_length=100)]


class ScheduleWrite(Question):
    """The same question every so often."""

    every_h: Annotated[int, Field(ge=1, le=720)] = 24


class ScheduleRead(Read):
    """What is asked of a mesh, how often, and when last."""

    every_h: int
    question: Question
    asked_at: datetime | None


class ExpectedRead(Read):
    """A mean with its interval of 95 %, from so many windows."""

    mean: float
    low: float
    high: float
    windows: int


class GainRead(Read):
    """Before, after and the difference; `probability` that it exceeds what the moves cost."""

    before: ExpectedRead
    after: ExpectedRead
    gain: ExpectedRead
    probability: float


class Place(Read):
    """A VM with where it stands and what it costs an hour."""

    id: UUID
    name: str
    zone: str
    host: str | None
    price_per_hour: float | None


class RunnerUp(Read):
    """The next best VM for the task, and by how much it is worse (a share of the task's performance)."""

    vm: Named
    worse_by: float


class MoveRead(Read):
    """One task from a VM to another, in its turn, with the evidence. Round trips are to the root or its neighbours.

    A task that waited has no `source`; until it starts it performs nothing. `gain` is null where no window knows it.
    """

    position: int
    group: int
    application: Named
    task: Named
    source: Place | None
    target: Place
    via: Named | None
    gain: GainRead | None
    round_trip_before_ns: int | None
    round_trip_after_ns: int
    slot_price: float | None
    makes_room: list[str]
    runner_up: RunnerUp | None
    slack_us: float | None
    disturbs: list[str]
    explanation: str
    rollback: str


class FrontPoint(Read):
    """What the best placement with at most so many moves gains; `positions` are moves of `options`."""

    moves: int
    expected: GainRead | None
    positions: list[int]


class CertificateRead(Read):
    """What proves the choice: cost of the placement and the bound no placement can be below, in the solver's points."""

    primal: int
    dual: int
    gap: int
    proven: bool
    words: str


class BestFound(Read):
    """What the search placed, where nothing is proven: cost of its links, and what no placement can cost less than."""

    tasks: int
    cost: float
    bound: float
    words: str


class ApplicationGain(Read):
    """What the moves do to one application."""

    application: Named
    objective: float | None
    expected: GainRead


class Evidence(Read):
    """What was looked at: windows used to choose, others to judge, how many paths were known, and how noisy they were.

    `hysteresis` is what a move must gain its task at least, lest it follows noise.
    """

    window: Span
    statistic: Percentile
    chosen_on: int
    judged_on: int
    paths: int
    paths_known: int
    paths_assumed: int
    hysteresis: float


class NetworkArc(Read):
    """An arc of the published network. Nodes: T tasks, U waiting, X cluster, R racks (hosts), M machines (VMs), S sink.

    A unit of flow is a task, its `cost` 100 / performance, rounded.
    """

    tail: str
    head: str
    capacity: int
    cost: int
    flow: int


class Answer(Read):
    """What was found. `network`: where its arcs were asked for."""

    policy: Policy
    total: GainRead | None
    applications: list[ApplicationGain]
    objective: Objective = Objective.loss
    certificate: CertificateRead | None
    best_found: BestFound | None = None
    front: list[FrontPoint]
    constraints: list[str]
    rejected: list[str]
    evidence: Evidence
    price_change_per_hour: float | None
    network: list[NetworkArc] | None = None


class Outcome(Read):
    """What was measured after the moves, beside what was expected; `held`: it lies in the interval stated before."""

    observed: ExpectedRead
    predicted: ExpectedRead
    gain_observed: float
    gain_predicted: float
    held: bool
    window: Span


class RecommendationSummary(Read):
    """A recommendation as an item of the list."""

    id: UUID
    mesh: Named
    state: RecommendationState
    trigger: Trigger
    policy: Policy
    moves: int
    total: GainRead | None
    requested_by: str
    version: int
    created_at: datetime
    decided_at: datetime | None
    applied_at: datetime | None
    verified_at: datetime | None


class RecommendationRead(RecommendationSummary):
    """A recommendation with everything it rests on."""

    question: Question
    answer: Answer
    steps: list[MoveRead]
    reason: str | None
    outcome: Outcome | None


class Decision(Write):
    """Why."""

    reason: Annotated[str, Field(max_length=2_000)] = ""


class Accuracy(Read):
    """How right recommendations were: of those verified, how many kept their interval, and the mean error of gains."""

    verified: int
    held: int
    mean_error: float | None
    mean_gain_predicted: float | None
    mean_gain_observed: float | None
    entries: list["AccuracyEntry"]


class AccuracyEntry(Read):
    """One verified recommendation."""

    id: UUID
    mesh: Named
    verified_at: datetime
    outcome: Outcome
