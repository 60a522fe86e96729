"""Matrices of many windows of a mesh: one value per pair and window."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.aggregate.distributions import Values, values_by_group
from sinemora.measurements.aggregate.matrix import NONE, Positions, Statistic, positions_of
from sinemora.measurements.codec import unpacking
from sinemora.measurements.codec.frame import QUANTILES, ROUND_TRIP, TARGETS_MAX
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.ranges import check_range, tiers, utc
from sinemora.measurements.store import frames
from sinemora.measurements.store.tiers import Tier, TierRange

WINDOWS_MIN = 6
"""Fewer windows do not show the variation of latency, and cannot be cut into some that choose and three that judge."""
_SHORTEST = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, eq=False)
class MatrixHistory:
    """Round trips of a mesh in each window: ns, NaN where a pair has none, shape (windows, VMs, VMs), symmetric.

    A pair with several source ports has the round trip of the slowest (`flows.slowest`).

    VMs are in the order of the mesh's members. `started_at_s` (ascending) and `window_s` belong to the windows; `parts`
    are the tier ranges that contain them.
    """

    started_at_s: Ints
    window_s: Ints
    round_trips_ns: npt.NDArray[np.float32]
    parts: tuple[TierRange, ...]

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """Return the start of the first window and the end of the last; None without windows."""
        if not self.started_at_s.size:
            return None
        return utc(int(self.started_at_s[0])), utc(int((self.started_at_s + self.window_s).max()))


def round_trips(
    session: Session,
    mesh: MeshState,
    start: datetime,
    end: datetime,
    statistic: Statistic,
    blocks_max: int,
    merged: Sequence[Tier] = (Tier.MINUTE,),
) -> MatrixHistory:
    """Return the windows that begin in [`start`, `end`), longer steps where they are merged.

    ProductError `range_invalid`. `merged` lists the tiers of longer steps, finest first; by default minutes.

    `statistic` is one that every window has: p50, p90, p99. When all windows have more than about `blocks_max` blocks,
    fewer windows are selected at even distances over the range, at least `WINDOWS_MIN`.
    """
    check_range(start, end)
    quantile = QUANTILES.index(statistic.quantile or 0.5)
    _, _, parts = tiers(session, mesh.key, start, end, merged)
    windows = [(part.tier, at) for part in parts for at in frames.starts(session, mesh.key, part)]
    selected = _spread(windows, blocks_max // _blocks(mesh))
    if len(selected) < len(windows):
        parts = [TierRange(tier, at, at + _SHORTEST) for tier, at in selected]
    return _read(session, mesh, parts, [at for _, at in selected], quantile)


def stored_round_trips(session: Session, mesh: MeshState, part: TierRange, statistic: Statistic) -> MatrixHistory:
    """Return the steps that are stored of one merged tier, only the blocks of the members of `mesh`."""
    starts, quantile = frames.starts(session, mesh.key, part), QUANTILES.index(statistic.quantile or 0.5)
    return _read(session, mesh, [part], starts, quantile, keys_of(mesh).tolist())


def _read(
    session: Session,
    mesh: MeshState,
    parts: Sequence[TierRange],
    times: Sequence[datetime],
    quantile: int,
    vm_keys: Sequence[int] | None = None,
) -> MatrixHistory:
    """Read the windows that begin at `times` in parts of tiers."""
    starts = np.array([int(at.timestamp()) for at in times], np.int64)
    lengths = np.zeros(starts.size, np.int64)
    axis = keys_of(mesh)
    values = np.full((starts.size, axis.size, axis.size), np.nan, np.float32)
    with ThreadPoolExecutor(1) as filling:  # while one chunk is decoded the next is fetched
        filled: Future[None] | None = None
        for part in parts:
            for chunk in frames.frames(session, mesh.key, [part], sketches=False, vm_keys=vm_keys):
                # Windows that arrived after the selection are ignored.
                rows = positions_of(starts, np.array([block.started_at_s for block in chunk], np.int64))
                lengths_read = [
                    (row, block.window_s) for block, row in zip(chunk, rows.tolist(), strict=True) if row != NONE
                ]
                if lengths_read:
                    lengths[[row for row, _ in lengths_read]] = [window_s for _, window_s in lengths_read]
                if filled is not None:
                    filled.result()
                filled = filling.submit(_fill, values, axis, rows, chunk, quantile)
        if filled is not None:
            filled.result()
    return MatrixHistory(starts, lengths, values, tuple(parts))


def values(session: Session, mesh: MeshState, seen: MatrixHistory, sources: Positions) -> Values:
    """Return the round trips of a history's windows between `sources` (positions of members) and all VMs."""
    axis, starts = keys_of(mesh), seen.started_at_s
    place = np.full(axis.size, NONE, np.int64)
    place[sources] = np.arange(sources.size)
    groups, lengths, words = [], [], []
    for chunk in frames.frames(session, mesh.key, seen.parts, sketches=True):
        rows = positions_of(starts, np.array([block.started_at_s for block in chunk], np.int64))
        windows, clients, targets = _pairs(axis, rows, chunk)
        stats = unpacking.stats_of([block.stats for block in chunk])
        sketches = unpacking.sketches_of([block.sketch for block in chunk], stats, (ROUND_TRIP,))
        known = (windows != NONE) & (clients != NONE) & (targets != NONE)
        held = sketches.lengths[ROUND_TRIP]
        for near, far in ((clients, targets), (targets, clients)):
            selected = known & (place[near] != NONE)
            groups.append(((windows * sources.size + place[near]) * axis.size + far)[selected])
            lengths.append(held[selected])
            words.append(sketches.words[np.repeat(selected, held)])
    shape = (starts.size, sources.size, axis.size)
    return values_by_group(sources, shape, groups, lengths, words)


def _blocks(mesh: MeshState) -> int:
    """Estimate the number of blocks of a window of a mesh: each VM is the client of half of the others."""
    size = max(len(mesh.members), 1)
    return size * -(-size // (2 * TARGETS_MAX))


def _spread(windows: list[tuple[Tier, datetime]], most: int) -> list[tuple[Tier, datetime]]:
    """Return at most `most` windows, but `WINDOWS_MIN`, each from the middle of an equal part of all."""
    count = min(len(windows), max(most, WINDOWS_MIN))
    return [windows[(2 * at + 1) * len(windows) // (2 * count)] for at in range(count)]


def _fill(
    round_trips: npt.NDArray[np.float32], axis: Ints, rows: Positions, chunk: list[StoredFrame], quantile: int
) -> None:
    windows, clients, targets = _pairs(axis, rows, chunk)
    values = unpacking.slowest_values([block.stats for block in chunk], quantile)
    known = (windows != NONE) & (clients != NONE) & (targets != NONE) & (values >= 0)
    windows, clients, targets = windows[known], clients[known], targets[known]
    round_trips[windows, clients, targets] = values[known]
    round_trips[windows, targets, clients] = values[known]


def _pairs(axis: Ints, rows: Positions, chunk: list[StoredFrame]) -> tuple[Positions, Positions, Positions]:
    """Return window, client and target of all pairs of blocks that belong to the windows `rows`."""
    sizes = [block.targets.size for block in chunk]
    clients = np.repeat(positions_of(axis, np.array([block.vm_key for block in chunk], np.int64)), sizes)
    return np.repeat(rows, sizes), clients, positions_of(axis, np.concatenate([block.targets for block in chunk]))
