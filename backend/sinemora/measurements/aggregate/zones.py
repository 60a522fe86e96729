"""Merging of the pairs of VMs into pairs of their zones."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sinemora.measurements.aggregate.merge import Piece, merge_pieces
from sinemora.measurements.codec.frame import LOST, ROUND_TRIP, SENT, Sketches, Stats
from sinemora.measurements.codec.llq16 import Ints


def merge_zones(piece: Piece, vm_keys: Ints, zone_keys: Ints) -> Piece:
    """Return each pair of zones once, of all paths between their VMs; the client is the zone of the smaller key.

    `zone_keys` are the zones of `vm_keys` (ascending); VMs that are not among them are left out. Outbound leads from
    the client to the target; within one zone both directions hold all its paths.
    """
    assert piece.sketches is not None
    sources, clients_known = _zones_of(piece.clients, vm_keys, zone_keys)
    targets, targets_known = _zones_of(piece.targets, vm_keys, zone_keys)
    known = clients_known & targets_known
    parts = []
    for chosen, turned in ((known & (targets >= sources), False), (known & (targets <= sources), True)):
        positions = np.flatnonzero(chosen)
        source, target = sources[positions], targets[positions]
        stats, sketches = piece.stats.take(positions), piece.sketches.take(positions)
        if turned:
            stats, sketches = _without_round_trips(stats.reversed(), sketches.reversed(), source == target)
        # Source ports of different pairs are no flows of one path.
        stats = replace(stats, by_flow=np.empty((3, 2, 0), np.int32))
        parts.append(Piece(np.minimum(source, target), np.maximum(source, target), stats, sketches))
    return merge_pieces(parts, words_too=True)


def _zones_of(keys: Ints, vm_keys: Ints, zone_keys: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the zone of each VM, and whether it has one."""
    if not vm_keys.size:
        return np.zeros(keys.size, np.int64), np.zeros(keys.size, bool)
    at = np.minimum(np.searchsorted(vm_keys, keys), vm_keys.size - 1)
    return zone_keys[at], vm_keys[at] == keys


def _without_round_trips(stats: Stats, sketches: Sketches, those: npt.NDArray[np.bool_]) -> tuple[Stats, Sketches]:
    """Return stats and sketches without the round trips of `those`, which were counted before."""
    stats.columns[:, ROUND_TRIP, those] = 0
    stats.columns[SENT : LOST + 1, ROUND_TRIP, those] = -1
    kept = np.ones(sketches.lengths.shape, bool)
    kept[ROUND_TRIP, those] = False
    words = sketches.words[np.repeat(kept.reshape(-1), sketches.lengths.reshape(-1))]
    return stats, Sketches(np.where(kept, sketches.lengths, 0), words)
