"""JSON schemas of the bulk sender. Sizes are bytes, rates Mbit/s."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.advisors.bulk.core.trial import TrialVerdict, Variant
from sinemora.applications.schemas import Named
from sinemora.kit.schemas import AgentWrite, Read, Write

ROUNDS_MAX = 20
_COUNT_MAX = 2**53
Reference = Annotated[str, Field(min_length=1, max_length=100, description="Name or id")]


class TransportVariant(Write):
    """Transport of a transfer: `congestion` null is the kernel's default; `connections` share the bytes evenly."""

    congestion: Annotated[str | None, Field(max_length=40, pattern=r"^[a-z0-9_]+$")] = None
    connections: Annotated[int, Field(ge=1, le=64)] = 1
    mptcp: bool = False
    tls: bool = False


class TransportTrialCreate(Write):
    """Comparison of two transports between two VMs: `rounds` transfers of `size_mb` (1,000,000 bytes) with each."""

    mesh: Reference
    source: Reference
    target: Reference
    size_mb: Annotated[float, Field(ge=0.01, le=100_000, allow_inf_nan=False)] = 10.0
    rounds: Annotated[int, Field(ge=2, le=ROUNDS_MAX)] = 5
    a: TransportVariant = TransportVariant()
    b: TransportVariant

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.a == self.b:
            raise ValueError("`a` and `b` are the same transport: change one")
        return self


class BulkSenderRead(Read):
    """Bulk sender of a VM. Without one that is on, `is_on` is false and the others are null."""

    vm: Named
    is_on: bool
    bytes_max: int | None
    rate_max_mbit: float | None
    seconds_max: int | None
    congestion_controls: list[str]
    mptcp: bool
    tls: bool


class BulkStatus(StrEnum):
    """`waiting`: nothing is sent yet; `running`; `completed`; `stopped` by a person; `failed`: see `error`."""

    WAITING = "waiting"
    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


class BulkTransferRead(Read):
    """One transfer of a run."""

    index: int
    variant: Variant
    source: Named
    target: Named
    size_bytes: int
    sent_bytes: int
    connections: int
    rate_cap_mbit: float | None
    started_at: datetime | None
    elapsed_s: float | None
    rate_mbit: float | None
    jain: float | None
    slowest_share: float | None
    error: str | None


class VariantRead(Read):
    """Transfers of one transport: mean and slowest time (s), means of Jain's index and of the slowest share."""

    transport: TransportVariant
    done: int
    mean_s: float | None
    slowest_s: float | None
    jain: float | None
    slowest_share: float | None


class ChangeRead(Read):
    """Change of the transfer time from A to B with its 95 % interval; -0.2 is 20 % shorter. The verdict follows it."""

    mean: float
    low: float
    high: float
    pairs: int
    verdict: TrialVerdict


class TrialRead(Read):
    """Result of a trial. `change` is null before two rounds are complete."""

    a: VariantRead
    b: VariantRead
    change: ChangeRead | None
    advice: str


class DisturbanceRead(Read):
    """Delays that the mesh measured in one direction: in the minute before, and while bytes were sent; null: none."""

    path: str
    before_p50_us: float | None
    before_p99_us: float | None
    during_p50_us: float | None
    during_p99_us: float | None


class BulkRunSummary(Read):
    """Run of the bulk sender as a list item. `progress` is the share of its bytes that was sent."""

    id: UUID
    mesh: Named
    status: BulkStatus
    progress: float
    vms: list[Named]
    size_bytes: int
    requested_by: str
    created_at: datetime
    starts_at: datetime
    ends_at: datetime
    error: str | None


class BulkRunRead(BulkRunSummary):
    """Run of the bulk sender with its transfers, its result, and what it did to the measurements."""

    transfers: list[BulkTransferRead]
    trial: TrialRead
    disturbance: list[DisturbanceRead]


_Count = Annotated[int, Field(ge=0, le=_COUNT_MAX)]
_Words = Annotated[str, Field(max_length=500)]


class ConnectionReport(AgentWrite):
    """Connection of a transfer: bytes so far, and µs until all were acknowledged; 0 is not yet."""

    bytes: _Count
    elapsed_us: _Count


class StepReport(AgentWrite):
    """Transfer as its sender reports it."""

    index: Annotated[int, Field(ge=0, lt=2**16)]
    started_at_ns: Annotated[int, Field(ge=0, lt=2**63)]
    elapsed_us: _Count
    connections: Annotated[list[ConnectionReport], Field(max_length=256)]
    error: _Words | None = None


class BulkReport(AgentWrite):
    """Progress of an order on one VM."""

    order_id: UUID
    error: _Words | None = None
    steps: Annotated[list[StepReport], Field(max_length=1_000)] = []  # noqa: RUF012
