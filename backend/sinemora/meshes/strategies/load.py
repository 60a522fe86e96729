"""The number of paths that a strategy measures in a window, from the sizes of the zones alone."""

from collections.abc import Sequence

from sinemora.meshes.strategies.strategy import Strategy, StrategyKind


def paths_per_window(strategy: Strategy, zone_sizes: Sequence[int]) -> float:
    """Return the number of paths (both directions of a pair) measured in a window, in the mean of a period.

    Focus of an `event` strategy is not included, nor are the pairs that keep small zones in contact.
    """
    vms = sum(zone_sizes)
    paths = float(vms * (vms - 1))
    match strategy.kind:
        case StrategyKind.FULL:
            return paths
        case StrategyKind.SPARSE | StrategyKind.EVENT:
            return paths / strategy.period
        case StrategyKind.ZONES:
            within = sum(size * (size - 1) for size in zone_sizes)
            chosen = [min(size, strategy.representatives) for size in zone_sizes]
            return float(within + sum(chosen) ** 2 - sum(size**2 for size in chosen))
