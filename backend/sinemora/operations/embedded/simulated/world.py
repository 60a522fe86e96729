"""Simulated network: regions, zones, VMs, and the base delay of each path. Pure."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec.llq16 import Ints

Floats = npt.NDArray[np.float64]

REGIONS = ("ap-south-1", "eu-west-1", "sa-east-1", "us-east-1")
ZONES = "abc"
"""Zones of a region."""
_ASYMMETRY = 1.6


@dataclass(frozen=True, slots=True)
class World:
    """VMs in zones of regions, in the order of their names, and the base delay of each path, ns [source][target].

    `zone_of`: zone of each VM; `region_of`: region of each zone; `asymmetric`: zones whose way there is longer.
    """

    seed: int
    names: tuple[str, ...]
    zones: tuple[str, ...]
    regions: tuple[str, ...]
    zone_of: Ints
    region_of: Ints
    base_ns: Floats
    asymmetric: tuple[int, int]

    @property
    def size(self) -> int:
        return len(self.names)

    def distance(self) -> Ints:
        """Return 0 for paths in a zone, 1 between zones of a region, 2 between regions [source][target]."""
        region = self.region_of[self.zone_of]
        distance: Ints = (self.zone_of[:, None] != self.zone_of) + (region[:, None] != region).astype(np.int64)
        return distance

    def region_name(self, zone: int) -> str:
        return self.regions[int(self.region_of[zone])]


def make_world(seed: int, vms: int = 100, regions: int = len(REGIONS)) -> World:
    """Return the network of a seed with `vms` VMs (at least one a zone) in the first `regions` regions."""
    rng = np.random.default_rng([seed, 1])
    zones = [f"{region}{letter}" for region in REGIONS[:regions] for letter in ZONES]
    region_of = np.repeat(np.arange(regions), len(ZONES))
    zone_of = np.arange(vms) * len(zones) // vms
    numbers = np.arange(vms) - np.searchsorted(zone_of, zone_of) + 1
    names = tuple(f"{zones[zone]}-{number:02}" for zone, number in zip(zone_of, numbers, strict=True))
    pairs, asymmetric = _base_of_zones(rng, region_of)
    base = pairs[np.ix_(zone_of, zone_of)] * rng.uniform(0.97, 1.03, (vms, vms))
    return World(seed, names, tuple(zones), REGIONS[:regions], zone_of, region_of, base, asymmetric)


def _base_of_zones(rng: np.random.Generator, region_of: Ints) -> tuple[Floats, tuple[int, int]]:
    """Return the base delay between zones, ns, and the two zones of a region with a longer way there than back."""
    zones, regions = region_of.size, int(region_of.max()) + 1
    far = rng.uniform(20e6, 180e6, (regions, regions))[np.ix_(region_of, region_of)]
    far *= rng.uniform(0.995, 1.005, (zones, zones))
    near = rng.uniform(100e3, 900e3, (zones, zones))
    base = np.triu(np.where(region_of[:, None] == region_of, near, far), 1)
    base += base.T
    np.fill_diagonal(base, rng.uniform(25e3, 60e3, zones))
    first = int(rng.integers(regions)) * len(ZONES)
    there, back = (int(zone) + first for zone in rng.choice(len(ZONES), 2, replace=False))
    base[there, back] *= _ASYMMETRY
    return base, (there, back)
