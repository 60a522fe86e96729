"""JSON schemas of the transfer planner."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from sinemora.advisors.transfers.core.plan import CONNECTIONS_MAX
from sinemora.advisors.transfers.core.shape import ShapeKind
from sinemora.applications.schemas import Named
from sinemora.kit.names import Name
from sinemora.kit.schemas import Read, Write
from sinemora.measurements.token_buckets.models import Direction

TRANSFERS_MAX = 600
PRESET_WORKERS_MAX = 24


class Topology(StrEnum):
    """Network between the hosts: one switch, racks of equal size in the order of the hosts, or the zones of the VMs."""

    STAR = "star"
    TWO_RACK = "two_rack"
    FOUR_RACK = "four_rack"
    ZONES = "zones"


class CapacitySource(StrEnum):
    """Origin of a measured capacity: the rate of the VM's token bucket, or the fastest transfer of a trial."""

    TOKEN_BUCKET = "token_bucket"
    BULK_SENDER = "bulk_sender"


class TransferWrite(Write):
    """Bytes to move from one host to another."""

    source: Name
    target: Name
    size_bytes: Annotated[float, Field(gt=0, le=1e18, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _two_ends(self) -> Self:
        if self.source == self.target:
            raise ValueError("a transfer needs two different ends")
        return self


class SortWrite(Write):
    """Shuffle of a sort of equal parts: every worker sends each other one its share."""

    workers: Annotated[int, Field(ge=2, le=PRESET_WORKERS_MAX)] = 20
    size_gb: Annotated[float, Field(gt=0, le=1e6)] = 10.0
    skew: Annotated[float, Field(ge=0, le=3)] = 0.0


class TransferPlanCreate(Write):
    """Transfers that start at once: a list, or the shuffle of a sort."""

    transfers: Annotated[list[TransferWrite], Field(max_length=TRANSFERS_MAX)] = []  # noqa: RUF012
    sort: SortWrite | None = None
    topology: Topology = Topology.STAR
    capacity_gbit: Annotated[float, Field(gt=0, le=1e5, description="Of each host, both ways")] = 10.0
    capacities_gbit: Annotated[
        dict[Name, Annotated[float, Field(gt=0, le=1e5)]],
        Field(max_length=1_000),
    ] = {}  # noqa: RUF012
    oversubscription: Annotated[float, Field(ge=1, le=1_000)] = 4.0
    connections_max: Annotated[int, Field(ge=1, le=256, description="Of a pair")] = CONNECTIONS_MAX
    mesh: Annotated[str | None, Field(max_length=100)] = None
    measured_capacities: bool = False
    minutes: Annotated[int, Field(ge=2, le=1440, description="Look-back of round trips and loss")] = 60
    window_mib: Annotated[float, Field(gt=0, le=1024, description="Largest TCP window of a connection")] = 4.0

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if bool(self.transfers) == (self.sort is not None):
            raise ValueError("give one of `transfers` and `sort`")
        if self.mesh is not None and self.sort is not None:
            raise ValueError("a sort names its workers itself; `mesh` needs `transfers`")
        if self.topology is Topology.ZONES and self.mesh is None:
            raise ValueError("the topology `zones` needs `mesh`")
        if self.measured_capacities and self.mesh is None:
            raise ValueError("`measured_capacities` are those of the VMs of a mesh: give `mesh`")
        return self


class PlannedTransfer(Read):
    """One transfer: rate (Mbit/s) for pacing, or connections for TCP; place in the order, largest first."""

    source: str
    target: str
    size_bytes: float
    rate_mbit: float
    connections: int
    connection_limit_mbit: float | None
    order: int
    finish_s: float
    fair_finish_s: float


class MeasuredCapacity(Read):
    """Capacity of a host in one direction, Gbit/s. The plan counts it where it is below the entered one."""

    host: str
    direction: Direction
    gbit: float
    source: CapacitySource


class TransferPlanRead(Read):
    """Plan of transfers."""

    bound_s: float
    bottleneck: str
    finish_s: float
    fair_finish_s: float
    gain_percent: float
    unmeasured: Annotated[int, Field(description="Transfers whose path has no round trip; nothing limits them")]
    capacities: Annotated[list[MeasuredCapacity], Field(description="Empty unless asked for")]
    transfers: list[PlannedTransfer]


class TrafficShapeCreate(Write):
    """Bytes sent by window, oldest first."""

    sent_bytes: Annotated[
        list[Annotated[float, Field(ge=0, allow_inf_nan=False)]], Field(min_length=1, max_length=100_000)
    ]


class TrafficShapeRead(Read):
    """Shape of traffic: `burst` (as a sort), `steady` (as k-means) or `unclear`, with its evidence."""

    shape: ShapeKind
    idle_share: float | None
    peak_to_mean: float | None


class VmTrafficShape(TrafficShapeRead):
    """Shape of what a VM sent, by windows of ten seconds in which its agent counted."""

    vm: Named
    windows: int
