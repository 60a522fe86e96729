"""Coverage of the demonstration mesh, and whether its alerts have settled. It loads the backend: import it late."""

from dataclasses import dataclass
from uuid import UUID

from sinemora.access.tenants.queries import tenant_by_name
from sinemora.alerts.models import AlertState
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.config import settings
from sinemora.kit.db import named, system_session, tenant_session
from sinemora.measurements.aggregate.matrix import CellState, Metric, Statistic
from sinemora.measurements.query.matrix.compute import read_matrix
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.operations.embedded.demo.machines import MESH
from sinemora.operations.embedded.first_run import TENANT


@dataclass(frozen=True)
class Coverage:
    """Number of members and of planned paths of the mesh, and unmeasured paths with their state."""

    members: int
    planned: int
    missing: list[str]

    def complete(self, members: int) -> bool:
        """Return whether the mesh has at least `members` machines and every planned path is measured."""
        return self.members >= members and self.planned >= members * (members - 1) and not self.missing


def coverage() -> Coverage:
    """Return the current coverage; empty without a mesh. SQLAlchemyError while the database is unavailable."""
    with system_session() as session:
        tenant = tenant_by_name(session, TENANT)
    if tenant is None:
        return Coverage(0, 0, [])
    with tenant_session(tenant.id) as session:
        mesh = named(session, Mesh, MESH)
        if mesh is None:
            return Coverage(0, 0, [])
        result = read_matrix(session, mesh.id, MatrixRequest(metric=Metric.ROUND_TRIP, statistic=Statistic.MEAN))
    states = result.matrix.states
    names = [member.name for member in result.axis]
    paths = [
        (f"{source} → {target}", CellState(states[row, column]))
        for row, source in enumerate(names)
        for column, target in enumerate(names)
        if states[row, column] != CellState.NOT_PLANNED
    ]
    missing = [
        f"{path}: {state.name.lower().replace('_', ' ')}" for path, state in paths if state != CellState.MEASURED
    ]
    return Coverage(len(names), len(paths), missing)


def settles_in_s(tenant_id: UUID, mesh_id: UUID) -> int:
    """Return the seconds of measurement until alert rules count every path of a mesh; 0 when they do."""
    needed_s = settings().alert_settling_s
    with tenant_session(tenant_id) as session:
        state = session.get(AlertState, mesh_id)
        if state is None or state.evaluated_until is None:
            return needed_s
        return max(1, needed_s - state.settled_s) if state.settling_paths else 0
