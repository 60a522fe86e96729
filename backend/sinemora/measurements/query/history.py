"""Use case of reading many windows of a whole mesh apart from one another: a matrix a window, one number each."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate.distributions import Values, values_by_group
from sinemora.measurements.aggregate.matrix import NONE, Positions, Statistic, positions_of
from sinemora.measurements.codec import llq16, unpacking
from sinemora.measurements.codec.frame import QUANTILES, ROUND_TRIP, TARGETS_MAX
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.query.matrix import keys_of
from sinemora.measurements.query.ranges import check_range, tiers, utc
from sinemora.measurements.store import frames
from sinemora.measurements.store.tiers import Tier, TierRange
from sinemora.meshes.plan import MeshState

WINDOWS_LEAST = 4
"""Fewer say nothing about how latency varies."""
_SHORTEST = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Round trips of a mesh in each window: ns, NaN where a pair has none, shape (windows, VMs, VMs), symmetric.

    Of pairs with several source ports they are those of the slowest (`flows.slowest`).

    VMs are in the order of the mesh's members; `started_at_s` and `window_s` are of each window, ascending; `parts` are
    the stretches of the store that they stand in.
    """

    started_at_s: Ints
    window_s: Ints
    round_trips_ns: npt.NDArray[np.float32]
    parts: tuple[TierRange, ...]

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """From the start of the first window to the end of the last; None when there is none."""
        if not self.started_at_s.size:
            return None
        return utc(int(self.started_at_s[0])), utc(int((self.started_at_s + self.window_s).max()))


def round_trips(
    session: Session, mesh: MeshState, start: datetime, end: datetime, statistic: Statistic, blocks_max: int
) -> History:
    """Windows begun from `start` to `end`, minutes where they are merged. ProductError `range_invalid`.

    `statistic` is one of those that every window keeps: p50, p90, p99. When all windows hold more than about
    `blocks_max` blocks, as many as do not are taken, at even distances over the range, at least `WINDOWS_LEAST`.
    """
    check_range(start, end)
    quantile = QUANTILES.index(statistic.quantile or 0.5)
    _, _, parts = tiers(session, mesh.key, start, end, (Tier.MINUTE,))
    begun = [(part.tier, at) for part in parts for at in frames.starts(session, mesh.key, part)]
    taken = _spread(begun, blocks_max // _blocks(mesh))
    if len(taken) < len(begun):
        parts = [TierRange(tier, at, at + _SHORTEST) for tier, at in taken]
    starts = np.array([int(at.timestamp()) for _, at in taken], np.int64)
    lengths = np.zeros(starts.size, np.int64)
    axis = keys_of(mesh)
    found = np.full((starts.size, axis.size, axis.size), np.nan, np.float32)
    with ThreadPoolExecutor(1) as filling:  # while one piece is decoded the next is fetched
        filled: Future[None] | None = None
        for part in parts:
            for chunk in frames.frames(session, mesh.key, [part], sketches=False):
                # What came after we looked stays out.
                rows = positions_of(starts, np.array([one.started_at_s for one in chunk], np.int64))
                told = [(row, one.window_s) for one, row in zip(chunk, rows.tolist(), strict=True) if row != NONE]
                if told:
                    lengths[[row for row, _ in told]] = [window_s for _, window_s in told]
                if filled is not None:
                    filled.result()
                filled = filling.submit(_fill, found, axis, rows, chunk, quantile)
        if filled is not None:
            filled.result()
    return History(starts, lengths, found, tuple(parts))


def values(session: Session, mesh: MeshState, seen: History, sources: Positions) -> Values:
    """Return the round trips of a history's windows between `sources` (positions of members) and all VMs."""
    axis, starts = keys_of(mesh), seen.started_at_s
    place = np.full(axis.size, NONE, np.int64)
    place[sources] = np.arange(sources.size)
    groups, lengths, words = [], [], []
    for chunk in frames.frames(session, mesh.key, seen.parts, sketches=True):
        rows = positions_of(starts, np.array([one.started_at_s for one in chunk], np.int64))
        windows, clients, targets = _pairs(axis, rows, chunk)
        stats = unpacking.stats_of([one.stats for one in chunk])
        sketches = unpacking.sketches_of([one.sketch for one in chunk], stats, (ROUND_TRIP,))
        known = (windows != NONE) & (clients != NONE) & (targets != NONE)
        held = sketches.lengths[ROUND_TRIP]
        for near, far in ((clients, targets), (targets, clients)):
            mine = known & (place[near] != NONE)
            groups.append(((windows * sources.size + place[near]) * axis.size + far)[mine])
            lengths.append(held[mine])
            words.append(sketches.words[np.repeat(mine, held)])
    shape = (starts.size, sources.size, axis.size)
    return values_by_group(sources, shape, groups, lengths, words)


def _blocks(mesh: MeshState) -> int:
    """About how many blocks a window of a mesh has: each VM is client of half of the others."""
    size = max(len(mesh.members), 1)
    return size * -(-size // (2 * TARGETS_MAX))


def _spread(begun: list[tuple[Tier, datetime]], most: int) -> list[tuple[Tier, datetime]]:
    """At most so many of them, or `WINDOWS_LEAST`, each from the middle of an equal part of all."""
    count = min(len(begun), max(most, WINDOWS_LEAST))
    return [begun[(2 * at + 1) * len(begun) // (2 * count)] for at in range(count)]


def _fill(found: npt.NDArray[np.float32], axis: Ints, rows: Positions, chunk: list[StoredFrame], quantile: int) -> None:
    windows, clients, targets = _pairs(axis, rows, chunk)
    codes = unpacking.slowest_codes([one.stats for one in chunk], quantile).astype(np.int64)
    known = (windows != NONE) & (clients != NONE) & (targets != NONE) & (codes > 0)
    windows, clients, targets = windows[known], clients[known], targets[known]
    values = llq16.values_of(codes[known] - 1)
    found[windows, clients, targets] = values
    found[windows, targets, clients] = values


def _pairs(axis: Ints, rows: Positions, chunk: list[StoredFrame]) -> tuple[Positions, Positions, Positions]:
    """Window, client and target of all pairs of some blocks that began in the windows `rows`."""
    sizes = [one.targets.size for one in chunk]
    clients = np.repeat(positions_of(axis, np.array([one.vm_key for one in chunk], np.int64)), sizes)
    return np.repeat(rows, sizes), clients, positions_of(axis, np.concatenate([one.targets for one in chunk]))
