"""Merged measurements as plain columns, for engines that do not know frames: one row per path and step."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate import merge
from sinemora.measurements.aggregate.corrections import Corrections
from sinemora.measurements.aggregate.group_by import PathDistributions
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.series.export import distributions
from sinemora.measurements.query.tables import Batch, Column
from sinemora.measurements.store import corrections, frames
from sinemora.measurements.store.tiers import TierRange

COLUMNS = [
    Column("started_at", "time"),
    Column("step_s", "int"),
    Column("source_key", "int"),
    Column("source", "text"),
    Column("target_key", "int"),
    Column("target", "text"),
    Column("count", "int"),
    Column("sent", "int"),
    Column("lost", "int"),
    *(Column(f"{statistic}_ns", "int") for statistic in Statistic),
    Column("clock_error_ns", "int"),
]


def batches(
    session: Session, mesh_key: int, part: TierRange, names: Mapping[int, str], *, zones: bool
) -> Iterator[Batch]:
    """Yield all paths of a merged tier in a range, of VMs or between `zones`, with the delays of one way.

    `names` are those of keys; a deleted VM has none. One-way delays of VMs are corrected, as queries correct them.
    ProductError `aged_data_unavailable`.
    """
    shifts = () if zones else corrections.in_range(session, mesh_key, part.start, part.end)
    read = (
        frames.zone_frames(session, mesh_key, part, sketches=False)
        if zones
        else frames.frames(session, mesh_key, [part], sketches=False, by_time=True)
    )
    for chunk in read:
        yield from _of_chunk(chunk, shifts, part.tier.step_s, names)


def _of_chunk(
    chunk: list[StoredFrame], shifts: Sequence[Corrections], step_s: int, names: Mapping[int, str]
) -> Iterator[Batch]:
    piece = merge.gathered(chunk, shifts)
    started = np.repeat(
        np.array([block.started_at_s for block in chunk], np.int64), [block.targets.size for block in chunk]
    )
    size = piece.clients.size
    back = np.flatnonzero(piece.clients != piece.targets)  # within one zone both directions hold all its paths
    found = PathDistributions(
        np.concatenate((np.arange(size), size + back)),
        np.concatenate((piece.clients, piece.targets[back])),
        np.concatenate((piece.targets, piece.clients[back])),
        np.concatenate((started, started[back])),
    ).oldest_first()
    if not found.at.size:
        return
    sources, targets = found.sources.tolist(), found.targets.tolist()
    yield [
        [utc(at) for at in found.started_at_s.tolist()],
        [step_s] * found.at.size,
        sources,
        [names.get(key) for key in sources],
        targets,
        [names.get(key) for key in targets],
        *distributions(piece.stats, found.at),
    ]
