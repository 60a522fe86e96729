"""JSON schemas of zones, VMs and agents."""

from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, computed_field, model_validator

from sinemora.fleet.inventory.models import EVENT_PORT, GENERAL_PORT, Responder
from sinemora.fleet.inventory.status import AgentStatus, status_of
from sinemora.kit.config import settings
from sinemora.kit.names import Name
from sinemora.kit.schemas import AgentWrite, Omittable, Read, Write


def _one_host(text: str) -> str:
    try:
        address = ip_address(text)
    except ValueError:
        raise ValueError("Not an IPv4 or IPv6 address, as 10.0.0.4.") from None
    if address.is_multicast or address.is_unspecified or text == "255.255.255.255":
        raise ValueError("must be the address of one host")
    return str(address)


def _routed(text: str) -> str:
    if ip_address(text).is_link_local:
        raise ValueError("A link-local address, which other VMs cannot reach: set probe_address to one that they can.")
    return text


Port = Annotated[int, Field(ge=1, le=65535)]
PtpDomain = Annotated[int, Field(ge=0, le=127)]
Address = Annotated[str, AfterValidator(_one_host), Field(max_length=45, examples=["10.0.0.4"])]
ProbeAddress = Annotated[Address, AfterValidator(_routed)]
Labels = Annotated[
    dict[Annotated[str, Field(max_length=63)], Annotated[str, Field(max_length=200)]], Field(max_length=64)
]


class ZoneCreate(Write):
    """Zone. `physical_id` is the provider's identifier of the physical zone, if it publishes one (AWS: `euw1-az2`)."""

    provider: Name
    region: Name
    name: Name
    physical_id: Name | None = None


class ZoneUpdate(Write):
    """Changes to a zone. Omitted fields do not change."""

    name: Omittable[Name] = None
    physical_id: Name | None = None


class ZoneRead(Read):
    """Availability zone of a provider."""

    id: UUID
    provider: str
    region: str
    name: str
    physical_id: str | None
    version: int
    created_at: datetime


class _Ports(BaseModel):
    """Ports of IEEE 1588: event messages (timestamped) and general messages."""

    event_port: Port = EVENT_PORT
    general_port: Port = GENERAL_PORT

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.event_port == self.general_port:
            raise ValueError("general_port must differ from event_port")
        return self


class VmCreate(_Ports, Write):
    """VM. Without an address it is not probed; the enrolment of its agent sets the address.

    Where no agent can run, set `responder` to `ieee1588`: the agents of its meshes then measure against the unicast
    IEEE 1588 master at its address (ptpd, ptp4l …), in its `ptp_domain`. `sptp`: they measure a server of SPTP (ptp4u).
    """

    name: Name
    zone_id: UUID
    labels: Labels = Field(default_factory=dict)
    probe_address: ProbeAddress | None = None
    responder: Responder = Responder.AGENT
    ptp_domain: PtpDomain = 0

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.responder is not Responder.AGENT and self.probe_address is None:
            raise ValueError("probe_address is needed to measure against a PTP server")
        return self


class VmUpdate(Write):
    """Changes to a VM. Omitted fields do not change."""

    name: Omittable[Name] = None
    zone_id: Omittable[UUID] = None
    labels: Omittable[Labels] = None
    probe_address: ProbeAddress | None = None
    event_port: Omittable[Port] = None
    general_port: Omittable[Port] = None
    responder: Omittable[Responder] = None
    ptp_domain: Omittable[PtpDomain] = None


class AgentSummary(Read):
    """Summary of an agent. `stopped_since`: time of its orderly stop, if it has not started since."""

    id: UUID
    agent_version: str
    created_at: datetime
    revoked_at: datetime | None
    last_report_at: datetime | None
    report_every_s: int
    stopped_since: datetime | None

    @computed_field(description="Status of the agent now")  # type: ignore[prop-decorator]
    @property
    def status(self) -> AgentStatus:
        """Return the current status of the agent."""
        return status_of(
            self.revoked_at,
            self.last_report_at,
            self.report_every_s,
            datetime.now(UTC),
            settings().stale_windows,
            self.stopped_since,
        )


class VmRead(Read):
    """Virtual machine. `key` identifies it in matrices and on the wire."""

    id: UUID
    key: int
    name: str
    zone: ZoneRead
    labels: dict[str, str]
    probe_address: str | None
    event_port: int
    general_port: int
    responder: Responder
    ptp_domain: int
    version: int
    created_at: datetime
    agent: AgentSummary | None


class VmName(Read):
    """Reference to a VM: ids and name."""

    id: UUID
    key: int
    name: str


class AgentRead(AgentSummary):
    """Agent of a VM, its description of itself and its last health."""

    vm: VmName
    credential_prefix: str
    description: dict[str, Any]
    health: dict[str, Any] | None


class ZoneName(AgentWrite):
    """Zone as an agent names it, created if missing. A `physical_id` selects the zone of that id."""

    provider: Name
    region: Name
    name: Name
    physical_id: Name | None = None


class AgentEnrol(_Ports, AgentWrite):
    """Enrolment of an agent. `description` is free-form: system, kernel, source of timestamps."""

    token: Annotated[str, Field(min_length=8, max_length=200)]
    hostname: Name
    zone: ZoneName
    probe_address: ProbeAddress
    agent_version: Annotated[str, Field(max_length=50)]
    description: Annotated[dict[str, Any], Field(max_length=64)] = Field(default_factory=dict)


class AgentEnrolled(Read):
    """Identity of an enrolled agent."""

    agent_id: UUID
    vm_id: UUID
    vm_key: int
    tenant_id: UUID
    credential: str
    keys: list[str]


class AgentDescription(AgentWrite):
    """Agent's description of itself. Omitted fields do not change."""

    probe_address: Omittable[ProbeAddress] = None
    event_port: Omittable[Port] = None
    general_port: Omittable[Port] = None
    agent_version: Omittable[Annotated[str, Field(max_length=50)]] = None
    description: Omittable[Annotated[dict[str, Any], Field(max_length=64)]] = None
    transfer: Omittable[Annotated[dict[str, Any], Field(max_length=64)]] = None

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.event_port is not None and self.event_port == self.general_port:
            raise ValueError("general_port must differ from event_port")
        return self


class AgentEventCreate(AgentWrite):
    """Event of an agent: `stopping`, `clock_step`, `route_change`, `rate_shed`, `no_service`, `reports_dropped` …"""

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,39}$")]
    at: AwareDatetime
    detail: Annotated[dict[str, Any], Field(max_length=64)] = Field(default_factory=dict)


class AgentEvents(AgentWrite):
    """Batch of events."""

    events: Annotated[list[AgentEventCreate], Field(min_length=1, max_length=100)]


class AgentEventRead(Read):
    """Stored event and the time it was received."""

    id: int
    kind: str
    at: datetime
    detail: dict[str, Any]
    received_at: datetime
