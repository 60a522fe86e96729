"""Jain's fairness index: (Σx)² / (n Σx²).

It is 1 when all get the same, and k/n when k of n share everything equally (R. Jain, D. Chiu, W. Hawe, "A quantitative
measure of fairness and discrimination for resource allocation in shared computer systems", DEC-TR-301, 1984).
"""

from collections.abc import Sequence
from math import isfinite

ALERT_BELOW = 0.883
"""Default of alerts: the mean index of the less fair of two transports in table 5.1 of Z. Nabi, "Mission Control",
University of Cambridge, 2012."""


def jain_index(shares: Sequence[float]) -> float | None:
    """Return the index of some shares, from 1/n to 1; None without a share above 0. Raises ValueError below 0."""
    if not all(isfinite(share) and share >= 0 for share in shares):
        raise ValueError("shares must be finite and at least 0")
    largest = max(shares, default=0.0)
    if largest == 0:
        return None
    # Relative to the largest, so that squares neither overflow nor vanish.
    relative = [share / largest for share in shares]
    return min(sum(relative) ** 2 / (len(relative) * sum(share * share for share in relative)), 1.0)
