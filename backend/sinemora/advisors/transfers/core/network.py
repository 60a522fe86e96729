"""Networks as links with capacities: every transfer uses the link out of its source, that into its target, and the
uplink and downlink of racks between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """End hosts in racks. Capacities in bytes/s, shapes (hosts,) and (racks,); one rack is a star.

    `rack_names`: empty for numbered racks.
    """

    names: tuple[str, ...]
    out: Floats
    into: Floats
    rack: Indices
    up: Floats
    down: Floats
    rack_names: tuple[str, ...] = ()

    @property
    def capacities(self) -> Floats:
        """Capacities of all links: out of hosts, into hosts, up from racks, down to racks."""
        return np.concatenate([self.out, self.into, self.up, self.down])

    def links(self, sources: Indices, targets: Indices) -> Indices:
        """Return the links of transfers, shape (transfers, 4); -1 fills the places of transfers inside a rack."""
        hosts, racks = len(self.names), self.up.size
        crosses = self.rack[sources] != self.rack[targets]
        up = np.where(crosses, 2 * hosts + self.rack[sources], -1)
        down = np.where(crosses, 2 * hosts + racks + self.rack[targets], -1)
        return np.stack([sources, hosts + targets, up, down], axis=1)

    def link_name(self, link: int) -> str:
        hosts, racks = len(self.names), self.up.size
        if link < hosts:
            return f"out of {self.names[link]}"
        if link < 2 * hosts:
            return f"into {self.names[link - hosts]}"
        at = link - 2 * hosts
        name = self.rack_names[at % racks] if self.rack_names else f"rack {at % racks + 1}"
        return f"up from {name}" if at < racks else f"down to {name}"


def tree(names: Sequence[str], racks: int, capacity: float | Sequence[float], oversubscription: float = 1.0) -> Network:
    """Return hosts in racks of equal size, in order. One rack is a star, without uplinks that limit anything.

    `capacity` of each host, bytes/s both ways; the uplink of a rack has the sum of its hosts over `oversubscription`.
    """
    hosts = len(names)
    return grouped(names, np.arange(hosts) * racks // hosts, capacity, oversubscription)


def grouped(
    names: Sequence[str],
    rack: Indices,
    capacity: float | Sequence[float],
    oversubscription: float = 1.0,
    rack_names: tuple[str, ...] = (),
) -> Network:
    """Return hosts in the racks (or zones) `rack`; other arguments as of `tree`."""
    rate = np.broadcast_to(np.asarray(capacity, np.float64), (len(names),)).copy()
    uplink = np.bincount(rack, rate) / oversubscription
    return Network(tuple(names), rate, rate.copy(), rack, uplink, uplink.copy(), rack_names)
