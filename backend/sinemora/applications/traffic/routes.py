"""Routes of proposals from traffic."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.applications import reading
from sinemora.applications.schemas import ApplicationRead
from sinemora.applications.traffic import schemas, service
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses

router = signed_in_router("/v1/meshes/{mesh_id}/traffic-proposals", "applications")
Key = Annotated[str, Path(max_length=16, description="Key of a proposal")]


@router.get("", responses=responses(404))
def list_traffic_proposals(mesh_id: UUID, session: SessionDep, actor: Viewer) -> schemas.TrafficProposals:
    """List the applications that traffic of seven days suggests, and what agents cannot see."""
    return service.found(session, mesh_id, datetime.now(UTC))


@router.post("", status_code=201, responses=responses(404, 409, 422))
def accept_traffic_proposals(
    mesh_id: UUID, body: schemas.ProposalsAccept, session: SessionDep, actor: Editor
) -> ApplicationRead:
    """Declare proposals as one application that follows its VMs."""
    return reading.shown(session, [service.accept(session, actor, mesh_id, body, datetime.now(UTC))])[0]


@router.put("/{proposal_key}", responses=responses(404, 409, 422))
def set_traffic_proposal(
    mesh_id: UUID, proposal_key: Key, body: schemas.ProposalUpdate, session: SessionDep, actor: Editor
) -> schemas.TrafficProposal:
    """Dismiss a proposal, or bring it back."""
    return service.dismiss(session, actor, mesh_id, proposal_key, body, datetime.now(UTC))
