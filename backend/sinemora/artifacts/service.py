"""Use cases of people: settings of a mesh, publishing, copies."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.quotas import Resource
from sinemora.artifacts import queries, schemas
from sinemora.artifacts.core import manifest as manifests
from sinemora.artifacts.core.manifest import BLOCK_BYTES_MAX, Block
from sinemora.artifacts.models import Artifact, ArtifactCopy, ArtifactSettings, CopyState, WaitsFor
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.queries import lock_mesh
from sinemora.fleet.meshes.service import get_mesh
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.signing import public_keys

SEEN_FOR = timedelta(seconds=60)
"""Time after which an agent that does not ask any more counts as away."""
_UNPUBLISHED_FOR = timedelta(hours=1)
BACKEND = "backend"
BYTES_OF_MBIT = 125_000
"""Bytes of a megabit, for rates."""


def read_settings(session: Session, mesh_id: UUID) -> schemas.ArtifactSettingsRead:
    """Return the distribution of artifacts in a mesh. ProductError `mesh_unknown`."""
    mesh = get_mesh(session, mesh_id)
    row = session.get(ArtifactSettings, mesh.id)
    if row is None:
        off = schemas.ArtifactSettingsWrite(enabled=False).model_dump()
        row = ArtifactSettings(mesh_id=mesh.id, version=0, **off)
    serving = queries.peers_of(session, mesh.id, datetime.now(UTC) - SEEN_FOR) if row.enabled else []
    return schemas.ArtifactSettingsRead.from_row(row, serving=len(serving))


def write_settings(
    session: Session, actor: Actor, mesh_id: UUID, body: schemas.ArtifactSettingsWrite, precondition: IfMatch
) -> schemas.ArtifactSettingsRead:
    """Set the distribution of artifacts in a mesh.

    ProductError `mesh_unknown`, `secret_key_missing`, `version_changed`.
    """
    mesh = get_mesh(session, mesh_id)
    if body.enabled:
        public_keys()  # without a key nothing can be signed
    lock_mesh(session, mesh.id)  # of two first ones at once, the second replaces the first
    row = session.get(ArtifactSettings, mesh.id)
    precondition.check(row)
    if row is None:
        session.add(ArtifactSettings(mesh_id=mesh.id, **body.model_dump()))
    else:
        for name, value in body.model_dump().items():
            setattr(row, name, value)
    session.flush()
    audit.record(session, actor, "mesh.artifacts_set", mesh.id, mesh.name, **body.model_dump())
    return read_settings(session, mesh_id)


def missing(session: Session, digests: Sequence[str]) -> list[str]:
    """Return those blocks that the tenant has not stored, in order and each once."""
    stored = queries.stored_sizes(session, [bytes.fromhex(one) for one in digests])
    return [one for one in dict.fromkeys(digests) if bytes.fromhex(one) not in stored]


def store_block(session: Session, digest: str, data: bytes) -> None:
    """Store a block. ProductError `block_mismatch`, `block_too_large` (422), `quota_exceeded` (403)."""
    if not 1 <= len(data) <= BLOCK_BYTES_MAX:
        raise ProductError(
            "block_size_invalid", 422, f"Block of {len(data):,} bytes: a block has 1 to {BLOCK_BYTES_MAX:,} bytes."
        )
    found = hashlib.sha256(data).hexdigest()
    if found != digest:
        raise ProductError("block_mismatch", 422, f"Block does not match: its SHA-256 is {found}, not {digest}.")
    quotas.lock(session)
    limits = quotas.limits(session)
    if queries.stored_bytes(session) + len(data) > limits.artifact_mib << 20:
        queries.delete_unused_blocks(session, queries.digests_in_use(session), _unpublished_before())
        wanted = (queries.stored_bytes(session) + len(data)) / (1 << 20)
        quotas.check(Resource.ARTIFACT_MIB, wanted, limits)
    queries.store_block(session, bytes.fromhex(digest), data)


def publish(session: Session, actor: Actor, body: schemas.ArtifactCreate) -> schemas.ArtifactRead:
    """Publish an artifact. ProductError `mesh_unknown`, `artifact_exists`, `artifacts_off`, `blocks_missing`."""
    mesh = get_mesh(session, body.mesh_id)
    row = queries.settings_of(session, [mesh.id]).get(mesh.id)
    if row is None or not row.enabled:
        raise ProductError(
            "artifacts_off", 409, f"Artifacts are off in mesh {mesh.name}. Switch them on in the mesh's settings first."
        )
    if session.scalar(select(Artifact.id).where(Artifact.name == body.name, Artifact.release == body.release)):
        raise ProductError(
            "artifact_exists",
            409,
            f"Artifact exists: {body.name} {body.release} is published. Choose another release, or delete it first.",
        )
    blocks = [Block(bytes.fromhex(one.digest), one.size) for one in body.blocks]
    stored = queries.stored_sizes(session, list({one.digest for one in blocks}))
    for at, one in enumerate(blocks):
        if stored.get(one.digest) != one.size:
            what = "is not stored" if one.digest not in stored else f"has {stored[one.digest]:,} bytes"
            raise ProductError(
                "blocks_missing",
                409,
                f"Block {one.digest.hex()} {what}. Upload it with PUT /v1/artifact-blocks/{{digest}} first.",
                errors=[{"pointer": f"#/blocks/{at}", "message": what}],
            )
    row_new = Artifact(
        mesh_id=mesh.id,
        name=body.name,
        release=body.release,
        size_bytes=sum(one.size for one in blocks),
        chunking=body.chunking,
        block_count=len(blocks),
        root=manifests.root(blocks),
        manifest=manifests.encode(blocks),
        everywhere=body.everywhere,
        published_by=actor.name,
    )
    audit.created(session, actor, "artifact", row_new, release=body.release, mesh=mesh.name)
    if body.everywhere:
        queries.ask_for_copies(session, row_new.id, queries.members_of(session, mesh.id))
    return read(session, [row_new])[0]


def get_artifact(session: Session, artifact_id: UUID, *, manifest: bool = False) -> Artifact:
    """Return the tenant's artifact. ProductError `artifact_unknown`."""
    return existing(queries.artifact(session, artifact_id, manifest=manifest), "artifact")


def read(session: Session, rows: Sequence[Artifact]) -> list[schemas.ArtifactRead]:
    """Convert artifacts to their JSON form."""
    counts = queries.counts(session, [row.id for row in rows])
    return [
        schemas.ArtifactRead.from_row(
            row, root=row.root.hex(), copies=counts.get(row.id, (0, 0))[0], complete=counts.get(row.id, (0, 0))[1]
        )
        for row in rows
    ]


def delete(session: Session, actor: Actor, artifact_id: UUID) -> None:
    """Delete an artifact, and its blocks that no other has. Agents delete their copies.

    ProductError `artifact_unknown`.
    """
    row = get_artifact(session, artifact_id)
    session.delete(row)
    session.flush()
    queries.delete_unused_blocks(session, queries.digests_in_use(session), _unpublished_before())
    audit.record(session, actor, "artifact.deleted", row.id, f"{row.name} {row.release}")


def ask_for_copies(session: Session, actor: Actor, artifact_id: UUID, vm_ids: Sequence[UUID]) -> schemas.CopiesRead:
    """Ask VMs of the mesh to get a copy. ProductError `artifact_unknown`, `vm_not_in_mesh` (409)."""
    row = get_artifact(session, artifact_id)
    members = set(queries.members_of(session, row.mesh_id))
    for vm_id in vm_ids:
        if vm_id not in members:
            raise ProductError(
                "vm_not_in_mesh", 409, f"VM {vm_id} is not in the mesh of this artifact. Add it to the mesh first."
            )
    queries.ask_for_copies(session, row.id, vm_ids)
    audit.record(session, actor, "artifact.copies_requested", row.id, f"{row.name} {row.release}", vms=len(vm_ids))
    return copies(session, artifact_id)


def copies(session: Session, artifact_id: UUID) -> schemas.CopiesRead:
    """Return the copies of an artifact by zone and VM, with where their bytes came from.

    ProductError `artifact_unknown`.
    """
    row = get_artifact(session, artifact_id)
    rows = queries.copies_of(session, row.id)
    keys = {key for one in rows for key in (*one.sources, *one.corrupt) if key != BACKEND}
    named = session.execute(select(Vm.key, Vm.id, Vm.name).where(Vm.key.in_([int(key) for key in keys])))
    vms = {str(key): (vm_id, name) for key, vm_id, name in named}
    now = datetime.now(UTC)
    waits = _waits(session, row.mesh_id, rows, now)
    items = [_copy(one, row, vms, now, waits.get(one.vm_id)) for one in rows]
    items.sort(key=lambda one: (one.zone, one.name))
    sizes = [(source.vm_id, source.size_bytes) for one in items for source in one.sources]
    return schemas.CopiesRead(
        artifact=read(session, [row])[0],
        items=items,
        peer_bytes=sum(size for vm_id, size in sizes if vm_id is not None),
        backend_bytes=sum(size for vm_id, size in sizes if vm_id is None),
    )


def _waits(session: Session, mesh_id: UUID, rows: Sequence[ArtifactCopy], now: datetime) -> dict[UUID, WaitsFor]:
    """Return what incomplete copies wait for, by VM."""
    open_ones = [one.vm_id for one in rows if one.state in (CopyState.WAITING, CopyState.FETCHING)]
    row = queries.settings_of(session, [mesh_id]).get(mesh_id)
    if row is None or not row.enabled:
        return dict.fromkeys(open_ones, WaitsFor.DISTRIBUTION)
    asking = {peer.vm_id for peer in queries.peers_of(session, mesh_id, now - SEEN_FOR)}
    away = [vm_id for vm_id in open_ones if vm_id not in asking]
    agents = queries.vms_with_agents(session, away)
    return {vm_id: WaitsFor.REQUEST if vm_id in agents else WaitsFor.AGENT for vm_id in away}


def _copy(
    one: ArtifactCopy, row: Artifact, vms: dict[str, tuple[UUID, str]], now: datetime, waits_for: WaitsFor | None
) -> schemas.CopyRead:
    sources = [
        schemas.SourceRead(vm_id=None, name="Backend", size_bytes=size)
        if key == BACKEND
        else schemas.SourceRead(vm_id=vms[key][0], name=vms[key][1], size_bytes=size)
        for key, size in one.sources.items()
        if key == BACKEND or key in vms
    ]
    took = one.completed_at - one.started_at if one.completed_at and one.started_at else None
    share = min(1.0, one.blocks_held / row.block_count) if row.block_count else 1.0
    rate = _rate(one, now)
    left_s = (1 - share) * row.size_bytes / rate if rate and one.state == CopyState.FETCHING else None
    return schemas.CopyRead.from_row(
        one,
        name=one.vm.name,
        zone=one.vm.zone.name,
        share=share,
        sources=sorted(sources, key=lambda source: -source.size_bytes),
        corrupt_from=sorted(vms[key][1] if key in vms else key for key in one.corrupt),
        seconds=None if took is None else took.total_seconds(),
        rate_mbit=None if rate is None else rate / BYTES_OF_MBIT,
        done_at=one.completed_at or (None if left_s is None else now + timedelta(seconds=left_s)),
        waits_for=waits_for,
    )


def _rate(one: ArtifactCopy, now: datetime) -> float | None:
    """Return the mean rate of what was fetched, bytes/s; None if nothing was or it took no time."""
    fetched = sum(one.sources.values())
    if one.started_at is None or not fetched:
        return None
    elapsed_s = ((one.completed_at or now) - one.started_at).total_seconds()
    return fetched / elapsed_s if elapsed_s > 0 else None


def content(session: Session, artifact_id: UUID) -> tuple[Artifact, Iterator[bytes]]:
    """Return an artifact and the bytes of its file, a block at a time. ProductError `artifact_unknown`."""
    row = get_artifact(session, artifact_id, manifest=True)
    return row, _bytes(row.tenant_id, manifests.decode(row.manifest))


def _bytes(tenant_id: UUID, blocks: Sequence[Block]) -> Iterator[bytes]:
    with tenant_session(tenant_id) as session:
        for one in blocks:
            data = queries.block(session, one.digest)
            if data is None:
                raise LookupError(f"block {one.digest.hex()} was deleted meanwhile")
            yield data


def _unpublished_before() -> datetime:
    return datetime.now(UTC) - _UNPUBLISHED_FOR
