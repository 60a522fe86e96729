"""Emulator of a token bucket with a queue, packet by packet."""

import numpy as np

from sinemora.advisors.shaping.core.bucket import Train
from sinemora.advisors.shaping.core.envelope import Floats

PACKET = 1442.0


def through_bucket(
    rate: float,
    depth: float,
    peak: float,
    seconds: float,
    queue: float,
    sent: Floats | None = None,
    packet: float = PACKET,
) -> Train:
    """Send a train through a bucket with a queue (bytes): evenly at `peak` bytes/s, or at the times `sent` (s)."""
    if sent is None:
        sent = np.arange(int(seconds * peak / packet)) * packet / peak
    received = np.full(sent.size, np.nan)
    tokens, at, free = depth, 0.0, 0.0
    for number, start in enumerate(sent):
        if free > start and (free - start) * rate > queue:
            continue
        begins = max(start, free)
        tokens = min(depth, tokens + rate * (begins - at))
        wait = max(packet - tokens, 0.0) / rate
        tokens, at = max(tokens - packet, 0.0), begins + wait
        received[number] = free = at
    return Train(sent, received, np.full(sent.size, packet))
