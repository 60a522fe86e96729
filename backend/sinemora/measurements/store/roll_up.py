"""Roll-up: merges the frames of a tier into steps of the next coarser tier."""

from collections import Counter
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy.orm import Session

from sinemora.kit.db import system_session
from sinemora.measurements import metrics
from sinemora.measurements.aggregate import merge, zones
from sinemora.measurements.aggregate.merge import Piece
from sinemora.measurements.codec.unpacking import DIRECTIONS
from sinemora.measurements.store import corrections, inserts, invalidation, step_frames, zone_minutes
from sinemora.measurements.store import frames as frame_queries
from sinemora.measurements.store.inserts import RosterKeys
from sinemora.measurements.store.tiers import Tier, TierRange, floor

_STEPS_AT_ONCE = 5
_VMS_AT_ONCE = 20

_rosters = RosterKeys()


def roll_up_mesh(tenant_key: int, mesh_key: int, tier: Tier, due: datetime) -> int:
    """Merge some marked steps of a mesh in one transaction and mark the steps of the next tier. Return how many."""
    learnt: dict[tuple[int, bytes], int] = {}
    with system_session() as session:
        steps = invalidation.take(session, tenant_key, mesh_key, tier, due, _STEPS_AT_ONCE)
        for start in steps:
            stretch = TierRange(tier.finer, start, start + timedelta(seconds=tier.step_s))
            learnt |= _roll_up_step(session, tenant_key, mesh_key, tier, stretch)
        if tier.coarser:
            following = {floor(start, tier.coarser.step_s) for start in steps}
            invalidation.add(session, tenant_key, mesh_key, tier.coarser, following)
    _rosters.learn(learnt)
    metrics.ROLLED_MINUTES.inc(len(steps) if tier is Tier.MINUTE else 0)
    return len(steps)


def _roll_up_step(
    session: Session, tenant_key: int, mesh_key: int, tier: Tier, stretch: TierRange
) -> dict[tuple[int, bytes], int]:
    """Merge and store one step of a tier: VMs and zones; minutes of zones and chosen paths also as plain columns.

    Return the rosters stored.
    """
    learnt: dict[tuple[int, bytes], int] = {}
    started_at_s = int(stretch.start.timestamp())
    zone_of_vms = frame_queries.zones_of_vms(session, tenant_key) if tier is Tier.MINUTE else None
    # Delays of VMs are corrected when they are read. Frames of zones have no pairs, so their delays are corrected here.
    known = corrections.of_mesh(session, tenant_key, mesh_key, stretch.start, stretch.end) if zone_of_vms else []
    chosen = zone_minutes.chosen_paths(session, tenant_key) if zone_of_vms else None
    between: list[Piece] = []
    paths: list[Piece] = []
    vms = step_frames.vms_within(session, tenant_key, mesh_key, stretch)
    for first in range(0, len(vms), _VMS_AT_ONCE):
        some = vms[first : first + _VMS_AT_ONCE]
        stored = step_frames.frames_within(session, tenant_key, mesh_key, stretch, some)
        merged = merge.merge_blocks(stored, (), DIRECTIONS, words_too=True)
        rows = inserts.rows_of_pairs(merged, tenant_key, mesh_key, started_at_s, tier.step_s)
        counts = Counter(frame.vm_key for frame in stored)
        learnt |= inserts.store_merged(session, tier, rows, counts, _rosters)
        if zone_of_vms is not None and chosen is not None:
            minute = merge.corrected(merged, started_at_s, known)
            between.append(zones.merge_zones(minute, *zone_of_vms))
            if (of_chosen := zone_minutes.paths_of(minute, chosen)) is not None:
                paths.append(of_chosen)
    if zone_of_vms is None:
        of_zones = step_frames.zone_frames_within(session, tenant_key, mesh_key, stretch)
        merged = merge.merge_blocks(of_zones, (), DIRECTIONS, words_too=True)
        counts = Counter(frame.vm_key for frame in of_zones)
    elif between:
        merged = merge.merge_pieces(between, words_too=True)
        zone_minutes.store(session, tenant_key, mesh_key, started_at_s, merged)
        if paths:
            zone_minutes.store_paths(
                session, tenant_key, mesh_key, started_at_s, merge.merge_pieces(paths, words_too=False)
            )
        counts = Counter(zone for piece in between for zone in np.unique(piece.clients).tolist())
    else:
        return learnt
    rows = inserts.rows_of_pairs(merged, tenant_key, mesh_key, started_at_s, tier.step_s)
    return learnt | inserts.store_merged_zones(session, tier, rows, counts, _rosters)
