"""Performance that a published curve predicts at a round trip: latency counts beyond that of its test bed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sinemora.applications.curves.core.library import published


def predicted(key: str = "memcached-server") -> Callable[[Any], Any]:
    """Return performance by round trip, µs."""
    entry = published(key)
    return lambda round_trip_us: entry.curve(np.maximum(round_trip_us - entry.reference_us, 0.0))
