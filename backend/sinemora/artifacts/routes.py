"""HTTP of artifacts, for people and for agents."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Query, Response
from fastapi.responses import StreamingResponse
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.artifacts import agents, moves, schemas, service
from sinemora.artifacts.core.manifest import BLOCK_BYTES_MAX, BLOCKS_MAX
from sinemora.artifacts.models import Artifact
from sinemora.fleet.inventory.agents import AgentDep, signed_in_agents
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.paging import Page, Paging, paginate
from sinemora.kit.http.routes import accepts
from sinemora.kit.http.upload import Upload, uploaded

_ENTRY_JSON_BYTES = 120
Digest = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the block, hexadecimal")]
_BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}}, "description": "The bytes"}
}

router = signed_in_router("/v1", "artifacts")
agent_router = signed_in_agents(409, 422)


@router.get("/meshes/{mesh_id}/artifact-settings", responses=responses(404))
def read_artifact_settings(mesh_id: UUID, session: SessionDep, actor: Viewer) -> schemas.ArtifactSettingsRead:
    """Return whether the agents of a mesh bring each other artifacts, and their limits."""
    return service.read_settings(session, mesh_id)


@router.put("/meshes/{mesh_id}/artifact-settings", responses=responses(404, 409, 412, 422))
def set_artifact_settings(
    mesh_id: UUID, body: schemas.ArtifactSettingsWrite, session: SessionDep, actor: Editor, precondition: Precondition
) -> schemas.ArtifactSettingsRead:
    """Switch the distribution of artifacts in a mesh on or off, and set its limits. Off is the default.

    An agent takes part when its own setting `artifacts` is on too.
    """
    return service.write_settings(session, actor, mesh_id, body, precondition)


@router.post("/artifacts/missing-blocks", responses=responses(422))
@accepts(lambda _: 1 << 20)
@only_reads
def find_missing_blocks(body: schemas.BlockDigests, session: SessionDep, actor: Viewer) -> schemas.MissingBlocks:
    """Return those blocks that must be uploaded before an artifact with them can be published."""
    return schemas.MissingBlocks(missing=service.missing(session, body.digests))


@router.put(
    "/artifact-blocks/{digest}",
    status_code=204,
    dependencies=[Depends(uploaded)],
    responses=responses(409, 413, 422),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
@accepts(lambda _: BLOCK_BYTES_MAX)
def store_artifact_block(
    digest: Digest, session: SessionDep, actor: Editor, block: Annotated[Upload, Depends(uploaded)]
) -> None:
    """Store a block of at most 1 MiB under its SHA-256; repeating is no error.

    Blocks that no artifact has are kept for an hour at least.
    """
    service.store_block(session, digest, b"".join(block.pieces()))


@router.get("/artifacts", responses=responses(422))
def list_artifacts(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only of this mesh")] = None,
) -> Page[schemas.ArtifactRead]:
    """List the published artifacts, newest first."""
    statement = select(Artifact)
    if mesh_id is not None:
        statement = statement.where(Artifact.mesh_id == mesh_id)
    rows = paginate(session, statement, page, Artifact.created_at, Artifact.id, descending=True)
    return Page(items=service.read(session, rows.items), next_cursor=rows.next_cursor)


@router.post("/artifacts", status_code=201, responses=responses(404, 409, 422))
@accepts(lambda _: BLOCKS_MAX * _ENTRY_JSON_BYTES)
def publish_artifact(body: schemas.ArtifactCreate, session: SessionDep, actor: Editor) -> schemas.ArtifactRead:
    """Publish an artifact whose blocks are stored. The agents of its mesh begin to fetch it within seconds."""
    return service.publish(session, actor, body)


@router.get("/artifacts/{artifact_id}", responses=responses(404))
def read_artifact(artifact_id: UUID, session: SessionDep, actor: Viewer) -> schemas.ArtifactRead:
    """Return an artifact."""
    return service.read(session, [service.get_artifact(session, artifact_id)])[0]


@router.delete("/artifacts/{artifact_id}", status_code=204, responses=responses(404))
def delete_artifact(artifact_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Delete an artifact. Agents delete their copies of it."""
    service.delete(session, actor, artifact_id)


@router.get("/artifacts/{artifact_id}/copies", responses=responses(404))
def read_artifact_copies(artifact_id: UUID, session: SessionDep, actor: Viewer) -> schemas.CopiesRead:
    """Return how far an artifact has spread: the share on each VM, and from whom it came."""
    return service.copies(session, artifact_id)


@router.post("/artifacts/{artifact_id}/copies", status_code=202, responses=responses(404, 409, 422))
def request_artifact_copies(
    artifact_id: UUID, body: schemas.CopyCreate, session: SessionDep, actor: Editor
) -> schemas.CopiesRead:
    """Ask VMs to get a copy; repeating is no error."""
    return service.ask_for_copies(session, actor, artifact_id, body.vm_ids)


@router.get("/artifacts/{artifact_id}/content", response_class=StreamingResponse, responses=responses(404) | _BYTES)
def download_artifact(artifact_id: UUID, session: SessionDep, actor: Viewer) -> StreamingResponse:
    """Download the file of an artifact."""
    row, parts = service.content(session, artifact_id)
    return StreamingResponse(
        parts, media_type="application/octet-stream", headers={"Content-Length": str(row.size_bytes)}
    )


@router.get("/artifacts/{artifact_id}/move-costs/{target_vm_id}", responses=responses(404, 409, 422))
def read_artifact_move_cost(
    artifact_id: UUID,
    target_vm_id: UUID,
    session: SessionDep,
    actor: Viewer,
    source_vm_id: Annotated[
        UUID | None, Query(description="VM that it comes from; without one the nearest with a complete copy")
    ] = None,
) -> schemas.MoveCostRead:
    """Return the bytes and the time to bring an artifact to the target VM, which holds some of its blocks already."""
    return moves.read(session, artifact_id, target_vm_id, source_vm_id)


@agent_router.post("/artifacts")
def exchange_artifacts(body: schemas.ArtifactExchange, session: SessionDep, agent: AgentDep) -> schemas.ArtifactWork:
    """Take an agent's report of its copies; return what it is to hold and from whom to fetch it."""
    return agents.exchange(session, agent, body)


@agent_router.get("/artifacts/{artifact_id}/manifest", response_class=Response, responses=responses(404) | _BYTES)
def read_artifact_manifest(artifact_id: UUID, session: SessionDep, agent: AgentDep) -> Response:
    """Return the manifest: SHA-256 and size (uint32, little-endian) of each block, 36 bytes each."""
    return Response(agents.manifest(session, agent, artifact_id), media_type="application/octet-stream")


@agent_router.get("/artifact-blocks/{digest}", response_class=Response, responses=responses(404) | _BYTES)
def read_artifact_block(digest: Digest, session: SessionDep, agent: AgentDep) -> Response:
    """Return a block, for agents that no peer can serve."""
    return Response(agents.block(session, agent, digest), media_type="application/octet-stream")
