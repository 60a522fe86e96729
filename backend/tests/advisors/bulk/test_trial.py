"""Comparison of two transports: order of transfers, change and its interval."""

import math

import numpy as np
import pytest

from sinemora.advisors.bulk.core.trial import TrialVerdict, change, order_of


def times_of(rounds: int, factor: float, noise: float = 0.0, drift: float = 0.0, seed: int = 1) -> list[float]:
    """Return transfer times in order: B takes `factor` times as long as A; each next transfer `drift` more."""
    rng = np.random.default_rng(seed)
    return [
        (factor if variant == "b" else 1.0) * math.exp(noise * rng.standard_normal() + drift * at)
        for at, variant in enumerate(order_of(rounds))
    ]


def test_transfers_alternate():
    assert "".join(order_of(4)) == "abbaabba"


def test_a_steady_drift_favours_neither():
    assert change(times_of(6, 1.0, drift=0.05)).mean == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("factor", "verdict"), [(0.8, TrialVerdict.SHORTER), (1.25, TrialVerdict.LONGER), (1.0, TrialVerdict.UNCERTAIN)]
)
def test_the_verdict_follows_the_interval(factor: float, verdict: TrialVerdict):
    found = change(times_of(8, factor, noise=0.02))
    assert found.verdict is verdict
    assert found.low <= factor - 1 <= found.high
    assert found.pairs == 8


def test_the_interval_contains_the_truth_in_95_of_100_trials():
    found = [change(times_of(5, 0.9, noise=0.05, seed=seed)) for seed in range(1000)]
    contained = sum(one.low <= -0.1 <= one.high for one in found)
    assert 930 <= contained <= 970


def test_it_needs_two_complete_pairs():
    times = times_of(3, 0.5)
    assert change([*times[:3], None, None, None]) is None
    assert change([times[0], times[1], None, times[3], times[4], times[5]]).pairs == 2
    assert change([]) is None
