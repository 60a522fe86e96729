"""Routes of the bulk sender, for people and for agents."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.advisors.bulk import orders, reading, schemas
from sinemora.fleet.inventory.agents import AgentDep, signed_in_agents
from sinemora.fleet.meshes.models import TRIAL, BulkOrder
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

router = signed_in_router("/v1", "advisors")
agent_router = signed_in_agents(404, 422)


@router.get("/meshes/{mesh_id}/bulk-senders", responses=responses(404))
def list_bulk_senders(mesh_id: UUID, session: SessionDep, actor: Viewer) -> list[schemas.BulkSenderRead]:
    """List the bulk sender of each VM of a mesh: whether it is on, its limits, and what its kernel offers."""
    return reading.senders(session, mesh_id)


@router.post("/transport-trials", status_code=201, responses=responses(404, 409, 422))
def create_transport_trial(
    body: schemas.TransportTrialCreate, session: SessionDep, actor: Editor
) -> schemas.BulkRunRead:
    """Compare two transports between two VMs by alternated transfers. Both agents need the bulk sender."""
    return reading.read(session, orders.start(session, actor, body))


@router.get("/bulk-runs", responses=responses(422))
def list_bulk_runs(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only of this mesh")] = None,
) -> Page[schemas.BulkRunSummary]:
    """List trials, newest first. The newest 200 of a tenant are kept for 30 days."""
    statement = select(BulkOrder).where(BulkOrder.kind == TRIAL)
    if mesh_id is not None:
        statement = statement.where(BulkOrder.mesh_id == mesh_id)
    rows: Slice[BulkOrder] = paginate(session, statement, page, BulkOrder.created_at, BulkOrder.id, descending=True)
    return Page(items=[reading.summary(session, row) for row in rows.items], next_cursor=rows.next_cursor)


@router.get("/bulk-runs/{run_id}", responses=responses(404))
def read_bulk_run(run_id: UUID, session: SessionDep, actor: Viewer) -> schemas.BulkRunRead:
    """Return a trial: progress, measured times, and what it did to the measured delays."""
    return reading.read(session, orders.get(session, run_id))


@router.post("/bulk-runs/{run_id}/stop", responses=responses(404))
def stop_bulk_run(run_id: UUID, session: SessionDep, actor: Editor) -> schemas.BulkRunRead:
    """Stop a run; what it measured so far stays."""
    return reading.read(session, orders.stop(session, actor, run_id))


@agent_router.post("/bulk-reports", status_code=204)
def create_bulk_report(body: schemas.BulkReport, session: SessionDep, agent: AgentDep) -> None:
    """Store the progress of an order on the agent's VM; a newer report replaces it."""
    orders.report(session, agent, body)
