"""Use cases of agents: what to hold, from whom to fetch it, manifests and blocks, reports of copies."""

import base64
from datetime import UTC, datetime
from functools import lru_cache
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.artifacts import queries, schemas
from sinemora.artifacts.core import access
from sinemora.artifacts.core.nearest import NearbyPeer, peers
from sinemora.artifacts.models import Artifact, ArtifactCopy, CopyState
from sinemora.artifacts.service import BYTES_OF_MBIT, SEEN_FOR, get_artifact
from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.encryption import secret_keys
from sinemora.kit.errors import NotFound, ProductError, existing
from sinemora.kit.signing import canonical, public_keys, sign_with_each
from sinemora.measurements.aggregate.matrix import Metric
from sinemora.measurements.query.matrix.compute import compute_matrix
from sinemora.measurements.query.requests import MatrixRequest

_BUSY_S, _IDLE_S, _OFF_S = 1.0, 5.0, 30.0


def exchange(session: Session, agent: AgentIdentity, body: schemas.ArtifactExchange) -> schemas.ArtifactWork:
    """Store what an agent reports of its copies, and return what it is to hold.

    ProductError `secret_key_missing`.
    """
    now = datetime.now(UTC)
    mesh_ids = queries.meshes_of(session, agent.vm_id)
    if not mesh_ids:
        return _off()
    settings = queries.settings_of(session, mesh_ids)
    artifacts = queries.wanted(session, agent.vm_id, mesh_ids)
    queries.see_peer(session, agent.vm_id, agent.agent_id, body.port, now)
    for one in artifacts:  # a VM that joined after the publishing
        queries.ask_for_copies(session, one.id, [agent.vm_id])
    copies = queries.copies_by_vm(session, agent.vm_id)
    for report in body.copies:
        if (copy := copies.get(report.artifact_id)) is not None:
            _store(copy, report, now)
    session.flush()
    open_ids = [one.id for one in artifacts if copies[one.id].state in (CopyState.WAITING, CopyState.FETCHING)]
    return schemas.ArtifactWork(
        enabled=True,
        # In several meshes the lowest rate and the largest budget.
        rate_bytes_per_s=min(row.rate_mbit for row in settings.values()) * BYTES_OF_MBIT,
        budget_bytes=max(row.budget_mib for row in settings.values()) << 20,
        serving_key=access.serving_key(secret_keys()[0], agent.agent_id).hex(),
        keys=_keys(),
        artifacts=[_wanted(one) for one in artifacts],
        peers=_peers(session, agent, mesh_ids, open_ids, now) if open_ids else [],
        again_s=_BUSY_S if open_ids else _IDLE_S,
    )


def manifest(session: Session, agent: AgentIdentity, artifact_id: UUID) -> bytes:
    """Return the manifest of an artifact of one of the agent's meshes. ProductError `artifact_unknown`."""
    row = get_artifact(session, artifact_id, manifest=True)
    if row.mesh_id not in queries.meshes_of(session, agent.vm_id):
        raise NotFound("artifact")
    return row.manifest


def block(session: Session, agent: AgentIdentity, digest: str) -> bytes:
    """Return a block of the agent's tenant. ProductError `block_unknown`, `artifacts_off`."""
    if not queries.meshes_of(session, agent.vm_id):
        raise ProductError("artifacts_off", 409, "Artifacts are off in the meshes of this VM.")
    return existing(queries.block(session, bytes.fromhex(digest)), "block")


def _off() -> schemas.ArtifactWork:
    return schemas.ArtifactWork(
        enabled=False,
        rate_bytes_per_s=0,
        budget_bytes=0,
        serving_key="",
        keys=[],
        artifacts=[],
        peers=[],
        again_s=_OFF_S,
    )


def _store(copy: ArtifactCopy, report: schemas.CopyReport, now: datetime) -> None:
    copy.state, copy.note, copy.blocks_held = report.state, report.note, report.blocks_held
    copy.sources, copy.corrupt = report.sources, report.corrupt
    if copy.started_at is None and (report.blocks_held or report.state is not CopyState.WAITING):
        copy.started_at = now
    if report.state is CopyState.COMPLETE:
        copy.completed_at = copy.completed_at or now
    else:
        copy.completed_at = None


def _wanted(row: Artifact) -> schemas.WantedArtifact:
    document, signatures = _signed(
        row.id, row.tenant_id, row.name, row.release, row.size_bytes, row.block_count, row.root
    )
    return schemas.WantedArtifact(id=row.id, document=document, signatures=list(signatures))


@lru_cache(maxsize=2_000)
def _signed(
    artifact_id: UUID, tenant_id: UUID, name: str, release: str, size_bytes: int, blocks: int, root: bytes
) -> tuple[str, tuple[schemas.SignatureRead, ...]]:
    document = {
        "kind": "sinemora artifact 1",
        "artifact_id": str(artifact_id),
        "tenant_id": str(tenant_id),
        "name": name,
        "release": release,
        "size_bytes": size_bytes,
        "blocks": blocks,
        "root": root.hex(),
    }
    signatures = sign_with_each(document)
    return canonical(document).decode(), tuple(
        schemas.SignatureRead(key_id=one.key_id, value=one.value) for one in signatures
    )


def _keys() -> list[str]:
    return [base64.b64encode(key).decode() for key in public_keys()]


def _peers(
    session: Session, agent: AgentIdentity, mesh_ids: list[UUID], artifact_ids: list[UUID], now: datetime
) -> list[schemas.PeerRead]:
    """Return the nearest agents that have or fetch these artifacts, with tokens for this one."""
    holders = queries.holders(session, artifact_ids)
    expires_s = int(now.timestamp()) + access.TOKEN_S
    found: dict[int, schemas.PeerRead] = {}
    candidates: dict[int, NearbyPeer] = {}
    for mesh_id in mesh_ids:
        serving = {peer.vm_id: peer for peer in queries.peers_of(session, mesh_id, now - SEEN_FOR)}
        mesh = mesh_state(session, mesh_id)
        own = next((at for at, member in enumerate(mesh.members) if member.key == agent.vm_key), None)
        if own is None or not serving:
            continue
        trips = compute_matrix(session, mesh, MatrixRequest(metric=Metric.ROUND_TRIP)).matrix
        losses = compute_matrix(session, mesh, MatrixRequest(metric=Metric.LOSS)).matrix
        for at, member in enumerate(mesh.members):
            peer = serving.get(member.id)
            held = holders.get(member.id)
            if peer is None or held is None or at == own or member.address is None or member.key in found:
                continue
            trip_s = float(trips.values[own, at]) / 1e9 if trips.valued[own, at] else None
            loss = float(losses.values[own, at]) if losses.valued[own, at] else None
            candidates[member.key] = NearbyPeer(member.key, trip_s, loss, any(held.values()))
            key = access.serving_key(secret_keys()[0], peer.agent_id)
            found[member.key] = schemas.PeerRead(
                vm_key=member.key,
                name=member.name,
                address=member.address,
                port=peer.port,
                round_trip_us=None if trip_s is None else trip_s * 1e6,
                loss=loss,
                token=access.token(key, agent.vm_key, expires_s).hex(),
                expires_s=expires_s,
                artifacts=list(held),
            )
    return [found[one.vm_key] for one in peers(candidates.values())]
