"""Schemas of proposals from traffic. Shares are between 0 and 1."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sinemora.applications.schemas import ApplicationShape, Named, Share, TaskWrite
from sinemora.fleet.inventory.schemas import VmName
from sinemora.kit.names import Name
from sinemora.kit.schemas import Read, Write

Keys = Annotated[list[Annotated[str, Field(max_length=16)]], Field(min_length=1, max_length=50)]


class ProposalState(StrEnum):
    """State of a proposal: `everywhere` is traffic of most VMs, such as monitoring, and no application."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"
    EVERYWHERE = "everywhere"


class ProposedLink(Read):
    """Link of a proposal, with its share of the proposal's traffic."""

    client_vm_id: UUID
    server_vm_id: UUID
    share: float


class TrafficProposal(Read):
    """Application that traffic suggests: VMs that serve a port, and those that use it.

    `share`: part of the traffic between the mesh's VMs; `stability`: windows with traffic, of those of the busiest.
    `links` has the largest; `curve` is the published curve that fits the port.
    """

    key: str
    state: ProposalState
    name: str
    port: int
    shape: ApplicationShape
    curve: str | None
    servers: list[VmName]
    clients: list[VmName]
    links: list[ProposedLink]
    links_total: int
    share: float
    stability: float
    days: int
    first_at: datetime
    last_at: datetime
    application: Named | None


class TrafficElsewhere(Read):
    """VM with its share of traffic with addresses that are no VM of its meshes."""

    vm: VmName
    share: float


class TrafficProposals(Read):
    """Proposals of a mesh, largest share first, and what agents cannot see.

    `counted`: the tenant lets agents count connections. `elsewhere`: share of the traffic with addresses that are no
    VM, such as those of load balancers, proxies and NAT; `elsewhere_vms` has the ten VMs with most of it.
    """

    counted: bool
    vms: int
    vms_counted: int
    elsewhere: float | None
    elsewhere_vms: list[TrafficElsewhere]
    connections_left_out: int
    items: list[TrafficProposal]


class ProposalsAccept(Write):
    """Proposals to declare as one application. With `tasks`, these replace the observed ones and follow nothing."""

    proposals: Keys
    name: Name
    curve: Annotated[str, Field(max_length=100, description="Key of a published curve, or name or id of your own")]
    curve_number: Annotated[int | None, Field(ge=1)] = None
    objective: Share | None = None
    tasks: Annotated[list[TaskWrite], Field(min_length=2, max_length=2_000)] | None = None


class ProposalUpdate(Write):
    """Dismissal of a proposal, or its return."""

    dismissed: bool
