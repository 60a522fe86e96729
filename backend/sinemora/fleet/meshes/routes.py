"""HTTP of meshes, enrolment, and plans of agents."""

import time
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.fleet.inventory import copies
from sinemora.fleet.inventory.agents import AgentDep, authenticate, signed_in_agents
from sinemora.fleet.inventory.schemas import AgentEnrol, AgentEnrolled
from sinemora.fleet.meshes import adoption, departure, enrolment, previews, schemas, service, usage
from sinemora.fleet.meshes.bulk_plan import bulk_part
from sinemora.fleet.meshes.models import EnrolmentToken, Mesh
from sinemora.fleet.meshes.plan import plan_for, plan_revision
from sinemora.fleet.meshes.watch import PlanWatch
from sinemora.kit.config import settings
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http import known_ids
from sinemora.kit.http.etag import Precondition, tagged
from sinemora.kit.http.idempotency import only_reads, secret_once
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.kit.http.routes import BoundedRoute
from sinemora.kit.http.server_time import time_headers

MAX_WAIT_S = 30

known_ids.register(mesh_id=Mesh)
router = signed_in_router("/v1", None)
enrolment_router = APIRouter(prefix="/v1/agents", route_class=BoundedRoute, tags=["agent protocol"])
agent_router = signed_in_agents(422)


@router.get("/usage", tags=["tenants"])
def read_usage(session: SessionDep, actor: Viewer, request: Request) -> schemas.UsageRead:
    """Return the tenant's usage and quotas."""
    return usage.read(session, request.app.state.live.open_of(actor.tenant_id))


@router.get("/meshes", tags=["meshes"], response_model=Page[schemas.MeshRead])
def list_meshes(session: SessionDep, actor: Viewer, page: Paging) -> Slice[Mesh]:
    """List the tenant's meshes by name."""
    return paginate(session, select(Mesh), page, Mesh.name)


@router.post(
    "/meshes", status_code=201, tags=["meshes"], response_model=schemas.MeshRead, responses=responses(409, 422)
)
def create_mesh(body: schemas.MeshCreate, session: SessionDep, actor: Editor) -> Mesh:
    """Create a mesh. VMs join by enrolment, or are added."""
    return service.create_mesh(session, actor, body)


@router.get("/meshes/{mesh_id}", tags=["meshes"], response_model=schemas.MeshRead, responses=responses(404))
def read_mesh(mesh_id: UUID, session: SessionDep, actor: Viewer) -> Mesh:
    """Return a mesh."""
    return service.get_mesh(session, mesh_id)


@router.patch(
    "/meshes/{mesh_id}", tags=["meshes"], response_model=schemas.MeshRead, responses=responses(404, 409, 412, 422, 428)
)
def update_mesh(
    mesh_id: UUID, body: schemas.MeshUpdate, session: SessionDep, actor: Editor, precondition: Precondition
) -> Mesh:
    """Change a mesh. Its agents apply the change within seconds."""
    return service.update_mesh(session, actor, mesh_id, body, precondition)


@router.delete("/meshes/{mesh_id}", status_code=204, tags=["meshes"], responses=responses(404, 412))
def delete_mesh(mesh_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a mesh; its VMs stay."""
    service.delete_mesh(session, actor, mesh_id, precondition)


@router.get("/meshes/{mesh_id}/roster", tags=["meshes"], responses=responses(404))
def read_roster(mesh_id: UUID, session: SessionDep, actor: Viewer) -> schemas.RosterRead:
    """Return the axes of the mesh's matrices."""
    return service.roster(session, mesh_id)


@router.post("/meshes/{mesh_id}/plan-previews", tags=["meshes"], responses=responses(404, 422))
@only_reads
def preview_plans(
    mesh_id: UUID, body: schemas.PlanPreviewCreate, session: SessionDep, actor: Viewer
) -> schemas.PlanPreviewRead:
    """Compare the strategies of a mesh: packets, bytes, price and time to detect a fault. Nothing changes."""
    return previews.preview(session, mesh_id, body)


@router.get("/meshes/{mesh_id}/plan-followers", tags=["meshes"], responses=responses(404))
def read_plan_adoption(mesh_id: UUID, session: SessionDep, actor: Viewer) -> schemas.PlanAdoptionRead:
    """Return how many agents follow the newest plan of the mesh."""
    return previews.plan_adoption(session, mesh_id)


@router.put("/meshes/{mesh_id}/vms/{vm_id}", status_code=204, tags=["meshes"], responses=responses(404))
def add_mesh_vm(mesh_id: UUID, vm_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Add a VM to the mesh; repeating is no error."""
    service.add_vm(session, actor, mesh_id, vm_id)


@router.delete("/meshes/{mesh_id}/vms/{vm_id}", status_code=204, tags=["meshes"], responses=responses(404))
def remove_mesh_vm(mesh_id: UUID, vm_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Remove a VM from the mesh."""
    service.remove_vm(session, actor, mesh_id, vm_id)


@router.get("/enrolment-tokens", tags=["enrolment"], response_model=Page[schemas.EnrolmentTokenRead])
def list_enrolment_tokens(session: SessionDep, actor: Viewer, page: Paging) -> Slice[EnrolmentToken]:
    """List the tenant's enrolment tokens, newest first."""
    return paginate(
        session, select(EnrolmentToken), page, EnrolmentToken.created_at, EnrolmentToken.id, descending=True
    )


@router.post("/enrolment-tokens", status_code=201, tags=["enrolment"], responses=responses(404, 409, 422))
@secret_once
def create_enrolment_token(
    request: Request, body: schemas.EnrolmentTokenCreate, session: SessionDep, actor: Editor
) -> schemas.EnrolmentTokenCreated:
    """Create an enrolment token of a mesh. Only this response contains the token and the command to run on each VM."""
    token, secret = enrolment.create_token(session, actor, body)
    shown = schemas.EnrolmentTokenRead.model_validate(token).model_dump()
    backend_url = _backend_url(request)
    return schemas.EnrolmentTokenCreated(
        **shown,
        token=secret,
        command=enrolment.command(backend_url, secret),
        install_command=enrolment.install_command(backend_url, secret),
    )


@router.delete("/enrolment-tokens/{token_id}", status_code=204, tags=["enrolment"], responses=responses(404))
def delete_enrolment_token(token_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Delete an enrolment token. Agents that used it stay."""
    enrolment.delete_token(session, actor, token_id)


@enrolment_router.post("/enrol", status_code=201, responses=responses(401, 409, 422))
def enrol_agent(body: AgentEnrol) -> AgentEnrolled:
    """Enrol an agent: exchange an enrolment token for the agent's identity."""
    return enrolment.enrol(body)


@agent_router.delete("", status_code=204)
def retire_self(session: SessionDep, agent: AgentDep) -> None:
    """Retire the agent: its VM leaves all meshes, and its credential is revoked.

    The VM is deleted if the VMs of all its meshes are short-lived. An agent that is only stopped sends `stopping`.
    """
    departure.retire(session, agent)


@agent_router.get(
    "/plan",
    response_model=schemas.PlanRead,
    responses={
        **tagged(200),
        304: {"description": "The plan did not change within `wait_s`", **tagged(304)[304]},
        **responses(409),
    },
)
async def read_plan(
    request: Request,
    agent: AgentDep,
    wait_s: Annotated[float, Query(ge=0, le=MAX_WAIT_S, description="Longest wait for a change, s")] = 0,
    part: Annotated[
        schemas.PlanPart, Query(description="The whole plan, or the bulk sender's orders")
    ] = schemas.PlanPart.all,
    if_none_match: Annotated[str | None, Header(description="ETag of the agent's current plan")] = None,
    sinemora_sender: Annotated[str | None, Header(description="Name of the agent's process and machine")] = None,
) -> Response:
    """Return the agent's plan. With the ETag of its current plan, wait until the plan changes or `wait_s` is over.

    `Sinemora-Time-Ns` is the backend's time of the response (Unix ns), in a 304 too. `Sinemora-Held-Ns` is how long the
    request was held before that (ns), so that a late response does not look like a slow clock.
    """
    arrived_ns = time.monotonic_ns()
    watch: PlanWatch = request.app.state.plan_watch
    known_revisions = {tag.strip().removeprefix("W/").strip('"') for tag in (if_none_match or "").split(",")}
    if part is schemas.PlanPart.all:
        await run_in_threadpool(copies.note_poll, agent, sinemora_sender)
        await run_in_threadpool(adoption.note, agent, known_revisions - {""})
    until = time.monotonic() + wait_s
    while True:
        tenant_meshes = await watch.meshes_of(agent.tenant_id)
        meshes = tenant_meshes.by_vm.get(agent.vm_id, ())
        on_demand = tenant_meshes.on_demand.get(agent.vm_id, ())
        if part is schemas.PlanPart.bulk:
            meshes, on_demand = (), ()
        bulk = tenant_meshes.bulk.get(agent.vm_id, ())
        counts = tenant_meshes.service_traffic
        for_a_while: list[UUID | str] = [*(one.id for one in on_demand), *(one.id for one in bulk)]
        for_a_while += ["service-traffic"] if counts else []
        revision = plan_revision(agent.agent_id, meshes, for_a_while)
        etag = {"ETag": f'"{revision}"'}
        if revision not in known_revisions:
            key = settings().secret_key
            secret = key.get_secret_value().encode() if key else b""
            plan = plan_for(
                agent.agent_id, agent.vm_key, meshes, time.time_ns(), on_demand, secret, service_traffic=counts
            )
            plan |= {"revision": revision, "bulk": [bulk_part(agent.vm_key, one) for one in bulk]}
            return JSONResponse(plan, headers={**etag, **time_headers(arrived_ns)})
        left_s = until - time.monotonic()
        if left_s <= 0 or not await watch.changed(agent.tenant_id, tenant_meshes.fingerprint, left_s):
            return Response(status_code=304, headers={**etag, **time_headers(arrived_ns)})
        # The change may be the revocation of this agent.
        await authenticate(request)


def _backend_url(request: Request) -> str:
    """Return the URL of the backend for agents: as configured, else the base URL of this request."""
    if settings().agents_url:
        return settings().agents_url.rstrip("/")
    configured = settings().public_url
    return configured if configured != settings().local_url else str(request.base_url).rstrip("/")
