"""When each fault of a soak is injected. Pure; times are seconds since the start."""

from collections.abc import Sequence
from typing import NamedTuple

ROUND_S = 2 * 3600.0
"""Longest round. In its first half each fault is injected once; its second half is quiet, so that growth shows."""


class Planned(NamedTuple):
    """A fault and when it is due."""

    at_s: float
    fault: str


def plan(duration_s: float, faults: Sequence[str]) -> list[Planned]:
    """Return the faults of all rounds in the order of their times. Every soak has at least one round."""
    rounds = max(1, round(duration_s / ROUND_S))
    round_s = duration_s / rounds
    apart_s = round_s / 2 / len(faults)
    return [
        Planned(number * round_s + apart_s * (place + 0.5), fault)
        for number in range(rounds)
        for place, fault in enumerate(faults)
    ]
