"""Shapes on the wire: zones, VMs, agents."""

from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, computed_field, model_validator

from sinemora.inventory.models import EVENT_PORT, GENERAL_PORT, Responder
from sinemora.inventory.status import AgentStatus, status_of
from sinemora.kit.config import settings
from sinemora.kit.schemas import AgentWrite, Read, Write


def _one_host(text: str) -> str:
    address = ip_address(text)
    if address.is_multicast or address.is_unspecified or text == "255.255.255.255":
        raise ValueError("must be the address of one host")
    return str(address)


Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")]
Port = Annotated[int, Field(ge=1, le=65535)]
Address = Annotated[str, AfterValidator(_one_host), Field(max_length=45, examples=["10.0.0.4"])]
Labels = Annotated[
    dict[Annotated[str, Field(max_length=63)], Annotated[str, Field(max_length=200)]], Field(max_length=64)
]


class ZoneCreate(Write):
    """A zone. `physical_id` is the provider's name for the place itself, where it tells (AWS: `euw1-az2`)."""

    provider: Name
    region: Name
    name: Name
    physical_id: Name | None = None


class ZoneUpdate(Write):
    """What may change of a zone; what is left out stays."""

    name: Name | None = None
    physical_id: Name | None = None


class ZoneRead(Read):
    """A place of a provider."""

    id: UUID
    provider: str
    region: str
    name: str
    physical_id: str | None
    version: int
    created_at: datetime


class _Ports(BaseModel):
    """Ports of IEEE 1588: one for timed messages, another for the rest."""

    event_port: Port = EVENT_PORT
    general_port: Port = GENERAL_PORT

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.event_port == self.general_port:
            raise ValueError("general_port must differ from event_port")
        return self


class VmCreate(_Ports, Write):
    """A VM. Without an address nothing probes it; enrolling an agent fills it in.

    Where no agent can run, `responder` may be `ieee1588`: the agents of its meshes then measure against the unicast
    IEEE 1588 master at its address (ptpd, ptp4l …).
    """

    name: Name
    zone_id: UUID
    labels: Labels = Field(default_factory=dict)
    probe_address: Address | None = None
    responder: Responder = Responder.AGENT

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.responder is Responder.IEEE1588 and self.probe_address is None:
            raise ValueError("probe_address is needed to measure against an IEEE 1588 master")
        return self


class VmUpdate(Write):
    """What may change of a VM; what is left out stays."""

    name: Name | None = None
    zone_id: UUID | None = None
    labels: Labels | None = None
    probe_address: Address | None = None
    event_port: Port | None = None
    general_port: Port | None = None
    responder: Responder | None = None


class AgentSummary(Read):
    """An agent as its VM shows it."""

    id: UUID
    agent_version: str
    created_at: datetime
    revoked_at: datetime | None
    last_report_at: datetime | None
    report_every_s: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def status(self) -> AgentStatus:
        """Where the agent stands now."""
        return status_of(
            self.revoked_at, self.last_report_at, self.report_every_s, datetime.now(UTC), settings().stale_windows
        )


class VmRead(Read):
    """A virtual machine. `key` stands for it in matrices and on the wire."""

    id: UUID
    key: int
    name: str
    zone: ZoneRead
    labels: dict[str, str]
    probe_address: str | None
    event_port: int
    general_port: int
    responder: Responder
    version: int
    created_at: datetime
    agent: AgentSummary | None


class VmName(Read):
    """Enough of a VM to name and link it."""

    id: UUID
    key: int
    name: str


class AgentRead(AgentSummary):
    """Our process on a VM, what it says of itself and how it last was."""

    vm: VmName
    credential_prefix: str
    description: dict[str, Any]
    health: dict[str, Any] | None


class ZoneName(AgentWrite):
    """A zone as an agent names it; made when it does not exist. With a `physical_id` it is the zone of that id."""

    provider: Name
    region: Name
    name: Name
    physical_id: Name | None = None


class AgentEnrol(_Ports, AgentWrite):
    """A VM asks to join. `description` is free: system, kernel, where stamps are taken."""

    token: Annotated[str, Field(min_length=8, max_length=200)]
    hostname: Name
    zone: ZoneName
    probe_address: Address
    agent_version: Annotated[str, Field(max_length=50)]
    description: Annotated[dict[str, Any], Field(max_length=64)] = Field(default_factory=dict)


class AgentEnrolled(Read):
    """The agent's own identity. `credential` is shown this once and sent as `Authorization: Bearer sma_…`."""

    agent_id: UUID
    vm_id: UUID
    vm_key: int
    tenant_id: UUID
    credential: str


class AgentDescription(AgentWrite):
    """What an agent says of itself; what it leaves out stays."""

    probe_address: Address | None = None
    event_port: Port | None = None
    general_port: Port | None = None
    agent_version: Annotated[str, Field(max_length=50)] | None = None
    description: Annotated[dict[str, Any], Field(max_length=64)] | None = None

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.event_port is not None and self.event_port == self.general_port:
            raise ValueError("general_port must differ from event_port")
        return self


class AgentEventCreate(AgentWrite):
    """Something an agent thought worth telling: `clock_step`, `route_change`, `rate_shed`, `reports_dropped` …"""

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,39}$")]
    at: AwareDatetime
    detail: Annotated[dict[str, Any], Field(max_length=64)] = Field(default_factory=dict)


class AgentEvents(AgentWrite):
    """A few events at once."""

    events: Annotated[list[AgentEventCreate], Field(min_length=1, max_length=100)]


class AgentEventRead(Read):
    """An event as it was told, and when it arrived."""

    id: int
    kind: str
    at: datetime
    detail: dict[str, Any]
    received_at: datetime
