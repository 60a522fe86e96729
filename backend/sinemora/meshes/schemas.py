"""Shapes on the wire: meshes, rosters, enrolment tokens."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.inventory.schemas import Name
from sinemora.kit.schemas import Read, Write
from sinemora.tenants.quotas import Resource

Rate = Literal[1, 2, 4, 8, 16, 32, 64, 128]
Window = Annotated[int, Field(ge=1, le=60)]
Flows = Annotated[int, Field(ge=1, le=16)]


class MeshCreate(Write):
    """A mesh. `rate_hz` exchanges per second and flow; a window of `window_s` seconds is summarised at a time."""

    name: Name
    window_s: Window = 10
    rate_hz: Rate = 8
    flows: Flows = 1


class MeshUpdate(Write):
    """What may change of a mesh; what is left out stays."""

    name: Name | None = None
    window_s: Window | None = None
    rate_hz: Rate | None = None
    flows: Flows | None = None


class MeshRead(Read):
    """VMs that probe one another. `revision` rises with every change of roster or plan."""

    id: UUID
    key: int
    name: str
    window_s: int
    rate_hz: int
    flows: int
    revision: int
    vm_count: int
    version: int
    created_at: datetime


class RosterVm(Read):
    """A row, and a column, of the mesh's matrices."""

    id: UUID
    key: int
    name: str
    zone_id: UUID
    zone_name: str


class RosterZone(Read):
    """A run of rows: `count` VMs from index `first` on."""

    id: UUID
    name: str
    first: int
    count: int


class RosterRead(Read):
    """The axes of every matrix of this mesh at this revision, by zone name, then VM name."""

    revision: int
    vms: list[RosterVm]
    zones: list[RosterZone]


class EnrolmentTokenCreate(Write):
    """An invitation into a mesh."""

    mesh_id: UUID
    expires_in_s: Annotated[int, Field(ge=60, le=30 * 86_400)] = 3_600
    max_uses: Annotated[int, Field(ge=1, le=10_000)] = 1


class EnrolmentTokenRead(Read):
    """An invitation without its secret."""

    id: UUID
    mesh_id: UUID
    prefix: str
    expires_at: datetime
    max_uses: int
    uses: int
    created_at: datetime


class EnrolmentTokenCreated(EnrolmentTokenRead):
    """A new invitation. `token` is shown this once; `command` is the line to run on a VM that has the agent.

    `install_command` installs the agent first, as a service; null when this installation has no packages to offer.
    """

    token: str
    command: str
    install_command: str | None


class PlanCaps(Read):
    """What an agent may not exceed: `cpu_percent` is of one processor, `memory_mib` of resident memory."""

    packets_per_s: int
    peers: int
    cpu_percent: int
    memory_mib: int


class PlanPeer(Read):
    """A VM to measure against or to answer; `role` is what the agent itself plays towards it."""

    vm_key: int
    name: str
    address: str
    event_port: int
    general_port: int
    role: Literal["client", "responder"]
    flows: int


class PlanMesh(Read):
    """One mesh of an agent's VM."""

    id: UUID
    key: int
    name: str
    window_s: int
    rate_hz: int
    loss_deadline_ms: int
    peers: list[PlanPeer]


class PlanRead(Read):
    """Everything an agent shall measure and answer. Only `server_time_ns` may differ under one `revision`."""

    revision: str
    agent_id: UUID
    vm_key: int
    server_time_ns: int
    caps: PlanCaps
    spike_threshold_ns: int
    meshes: list[PlanMesh]


class UsageItem(Read):
    """One quota. `used` is null for those that limit how long, not how much."""

    resource: Resource
    used: float | None
    limit: float


class UsageRead(Read):
    """What the tenant uses of what it may use."""

    items: list[UsageItem]
