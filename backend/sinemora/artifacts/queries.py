"""SQL of artifacts."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, undefer

from sinemora.artifacts.core.manifest import DIGEST_BYTES, ENTRY_BYTES
from sinemora.artifacts.models import Artifact, ArtifactBlock, ArtifactCopy, ArtifactPeer, ArtifactSettings, CopyState
from sinemora.fleet.inventory.models import Agent
from sinemora.fleet.meshes.models import MeshVm

_AT_ONCE = 5_000


def stored_sizes(session: Session, digests: Sequence[bytes]) -> dict[bytes, int]:
    """Return the sizes of those blocks that are stored."""
    found: dict[bytes, int] = {}
    for first in range(0, len(digests), _AT_ONCE):
        part = digests[first : first + _AT_ONCE]
        rows = session.execute(select(ArtifactBlock.digest, ArtifactBlock.size).where(ArtifactBlock.digest.in_(part)))
        found |= {bytes(digest): size for digest, size in rows}
    return found


def stored_bytes(session: Session) -> int:
    """Return the bytes of all blocks of the tenant."""
    return int(session.scalar(select(func.coalesce(func.sum(ArtifactBlock.size), 0))) or 0)


def store_block(session: Session, digest: bytes, data: bytes) -> None:
    """Store a block; repeating is no error."""
    row = {"tenant_id": session.info["tenant_id"], "digest": digest, "size": len(data), "data": data}
    session.execute(insert(ArtifactBlock).values(row).on_conflict_do_nothing())


def block(session: Session, digest: bytes) -> bytes | None:
    """Return the bytes of a block; None if it is not stored."""
    return session.scalar(select(ArtifactBlock.data).where(ArtifactBlock.digest == digest))


def artifact(session: Session, artifact_id: UUID, *, manifest: bool = False) -> Artifact | None:
    """Return an artifact, with its manifest if asked for."""
    statement = select(Artifact).where(Artifact.id == artifact_id)
    return session.scalars(statement.options(undefer(Artifact.manifest)) if manifest else statement).one_or_none()


def digests_in_use(session: Session) -> set[bytes]:
    """Return the blocks of all artifacts of the tenant."""
    return _digests(session.scalars(select(Artifact.manifest)))


def _digests(manifests: Iterable[bytes]) -> set[bytes]:
    return {manifest[at : at + DIGEST_BYTES] for manifest in manifests for at in range(0, len(manifest), ENTRY_BYTES)}


def digests_on(session: Session, vm_ids: Collection[UUID]) -> dict[UUID, frozenset[bytes]]:
    """Return the blocks of the complete copies on VMs, by VM; VMs without one are left out."""
    rows = session.execute(
        select(ArtifactCopy.vm_id, ArtifactCopy.artifact_id)
        .where(ArtifactCopy.vm_id.in_(vm_ids), ArtifactCopy.state == CopyState.COMPLETE)
        .order_by(ArtifactCopy.artifact_id)
    )
    artifacts: dict[UUID, tuple[UUID, ...]] = {}
    for vm_id, artifact_id in rows:
        artifacts[vm_id] = (*artifacts.get(vm_id, ()), artifact_id)
    wanted = {artifact_id for of_vm in artifacts.values() for artifact_id in of_vm}
    manifests = session.execute(select(Artifact.id, Artifact.manifest).where(Artifact.id.in_(wanted)))
    blocks = {artifact_id: frozenset(_digests([manifest])) for artifact_id, manifest in manifests}
    # Most VMs hold the same artifacts.
    joined = {held: frozenset().union(*(blocks[one] for one in held)) for held in set(artifacts.values())}
    return {vm_id: joined[held] for vm_id, held in artifacts.items()}


def named(session: Session, mesh_id: UUID, name: str) -> Artifact | None:
    """Return an artifact of a mesh with its manifest: by id, or the newest release of a name; None if there is none."""
    statement = select(Artifact).where(Artifact.mesh_id == mesh_id).options(undefer(Artifact.manifest))
    newest = statement.where(Artifact.name == name).order_by(Artifact.created_at.desc(), Artifact.id)
    found = session.scalars(newest.limit(1)).one_or_none()
    if found is None:
        with suppress(ValueError):
            found = session.scalars(statement.where(Artifact.id == UUID(name))).one_or_none()
    return found


def delete_unused_blocks(session: Session, used: Collection[bytes], before: datetime) -> None:
    """Delete blocks of no artifact that were stored before a time."""
    stored = session.scalars(select(ArtifactBlock.digest).where(ArtifactBlock.stored_at < before))
    unused = [digest for digest in stored if bytes(digest) not in used]
    for first in range(0, len(unused), _AT_ONCE):
        session.execute(delete(ArtifactBlock).where(ArtifactBlock.digest.in_(unused[first : first + _AT_ONCE])))


def settings_of(session: Session, mesh_ids: Iterable[UUID]) -> dict[UUID, ArtifactSettings]:
    rows = session.scalars(select(ArtifactSettings).where(ArtifactSettings.mesh_id.in_(list(mesh_ids))))
    return {row.mesh_id: row for row in rows}


def peers_of(session: Session, mesh_id: UUID, since: datetime) -> Sequence[ArtifactPeer]:
    """Return the agents of a mesh that have asked for artifacts since a time."""
    return session.scalars(
        select(ArtifactPeer)
        .join(MeshVm, MeshVm.vm_id == ArtifactPeer.vm_id)
        .where(MeshVm.mesh_id == mesh_id, ArtifactPeer.seen_at >= since)
    ).all()


def vms_with_agents(session: Session, vm_ids: Iterable[UUID]) -> set[UUID]:
    """Return those of the VMs that have an agent."""
    return set(session.scalars(select(Agent.vm_id).where(Agent.vm_id.in_(list(vm_ids)), Agent.revoked_at.is_(None))))


def meshes_of(session: Session, vm_id: UUID) -> list[UUID]:
    """Return the meshes of a VM in which artifacts are distributed."""
    return list(
        session.scalars(
            select(MeshVm.mesh_id)
            .join(ArtifactSettings, ArtifactSettings.mesh_id == MeshVm.mesh_id)
            .where(MeshVm.vm_id == vm_id, ArtifactSettings.enabled)
            .order_by(MeshVm.mesh_id)
        )
    )


def wanted(session: Session, vm_id: UUID, mesh_ids: Collection[UUID]) -> Sequence[Artifact]:
    """Return the artifacts that a VM is to hold, the oldest first."""
    asked = select(ArtifactCopy.artifact_id).where(ArtifactCopy.vm_id == vm_id)
    return session.scalars(
        select(Artifact)
        .where(Artifact.mesh_id.in_(mesh_ids), or_(Artifact.everywhere, Artifact.id.in_(asked)))
        .order_by(Artifact.created_at, Artifact.id)
    ).all()


def copies_of(session: Session, artifact_id: UUID) -> Sequence[ArtifactCopy]:
    return session.scalars(select(ArtifactCopy).where(ArtifactCopy.artifact_id == artifact_id)).all()


def copies_by_vm(session: Session, vm_id: UUID) -> dict[UUID, ArtifactCopy]:
    return {row.artifact_id: row for row in session.scalars(select(ArtifactCopy).where(ArtifactCopy.vm_id == vm_id))}


def holders(session: Session, artifact_ids: Collection[UUID]) -> dict[UUID, dict[UUID, bool]]:
    """Return the artifacts of which each VM has a copy or fetches one, by VM; True where it holds blocks already."""
    rows = session.execute(
        select(ArtifactCopy.vm_id, ArtifactCopy.artifact_id, ArtifactCopy.blocks_held > 0).where(
            ArtifactCopy.artifact_id.in_(artifact_ids), ArtifactCopy.state != CopyState.REFUSED
        )
    )
    found: dict[UUID, dict[UUID, bool]] = {}
    for vm_id, artifact_id, holds in rows:
        found.setdefault(vm_id, {})[artifact_id] = holds
    return found


def counts(session: Session, artifact_ids: Collection[UUID]) -> dict[UUID, tuple[int, int]]:
    """Return the number of copies of artifacts, and of complete ones."""
    complete = func.count().filter(ArtifactCopy.state == CopyState.COMPLETE)
    rows = session.execute(
        select(ArtifactCopy.artifact_id, func.count(), complete)
        .where(ArtifactCopy.artifact_id.in_(artifact_ids))
        .group_by(ArtifactCopy.artifact_id)
    )
    return {artifact_id: (copies, done) for artifact_id, copies, done in rows}


def ask_for_copies(session: Session, artifact_id: UUID, vm_ids: Iterable[UUID]) -> None:
    """Create the copies that do not exist."""
    rows = [{"tenant_id": session.info["tenant_id"], "artifact_id": artifact_id, "vm_id": vm_id} for vm_id in vm_ids]
    if rows:
        session.execute(insert(ArtifactCopy).values(rows).on_conflict_do_nothing())


def see_peer(session: Session, vm_id: UUID, agent_id: UUID, port: int, now: datetime) -> None:
    """Store at which port an agent serves blocks."""
    values = {"agent_id": agent_id, "port": port, "seen_at": now}
    row = {"tenant_id": session.info["tenant_id"], "vm_id": vm_id, **values}
    session.execute(insert(ArtifactPeer).values(row).on_conflict_do_update(index_elements=["vm_id"], set_=values))


def members_of(session: Session, mesh_id: UUID) -> list[UUID]:
    """Return the VMs of a mesh."""
    return list(session.scalars(select(MeshVm.vm_id).where(MeshVm.mesh_id == mesh_id)))
