"""The strategy of a mesh: which pairs are measured at all, and how often."""

from dataclasses import dataclass
from enum import StrEnum

PERIOD_WINDOWS_RANGE = (2, 60)
REPRESENTATIVES_RANGE = (1, 16)


class StrategyKind(StrEnum):
    """Strategy of a mesh.

    `full`: every pair in every window. `zones`: within a zone every pair in every window, between zones only the
    representatives of that window. `sparse`: every pair once in a period, and every pair of zones in every window.
    `event`: as `sparse`, and the paths of an open incident in every window.
    """

    FULL = "full"
    ZONES = "zones"
    SPARSE = "sparse"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Strategy:
    """Strategy with its period in windows, and the number of VMs that represent a zone in a window.

    `full` ignores both numbers, `sparse` and `event` the second one.
    """

    kind: StrategyKind = StrategyKind.FULL
    period_windows: int = 10
    representatives: int = 2

    @property
    def period(self) -> int:
        """Return the number of windows after which the plan repeats."""
        return 1 if self.kind is StrategyKind.FULL else self.period_windows

    @property
    def rotates(self) -> bool:
        """Return whether some pairs are not measured in every window."""
        return self.kind is not StrategyKind.FULL


FULL = Strategy()
