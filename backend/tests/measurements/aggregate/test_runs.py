"""Runs of unusual steps: a table that can be checked by eye."""

import pytest

from sinemora.measurements.aggregate.runs import DeadBand, StoredStep, UnusualRun, last_run, replaced

BAND = DeadBand(100, 10)
DELAYS = {".": 100, "+": 200, "-": 20, " ": None}


def steps_of(story: str, step_s: int = 60, first: int = 0) -> list[StoredStep]:
    """Return a step a character: `.` usual, `+` slower, `-` faster, a blank without a value."""
    starts = range(first, first + len(story) * step_s, step_s)
    return [StoredStep(at, at + step_s, DELAYS[kind]) for at, kind in zip(starts, story, strict=True)]


@pytest.mark.parametrize(
    ("story", "run"),
    [
        ("..++", UnusualRun(2, 1)),
        ("...+", UnusualRun(3, 2)),
        ("+.+-+", UnusualRun(2, 1)),
        (". ++", UnusualRun(2, 0)),
        (".+ +", UnusualRun(1, 0)),
        (".+  ", UnusualRun(1, 0)),
        ("++++", UnusualRun(0, None)),
        ("  ++", UnusualRun(2, None)),
        ("++..", None),
        (".+. ", None),
        ("    ", None),
        ("", None),
    ],
)
def test_the_last_run_begins_after_the_last_usual_step(story: str, run: UnusualRun | None):
    assert last_run(steps_of(story), BAND) == run


@pytest.mark.parametrize(("delay_ns", "is_usual"), [(90, True), (110, True), (89, False), (111, False)])
def test_the_dead_band_contains_its_ends(delay_ns: int, is_usual: bool):
    assert BAND.contains(delay_ns) is is_usual


def test_finer_steps_take_the_place_of_the_one_they_lie_in():
    coarse = steps_of(".+.")
    finer = steps_of("..++++", 10, first=60)
    assert replaced(coarse, finer) == [coarse[0], *finer, coarse[2]]


def test_a_step_without_known_finer_ones_stays():
    coarse = steps_of(".+")
    assert replaced(coarse, steps_of("      ", 10)) == coarse
