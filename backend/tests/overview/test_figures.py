"""Figures of the overview, against answers worked out by hand."""

import numpy as np
import pytest

from sinemora.overview.figures import WorstPair, is_older, is_worse, newest_version, worst_first, worst_of_hours


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        (["0.9.0", "0.10.0", "0.2.11"], "0.10.0"),
        (["0.1.0", "built by hand"], "0.1.0"),
        (["1.0.0rc1", "1.0.0"], "1.0.0"),
        (["built by hand"], None),
        ([], None),
    ],
)
def test_the_newest_version_is_not_the_last_in_the_alphabet(versions: list[str], newest: str | None):
    assert newest_version(versions) == newest


@pytest.mark.parametrize(
    ("version", "newest", "older"),
    [("0.9.0", "0.10.0", True), ("0.10.0", "0.10.0", False), ("by hand", "0.10.0", False), ("by hand", None, False)],
)
def test_only_a_comparable_version_is_older(version: str, newest: str | None, older: bool):
    assert is_older(version, newest) is older


def test_missed_objectives_come_first_and_unknown_performance_last():
    performances = [0.99, None, 0.40, 0.85, 0.80]
    objectives = [None, 0.9, None, 0.9, 0.7]
    assert worst_first(performances, objectives) == [3, 2, 4, 0, 1]


def test_each_hour_has_the_pair_that_changed_most_and_loss_comes_first():
    noise = np.random.default_rng(1).normal(0, 500, (200, 144)).astype(np.float32)
    p50 = np.linspace(60_000, 150_000_000, 144, dtype=np.float32) + noise
    loss = np.zeros_like(p50)
    p50[50:52, 3] += 3_000_000  # some per cent of that pair, yet beyond its variation
    p50[51, 0] += 400_000
    loss[120, 7] = 0.012
    loss[:, 9] = 0.02  # a pair that always loses as much
    p50[130:] = np.nan
    found = worst_of_hours(p50, p50 + 2_000, loss)
    assert [hour for hour, one in enumerate(found) if one is not None] == [50, 51, 120]
    first, second, lossy = found[50], found[51], found[120]
    assert first is not None
    assert second is not None
    assert lossy is not None
    assert (first.pair, second.pair) == (3, 0)
    assert second.change_ns == pytest.approx(400_000, abs=3_000)
    assert lossy == WorstPair(pytest.approx(0.012), 7, None, None, pytest.approx(0.012))
    # Of the same pairs read in two parts, the worse is the one of all.
    parts = [worst_of_hours(*(one[:, some] for one in (p50, p50 + 2_000, loss))) for some in (slice(2), slice(2, 144))]
    halves = [(parts[0][hour], parts[1][hour]) for hour in (50, 51)]
    assert [low is None or (high is not None and is_worse(high, low)) for low, high in halves] == [True, False]
    assert is_worse(lossy, second)
