"""The newest window of every pair of a mesh: of one window, or of the last period of a mesh that rotates."""

import time
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.config import settings
from sinemora.measurements.aggregate import merge
from sinemora.measurements.aggregate.matrix import NONE, Cells, Flags, Pairs
from sinemora.measurements.codec.frame import Sketches
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.query.caches import latest_cache
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store import corrections, frames, latest
from sinemora.measurements.store.tiers import Tier, TierRange


def stale_windows(mesh: MeshState) -> int:
    """Return the age in windows from which the newest window of a pair is stale."""
    return settings().stale_windows + mesh.strategy.period - 1


def newest_pairs(
    session: Session,
    mesh: MeshState,
    *,
    vm_keys: Collection[int] | None = None,
    sketches_of: Collection[int] = (),
) -> tuple[Pairs, Sketches | None]:
    """Return the newest windows of the pairs of a mesh, or only of clients `vm_keys`. A pair may appear repeatedly."""
    if mesh.strategy.rotates:
        return _of_period(session, mesh, vm_keys, sketches_of)
    if not sketches_of and vm_keys is None:
        return latest_cache.pairs(session, mesh.key), None
    stored = latest.blocks(session, mesh.key, sketches=bool(sketches_of), vm_keys=vm_keys)
    shifts = corrections.at_starts(session, mesh.key, {one.started_at_s for one in stored})
    return merge.newest(stored, corrections=shifts, sketches_of=sketches_of)


def earlier_of(mesh: MeshState, pairs: Pairs, cells: Cells, now_s: float) -> Flags | None:
    """Return the paths whose value is from an earlier window of the period; None if the mesh does not rotate."""
    if not mesh.strategy.rotates:
        return None
    ended_at_s = np.append(pairs.ended_at_s, 0)[cells.round_at]
    old = now_s - ended_at_s > settings().stale_windows * mesh.window_s
    flags: Flags = old & (cells.round_at != NONE) & ~cells.stale
    return flags


@dataclass(frozen=True, slots=True)
class _Entry:
    """Pairs of the windows of a period, valid while the newest blocks are `blocks`."""

    blocks: Ints
    pairs: Pairs


def _of_period(
    session: Session, mesh: MeshState, vm_keys: Collection[int] | None, sketches_of: Collection[int]
) -> tuple[Pairs, Sketches | None]:
    whole = vm_keys is None and not sketches_of
    key = ("period", session.info["tenant_id"], mesh.key, mesh.revision)
    heads = latest.heads(session, mesh.key) if whole else []
    blocks = np.array([(head.vm_key, head.block, head.row, head.started_at_s) for head in heads], np.int64)
    known: _Entry | None = shared_cache().get(key) if whole else None
    if known is not None and np.array_equal(known.blocks, blocks):
        return known.pairs, None
    now_s = int(time.time())
    reach_s = (stale_windows(mesh) + 1) * mesh.window_s
    part = TierRange(Tier.RAW, utc(now_s - reach_s), utc(now_s + mesh.window_s))
    read = frames.frames(session, mesh.key, [part], sketches=bool(sketches_of), vm_keys=vm_keys)
    stored: list[StoredFrame] = [one for chunk in read for one in chunk]
    # The newest window of a VM that has stopped is older than the period. It shows as stale, not as missing.
    found = {one.vm_key for one in stored}
    stored += [
        one
        for one in latest.blocks(session, mesh.key, sketches=bool(sketches_of), vm_keys=vm_keys)
        if one.vm_key not in found
    ]
    shifts = corrections.at_starts(session, mesh.key, {one.started_at_s for one in stored})
    pairs, sketches = merge.newest(stored, corrections=shifts, sketches_of=sketches_of)
    if whole:
        stats = pairs.stats
        size = blocks.nbytes + stats.columns.nbytes + stats.quantiles.nbytes + 40 * stats.targets
        shared_cache().put(key, _Entry(blocks, pairs), size)
    return pairs, sketches
