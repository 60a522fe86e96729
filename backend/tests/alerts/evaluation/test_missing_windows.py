"""Windows that come late or not at all: they neither change what incidents blame nor end them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from sinemora.alerts.evaluation.engine import amend, step
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect, explains
from sinemora.alerts.evaluation.rule import Rule, defaults
from sinemora.alerts.evaluation.tracking import SETTLED_S, Track, Transition, advance
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric
from tests.alerts.evaluation.windows import series, window_of

ZONE_OF = np.repeat(np.arange(4), 6)
SIZE = ZONE_OF.size
PLANNED = ~np.eye(SIZE, dtype=bool)
SICK, SLOW, DOWN = Culprit(Suspect.VM, 3), Culprit(Suspect.ZONE_PAIR, 1, 2), Culprit(Suspect.AGENT, 20)
ONSET, GAP = 150, 160
RULES = [rule for rule in defaults() if rule.condition.metric is not Metric.CLOCK_ERROR]


def windows(until: int) -> Iterator[EvaluationWindow]:
    """Yield windows of 60 s; from `ONSET` on, a VM is slow, a pair of zones slower, and another VM loses everything."""
    rng = np.random.default_rng(3)
    base = 2e5 * rng.uniform(0.9, 1.1, (SIZE, SIZE))
    sick, slow, down = (explains(culprit, ZONE_OF) for culprit in (SICK, SLOW, DOWN))
    for number in range(1, until):
        ill = number >= ONSET
        delay = base + 4e3 * rng.standard_normal((SIZE, SIZE)) + ill * (5e6 * sick + 4e5 * slow)
        yield _window(number, delay, np.where(down & ill, 1.0, 0.0))


def _window(number: int, delay: np.ndarray, loss: np.ndarray) -> EvaluationWindow:
    values = series(np.where(PLANNED & (loss < 1), delay, np.nan), loss=np.where(PLANNED, loss, np.nan))
    return window_of(number, ZONE_OF, values, 60)


def only_from(window: EvaluationWindow, sources: Sequence[int]) -> EvaluationWindow:
    """Return a window of which only the reports of some VMs have arrived."""
    arrived = np.isin(np.arange(SIZE), sources)[:, None]
    values = window.values
    return replace(window, values=lambda *series: np.where(arrived, values(*series), np.float32(np.nan)))


class Trial:
    """Incidents of one mesh through its windows."""

    def __init__(self, rules: Sequence[Rule] = RULES) -> None:
        self.state, self.rules = EvaluationState(np.arange(SIZE)), rules
        self.tracks: dict[str, Track] = {}

    def play(self, windows: Iterable[EvaluationWindow]) -> "Trial":
        for window in windows:
            self.step(window)
        return self

    def step(self, window: EvaluationWindow) -> list[Transition]:
        evaluation = step(self.state, self.rules, window)
        changes = advance(
            list(self.tracks.values()), evaluation.detections, ZONE_OF, window.ended_at_s, window.window_s
        )
        self.tracks |= {change.track.id: change.track for change in changes}
        return [change.transition for change in changes]

    def open(self) -> set[Culprit]:
        return {track.culprit for track in self.tracks.values() if track.ended_at_s is None}


@pytest.mark.parametrize("sources", [(), range(12), (0, 3, 7)])
def test_windows_without_most_reports_do_not_change_what_incidents_blame(sources: Sequence[int]):
    trial = Trial().play(windows(GAP))
    before = trial.open()
    assert before == {SICK, SLOW, DOWN}
    empty = _window(0, np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE)))
    for number in range(GAP, GAP + 2 * SETTLED_S // 60):
        late = replace(only_from(list(windows(GAP))[-1] if sources else empty, sources), ended_at_s=number * 60)
        assert {Transition.SEEN}.issuperset(trial.step(late))
    assert trial.open() == before


def test_causes_are_found_although_every_window_is_late():
    trial = Trial()
    missing: list[EvaluationWindow] = []
    for window in windows(GAP):
        for late in missing:
            amend(trial.state, trial.rules, late)
        trial.step(only_from(window, ()) if window.ended_at_s >= ONSET * 60 else window)
        missing = [window]
    assert SICK in trial.open()
    assert len(trial.open()) <= 3


def test_incidents_end_once_windows_are_back_and_good():
    trial = Trial().play(windows(GAP))
    sound = list(windows(10))
    empty = only_from(sound[0], ())
    trial.play(replace(empty, ended_at_s=number * 60) for number in range(GAP, GAP + 3))
    trial.play(replace(sound[number % len(sound)], ended_at_s=number * 60) for number in range(GAP + 3, GAP + 30))
    assert trial.open() == set()


def test_silence_of_all_agents_is_an_incident_next_to_those_before():
    """It shows nothing about paths: what they blame and their number stay, also when the agents return."""
    trial = Trial(defaults()).play(windows(GAP))
    before = {id: track for id, track in trial.tracks.items() if track.ended_at_s is None}
    assert {track.culprit for track in before.values()} == {SICK, SLOW, DOWN}
    empty = _window(0, np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE)))
    for number in range(GAP, GAP + 2 * SETTLED_S // 60):
        trial.step(replace(only_from(empty, ()), ended_at_s=number * 60, silent=np.ones(SIZE, bool)))
    assert trial.open() == {SICK, SLOW, DOWN, Culprit(Suspect.MESH, 0)}
    for id, track in before.items():
        now = trial.tracks[id]
        assert (now.culprit, now.symptoms) == (track.culprit, track.symptoms)
        assert np.array_equal(now.cells, track.cells)
    newest = list(windows(GAP))[-1]
    back = GAP + 2 * SETTLED_S // 60
    trial.play(replace(newest, ended_at_s=number * 60) for number in range(back, back + 2 * SETTLED_S // 60))
    assert trial.open() == {SICK, SLOW, DOWN}
    assert {id for id, track in trial.tracks.items() if track.ended_at_s is None} == set(before)


def test_an_agent_that_was_silent_before_the_others_stays_an_incident():
    trial = Trial(defaults())
    for number in range(1, 40):
        silent = np.zeros(SIZE, bool)
        silent[20] = number >= 20
        silent |= number >= 30
        window = _window(number, np.full((SIZE, SIZE), 2e5), np.zeros((SIZE, SIZE)))
        trial.step(replace(only_from(window, np.flatnonzero(~silent)), silent=silent))
    assert trial.open() == {DOWN, Culprit(Suspect.MESH, 0)}


def test_a_zone_whose_agents_fall_silent_is_one_incident_with_the_loss_of_its_paths():
    trial = Trial(defaults())
    zone = Culprit(Suspect.ZONE, 2)
    inside = explains(zone, ZONE_OF)
    for number in range(1, 60):
        ill = number >= 40
        window = _window(number, np.full((SIZE, SIZE), 2e5), np.where(inside & ill, 1.0, 0.0))
        silent = (ZONE_OF == 2) & (number >= 42)
        trial.step(replace(only_from(window, np.flatnonzero(ZONE_OF != 2)) if ill else window, silent=silent))
    assert trial.open() == {zone}
