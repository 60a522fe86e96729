"""Use case of reading many windows of a whole mesh apart from one another: a matrix a window, one number each."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.measurements import queries, sketch, unpacking
from sinemora.measurements.frame import QUANTILES, TARGETS_MAX
from sinemora.measurements.matrix import NONE, Positions, Statistic, positions_of
from sinemora.measurements.queries import StoredFrame
from sinemora.measurements.service import check_range, keys_of, tiers, utc
from sinemora.measurements.sketch import Ints
from sinemora.measurements.tiers import Stretch, Tier
from sinemora.meshes.plan import MeshState

WINDOWS_LEAST = 4
"""Fewer say nothing about how latency varies."""
_SHORTEST = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Round trips of a mesh in each window: ns, NaN where a pair has none, shape (windows, VMs, VMs), symmetric.

    VMs are in the order of the mesh's members; `started_at_s` and `window_s` are of each window, ascending.
    """

    started_at_s: Ints
    window_s: Ints
    round_trips_ns: npt.NDArray[np.float32]

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """From the start of the first window to the end of the last; None when there is none."""
        if not self.started_at_s.size:
            return None
        return utc(int(self.started_at_s[0])), utc(int((self.started_at_s + self.window_s).max()))

    def part(self, windows: slice) -> "History":
        """Some of the windows."""
        return History(self.started_at_s[windows], self.window_s[windows], self.round_trips_ns[windows])


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
    begun = [(part.tier, at) for part in parts for at in queries.starts(session, mesh.key, part)]
    taken = _spread(begun, blocks_max // _blocks(mesh))
    if len(taken) < len(begun):
        parts = [Stretch(tier, at, at + _SHORTEST) for tier, at in taken]
    starts = np.array([int(at.timestamp()) for _, at in taken], np.int64)
    lengths = np.zeros(starts.size, np.int64)
    axis = keys_of(mesh)
    found = np.full((starts.size, axis.size, axis.size), np.nan, np.float32)
    for part in parts:
        for chunk in queries.frames(session, mesh.key, [part], sketches=False):
            # What came after we looked stays out.
            rows = positions_of(starts, np.array([one.started_at_s for one in chunk], np.int64))
            lengths[rows[rows != NONE]] = [one.window_s for one, row in zip(chunk, rows, strict=True) if row != NONE]
            _fill(found, axis, rows, chunk, quantile)
    return History(starts, lengths, found)


def _blocks(mesh: MeshState) -> int:
    """About how many blocks a window of a mesh has: each VM is client of half of the others."""
    size = max(len(mesh.members), 1)
    return size * -(-size // (2 * TARGETS_MAX))


def _spread(begun: list[tuple[Tier, datetime]], most: int) -> list[tuple[Tier, datetime]]:
    """At most so many of them, or `WINDOWS_LEAST`, each from the middle of an equal part of all."""
    count = min(len(begun), max(most, WINDOWS_LEAST))
    return [begun[(2 * at + 1) * len(begun) // (2 * count)] for at in range(count)]


def _fill(found: npt.NDArray[np.float32], axis: Ints, rows: Positions, chunk: list[StoredFrame], quantile: int) -> None:
    sizes = [one.targets.size for one in chunk]
    clients = np.repeat(positions_of(axis, np.array([one.vm_key for one in chunk], np.int64)), sizes)
    windows = np.repeat(rows, sizes)
    targets = positions_of(axis, np.concatenate([one.targets for one in chunk]))
    codes = unpacking.round_trip_codes([one.stats for one in chunk], quantile).astype(np.int64)
    known = (windows != NONE) & (clients != NONE) & (targets != NONE) & (codes > 0)
    windows, clients, targets = windows[known], clients[known], targets[known]
    values = sketch.values_of(codes[known] - 1)
    found[windows, clients, targets] = values
    found[windows, targets, clients] = values
