"""Matrices of zones by step of time: as many as a chart has points, read in one scan of the tier of the step."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import zone_runs
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate import matrix, merge, zones
from sinemora.measurements.aggregate.matrix import NONE, Cells, positions_of
from sinemora.measurements.aggregate.merge import Piece
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.unpacking import DIRECTIONS
from sinemora.measurements.query.budget import REQUEST, ReadBudget
from sinemora.measurements.query.ranges import read_frames, tiers, utc
from sinemora.measurements.schemas import Axis
from sinemora.measurements.store import corrections, frames
from sinemora.measurements.store.retention import kept_from_of
from sinemora.measurements.store.tiers import ROLLED, Tier, TierRange

STEPS_MAX = 12_000
"""Steps of a tier that one scan reads."""
CELLS_MAX = 4_000_000
"""Zone pairs times steps that one scan returns."""
_BLOCKS_MAX = 120_000


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of time: step i has the windows that ended after `ends_s[i - 1]`, up to `ends_s[i]` (Unix s, ascending),
    and began at most `span_s` before. `tier` is the coarsest that is read.
    """

    ends_s: Ints
    span_s: int
    tier: Tier

    def of(self, started_s: Ints, ended_s: Ints) -> Ints:
        """Return the step of each window, `NONE` of those in none."""
        at = np.searchsorted(self.ends_s, ended_s)
        inside = at < self.ends_s.size
        inside[inside] &= started_s[inside] >= self.ends_s[at[inside]] - self.span_s
        return np.where(inside, at, NONE)


@dataclass(frozen=True, slots=True)
class ZoneSteps:
    """Cells of zones by step, of shape [step][source][target]."""

    axis: list[Axis]
    cells: Cells


def steps_of(points_s: npt.NDArray[np.float64], step_s: float, zones_count: int, now: datetime) -> Steps:
    """Return the steps of a chart's points: whole steps of a tier where the points are closer than those.

    The tier is the coarsest whose steps are not longer than those of the chart, at least minutes; coarser ones where
    that is not kept for so long, or has too many steps.
    """
    first_s, last_s = float(points_s[0]) - step_s, float(points_s[-1])
    kept_from = kept_from_of(now)
    at = max(place for place, tier in enumerate(ROLLED) if place == 0 or tier.step_s <= step_s)
    most = min(STEPS_MAX, _BLOCKS_MAX // max(1, zones_count))
    while at + 1 < len(ROLLED) and (
        (last_s - first_s) / ROLLED[at].step_s > most or kept_from[ROLLED[at]].timestamp() > first_s + step_s
    ):
        at += 1
    tier = ROLLED[at]
    if step_s > tier.step_s:
        return Steps(np.floor(points_s).astype(np.int64), -(-int(step_s) // tier.step_s) * tier.step_s, tier)
    ends = np.arange(int(points_s[0]) // tier.step_s, int(last_s) // tier.step_s + 1) * tier.step_s
    return Steps(ends, tier.step_s, tier)


def read_zone_steps(session: Session, mesh: MeshState, steps: Steps, budget: ReadBudget = REQUEST) -> ZoneSteps:
    """Read the cells of zones of every step. ProductError `range_too_large`."""
    runs = zone_runs(mesh)
    axis = [Axis(id=run.id, name=run.name) for run in runs]
    size, count = len(runs), steps.ends_s.size
    if size * size * count > CELLS_MAX:
        raise ProductError(
            "range_too_large",
            409,
            f"Range too large: {count} steps of {size * size} zone pairs, at most {CELLS_MAX} values for one query."
            " Use a longer step or a shorter range.",
        )
    keys = frames.zone_keys(session, [run.id for run in runs])
    now_s = datetime.now(UTC).timestamp()
    start_s, end_s = int(steps.ends_s[0]) - steps.span_s, int(min(steps.ends_s[-1], now_s))
    single: list[Piece] = []
    several: list[Piece] = []
    if size and start_s < end_s:
        usable = [tier for tier in ROLLED if tier.step_s <= steps.tier.step_s]
        for part in tiers(session, mesh.key, utc(start_s), utc(end_s), usable)[2]:
            # A step that is one of the tier needs no merging: the frame has its quantiles.
            whole = part.tier is steps.tier and steps.span_s == part.tier.step_s
            if part.tier is Tier.RAW:
                read = _reported(session, mesh, part, steps, budget)
            else:
                read = _merged(session, mesh, part, steps, keys, sketches=not whole)
            for piece in read:
                (single if whole else several).append(_on_axis(piece, keys, size))
    if several:
        single.append(merge.merge_pieces(several, words_too=False))
    pieces = [replace(piece, sketches=None) for piece in single]
    joined = merge.joined(pieces) if pieces else _on_axis(merge.gathered((), ()), keys, size)
    return ZoneSteps(axis, matrix.zone_step_cells(count, size, joined.clients, joined.targets, joined.stats))


def _merged(
    session: Session, mesh: MeshState, part: TierRange, steps: Steps, keys: Ints, *, sketches: bool
) -> Iterator[tuple[Piece, Ints]]:
    """Yield pairs of zones of a merged tier, whose clients are the zones `keys`, each with its step."""
    for chunk in frames.zone_frames(session, mesh.key, part, keys.tolist(), sketches=sketches):
        piece = merge.gathered(chunk, (), DIRECTIONS if sketches else ())
        started = np.array([block.started_at_s for block in chunk], np.int64)
        at = steps.of(started, started + part.tier.step_s)
        yield piece, np.repeat(at, [block.targets.size for block in chunk])


def _reported(
    session: Session, mesh: MeshState, part: TierRange, steps: Steps, budget: ReadBudget
) -> Iterator[tuple[Piece, Ints]]:
    """Yield pairs of zones of reported windows that are not merged yet, step by step."""
    vms = frames.zones_of_vms(session, session.info["tenant_key"])
    shifts = corrections.in_range(session, mesh.key, part.start, part.end)
    for chunk in read_frames(session, mesh.key, [part], sketches=True, vm_keys=None, budget=budget):
        ended = np.array([block.started_at_s + block.window_s for block in chunk], np.int64)
        at = steps.of(np.array([block.started_at_s for block in chunk], np.int64), ended)
        for step in np.unique(at[at != NONE]).tolist():
            blocks = [chunk[place] for place in np.flatnonzero(at == step).tolist()]
            between = zones.merge_zones(merge.gathered(blocks, shifts, DIRECTIONS), *vms)
            yield between, np.full(between.clients.size, step, np.int64)


def _on_axis(found: tuple[Piece, Ints] | Piece, keys: Ints, size: int) -> Piece:
    """Return pairs with places on the axis; the client is one of `size` in each step. Others are left out."""
    piece, at = found if isinstance(found, tuple) else (found, np.zeros(found.clients.size, np.int64))
    sources, targets = positions_of(keys, piece.clients), positions_of(keys, piece.targets)
    known = np.flatnonzero((at != NONE) & (sources != NONE) & (targets != NONE))
    sketches = None if piece.sketches is None else piece.sketches.take(known)
    return Piece(at[known] * size + sources[known], targets[known], piece.stats.take(known), sketches)
