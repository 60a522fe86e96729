"""The model of variance against measured synchronous rounds, which no constant was chosen for.

`measured/synchronous.json` says how it was made: nine conditions with variance, of three shapes.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sinemora.labs.profiler.profile import Profile, finished
from sinemora.labs.profiler.recipes import RECIPES
from sinemora.labs.profiler.sweep import Run, SweepPlan
from sinemora.labs.profiler.variance import factors, waits
from sinemora.labs.profiler.variation import Variation

MEASURED = json.loads((Path(__file__).parent / "measured" / "synchronous.json").read_text("utf-8"))
SHAPES = tuple(MEASURED["shapes"])


@cache
def profile(shape: str) -> Profile:
    rows = MEASURED["shapes"][shape]
    runs = [Run("sweep", 6, added, 0, rate, magnitude_us=magnitude) for added, magnitude, rate, _ in rows]
    plan = SweepPlan(tuple(sorted({run.added_us for run in runs})), (6,))
    return finished(RECIPES["training"], plan, runs, Variation(shape))


def test_eight_waits_predict_the_loss_of_nine_conditions():
    measured = [one for shape in SHAPES for one in factors(profile(shape))]
    assert len(measured) == 9
    errors = np.array([one.rounds - one.value for one in measured])
    assert np.abs(errors).max() < 0.05
    assert np.abs(errors).mean() < 0.025
    assert all(one.low < one.rounds < one.high for one in measured)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_nearest_waits_are_those_of_six_workers(shape):
    """Six independent replies are 6 waits; six whose packets all leave at once and keep their order are 12."""
    chance = np.random.default_rng(4)

    def slowest(replies: int, ordered: bool) -> float:
        there, back = chance.normal(size=(2, 100_000, replies))
        there = np.maximum.accumulate(there, axis=1) if ordered else there
        return float((there + back).max(axis=1).mean())

    assert slowest(6, ordered=True) == pytest.approx(slowest(12, ordered=False), rel=0.02)
    assert 6 < waits(profile(shape)) < 12
