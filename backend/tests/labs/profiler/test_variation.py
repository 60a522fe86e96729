"""Variable latency: delaybox's words, tables of measured delays, and measured synchronous rounds.

`measured/synchronous.json` says how it was made: nine conditions with variance, of three shapes.
"""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sinemora.applications.curves.core.variable import deviations
from sinemora.labs.profiler.profile import Profile, finished
from sinemora.labs.profiler.recipes import RECIPES, ProfileError
from sinemora.labs.profiler.sweep import Run, SweepPlan
from sinemora.labs.profiler.variance import factors, waits
from sinemora.labs.profiler.variation import SHAPES, DelayTable, Variation, read_table, words_of


def draws_us(words: str, count: int = 400_000) -> np.ndarray:
    """Draw as docs/delaybox.md defines the words."""
    chance = np.random.default_rng(5)
    kind, numbers = re.fullmatch(r"delay=([a-z-]+):(.*)", words).groups()
    us = [float(number.removesuffix("ns")) / (1e3 if number.endswith("ns") else 1) for number in numbers.split(",")]
    if kind == "uniform":
        return chance.uniform(us[0], us[1], count)
    normal = chance.normal(size=count)
    pareto = (chance.random(count) ** (-1 / 3) - 1.5) / 0.75**0.5
    if kind == "normal":
        return us[0] + us[1] * normal
    if kind == "pareto":
        return us[0] + us[1] * pareto
    return us[0] + us[1] * (0.25 * normal + 0.75 * pareto) / np.hypot(0.25, 0.75)


@pytest.mark.parametrize("shape", SHAPES)
def test_words_of_delaybox_draw_what_the_model_assumes(shape):
    one_way = draws_us(words_of(shape, 1000, 300))
    both = one_way + np.random.default_rng(6).permutation(one_way)
    assert np.median(one_way) == pytest.approx(500, abs=9)
    shares = (0.05, 0.25, 0.75, 0.95, 0.99)
    # The model adds the parts of Pareto-normal by quantile, delaybox draws them independently: up to 12 % apart.
    expected = np.quantile(deviations(shape, 300), shares)
    assert np.quantile(both - np.median(both), shares) == pytest.approx(expected, rel=0.12, abs=18)


@pytest.mark.parametrize(("shape", "magnitude_us"), [("uniform", 101), ("normal", 101), ("pareto", 900)])
def test_a_distribution_below_zero_is_refused(shape, magnitude_us):
    with pytest.raises(ProfileError, match="Negative latency"):
        words_of(shape, 200, magnitude_us)


def table(tmp_path: Path, text: str) -> DelayTable:
    path = tmp_path / "table.csv"
    path.write_text(text)
    return read_table(path)


def test_samples_and_cumulative_shares_are_read(tmp_path: Path):
    samples = table(tmp_path, "# a comment\ndelay_ms\n" + "".join(f"{us / 1e3}\n" for us in range(100, 301)))
    assert samples.at(0.5) == pytest.approx(200)
    assert samples.magnitude_us == pytest.approx(95)
    shares = table(tmp_path, "cumulative, delay_us\n0,100\n0.5,200\n1,400\n")
    assert (shares.at(0.5), shares.at(0.75)) == (200, 300)


def test_a_scaled_table_keeps_its_shape_and_is_read_again(tmp_path: Path):
    measured = table(tmp_path, "cumulative,delay_us\n0,100\n0.5,200\n0.975,300\n1,900\n")
    scaled = table(tmp_path, measured.scaled(500, 2).text())
    assert scaled.delays_us.tolist() == [300, 500, 700, 1900]
    assert measured.scaled(50, 1).delays_us.tolist() == [0, 50, 150, 750]


def test_replayed_tables_are_exact_at_their_own_median_and_magnitude(tmp_path: Path):
    out = DelayTable(np.array([0, 0.5, 0.975, 1]), np.array([10.0, 20, 60, 80]))
    back = DelayTable(np.array([0, 0.5, 0.975, 1]), np.array([40.0, 60, 120, 400]))
    replay = Variation(tables=(out, back))
    assert (replay.median_us, replay.magnitude_us) == (80, 50)
    words = replay.words(80, 50, tmp_path)
    for one, word in zip((out, back), words, strict=True):
        again = read_table(Path(word.removeprefix("delay=table:")))
        assert again.delays_us.tolist() == one.delays_us.tolist()
    trips = replay.round_trips_us(80, 50)
    assert trips.mean() == pytest.approx(
        sum(np.interp(np.linspace(0, 1, 9999), t.shares, t.delays_us).mean() for t in (out, back)), rel=0.01
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column"),
        ("latency\n1\n2\n", "no column"),
        ("delay_us\n1\n", "at least two"),
        ("delay_us\n1\n-2\n", "0 or more"),
        ("delay_us\n1\nfast\n", "could not convert"),
        ("cumulative,delay_us\n0,1\n0.5,2\n", "ascend from 0 to 1"),
        ("cumulative,delay_us\n0,3\n1,2\n", "ascend from 0 to 1"),
    ],
)
def test_invalid_tables_are_refused(tmp_path: Path, text: str, message: str):
    with pytest.raises(ProfileError, match=message):
        table(tmp_path, text)


MEASURED = json.loads((Path(__file__).parent / "measured" / "synchronous.json").read_text("utf-8"))
OF_SHAPES = tuple(MEASURED["shapes"])


@cache
def profile(shape: str) -> Profile:
    rows = MEASURED["shapes"][shape]
    runs = [Run("sweep", 6, added, 0, rate, magnitude_us=magnitude) for added, magnitude, rate, _ in rows]
    plan = SweepPlan(tuple(sorted({run.added_us for run in runs})), (6,))
    return finished(RECIPES["training"], plan, runs, Variation(shape))


def test_eight_waits_predict_the_loss_of_nine_conditions():
    measured = [one for shape in OF_SHAPES for one in factors(profile(shape))]
    assert len(measured) == 9
    errors = np.array([one.rounds - one.value for one in measured])
    assert np.abs(errors).max() < 0.05
    assert np.abs(errors).mean() < 0.025
    assert all(one.low < one.rounds < one.high for one in measured)


@pytest.mark.parametrize("shape", OF_SHAPES)
def test_the_nearest_waits_are_those_of_six_workers(shape):
    """Six independent replies are 6 waits; six whose packets all leave at once and keep their order are 12."""
    chance = np.random.default_rng(4)

    def slowest(replies: int, ordered: bool) -> float:
        there, back = chance.normal(size=(2, 100_000, replies))
        there = np.maximum.accumulate(there, axis=1) if ordered else there
        return float((there + back).max(axis=1).mean())

    assert slowest(6, ordered=True) == pytest.approx(slowest(12, ordered=False), rel=0.02)
    assert 6 < waits(profile(shape)) < 12
