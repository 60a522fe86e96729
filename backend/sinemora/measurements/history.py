"""Use case of reading many windows of a whole mesh apart from one another: a matrix a window, one number each."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.measurements import frame, queries, sketch
from sinemora.measurements.frame import COUNT, QUANTILES, ROUND_TRIP
from sinemora.measurements.matrix import Statistic
from sinemora.measurements.queries import StoredFrame
from sinemora.measurements.service import check_range, tiers, utc
from sinemora.measurements.sketch import Ints
from sinemora.meshes.plan import MeshState


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


def round_trips(session: Session, mesh: MeshState, start: datetime, end: datetime, statistic: Statistic) -> History:
    """All windows begun from `start` to `end`, from whichever tier the range is read. ProductError `range_invalid`.

    `statistic` is one of those that every window keeps: p50, p90, p99.
    """
    check_range(start, end)
    quantile = QUANTILES.index(statistic.quantile or 0.5)
    _, _, parts = tiers(session, mesh.key, start, end)
    stored = [
        one for part in parts for chunk in queries.frames(session, mesh.key, [part], sketches=False) for one in chunk
    ]
    place = {member.key: at for at, member in enumerate(mesh.members)}
    times = sorted({(one.started_at_s, one.window_s) for one in stored})
    found = np.full((len(times), len(place), len(place)), np.nan, np.float32)
    row_of = {time: row for row, time in enumerate(times)}
    for one in stored:
        if one.vm_key in place:
            _fill(found[row_of[one.started_at_s, one.window_s]], place, one, quantile)
    started, lengths = (np.array([time[part] for time in times], np.int64) for part in (0, 1))
    return History(started, lengths, found)


def _fill(window: npt.NDArray[np.float32], place: dict[int, int], one: StoredFrame, quantile: int) -> None:
    stats = frame.decode_stats(one.stats)
    columns = np.array([place.get(int(key), -1) for key in one.targets], np.intp)
    known = (columns >= 0) & (stats.columns[COUNT, ROUND_TRIP] > 0) & (stats.quantiles[quantile, ROUND_TRIP] > 0)
    values = sketch.values_of(stats.quantiles[quantile, ROUND_TRIP][known].astype(np.int64) - 1)
    row = place[one.vm_key]
    window[row, columns[known]] = window[columns[known], row] = values
