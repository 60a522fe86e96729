"""Bytes and time to bring a file to a VM that holds similar ones.

Source: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University, 2021,
chapter 3: only the blocks that the target does not hold are moved. Time = size · (1 - similarity) / rate.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sinemora.artifacts.core.manifest import Block

SEGMENT_BYTES = 1448
"""Data of a TCP segment in a frame of 1,500 bytes."""
_MATHIS = math.sqrt(3 / 2)


@dataclass(frozen=True, slots=True)
class MoveCost:
    """Cost of bringing a file: its size, the bytes that are moved, the rate in bytes/s and the time, s."""

    size_bytes: int
    moved_bytes: int
    rate: float
    seconds: float

    @property
    def share(self) -> float:
        """Share of the file that is moved, 0 … 1."""
        return self.moved_bytes / self.size_bytes if self.size_bytes else 0.0


def achievable_rate(round_trip_s: float | None, loss: float | None, cap: float, window_bytes: float = 4 << 20) -> float:
    """Return the rate of one connection, bytes/s: at most `cap`, one window per round trip, and what loss permits.

    The limit by loss is MSS / RTT · √(3/2) / √p (M. Mathis et al., 1997). Unmeasured paths are limited by `cap` alone.
    """
    limits = [cap]
    if round_trip_s is not None and round_trip_s > 0:
        limits.append(window_bytes / round_trip_s)
        if loss is not None and loss > 0:
            limits.append(SEGMENT_BYTES / round_trip_s * _MATHIS / math.sqrt(loss))
    return min(limits)


def move_cost(blocks: Sequence[Block], held: Collection[bytes], rate: float) -> MoveCost:
    """Return the cost of bringing a file to a VM that holds some blocks, at a rate in bytes/s.

    A block that occurs repeatedly is moved once.
    """
    size = sum(block.size for block in blocks)
    missing = {block.digest: block.size for block in blocks if block.digest not in held}
    moved = sum(missing.values())
    return MoveCost(size, moved, rate, moved / rate)
