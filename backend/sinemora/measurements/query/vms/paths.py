"""Paths from and to one VM in each of its meshes: their usual delays, the worst peers, since when, loss."""

from uuid import UUID

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.meshes.models import Mesh, MeshVm
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.measurements.aggregate.matrix import CellState, Flags, Matrix, Metric
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query.budget import REQUEST
from sinemora.measurements.query.matrix import deviations
from sinemora.measurements.query.matrix import unusual as unusual_paths
from sinemora.measurements.query.matrix.compute import compute_matrix
from sinemora.measurements.query.matrix.deviations import DeviationResult
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.query.responses import VmDirection, VmMesh, VmPath, VmPathsRead
from sinemora.measurements.schemas import DEVIATION, Axis, By


def vm_paths(session: Session, vm_id: UUID, limit: int) -> VmPathsRead:
    """Return the newest windows from and to a VM, with at most `limit` peers a direction. ProductError `vm_unknown`."""
    get_vm(session, vm_id)
    of_vm = select(MeshVm.mesh_id).where(MeshVm.vm_id == vm_id)
    ids = session.scalars(select(Mesh.id).where(Mesh.id.in_(of_vm)).order_by(Mesh.name)).all()
    return VmPathsRead(
        vm_id=vm_id, meshes=[_in_mesh(session, mesh_state(session, mesh_id), vm_id, limit) for mesh_id in ids]
    )


def _in_mesh(session: Session, mesh: MeshState, vm_id: UUID, limit: int) -> VmMesh:
    found = deviations.compute(session, mesh, MatrixRequest(metric=DEVIATION), REQUEST)
    lost = compute_matrix(session, mesh, MatrixRequest(metric=Metric.LOSS), REQUEST).matrix
    place = next(at for at, member in enumerate(mesh.members) if member.id == vm_id)
    peers = np.flatnonzero(np.arange(len(mesh.members)) != place)
    own = np.full(peers.size, place)
    now = found.deviations.now
    current = _current(now)[place]
    errors = now.clock_error_ns[place][current]
    return VmMesh(
        mesh=Axis(id=mesh.id, name=mesh.name),
        ended_at=found.result.ended_at,
        clock_error_ns=int(np.median(errors)) if errors.size else None,
        outbound=_direction(session, mesh, found, lost, own, peers, limit),
        inbound=_direction(session, mesh, found, lost, peers, own, limit),
    )


def _direction(
    session: Session, mesh: MeshState, found: DeviationResult, lost: Matrix, rows: Ints, columns: Ints, limit: int
) -> VmDirection:
    """Return the paths from each of `rows` to the same place of `columns`, most unusual first, then slowest first."""
    at = (rows, columns)
    now, deviated = found.deviations.now, found.deviations
    current, has_loss = _current(now)[at], (lost.valued & (lost.states == CellState.MEASURED))[at]
    values, unusual = now.values[at], deviated.unusual[at] & current
    severity = np.where(unusual, deviated.severity[at], 0.0)
    # A path that loses everything has no delay, and is worse than any.
    is_lost = now.states[at] == CellState.LOST
    order = np.lexsort((-np.where(current, values, 0), -severity, ~is_lost))
    worst = order[(current | is_lost)[order]][:limit]
    losses = lost.values[at]
    changed = [(int(rows[one]), int(columns[one])) for one in worst.tolist() if unusual[one]]
    since = dict(zip(changed, unusual_paths.since(session, mesh, By.VM, found, changed), strict=True))
    return VmDirection(
        paths=int((now.states[at] != CellState.NOT_PLANNED).sum()),
        measured=int(current.sum()),
        lost=int(is_lost.sum()),
        unusual=int(unusual.sum()),
        lossy=int((losses[has_loss] > 0).sum()),
        median_ns=round(float(np.median(values[current]))) if current.any() else None,
        worst=[
            VmPath(
                **deviations.read_at(found, int(rows[one]), int(columns[one])).model_dump(),
                loss=1.0 if is_lost[one] else float(losses[one]) if has_loss[one] else None,
                since=since.get((int(rows[one]), int(columns[one]))),
            )
            for one in worst.tolist()
        ],
    )


def _current(now: Matrix) -> Flags:
    mask: Flags = now.valued & (now.states == CellState.MEASURED)
    return mask
