"""Pairs that a mesh with the `event` strategy measures in every window: those that show the culprits of its incidents.

They depend on the culprits alone, not on the paths that fire at a moment: plans of agents change only when an incident
opens, ends or changes its culprit.
"""

from collections.abc import Iterable

import numpy as np

from sinemora.alerts.evaluation.baseline import Ints
from sinemora.alerts.evaluation.root_cause import OF_VM, Culprit, Suspect

ZONE_VMS = 8
"""VMs of each zone that represent it around an incident of zones."""
PAIRS_MAX = 4_000
"""Most pairs of a mesh, of all incidents together. Those that come later add none beyond it."""


def pairs_of(culprits: Iterable[Culprit], zone_of: Ints) -> list[tuple[int, int]]:
    """Return the pairs (positions of VMs, the smaller one first) that show these culprits, ascending.

    Of a VM: its pairs with all others. Of a path or pair: that pair. Of zones: pairs between `ZONE_VMS` of each.
    """
    pairs: set[tuple[int, int]] = set()
    for culprit in culprits:
        added = {(min(pair), max(pair)) for pair in _of(culprit, zone_of) if pair[0] != pair[1]} - pairs
        if len(pairs) + len(added) > PAIRS_MAX:
            break
        pairs |= added
    return sorted(pairs)


def _of(culprit: Culprit, zone_of: Ints) -> list[tuple[int, int]]:
    every = range(zone_of.size)
    if culprit.suspect in OF_VM:
        return [(culprit.at, other) for other in every]
    if culprit.suspect in (Suspect.PATH, Suspect.PAIR):
        return [(culprit.at, culprit.other)]
    zones = range(int(zone_of.max()) + 1)
    if culprit.suspect is Suspect.ZONE_PAIR:
        sides = [(culprit.at, culprit.other)]
    elif culprit.suspect is Suspect.ZONE:
        sides = [(culprit.at, zone) for zone in zones]
    else:  # of the whole mesh, an application, a bucket or shares: no part of the mesh shows it better than the rest
        return []
    members = {zone: np.flatnonzero(zone_of == zone)[:ZONE_VMS].tolist() for zone in zones}
    return [(one, other) for side in sides for one in members[side[0]] for other in members[side[1]]]
