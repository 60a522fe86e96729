"""Rounds of evaluation: which meshes come next, each in transactions of its own.

Any number of processes run rounds at once. A mesh is locked while a window of it is evaluated, so that none is
evaluated twice. Tenants take turns, and within a tenant the mesh comes first that was not evaluated for the longest
time: no mesh waits for more than a few others of each tenant, however many meshes one of them has.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import structlog
from sqlalchemy.orm import Session

from sinemora.alerts.detection import batch, due, evaluator, queries
from sinemora.alerts.detection.batch import MeshInput, Wanted
from sinemora.alerts.detection.due import ACTIVE_FOR, MeshReports
from sinemora.alerts.detection.evaluator import MeshEvaluation
from sinemora.alerts.rules import service as rules
from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.live.publisher import announce

log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 0.5
# A mesh whose state another process has in memory is left to that one, unless it is late.
_LEFT_S, _LEFT_LARGE_S = 2.0, 10.0
# What a tenant has evaluated in one turn, at most: meshes and paths together, windows of each mesh.
_MESHES, _PATHS, _WINDOWS = 16, 40_000, 6
# A mesh that could not be evaluated is tried again after this time, doubled each time.
_PAUSE_S, _PAUSE_MAX_S = 2.0, 60.0

_failures: dict[UUID, tuple[float, float]] = {}
"""When meshes that failed are tried again (monotonic, s), and the pause before that."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A mesh to evaluate up to the window that ends at `due_s`; None: to be looked at for silent agents."""

    reports: MeshReports
    due_s: int | None

    @property
    def paths(self) -> int:
        return sum(block.count for block in self.reports.blocks) ** 2

    @property
    def is_own(self) -> bool:
        """Return whether this process has the state of the mesh in memory."""
        return evaluator.in_memory(self.reports.mesh_id, self.reports.evaluated_s)


def run(for_s: float) -> None:
    """Evaluate what is due for some seconds; for 0 s until nothing is."""
    until = time.monotonic() + for_s if for_s else math.inf
    while True:
        began = time.monotonic()
        windows = _round(until)
        if time.monotonic() >= until or (not windows and not for_s):
            return
        if not windows:
            time.sleep(max(0.0, began + _LOOK_EVERY_S - time.monotonic()))


def _round(until: float) -> int:
    """Evaluate meshes that are due now, and return the number of windows that were evaluated."""
    with system_session() as session:
        meshes = queries.reported_meshes(session, ACTIVE_FOR)
    windows = 0
    for turns in _in_turn([turn for mesh in meshes if (turn := _turn_of(mesh)) is not None]):
        windows += _evaluate(turns)
        if time.monotonic() >= until:
            break
    return windows


def _turn_of(mesh: MeshReports) -> _Turn | None:
    failure = _failures.get(mesh.mesh_id)
    if failure is not None and time.monotonic() < failure[0]:
        return None
    due_s = due.due_end_s(mesh)
    if due_s is None:
        return _Turn(mesh, None) if due.silence_is_due(mesh) else None
    turn = _Turn(mesh, due_s)
    if mesh.evaluated_s is not None and not turn.is_own:
        large = sum(block.count for block in mesh.blocks) > evaluator.SMALL_VMS
        if due.lag_s(mesh) < (_LEFT_LARGE_S if large else _LEFT_S):
            return None
    return turn


def _in_turn(turns: Sequence[_Turn]) -> Iterator[list[_Turn]]:
    """Yield the meshes of a tenant that are evaluated together, tenant after tenant, until there are no more."""
    by_tenant: dict[UUID, list[_Turn]] = {}
    for turn in sorted(turns, key=_next):
        by_tenant.setdefault(turn.reports.tenant_id, []).append(turn)
    while by_tenant:
        for tenant_id, waiting in list(by_tenant.items()):
            size = _size(waiting)
            yield waiting[:size]
            by_tenant[tenant_id] = waiting[size:]
            if not by_tenant[tenant_id]:
                del by_tenant[tenant_id]


def _next(turn: _Turn) -> float:
    """Return the order of a mesh: by its last evaluation, those later whose state another process has."""
    return turn.reports.looked_at_s + (0.0 if turn.is_own else _LEFT_S)


def _size(waiting: Sequence[_Turn]) -> int:
    """Return how many meshes are evaluated together. One that failed before is alone: it delays no other."""
    paths = 0
    for size, turn in enumerate(waiting[:_MESHES]):
        paths += turn.paths
        if size and (paths > _PATHS or turn.reports.mesh_id in _failures):
            return size
        if turn.reports.mesh_id in _failures:
            return 1
    return min(len(waiting), _MESHES)


def _evaluate(turns: Sequence[_Turn]) -> int:
    """Evaluate meshes of one tenant: what they read together, then each window in a transaction.

    Return the number of windows.
    """
    tenant_id = turns[0].reports.tenant_id
    try:
        with tenant_session(tenant_id) as session:
            for turn in turns:
                if turn.reports.evaluated_s is None:
                    rules.create_default_rules(session, turn.reports.mesh_id)
            # Reading a large mesh for nothing, again and again, would take a processor as long as another has it.
            turns = [turn for turn in turns if turn.is_own or queries.claimed(session, turn.reports.mesh_id)]
        if not turns:
            return 0
        with tenant_session(tenant_id) as session:
            wanted = [_wanted(session, turn) for turn in turns]
            given = batch.read(session, wanted)
    except Exception:
        for turn in turns:
            _failed(turn)
        log.exception("meshes not read", tenant=str(tenant_id), meshes=len(turns))
        return 0
    return sum(
        _evaluate_mesh(turn, one.ends_s, given[one.mesh_id])
        for turn, one in zip(turns, wanted, strict=True)
        if one.mesh_id in given
    )


def _wanted(session: Session, turn: _Turn) -> Wanted:
    mesh = turn.reports
    ends_s = [int(mesh.at_s) // mesh.window_s * mesh.window_s]
    if turn.due_s is not None:
        place = mesh.key, mesh.window_s, mesh.evaluated_s
        ends_s = evaluator.missed_windows(session, *place, turn.due_s, mesh.at_s)[:_WINDOWS]
    return Wanted(mesh.mesh_id, ends_s, mesh.looked_at_s or None)


def _evaluate_mesh(turn: _Turn, ends_s: Sequence[int], given: MeshInput) -> int:
    windows = 0
    mesh, at = turn.reports, datetime.fromtimestamp(turn.reports.at_s, UTC)
    changed: list[UUID] = []
    try:
        for end_s in ends_s:
            with tenant_session(mesh.tenant_id) as session:
                result: MeshEvaluation | None
                if turn.due_s is None:
                    result = evaluator.look_for_silence(session, given, at)
                else:
                    result = evaluator.evaluate_window(
                        session, given, end_s, at, newest=end_s == turn.due_s, reports=mesh
                    )
            if result is None:
                break  # another process evaluates it
            windows += 1
            changed += result.changed
        _failures.pop(mesh.mesh_id, None)
    except Exception:
        evaluator.forget([mesh.mesh_id])  # the state in memory may be ahead of the database
        _failed(turn)
        log.exception("mesh not evaluated", mesh=str(mesh.mesh_id))
    for incident_id in dict.fromkeys(changed):
        announce(mesh.mesh_id, "incident", {"id": str(incident_id)})
    return windows


def _failed(turn: _Turn) -> None:
    _, pause_s = _failures.get(turn.reports.mesh_id, (0.0, _PAUSE_S / 2))
    pause_s = min(2 * pause_s, _PAUSE_MAX_S)
    _failures[turn.reports.mesh_id] = (time.monotonic() + pause_s, pause_s)
