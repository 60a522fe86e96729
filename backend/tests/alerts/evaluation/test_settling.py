"""Rules hold back on paths that have only just begun to be measured."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sinemora.alerts.evaluation import state_codec
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.rule import Condition, Kind, Rule, defaults
from sinemora.alerts.evaluation.settling import SETTLING_S
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.kit.config import Settings
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from tests.alerts.evaluation.windows import series, window_of

SIZE, SETTLING = 4, 6
PLANNED = ~np.eye(SIZE, dtype=bool)
SLOW = Rule("slow", "Slow", Condition(Kind.THRESHOLD, above=1e6), x=1, y=1)
LOST = Rule("lost", "All lost", Condition(Kind.THRESHOLD, Metric.LOSS, Statistic.MEAN, above=0.9), x=1, y=1)


def window(number: int, delay_ns: float = 5e6, *, lost: float = 0.0, without: int | None = None) -> EvaluationWindow:
    """Return a window in which every path has these values; of VM `without` nothing is known."""
    delays, losses = (np.where(PLANNED, one, np.nan).astype(np.float32) for one in (delay_ns, lost))
    if without is not None:
        for values in (delays, losses):
            values[without, :] = values[:, without] = np.nan
    sent = np.full((SIZE, SIZE), 80, np.float32)
    more = {"packets": lambda: (sent, sent * losses), "settling": SETTLING}
    return window_of(number, np.zeros(SIZE, np.int64), series(delays, loss=losses), **more)


@pytest.fixture
def state() -> EvaluationState:
    return EvaluationState(np.arange(SIZE))


def test_the_laboratory_judges_rules_as_the_product_does():
    assert Settings.model_fields["alert_settling_s"].default == SETTLING_S


def test_a_slow_start_is_no_incident_and_a_lasting_one_is_found_once_paths_have_settled(state: EvaluationState):
    found = [bool(step(state, [SLOW], window(number)).detections) for number in range(1, 9)]
    assert found == [False] * SETTLING + [True, True]


@pytest.mark.parametrize(("lost", "found"), [(1.0, True), (0.0, False)])
def test_a_path_that_never_worked_is_found_after_that_time(lost: float, found: bool, state: EvaluationState):
    results = [bool(step(state, [LOST], window(number, np.nan, lost=lost)).detections) for number in range(1, 9)]
    assert results == [False] * SETTLING + [found] * 2


def test_packets_lost_at_the_start_do_not_count_for_the_hour(state: EvaluationState):
    over_an_hour = next(rule for rule in defaults() if rule.id == "lasting-loss")
    for number in range(1, 7):
        step(state, [over_an_hour], window(number, lost=0.5))
    assert not any(step(state, [over_an_hour], window(number)).detections for number in range(7, 60))


def test_a_new_vm_holds_back_its_own_paths_only(state: EvaluationState):
    for number in range(1, 10):
        step(state, [SLOW], window(number, 1e5, without=3))
    (detection,) = step(state, [SLOW], window(10)).detections
    ends = {at for cell in detection.cause.cells.tolist() for at in divmod(cell, SIZE)}
    assert ends == {0, 1, 2}


@pytest.mark.parametrize(("missing", "held_back"), [(1, False), (SETTLING, False), (2 * SETTLING, True)])
def test_a_long_break_is_a_new_start_and_a_short_one_is_not(missing: int, held_back: bool):
    for by_gap in (False, True):
        state = EvaluationState(np.arange(SIZE))
        for number in range(1, 31):
            step(state, [SLOW], window(number, 1e5))
        after = 31 + missing
        if not by_gap:
            for number in range(31, after):
                step(state, [SLOW], window(number, np.nan, lost=np.nan))
        assert bool(step(state, [SLOW], window(after)).detections) is not held_back


def test_the_evaluation_says_how_much_is_learnt(state: EvaluationState):
    rules = [rule for rule in defaults() if rule.id in ("delay", "lost")]
    learnt = [step(state, rules, window(number, 1e5)).learning for number in range(1, 10)]
    assert [one.settling for one in learnt] == [12] * SETTLING + [0] * 3
    assert [one.settled_windows for one in learnt[:SETTLING]] == list(range(SETTLING))
    assert [(one.unlearnt, one.learnt_windows) for one in learnt[-2:]] == [(12, 8), (12, 9)]


def test_applications_are_not_judged_by_paths_that_settle(state: EvaluationState):
    rule = Rule("objective", "Below", Condition(Kind.PERFORMANCE), x=1, y=1)
    below = [replace(window(number, 1e5), below={"shop": 0.2}) for number in range(1, 9)]
    assert [bool(step(state, [rule], one).detections) for one in below] == [False] * SETTLING + [True, True]


def test_a_restart_keeps_ages_and_those_of_an_older_version_count_as_settled(state: EvaluationState):
    for number in range(1, 5):
        step(state, [SLOW], window(number))
    blob = state_codec.encode(state, baselines=False)
    assert state_codec.decode(blob, None).ages.tolist() == state.ages.tolist()
    state.ages = np.zeros((0, 0), np.uint16)
    assert (
        state_codec.decode(_without_ages(state_codec.encode(state, baselines=False)), None).ages > 2 * SETTLING
    ).all()


def _without_ages(blob: bytes) -> bytes:
    """Return a state, whose ages are empty, as a version wrote it that had none."""
    size = int.from_bytes(blob[4:8], "little")
    header = json.loads(blob[8 : 8 + size])
    header["arrays"] = [part for part in header["arrays"] if part["name"] != "ages"]
    text = json.dumps(header).encode()
    return blob[:4] + len(text).to_bytes(4, "little") + text + blob[8 + size :]
