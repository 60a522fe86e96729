"""The pairs that a strategy measures in a window and in any longer time, from the sizes of the zones alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind

Zones = Sequence[Sequence[int]]
"""Numbers of VMs of the zones of each region."""


@dataclass(frozen=True, slots=True)
class PairLoad:
    """Pairs of a group: those of every window, the pool of those that take turns, and how many of it a window has.

    A pair is measured in both directions. Numbers are means of a period.
    """

    steady: float = 0.0
    pool: float = 0.0
    per_turn: float = 0.0

    @property
    def per_window(self) -> float:
        """Return the pairs measured in a window."""
        return self.steady + self.per_turn

    def different_in(self, windows: float) -> float:
        """Return how many different pairs are measured in a number of windows in a row."""
        return self.steady + min(self.pool, self.per_turn * windows)


@dataclass(frozen=True, slots=True)
class MeshLoad:
    """Pairs within zones, between zones of a region, and between regions."""

    within_zones: PairLoad
    between_zones: PairLoad
    between_regions: PairLoad

    @property
    def groups(self) -> tuple[PairLoad, PairLoad, PairLoad]:
        """Return the three groups."""
        return self.within_zones, self.between_zones, self.between_regions

    @property
    def per_window(self) -> float:
        """Return the pairs measured in a window."""
        return sum(group.per_window for group in self.groups)

    def different_in(self, windows: float) -> float:
        """Return how many different pairs are measured in a number of windows in a row."""
        return sum(group.different_in(windows) for group in self.groups)


def mesh_load(strategy: Strategy, regions: Zones) -> MeshLoad:
    """Return the load of a mesh.

    Focus of an `event` strategy is not included, nor are the pairs that keep small zones in contact.
    """
    pairs = _pairs(regions)
    match strategy.kind:
        case StrategyKind.FULL:
            return MeshLoad(*(PairLoad(steady=count) for count in pairs))
        case StrategyKind.SPARSE | StrategyKind.EVENT:
            return MeshLoad(*(PairLoad(pool=count, per_turn=count / strategy.period) for count in pairs))
        case StrategyKind.ZONES:
            of_turn = _pairs([[min(size, strategy.representatives) for size in region] for region in regions])
            return MeshLoad(PairLoad(steady=pairs[0]), *(PairLoad(0.0, pairs[at], of_turn[at]) for at in (1, 2)))


def paths_per_window(strategy: Strategy, zone_sizes: Sequence[int]) -> float:
    """Return the number of paths (both directions of a pair) measured in a window, in the mean of a period."""
    return 2 * mesh_load(strategy, [zone_sizes]).per_window


def _pairs(regions: Zones) -> tuple[float, float, float]:
    """Return the pairs of VMs within zones, between zones of a region, and between regions."""
    of_regions = [sum(region) for region in regions]
    squares = sum(size * size for region in regions for size in region)
    vms = sum(of_regions)
    in_regions = sum(count * count for count in of_regions)
    return (squares - vms) / 2, (in_regions - squares) / 2, (vms * vms - in_regions) / 2
