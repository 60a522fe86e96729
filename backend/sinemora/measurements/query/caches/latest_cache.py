"""Cache of the newest window of every pair of a mesh, decoded and corrected.

Every query checks which blocks were written since the last one, and their corrections. Only changed blocks are read.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate import merge
from sinemora.measurements.aggregate.matrix import Pairs
from sinemora.measurements.codec.frame import Stats
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.store import corrections, latest
from sinemora.measurements.store.latest import BlockHead

Number = TypeVar("Number", np.int64, np.uint16, np.uint8)

_NO_CORRECTION = (-1, -1)
# The first columns of `_Entry.blocks`, which identify the pairs of a block: VM, block, roster, number of targets.
_LAYOUT = 4


@dataclass(frozen=True, slots=True)
class _Entry:
    """Pairs of all blocks; a row of `blocks` is a `BlockHead`, then start and end of its correction (s)."""

    blocks: Ints
    pairs: Pairs


def pairs(session: Session, mesh_key: int) -> Pairs:
    """Return every pair of every newest block, corrected. A pair in two blocks appears twice."""
    key = ("newest", session.info["tenant_key"], mesh_key)
    blocks = _describe(session, mesh_key, latest.heads(session, mesh_key))
    known: _Entry | None = shared_cache().get(key)
    if known is not None and np.array_equal(known.blocks, blocks):
        return known.pairs
    entry = None if known is None else _update(session, mesh_key, known, blocks)
    if entry is None:
        heads, stored = latest.heads_and_blocks(session, mesh_key)
        blocks = _describe(session, mesh_key, heads)
        entry = _Entry(blocks, _decode(session, mesh_key, stored))
    stats = entry.pairs.stats
    shared_cache().put(
        key, entry, sum(array.nbytes for array in (blocks, stats.columns, stats.quantiles)) + 40 * stats.targets
    )
    return entry.pairs


def _update(session: Session, mesh_key: int, known: _Entry, blocks: Ints) -> _Entry | None:
    """Read the changed blocks again. Return None when the pairs are others, or most blocks changed."""
    if not np.array_equal(known.blocks[:, :_LAYOUT], blocks[:, :_LAYOUT]) or known.pairs.stats.by_flow.size:
        return None
    changed = (known.blocks != blocks).any(axis=1)
    of_vms = np.isin(blocks[:, 0], blocks[changed, 0])
    if 2 * np.count_nonzero(of_vms) > of_vms.size:
        return None
    heads, stored = latest.heads_and_blocks(session, mesh_key, blocks[changed, 0].tolist())
    read = _describe(session, mesh_key, heads)
    if not np.array_equal(read[:, :_LAYOUT], blocks[of_vms, :_LAYOUT]):
        return None
    part, cached = _decode(session, mesh_key, stored), known.pairs
    if part.stats.by_flow.size:
        return None
    at = np.flatnonzero(np.repeat(of_vms, blocks[:, 3]))
    columns, quantiles = cached.stats.columns.copy(), cached.stats.quantiles.copy()
    columns[:, :, at], quantiles[:, :, at] = part.stats.columns, part.stats.quantiles
    stats = Stats(
        columns,
        quantiles,
        _put(cached.stats.flows, at, part.stats.flows),
        _put(cached.stats.asymmetry_source, at, part.stats.asymmetry_source),
        cached.stats.by_flow,
    )
    ended, window = _put(cached.ended_at_s, at, part.ended_at_s), _put(cached.window_s, at, part.window_s)
    blocks = blocks.copy()
    blocks[of_vms] = read
    return _Entry(blocks, Pairs(cached.clients, cached.targets, ended, window, stats))


def _put(column: npt.NDArray[Number], at: Ints, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    copy = column.copy()
    copy[at] = values
    return copy


def _describe(session: Session, mesh_key: int, heads: list[BlockHead]) -> Ints:
    starts = sorted({head.started_at_s for head in heads})
    holding = dict(zip(starts, corrections.spans_at(session, mesh_key, [[start] for start in starts]), strict=True))
    rows = [
        (head.vm_key, head.block, head.roster_key, head.n, head.row, head.started_at_s)
        + (holding[head.started_at_s] or (_NO_CORRECTION,))[0]
        for head in heads
    ]
    return np.array(rows, np.int64).reshape(-1, 8)


def _decode(session: Session, mesh_key: int, stored: list[StoredFrame]) -> Pairs:
    known = corrections.at_starts(session, mesh_key, {frame.started_at_s for frame in stored})
    return merge.newest(stored, corrections=known)[0]
