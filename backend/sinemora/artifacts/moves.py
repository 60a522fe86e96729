"""Cost to bring an artifact to a VM, from the copies on both and from the measured path."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.artifacts import queries
from sinemora.artifacts.core import manifest as manifests
from sinemora.artifacts.core.move_cost import MoveCost, achievable_rate, move_cost
from sinemora.artifacts.core.nearest import NearbyPeer, nearest
from sinemora.artifacts.models import Artifact, CopyState
from sinemora.artifacts.schemas import MoveCostRead
from sinemora.artifacts.service import BYTES_OF_MBIT, get_artifact, read_settings
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError
from sinemora.kit.percent import percent
from sinemora.measurements.aggregate.matrix import Metric
from sinemora.measurements.query.matrix.compute import compute_matrix
from sinemora.measurements.query.requests import MatrixRequest


def read(session: Session, artifact_id: UUID, target_vm_id: UUID, source_vm_id: UUID | None) -> MoveCostRead:
    """Return the cost to bring an artifact to a VM. ProductError `artifact_unknown`, `vm_not_in_mesh` (409)."""
    row = get_artifact(session, artifact_id, manifest=True)
    return costs(session, row, [target_vm_id], source_vm_id)[target_vm_id]


def named(session: Session, mesh_id: UUID, name: str) -> Artifact:
    """Return an artifact of a mesh by its id, or the newest release by its name. ProductError `artifact_unknown`."""
    row = queries.named(session, mesh_id, name)
    if row is None:
        raise ProductError("artifact_unknown", 404, f"Unknown artifact: this mesh has none with name or id {name}.")
    return row


def costs(
    session: Session, row: Artifact, target_vm_ids: Sequence[UUID], source_vm_id: UUID | None = None
) -> dict[UUID, MoveCostRead]:
    """Return the cost to bring an artifact to each VM, from `source_vm_id` or the nearest with a complete copy.

    ProductError `vm_not_in_mesh` (409).
    """
    mesh = mesh_state(session, row.mesh_id)
    places = {member.id: at for at, member in enumerate(mesh.members)}
    for vm_id in (*target_vm_ids, source_vm_id):
        if vm_id is not None and vm_id not in places:
            raise ProductError("vm_not_in_mesh", 409, f"VM {vm_id} is not in the mesh of this artifact.")
    trips = compute_matrix(session, mesh, MatrixRequest(metric=Metric.ROUND_TRIP)).matrix
    losses = compute_matrix(session, mesh, MatrixRequest(metric=Metric.LOSS)).matrix

    def path(place: int, target: int) -> NearbyPeer:
        trip_s = float(trips.values[place, target]) / 1e9 if trips.valued[place, target] else None
        loss = float(losses.values[place, target]) if losses.valued[place, target] else None
        return NearbyPeer(place, trip_s, loss)

    holders = [
        places[copy.vm_id]
        for copy in queries.copies_of(session, row.id)
        if copy.state == CopyState.COMPLETE and copy.vm_id in places
    ]
    cap = read_settings(session, mesh.id).rate_mbit * BYTES_OF_MBIT
    blocks = manifests.decode(row.manifest)
    held = queries.digests_on(session, target_vm_ids)
    found = {}
    for vm_id in target_vm_ids:
        target = places[vm_id]
        sources = [place for place in holders if place != target] if source_vm_id is None else [places[source_vm_id]]
        source = next(iter(nearest(path(place, target) for place in sources)), None)
        known = (None, None) if source is None else (source.round_trip_s, source.loss)
        cost = move_cost(blocks, held.get(vm_id, frozenset()), achievable_rate(*known, cap))
        found[vm_id] = MoveCostRead.from_row(
            cost,
            source=None if source is None else mesh.members[source.vm_key].name,
            target=mesh.members[target].name,
            rate_mbit=cost.rate / BYTES_OF_MBIT,
            words=_words(cost),
        )
    return found


def _words(cost: MoveCost) -> str:
    if cost.moved_bytes == 0:
        return f"brings nothing: all {cost.size_bytes / 1e6:,.0f} MB are there"
    seconds = f"about {cost.seconds:,.0f} s" if cost.seconds >= 1 else "less than a second"
    return f"brings {percent(cost.share, 0)} of {cost.size_bytes / 1e6:,.0f} MB, {seconds}"
