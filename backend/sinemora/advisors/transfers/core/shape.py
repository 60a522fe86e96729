"""Shape of traffic from byte counters: bursts with idle time between, as of a sort, or steady, as of k-means.

Source: Z. Nabi, "Mission Control", 2012, figures 5.3 and 5.5: the network of a sort is idle outside of its shuffle;
that of k-means is active all the time. The thresholds are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

WINDOWS_MIN = 10
ACTIVE_SHARE = 0.05
"""Share of the peak (95th percentile of active windows) below which a window counts as idle."""
_BURST_IDLE, _STEADY_IDLE = 0.4, 0.15


class ShapeKind(StrEnum):
    """Shape of traffic; `unclear` lies between, or has too few windows or no bytes."""

    BURST = "burst"
    STEADY = "steady"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class TrafficShape:
    """Shape, share of idle windows, and peak over mean."""

    shape: ShapeKind
    idle_share: float | None
    peak_to_mean: float | None


def shape_of(sent_bytes: Sequence[float]) -> TrafficShape:
    """Return the shape of bytes by window."""
    values = np.asarray(sent_bytes, np.float64)
    if values.size < WINDOWS_MIN or values.max(initial=0.0) <= 0:
        return TrafficShape(ShapeKind.UNCLEAR, None, None)
    peak = float(np.percentile(values[values > 0], 95))
    idle = float((values < ACTIVE_SHARE * peak).mean())
    shape = ShapeKind.BURST if idle >= _BURST_IDLE else ShapeKind.STEADY if idle <= _STEADY_IDLE else ShapeKind.UNCLEAR
    return TrafficShape(shape, idle, peak / float(values.mean()))
