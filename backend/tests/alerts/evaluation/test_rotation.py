"""Rules in a mesh that rotates: each path has few windows, and a fault shows on other paths in each window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.alerts.evaluation import focus, state_codec
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect, explains
from sinemora.alerts.evaluation.rule import Condition, Kind, Rule
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.fleet.meshes.strategies.turns import active, turns_of
from tests.alerts.evaluation.windows import series, window_of

ZONE_OF = np.repeat(np.arange(3), 10)
SIZE, PERIOD = ZONE_OF.size, 6
PLANNED = ~np.eye(SIZE, dtype=bool)
TURNS = turns_of(Strategy(StrategyKind.SPARSE, PERIOD, 2), ZONE_OF, PLANNED, np.zeros(SIZE, bool), None, 1)
SLOW = Rule("slow", "Slow", Condition(Kind.THRESHOLD, above=1e6), x=2, y=3, sources_min=2, keep_firing_s=0)
PATH = Rule("path", "Slow path", Condition(Kind.THRESHOLD, above=1e6), x=3, y=3, keep_firing_s=0)


def window(number: int, bad: np.ndarray) -> EvaluationWindow:
    turn = active(TURNS, PERIOD, number * 10, 10)
    values = series(np.where(turn, np.where(bad, 2e6, 1e5), np.nan), loss=np.where(turn, 0, np.nan))
    return window_of(number + 1, ZONE_OF, values, active=turn, period=PERIOD)


def play(culprit: Culprit, windows: int, start: int = 0, rules=(SLOW, PATH)):
    """Return by window the culprits that are detected; all paths are well again in the last `PERIOD` windows."""
    state = EvaluationState(np.arange(SIZE))
    bad = explains(culprit, ZONE_OF)
    found = []
    for number in range(start, start + windows):
        fault = bad if number < start + windows - PERIOD else np.zeros_like(bad)
        found.append([one.cause.culprit for one in step(state, list(rules), window(number, fault)).detections])
    return found


@pytest.mark.parametrize("start", range(0, PERIOD, 2))
@pytest.mark.parametrize(
    "culprit",
    [
        Culprit(Suspect.EGRESS, 4),
        Culprit(Suspect.INGRESS, 17),
        Culprit(Suspect.VM, 29),
        Culprit(Suspect.ZONE_PAIR, 0, 2),
        Culprit(Suspect.ZONE_PAIR, 1, 1),
    ],
)
def test_a_fault_of_many_paths_is_found_in_two_windows_and_keeps_its_culprit(culprit: Culprit, start: int):
    found = play(culprit, 8 + PERIOD, start)
    assert found[0] == []
    assert found[1:8] == [[culprit]] * 7
    assert found[-1] == []


@pytest.mark.parametrize("start", range(0, PERIOD, 2))
def test_a_fault_of_one_path_is_found_at_its_third_turn(start: int):
    path = Culprit(Suspect.PATH, 3, 25)
    found = play(path, 4 * PERIOD, start)
    turns = [at for at in range(3 * PERIOD) if active(TURNS, PERIOD, (start + at) * 10, 10)[3, 25]]
    assert next(at for at, culprits in enumerate(found) if culprits) == turns[2]
    assert found[turns[2]] == [path]


def test_groups_survive_a_restart():
    state, bad = EvaluationState(np.arange(SIZE)), explains(Culprit(Suspect.EGRESS, 4), ZONE_OF)
    step(state, [SLOW], window(0, bad))
    restored = state_codec.decode(state_codec.encode(state, baselines=False), None)
    assert [one.cause.culprit for one in step(restored, [SLOW], window(1, bad)).detections] == [
        Culprit(Suspect.EGRESS, 4)
    ]


CULPRITS = st.one_of(
    st.builds(Culprit, st.sampled_from([Suspect.VM, Suspect.EGRESS, Suspect.CLOCK]), st.integers(0, SIZE - 1)),
    st.builds(Culprit, st.just(Suspect.PATH), st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)),
    st.builds(Culprit, st.just(Suspect.ZONE_PAIR), st.integers(0, 2), st.integers(0, 2)),
    st.builds(Culprit, st.just(Suspect.ZONE), st.integers(0, 2)),
    st.builds(Culprit, st.just(Suspect.MESH), st.just(0)),
)


@given(st.lists(CULPRITS, max_size=5))
def test_the_pairs_in_focus_show_their_culprits(culprits: list[Culprit]):
    pairs = focus.pairs_of(culprits, ZONE_OF)
    assert pairs == sorted(set(pairs))
    assert all(one < other for one, other in pairs)
    assert len(pairs) <= focus.PAIRS_MAX
    for culprit in culprits:
        shown = explains(culprit, ZONE_OF)
        shown = shown | shown.T
        found = sum(shown[pair] for pair in pairs)
        if culprit.suspect is not Suspect.MESH and culprit.at != culprit.other:
            assert found >= min(shown.sum() // 2, focus.ZONE_VMS)
