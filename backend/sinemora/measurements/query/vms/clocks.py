"""Clock errors of a VM over time, from those of its paths: the store keeps no other history of clocks."""

from datetime import datetime
from uuid import UUID

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.meshes.models import Mesh, MeshVm
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.measurements.aggregate import group_by
from sinemora.measurements.aggregate.matrix import nullable
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query.budget import REQUEST
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.requests import QueryRequest
from sinemora.measurements.query.responses import VmClock, VmClocksRead
from sinemora.measurements.query.scan import Range, decode_windows, range_of, step_of
from sinemora.measurements.schemas import Axis

# In a larger mesh only the frames of the VM itself are read: it is the client of about half of its pairs.
_READ_WHOLE = 64


def vm_clocks(session: Session, vm_id: UUID, start: datetime | None, end: datetime | None, points: int) -> VmClocksRead:
    """Return the clock errors of the outbound paths of a VM in each of its meshes, in at most `points` steps.

    ProductError `vm_unknown`, `range_invalid`, `range_too_large`.
    """
    get_vm(session, vm_id)
    of_vm = select(MeshVm.mesh_id).where(MeshVm.vm_id == vm_id)
    ids = session.scalars(select(Mesh.id).where(Mesh.id.in_(of_vm)).order_by(Mesh.name)).all()
    time_range = range_of(QueryRequest.model_validate({"from": start, "to": end}))
    return VmClocksRead(
        vm_id=vm_id,
        window=time_range.span,
        meshes=[_in_mesh(session, mesh_state(session, mesh_id), vm_id, time_range, points) for mesh_id in ids],
    )


def _in_mesh(session: Session, mesh: MeshState, vm_id: UUID, asked: Range, points: int) -> VmClock:
    step_s = step_of(mesh.window_s, asked, points)
    time_range = asked.aligned(step_s)
    first, size = time_range.steps(step_s)
    members = np.array([member.id == vm_id for member in mesh.members], bool)
    own = [member.key for member in mesh.members if member.id == vm_id]
    windows = decode_windows(
        session,
        mesh,
        time_range,
        sketches=False,
        vm_keys=own if len(mesh.members) > _READ_WHOLE else None,
        budget=REQUEST,
        step_s=step_s,
    )
    parts = []
    for window in windows:
        paths = group_by.select_paths(window, members, np.ones_like(members), round_trip=False)
        if paths.at.size:
            keys = (paths.started_at_s // step_s - first) * members.size + paths.targets
            parts.append(group_by.with_keys(window, paths, keys))
    whole = group_by.merge_by_key(parts)
    measured = whole.columns[COUNT] > 0
    return _clock(mesh, step_s, first, size, whole.keys[measured] // members.size, whole.columns[CLOCK_ERROR, measured])


def _clock(mesh: MeshState, step_s: int, first: int, size: int, steps: Ints, errors_ns: Ints) -> VmClock:
    """Return the median and the largest error of each step; `steps` ascend."""
    bounds = np.searchsorted(steps, np.arange(size + 1))
    paths = np.diff(bounds)
    medians, largest = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for step in np.flatnonzero(paths).tolist():
        errors = errors_ns[bounds[step] : bounds[step + 1]]
        medians[step], largest[step] = round(float(np.median(errors))), errors.max()
    return VmClock(
        mesh=Axis(id=mesh.id, name=mesh.name),
        resolution_s=step_s,
        points_at=[utc((first + step) * step_s) for step in range(size)],
        paths=paths.tolist(),
        median_ns=nullable(medians, paths > 0),
        largest_ns=nullable(largest, paths > 0),
    )
