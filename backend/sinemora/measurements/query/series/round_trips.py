"""Distributions of the round trips of one path, or of all paths between two zones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import ZoneRun, mesh_state, zone_runs
from sinemora.kit.errors import NotFound
from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import NONE, Cells, CellState, Flags, Metric, Statistic
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.frame import ROUND_TRIP, Sketches
from sinemora.measurements.codec.llq16 import Ints, Words
from sinemora.measurements.query.matrix.compute import read_windows
from sinemora.measurements.query.series.paths import path_ends
from sinemora.measurements.schemas import STATE_NAMES, Axis, By, StateName


@dataclass(frozen=True, slots=True, eq=False)
class RoundTrips:
    """Round trips between two VMs or two zones; `count` is 0 without any, and `state` is the reason."""

    by: By
    source: Axis
    target: Axis
    state: StateName
    started_at: datetime | None
    ended_at: datetime | None
    count: int
    words: Words

    def quantiles_ns(self, at: Sequence[float]) -> Ints:
        """Return the round trips at these quantiles (0 … 1), ns. `count` must not be 0."""
        bins = llq16.quantiles(self.words, np.array([self.words.size]), at)[:, 0]
        return llq16.values_of(bins)


def round_trips(
    session: Session,
    mesh_id: UUID,
    by: By,
    source_id: UUID,
    target_id: UUID,
    start: datetime | None,
    end: datetime | None,
) -> RoundTrips:
    """Return the round trips of the newest windows, or of the range [`start`, `end`).

    ProductError `mesh_unknown`, `path_unknown` (no two members, or no zones of the mesh), `range_invalid`,
    `range_too_large`.
    """
    mesh = mesh_state(session, mesh_id)
    if by is By.VM:
        ends = path_ends(mesh, source_id, target_id)
        source, target = (Axis(id=member.id, name=member.name) for member in ends)
        rows, columns = (np.array([member in (end,) for member in mesh.members]) for end in ends)
        vm_keys = [member.key for member in ends]
    else:
        runs = _zones(mesh, source_id, target_id)
        source, target = (Axis(id=run.id, name=run.name) for run in runs)
        place = np.arange(len(mesh.members))
        rows, columns = ((place >= run.first) & (place < run.first + run.count) for run in runs)
        vm_keys = None
    result = read_windows(session, mesh, start, end, sketches_of=(ROUND_TRIP,), vm_keys=vm_keys)
    paths = (rows[:, None] & columns) | (columns[:, None] & rows)
    state = _state(result.cells, paths)
    words = np.empty(0, np.uint16)
    if state in (CellState.MEASURED, CellState.STALE) and result.sketches is not None:
        words = _words(result.cells, paths, result.sketches)
    count = int(llq16.COUNT_OF_CODE[words & 31].sum())
    return RoundTrips(by, source, target, STATE_NAMES[state], result.started_at, result.ended_at, count, words)


def _zones(mesh: MeshState, source_id: UUID, target_id: UUID) -> tuple[ZoneRun, ZoneRun]:
    runs = {run.id: run for run in zone_runs(mesh)}
    if source_id not in runs or target_id not in runs:
        raise NotFound("path")
    return runs[source_id], runs[target_id]


def _state(cells: Cells, paths: Flags) -> CellState:
    """Return the best state of any of the paths."""
    states = matrix.measure(cells, Metric.ROUND_TRIP, Statistic.P50).states[paths]
    for state in (CellState.MEASURED, CellState.STALE, CellState.LOST, CellState.NO_DATA):
        if (states == state).any():
            return state
    return CellState.NOT_PLANNED


def _words(cells: Cells, paths: Flags, sketches: Sketches) -> Words:
    """Merge the round trips of fresh windows, or of stale ones when there are no others."""
    known = paths & (cells.round_at != NONE) & cells.planned
    fresh = known & ~cells.stale
    at = np.unique(cells.round_at[fresh if fresh.any() else known])
    owners = np.full(sketches.lengths.shape, NONE, np.int64)
    owners[ROUND_TRIP, at] = 0
    merged = llq16.merge_groups(sketches.words, sketches.lengths.ravel(), owners.ravel(), 1, ())
    assert merged.words is not None
    return merged.words
