"""The command of the egress guard for an order of the lab."""

import math

import pytest

from sinemora.labs.tail_lab.core.policies import ALPHA_MAX, PacketPolicy, command_of

BLIND = PacketPolicy.D_TAIL_BLIND
ON = "sudo sinemora-guard on --interface eth0 "


@pytest.mark.parametrize(
    ("alpha", "boundaries", "mbit", "options"),
    [
        (1.5, [-2.2517, 0.0, 3.0], 40, "--rate 40mbit --mode log-priority --alpha 1.5 --boundaries=-2.252,0,3"),
        (0.0, [20.5], 2_500, "--rate 2.5gbit --mode log-priority --alpha 0 --boundaries=20.5"),
        # Equal boundaries are one class fewer.
        (2.0, [-1.0, -1.0, 4.0], 1_000, "--rate 1gbit --mode log-priority --alpha 2 --boundaries=-1,4"),
    ],
)
def test_boundaries_of_priorities(alpha: float, boundaries: list[float], mbit: float, options: str) -> None:
    assert command_of(BLIND, alpha, boundaries, mbit) == ON + options


def test_without_age_the_boundaries_are_bytes_from_small_to_large() -> None:
    """As the lab computes them, age of a millisecond included: it is lost against 10^15."""
    sizes = [3_000_000, 100_000, 2_920]
    boundaries = [math.log2(1e6) - ALPHA_MAX * math.log2(size) for size in sizes]
    assert boundaries == sorted(boundaries)
    assert command_of(BLIND, ALPHA_MAX, boundaries, 1_000) == (
        ON + "--rate 1gbit --mode strict-priority --boundaries=2920,100000,3000000"
    )


@pytest.mark.parametrize(
    ("policy", "alpha", "boundaries"),
    [
        (BLIND, 1.5, []),
        (PacketPolicy.D_TAIL_AWARE, 1.5, [1.0]),
        (PacketPolicy.LAS, None, []),
    ],
)
def test_exact_priorities_and_known_sizes_have_none(
    policy: PacketPolicy, alpha: float | None, boundaries: list[float]
) -> None:
    assert command_of(policy, alpha, boundaries, 1_000) is None
