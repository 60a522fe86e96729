"""HTTP of the inventory: zones, VMs, agents, and agents' reports about themselves."""

from typing import Annotated
from uuid import UUID

from fastapi import Header, Query
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.fleet.inventory import agents, copies, queries, schemas, service
from sinemora.fleet.inventory.agents import AgentDep, signed_in_agents
from sinemora.fleet.inventory.models import Agent, AgentEvent, Vm, Zone
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http import known_ids
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

known_ids.register(zone_id=Zone, vm_id=Vm, agent_id=Agent)
router = signed_in_router("/v1", None)
agent_router = signed_in_agents(422)


@router.get("/zones", tags=["zones"], response_model=Page[schemas.ZoneRead])
def list_zones(session: SessionDep, _: Viewer, page: Paging) -> Slice[Zone]:
    """List the tenant's zones by name; for callers limited to some meshes, those of the VMs that they see."""
    return paginate(session, select(Zone), page, Zone.name, Zone.id)


@router.post("/zones", status_code=201, tags=["zones"], response_model=schemas.ZoneRead, responses=responses(409, 422))
def create_zone(body: schemas.ZoneCreate, session: SessionDep, actor: Editor) -> Zone:
    """Create a zone."""
    return service.create_zone(session, actor, body)


@router.get("/zones/{zone_id}", tags=["zones"], response_model=schemas.ZoneRead, responses=responses(404))
def read_zone(zone_id: UUID, session: SessionDep, _: Viewer) -> Zone:
    """Return a zone."""
    return service.get_zone(session, zone_id)


@router.patch(
    "/zones/{zone_id}", tags=["zones"], response_model=schemas.ZoneRead, responses=responses(404, 409, 412, 422, 428)
)
def update_zone(
    zone_id: UUID, body: schemas.ZoneUpdate, session: SessionDep, actor: Editor, precondition: Precondition
) -> Zone:
    """Change a zone."""
    return service.update_zone(session, actor, zone_id, body, precondition)


@router.delete("/zones/{zone_id}", status_code=204, tags=["zones"], responses=responses(404, 409, 412))
def delete_zone(zone_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a zone without VMs."""
    service.delete_zone(session, actor, zone_id, precondition)


@router.get("/vms", tags=["vms"], response_model=Page[schemas.VmRead])
def list_vms(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    zone_id: UUID | None = None,
    name: Annotated[str | None, Query(description="Part of the name, case-insensitive", max_length=100)] = None,
) -> Slice[Vm]:
    """List the tenant's VMs by name."""
    return paginate(session, queries.vms_where(zone_id, name), page, Vm.name)


@router.post("/vms", status_code=201, tags=["vms"], response_model=schemas.VmRead, responses=responses(404, 409, 422))
def create_vm(body: schemas.VmCreate, session: SessionDep, actor: Editor) -> Vm:
    """Create a VM. The enrolment of an agent also creates one."""
    return service.create_vm(session, actor, body)


@router.get("/vms/{vm_id}", tags=["vms"], response_model=schemas.VmRead, responses=responses(404))
def read_vm(vm_id: UUID, session: SessionDep, actor: Viewer) -> Vm:
    """Return a VM."""
    return service.get_vm(session, vm_id)


@router.patch("/vms/{vm_id}", tags=["vms"], response_model=schemas.VmRead, responses=responses(404, 409, 412, 422, 428))
def update_vm(
    vm_id: UUID, body: schemas.VmUpdate, session: SessionDep, actor: Editor, precondition: Precondition
) -> Vm:
    """Change a VM."""
    return service.update_vm(session, actor, vm_id, body, precondition)


@router.delete("/vms/{vm_id}", status_code=204, tags=["vms"], responses=responses(404, 412))
def delete_vm(vm_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a VM and its agent. Its meshes continue without it."""
    service.delete_vm(session, actor, vm_id, precondition)


@router.get("/agents", tags=["agents"], response_model=Page[schemas.AgentRead])
def list_agents(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    revoked: Annotated[bool | None, Query(description="Only revoked agents, or only the others")] = None,
) -> Slice[Agent]:
    """List the tenant's agents, newest first, including revoked ones."""
    statement = select(Agent)
    if revoked is not None:
        statement = statement.where(Agent.revoked_at.is_not(None) if revoked else Agent.revoked_at.is_(None))
    return paginate(session, statement, page, Agent.created_at, Agent.id, descending=True)


@router.get("/agents/{agent_id}", tags=["agents"], response_model=schemas.AgentRead, responses=responses(404))
def read_agent(agent_id: UUID, session: SessionDep, actor: Viewer) -> Agent:
    """Return an agent."""
    return agents.get_agent(session, agent_id)


@router.get(
    "/agents/{agent_id}/events", tags=["agents"], response_model=Page[schemas.AgentEventRead], responses=responses(404)
)
def list_agent_events(agent_id: UUID, session: SessionDep, actor: Viewer, page: Paging) -> Slice[AgentEvent]:
    """List the events of an agent, newest first."""
    agent = agents.get_agent(session, agent_id)
    statement = select(AgentEvent).where(AgentEvent.agent_id == agent.id)
    return paginate(session, statement, page, AgentEvent.id, descending=True)


@router.post("/agents/{agent_id}/revoke", tags=["agents"], response_model=schemas.AgentRead, responses=responses(404))
def revoke_agent(agent_id: UUID, session: SessionDep, actor: Editor) -> Agent:
    """Revoke an agent's credential. Its VM may then enrol again."""
    return agents.revoke(session, actor, agent_id)


@agent_router.patch("", response_model=schemas.AgentRead, responses=responses(409))
def update_self(
    body: schemas.AgentDescription,
    session: SessionDep,
    agent: AgentDep,
    sinemora_sender: Annotated[str | None, Header(description="Name of the agent's process and machine")] = None,
) -> Agent:
    """Update the agent's own addresses, ports or version."""
    copies.note_place(agent.agent_id, sinemora_sender, body.model_dump(exclude_unset=True, mode="json"))
    return agents.describe(session, agent, body)


@agent_router.post("/events", status_code=204)
def create_self_events(body: schemas.AgentEvents, session: SessionDep, agent: AgentDep) -> None:
    """Store events of the agent."""
    agents.store_events(session, agent, body.events)
