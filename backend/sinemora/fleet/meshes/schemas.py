"""JSON schemas of meshes, rosters, enrolment tokens, plans and usage."""

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.access.tenants.quotas import Concurrency, QuotaOrigin, Resource
from sinemora.fleet.meshes.plan import (
    LOSS_DEADLINE_MS,
    LOSS_DEADLINE_RANGE_MS,
    SPIKE_THRESHOLD_NS,
    SPIKE_THRESHOLD_RANGE_NS,
)
from sinemora.fleet.meshes.strategies.strategy import FULL, PERIOD_WINDOWS_RANGE, REPRESENTATIVES_RANGE, StrategyKind
from sinemora.kit.names import Name
from sinemora.kit.schemas import Omittable, Read, Write

Rate = Literal[1, 2, 4, 8, 16, 32, 64, 128]
Window = Annotated[int, Field(ge=1, le=60)]
Flows = Annotated[int, Field(ge=1, le=16)]
SpikeThreshold = Annotated[
    int,
    Field(
        ge=SPIKE_THRESHOLD_RANGE_NS[0],
        le=SPIKE_THRESHOLD_RANGE_NS[1],
        description="Excess over a window's median from which agents keep the exchanges of a spike, ns",
    ),
]
LossDeadline = Annotated[
    int,
    Field(
        ge=LOSS_DEADLINE_RANGE_MS[0],
        le=LOSS_DEADLINE_RANGE_MS[1],
        description="Time after which an exchange without a response is lost",
    ),
]
PeriodWindows = Annotated[
    int,
    Field(
        ge=PERIOD_WINDOWS_RANGE[0],
        le=PERIOD_WINDOWS_RANGE[1],
        description="Windows until the plan repeats; `full` ignores it",
    ),
]
Representatives = Annotated[
    int,
    Field(
        ge=REPRESENTATIVES_RANGE[0],
        le=REPRESENTATIVES_RANGE[1],
        description="VMs that represent a zone in a window; only for `zones`",
    ),
]

RemoveGoneAfter = Annotated[
    int,
    Field(
        ge=300,
        le=2_592_000,
        description="VMs are short-lived: one whose agent has been stopped or silent for so long is removed, s",
    ),
]


class MeshCreate(Write):
    """Mesh: `rate_hz` exchanges per second and flow, summarised in windows of `window_s` seconds."""

    name: Name
    window_s: Window = 10
    rate_hz: Rate = 8
    flows: Flows = 1
    spike_threshold_ns: SpikeThreshold = SPIKE_THRESHOLD_NS
    loss_deadline_ms: LossDeadline = LOSS_DEADLINE_MS
    strategy: StrategyKind = FULL.kind
    period_windows: PeriodWindows = FULL.period_windows
    representatives: Representatives = FULL.representatives
    remove_gone_after_s: RemoveGoneAfter | None = None


class MeshUpdate(Write):
    """Changes to a mesh. Omitted fields do not change."""

    name: Omittable[Name] = None
    window_s: Omittable[Window] = None
    rate_hz: Omittable[Rate] = None
    flows: Omittable[Flows] = None
    spike_threshold_ns: Omittable[SpikeThreshold] = None
    loss_deadline_ms: Omittable[LossDeadline] = None
    strategy: Omittable[StrategyKind] = None
    period_windows: Omittable[PeriodWindows] = None
    representatives: Omittable[Representatives] = None
    remove_gone_after_s: RemoveGoneAfter | None = None


class MeshRead(Read):
    """Mesh: VMs that probe one another."""

    id: UUID
    key: int
    name: str
    window_s: int
    rate_hz: int
    flows: int
    spike_threshold_ns: int
    loss_deadline_ms: int
    strategy: StrategyKind
    period_windows: int
    representatives: int
    remove_gone_after_s: int | None
    revision: int
    vm_count: int
    version: int
    created_at: datetime


class RosterVm(Read):
    """Row and column of the mesh's matrices."""

    id: UUID
    key: int
    name: str
    zone_id: UUID
    zone_name: str


class RosterZone(Read):
    """Zone of consecutive rows: `count` VMs from index `first` on."""

    id: UUID
    name: str
    first: int
    count: int


class RosterRead(Read):
    """Axes of all matrices of a mesh at this revision, ordered by zone name, then VM name."""

    revision: int
    vms: list[RosterVm]
    zones: list[RosterZone]


class EgressPriceWrite(Write):
    """Price of a user's traffic, USD per GiB moved."""

    between_zones: Annotated[float, Field(ge=0, le=100)]
    between_regions: Annotated[float, Field(ge=0, le=100)]


class PlanPreviewCreate(Write):
    """Settings to compare the strategies of a mesh under; nothing changes. Omitted settings are those of the mesh."""

    window_s: Window | None = None
    rate_hz: Rate | None = None
    flows: Flows | None = None
    period_windows: PeriodWindows | None = None
    representatives: Representatives | None = None
    prices: EgressPriceWrite | None = None


class TrafficRead(Read):
    """Bytes of all packets of a day (IPv4), by where they go."""

    same_zone_bytes_per_day: int
    between_zones_bytes_per_day: int
    between_regions_bytes_per_day: int
    between_providers_bytes_per_day: int


class DetectionRead(Read):
    """Windows from the start of a fault until the default rules fire, for any start. Null: no subject is measured."""

    p90_windows: int | None
    worst_windows: int | None
    never: float


class DetectionsRead(Read):
    """Detection of a fault of one path, of one VM, and between two zones."""

    path: DetectionRead
    vm: DetectionRead
    zone_pair: DetectionRead


class ProbingCostRead(Read):
    """Cost of probing, mean of a period. Packets of an agent are those it sends and receives."""

    pairs_per_window: float
    agent_packets_per_s: float
    agent_packets_per_s_max: float
    packets_per_s: float
    bytes_per_day: int
    traffic: TrafficRead
    usd_per_day: float | None


class StrategyPreview(Read):
    """Strategy of a mesh with its cost."""

    strategy: StrategyKind
    period_s: int
    measured: float
    cost: ProbingCostRead
    detection: DetectionsRead
    exceeds_agent_cap: bool


class ListedPrice(Read):
    """List price of a provider, USD per GiB moved."""

    provider: str
    between_zones: float
    between_regions: float
    source: str


class PlanPreviewRead(Read):
    """Strategies of a mesh under equal settings."""

    mesh_id: UUID
    vms: int
    items: list[StrategyPreview]
    prices: list[ListedPrice]
    prices_checked_on: date


class PlanAdoptionRead(Read):
    """Agents that follow the newest plan of a mesh."""

    revision: int
    agents: int
    following: int
    behind: int
    unknown: int
    first_behind: list[str]
    live: int
    active_everywhere: bool
    active_since: datetime | None
    first_waited_for: list[str]
    first_not_live: list[str]


class EnrolmentTokenCreate(Write):
    """Enrolment token of a mesh."""

    mesh_id: UUID
    expires_in_s: Annotated[int, Field(ge=60, le=30 * 86_400)] = 3_600
    max_uses: Annotated[int, Field(ge=1, le=10_000)] = 1


class EnrolmentTokenRead(Read):
    """Enrolment token without its secret."""

    id: UUID
    mesh_id: UUID
    prefix: str
    expires_at: datetime
    max_uses: int
    uses: int
    created_at: datetime


class EnrolmentTokenCreated(EnrolmentTokenRead):
    """New enrolment token."""

    token: str
    command: str
    install_command: str | None


class PlanCaps(Read):
    """Limits of an agent: `cpu_percent` is of one processor, `memory_mib` of resident memory."""

    packets_per_s: int
    peers: int
    cpu_percent: int
    memory_mib: int


class PlanPeer(Read):
    """Peer of an agent."""

    vm_key: int
    name: str
    address: str
    event_port: int
    general_port: int
    role: Literal["client", "responder"]
    protocol: Literal["compact", "ieee1588", "sptp"]
    domain: int
    vm_tag: int
    flows: int
    turns: list[int] | None


class PlanMesh(Read):
    """Mesh of an agent's VM."""

    id: UUID
    key: int
    name: str
    window_s: int
    rate_hz: int
    loss_deadline_ms: int
    period_windows: int
    peers: list[PlanPeer]


class PlanOnDemand(Read):
    """Measurement of one peer on demand: `rate_hz` exchanges per second and flow in a span of at most 60 s."""

    id: UUID
    key: int
    rate_hz: int
    loss_deadline_ms: int
    starts_at_ns: int
    ends_at_ns: int
    ecn: bool
    reordering: bool
    peer: PlanPeer


class PlanBulkStep(Read):
    """Transfer of the bulk sender with a peer."""

    index: int
    phase: int
    role: Literal["sender", "receiver"]
    address: str
    port: int
    bytes: int
    connections: int
    rate_bytes_per_s: int | None
    congestion: str | None
    mptcp: bool
    tls: bool


class PlanBulkOrder(Read):
    """Transfers that an agent runs."""

    id: UUID
    secret: str
    starts_at_ns: int
    ends_at_ns: int
    certificate: str | None
    certificate_key: str | None
    steps: list[PlanBulkStep]


class PlanPart(StrEnum):
    """Part of a plan that a program of a VM follows."""

    all = "all"
    bulk = "bulk"


class PlanRead(Read):
    """Probing plan of an agent. Only `server_time_ns` may differ at one `revision`."""

    revision: str
    agent_id: UUID
    vm_key: int
    server_time_ns: int
    caps: PlanCaps
    spike_threshold_ns: int
    meshes: list[PlanMesh]
    on_demand: list[PlanOnDemand]
    service_traffic: dict[str, int] | None
    bulk: list[PlanBulkOrder]


class UsageItem(Read):
    """Quota, or limit of work at one time. `used` is null for quotas of retention; streams are those of one process.

    `set_by`: for this tenant, by its plan or for the installation.
    """

    resource: Resource | Concurrency
    used: float | None
    limit: float
    set_by: QuotaOrigin


class UsageRead(Read):
    """Usage of the tenant and its quotas."""

    plan: str | None
    contact: str | None
    items: list[UsageItem]
