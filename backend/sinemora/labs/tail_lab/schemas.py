"""JSON schemas of the tail lab. Times in seconds, gains and losses in percent."""

from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.kit.names import Name
from sinemora.kit.schemas import DISTINCT, Read, Write
from sinemora.labs.tail_lab.core.classes import ClassSpread
from sinemora.labs.tail_lab.core.policies import ALPHA_MAX, TUNABLE, USUAL, PacketPolicy
from sinemora.labs.tail_lab.core.search import EVALUATIONS_MAX, EVALUATIONS_MIN
from sinemora.labs.tail_lab.core.source import SourceVerdict
from sinemora.labs.tail_lab.core.summary import TailFigure


class WorkloadKey(StrEnum):
    """Workloads of the source, and `own` for imported flow sizes."""

    W1 = "w1"
    W2 = "w2"
    W3 = "w3"
    W4 = "w4"
    W5 = "w5"
    OWN = "own"


class TailBaseline(StrEnum):
    """Policies without α."""

    FCFS = "fcfs"
    PS = "ps"
    LAS = "las"
    SRPT = "srpt"


class TailStudyCreate(Write):
    """Study of the order of packets at one link. α is searched unless given.

    The search minimises `objective` where the mean rises by at most `mean_loss_max` percent over the baseline:
    `against`, or LAS for policies that do not know sizes and SRPT for those that do.
    """

    name: Name = "Tail study"
    workload: WorkloadKey = WorkloadKey.W5
    sizes_csv: Annotated[str | None, Field(max_length=2_000_000)] = None
    load: Annotated[float, Field(ge=0.05, le=0.95)] = 0.8
    link_mbit: Annotated[float, Field(ge=1, le=400_000)] = 10_000.0
    packet_bytes: Annotated[int, Field(ge=64, le=65_535, description="Data of a full packet")] = 1_460
    flows: Annotated[
        int | None,
        Field(
            ge=1_000,
            le=1_000_000,
        ),
    ] = None
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1
    policies: Annotated[list[PacketPolicy], Field(min_length=1, max_length=len(PacketPolicy)), *DISTINCT] | None = None
    objective: TailFigure = TailFigure.TAIL_MEAN
    against: TailBaseline | None = None
    mean_loss_max: Annotated[float | None, Field(ge=0, le=1_000, description="Null: any rise of the mean")] = 3.0
    alpha: Annotated[float | None, Field(ge=0, le=ALPHA_MAX, description="Null: by search; 1e15 is infinity")] = None
    evaluations: Annotated[int, Field(ge=EVALUATIONS_MIN, le=EVALUATIONS_MAX)] = 25
    classes: Annotated[int | None, Field(ge=2, le=8)] = None
    spread: Annotated[ClassSpread, Field(description="What every class carries equally much of")] = ClassSpread.BYTES

    @model_validator(mode="after")
    def _own_sizes(self) -> Self:
        if (self.workload is WorkloadKey.OWN) != (self.sizes_csv is not None):
            raise ValueError("`sizes_csv` belongs to the workload `own`, and to no other")
        return self

    @model_validator(mode="after")
    def _in_classes(self) -> Self:
        if self.classes is not None and not {*TUNABLE} - {PacketPolicy.PBS} & {*self.chosen_policies}:
            raise ValueError("`classes` need d_tail_blind or d_tail_aware among the `policies`")
        return self

    @property
    def chosen_policies(self) -> list[PacketPolicy]:
        """The policies asked for, or the usual ones."""
        return list(USUAL) if self.policies is None else self.policies


class TailFiguresRead(Read):
    """Mean, p99, mean of the slowest 1 % (tail mean), and p99 of the smallest bucket of sizes."""

    mean: float
    p99: float
    tail_mean: float
    small_p99: float


class TailBucketRead(Read):
    """Flows of a range of sizes up to `bytes_max`; `p99_s` is null without flows."""

    bytes_max: int
    flows: int
    p99_s: float | None


class TailGainRead(Read):
    """Gains over a baseline: how much lower each figure is."""

    against: PacketPolicy
    gains: TailFiguresRead


class TailOutcomeRead(Read):
    """Outcome of one policy on the compared flows."""

    policy: PacketPolicy
    alpha: float | None
    classes: int | None
    figures: TailFiguresRead
    gains: list[TailGainRead]
    tail_means_s: list[float]
    buckets: list[TailBucketRead]
    slowdown: list[float]
    boundaries: list[float]
    class_shares: list[float]
    # Studies that were stored before this field existed lack it.
    egress_guard: str | None = None


class TailEvaluationRead(Read):
    """Figures at one α on the flows of the search. `allowed`: the mean rises no more than permitted."""

    alpha: float
    figures: TailFiguresRead
    gain: float
    mean_loss: float
    allowed: bool


class TailSearchRead(Read):
    """Search of α of a policy: its evaluations in the order made, and the best."""

    policy: PacketPolicy
    against: PacketPolicy
    evaluations: list[TailEvaluationRead]
    best: TailEvaluationRead


class TailBesideSourceRead(Read):
    """A gain that the source prints and the gain found here. `source_alpha` is the best α that the source names."""

    protocol: str
    policy: PacketPolicy
    against: PacketPolicy
    figure: TailFigure
    source_percent: float
    source_alpha: float | None
    here_percent: float
    here_alpha: float
    verdict: SourceVerdict
    why: str


class TailStudyRead(Read):
    """Study: outcomes of all policies on the same flows, searches on others, figures next to those of the source."""

    id: UUID
    name: str
    workload: WorkloadKey
    workload_name: str
    load: float
    link_mbit: float
    packet_bytes: int
    seed: int
    objective: TailFigure
    mean_loss_max: float | None
    flows: int
    packets: int
    mean_bytes: float
    offered_load: float
    outcomes: list[TailOutcomeRead]
    searches: list[TailSearchRead]
    beside_source: list[TailBesideSourceRead]


class TailWorkloadRead(Read):
    """Workload of the source. `points`: bytes, and the share of flows of at most so many; linear between two."""

    key: WorkloadKey
    name: str
    mean_bytes: float
    points: list[list[float]]
