"""Choice of peers: the nearest by measured round trip and loss."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

PEERS_MAX = 16
UNMEASURED_S = 0.25
"""Round trip that a path without one counts as, s: beyond that of any two clouds."""


@dataclass(frozen=True, slots=True)
class NearbyPeer:
    """Peer with its round trip, s, and its loss, 0 … 1; None where nothing is measured.

    `holds`: it holds blocks already.
    """

    vm_key: int
    round_trip_s: float | None
    loss: float | None
    holds: bool = True

    @property
    def distance(self) -> float:
        """Expected time of a block: loss makes a round trip longer as it makes TCP slower (Mathis: 1 / √p)."""
        round_trip_s = UNMEASURED_S if self.round_trip_s is None else self.round_trip_s
        return round_trip_s * (1 + 100 * math.sqrt(self.loss or 0.0))


def nearest(candidates: Iterable[NearbyPeer], most: int = PEERS_MAX) -> list[NearbyPeer]:
    """Return the nearest candidates, at most `most`, nearest first; equals by VM key."""
    return sorted(candidates, key=lambda peer: (peer.distance, peer.vm_key))[:most]


def peers(candidates: Iterable[NearbyPeer], most: int = PEERS_MAX) -> list[NearbyPeer]:
    """Return at most `most` peers to fetch from, nearest first: holders of blocks before those that will hold some.

    Otherwise a file that one distant VM holds would not be found behind nearer VMs that wait for it themselves.
    """
    known = list(candidates)
    holders = nearest((peer for peer in known if peer.holds), most)
    others = nearest((peer for peer in known if not peer.holds), most - len(holders))
    return nearest([*holders, *others])
