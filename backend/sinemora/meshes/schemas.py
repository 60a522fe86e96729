"""JSON schemas of meshes, rosters, enrolment tokens, plans and usage."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.inventory.schemas import Name
from sinemora.kit.schemas import Read, Write
from sinemora.meshes.plan import (
    LOSS_DEADLINE_MS,
    LOSS_DEADLINE_RANGE_MS,
    SPIKE_THRESHOLD_NS,
    SPIKE_THRESHOLD_RANGE_NS,
)
from sinemora.tenants.quotas import Resource

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


class MeshCreate(Write):
    """Mesh: `rate_hz` exchanges per second and flow, summarised in windows of `window_s` seconds."""

    name: Name
    window_s: Window = 10
    rate_hz: Rate = 8
    flows: Flows = 1
    spike_threshold_ns: SpikeThreshold = SPIKE_THRESHOLD_NS
    loss_deadline_ms: LossDeadline = LOSS_DEADLINE_MS


class MeshUpdate(Write):
    """Changes to a mesh. Omitted fields do not change."""

    name: Name | None = None
    window_s: Window | None = None
    rate_hz: Rate | None = None
    flows: Flows | None = None
    spike_threshold_ns: SpikeThreshold | None = None
    loss_deadline_ms: LossDeadline | None = None


class MeshRead(Read):
    """Mesh: VMs that probe one another. `revision` rises with every change of roster or plan."""

    id: UUID
    key: int
    name: str
    window_s: int
    rate_hz: int
    flows: int
    spike_threshold_ns: int
    loss_deadline_ms: int
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
    """New enrolment token. `token` is shown only once; `command` enrols a VM that has the agent.

    `install_command` also installs the agent as a service; null when this installation offers no packages.
    """

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
    """Peer of an agent. `role` is the agent's own role towards it."""

    vm_key: int
    name: str
    address: str
    event_port: int
    general_port: int
    role: Literal["client", "responder"]
    flows: int


class PlanMesh(Read):
    """Mesh of an agent's VM."""

    id: UUID
    key: int
    name: str
    window_s: int
    rate_hz: int
    loss_deadline_ms: int
    peers: list[PlanPeer]


class PlanRead(Read):
    """Probing plan of an agent. Only `server_time_ns` may differ at one `revision`."""

    revision: str
    agent_id: UUID
    vm_key: int
    server_time_ns: int
    caps: PlanCaps
    spike_threshold_ns: int
    meshes: list[PlanMesh]


class UsageItem(Read):
    """Quota. `used` is null for quotas of retention."""

    resource: Resource
    used: float | None
    limit: float


class UsageRead(Read):
    """Usage of the tenant and its quotas."""

    items: list[UsageItem]
