"""The order of runs and when they end, on an application that exists only as a formula."""

import random
from dataclasses import asdict, replace

import pytest

from sinemora.labs.profiler.sweep import (
    Condition,
    Run,
    SweepPlan,
    SweepStep,
    latencies,
    mean_of,
    means,
    next_step,
    saturating_load,
)

PLAN = SweepPlan(added_us=(0, 50, 100, 200), loads=(1, 2, 4, 8, 16, 32), tolerance=0.02, repeats_min=3, repeats_max=6)


def application(step: SweepStep, noise: float, chance: random.Random) -> float:
    """Saturates at four loads; then 1/(1 + x/100)."""
    return 1000 * min(step.load, 4) / (1 + step.added_us / 100) * (1 + chance.gauss(0, noise))


def profiled(plan: SweepPlan, noise: float = 0.0, runs: list[Run] | None = None, at_most: int = 1000) -> list[Run]:
    runs = list(runs or [])
    chance = random.Random(len(runs))
    while len(runs) < at_most and (step := next_step(plan, runs)) is not None:
        value = application(step, noise, chance)
        runs.append(Run(**asdict(step), value=value))
    return runs


def test_the_smallest_load_that_saturates_is_found():
    runs = profiled(PLAN)
    assert saturating_load(PLAN, runs) == 4
    # 32 is never tried: neither 8 nor 16 gained anything.
    assert {run.load for run in runs if run.phase == "load"} == {1, 2, 4, 8, 16}
    assert {run.load for run in runs if run.phase == "sweep"} == {4}


def test_a_shorter_time_is_better_too():
    plan = SweepPlan(added_us=(0, 50, 100), loads=(1, 2, 4, 8), metric="duration")
    runs = [Run("load", load, 0, at, 10 / min(load, 4)) for load in plan.loads for at in range(3)]
    assert saturating_load(plan, runs) == 4


def test_a_single_load_needs_no_search():
    runs = profiled(SweepPlan(added_us=(0, 50, 100), loads=(4,)))
    assert {run.phase for run in runs} == {"sweep"}


def test_exact_runs_end_after_the_least_repeats_and_noisy_ones_after_the_most():
    assert {mean.count for mean in means(profiled(PLAN)).values()} == {3}
    noisy = {us: mean.count for us, mean in means(profiled(PLAN, noise=0.2)).items()}
    assert noisy == dict.fromkeys(PLAN.conditions, 6)


def test_every_round_is_in_random_order_and_has_a_run_with_nothing_added():
    sweep = [run for run in profiled(PLAN, noise=0.2) if run.phase == "sweep"]
    rounds = [[run.added_us for run in sweep if run.round == number] for number in range(6)]
    assert all(sorted(one) == [0, 50, 100, 200] for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


def test_conditions_with_variance_are_measured_in_the_same_rounds():
    plan = replace(PLAN, varied=(Condition(100, 20), Condition(100, 40)))
    runs = profiled(plan)
    rounds = [[run.condition for run in runs if run.phase == "sweep" and run.round == number] for number in range(3)]
    assert all(sorted(one) == [(0, 0), (50, 0), (100, 0), (100, 20), (100, 40), (200, 0)] for one in rounds)
    assert list(means(runs)) == [(0, 0), (50, 0), (100, 0), (200, 0), (100, 20), (100, 40)]


@pytest.mark.parametrize("stopped_after", [0, 1, 7, 16, 20])
def test_a_profile_goes_on_where_it_was_stopped(stopped_after: int):
    whole = profiled(PLAN)
    assert profiled(PLAN, runs=whole[:stopped_after]) == whole


def test_latencies_are_dense_where_curves_begin_to_fall():
    assert latencies(1000, 5) == (0, 10, 32, 100, 320, 1000)


def test_the_interval_is_students():
    # scipy.stats.t.interval(0.95, 2, 10, 1/√3) is 10 ± 2.484.
    mean = mean_of([9, 10, 11])
    assert mean.half_width == pytest.approx(0.2484, abs=1e-4)
    assert mean_of([5]).half_width is None
