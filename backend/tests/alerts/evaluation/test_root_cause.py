"""Who is at fault, and that one cause is one incident."""

import numpy as np
import pytest

from lab.incidents.events import Event, make
from lab.incidents.trial import judge, run
from sinemora.alerts.evaluation.engine import Found
from sinemora.alerts.evaluation.root_cause import Culprit, Picture, Suspect, causes, explains, name
from sinemora.alerts.evaluation.rule import Severity, defaults
from sinemora.alerts.evaluation.tracking import REOPENED_S, SETTLED_S, Track, Turn, advance

ZONES = np.repeat(np.arange(3), 4)
SIZE = ZONES.size


def picture(firing: np.ndarray, signed: np.ndarray | None = None, known: np.ndarray | None = None) -> Picture:
    judged = ~np.eye(SIZE, dtype=bool) if known is None else known
    return Picture(firing & judged, firing & judged, judged, signed, np.zeros_like(firing), ZONES)


@pytest.mark.parametrize(
    "culprit",
    [
        Culprit(Suspect.EGRESS, 3),
        Culprit(Suspect.INGRESS, 7),
        Culprit(Suspect.VM, 5),
        Culprit(Suspect.ZONE_PAIR, 0, 2),
        Culprit(Suspect.ZONE_PAIR, 1, 1),
        Culprit(Suspect.ZONE, 1),
        Culprit(Suspect.PATH, 2, 9),
        Culprit(Suspect.PAIR, 2, 9),
        Culprit(Suspect.MESH, 0),
    ],
)
@pytest.mark.parametrize("seen", [1.0, 0.8])
def test_the_culprit_is_named_although_some_of_its_paths_look_well(culprit: Culprit, seen: float):
    whole = explains(culprit, ZONES) & ~np.eye(SIZE, dtype=bool)
    firing = whole & (np.random.default_rng(1).random(whole.shape) < seen) if whole.sum() > 2 else whole
    found = causes(picture(firing))
    assert [one.culprit for one in found] == [culprit]
    assert np.array_equal(np.sort(found[0].cells), np.flatnonzero(firing))
    assert name(culprit, [f"v{i}" for i in range(SIZE)], "abc")


def test_a_clock_is_told_from_a_way_in_by_its_sign():
    up, down = explains(Culprit(Suspect.INGRESS, 4), ZONES), explains(Culprit(Suspect.EGRESS, 4), ZONES)
    noise = np.random.default_rng(3).standard_normal((SIZE, SIZE))
    firing = up & ~np.eye(SIZE, dtype=bool)
    stepped = causes(picture(firing, noise + 20.0 * up - 20.0 * down))
    congested = causes(picture(firing, noise + 20.0 * up))
    assert [one.culprit for one in stepped] == [Culprit(Suspect.CLOCK, 4)]
    assert [one.culprit for one in congested] == [Culprit(Suspect.INGRESS, 4)]


def test_two_causes_at_once_are_two():
    firing = explains(Culprit(Suspect.EGRESS, 1), ZONES) | explains(Culprit(Suspect.ZONE_PAIR, 1, 2), ZONES)
    found = {one.culprit for one in causes(picture(firing & ~np.eye(SIZE, dtype=bool)))}
    assert found == {Culprit(Suspect.EGRESS, 1), Culprit(Suspect.ZONE_PAIR, 1, 2)}


def found_in(firing: np.ndarray) -> list[Found]:
    return [Found(one, {"r": 1}, Severity.WARNING, 1) for one in causes(picture(firing))]


def test_one_cause_is_one_incident_from_its_first_path_to_its_end():
    whole = explains(Culprit(Suspect.EGRESS, 3), ZONES) & ~np.eye(SIZE, dtype=bool)
    first = whole.copy()
    first[3, 9:] = False
    tracks: dict[str, Track] = {}
    turns = []
    seen = [first, whole, whole, *[np.zeros_like(whole)] * 30, whole, *[np.zeros_like(whole)] * 20]
    for at, firing in enumerate(seen):
        for change in advance(list(tracks.values()), found_in(firing), ZONES, at * 10, 10):
            tracks[change.track.id] = change.track
            if change.turn is not Turn.SEEN:
                turns.append((at, change.turn, change.track.culprit.suspect))
    assert len(tracks) == 1
    quiet = SETTLED_S // 10
    assert turns[-3:] == [
        (2 + quiet, Turn.ENDED, Suspect.EGRESS),
        (33, Turn.REOPENED, Suspect.EGRESS),
        (33 + quiet, Turn.ENDED, Suspect.EGRESS),
    ]


def test_the_same_much_later_is_another_incident():
    whole = explains(Culprit(Suspect.EGRESS, 3), ZONES) & ~np.eye(SIZE, dtype=bool)
    old = Track("old", Culprit(Suspect.EGRESS, 3), np.flatnonzero(whole), 9.0, 0, 100, 100)
    changes = advance([old], found_in(whole), ZONES, 100 + REOPENED_S + 10, 10)
    assert [change.turn for change in changes] == [Turn.OPENED]


def test_a_zone_swallows_what_was_told_of_its_paths():
    whole = explains(Culprit(Suspect.ZONE, 1), ZONES) & ~np.eye(SIZE, dtype=bool)
    tracks = [Track("a", Culprit(Suspect.PATH, 4, 0), np.array([4 * SIZE]), 3.0, 0, 10)]
    tracks.append(Track("b", Culprit(Suspect.PATH, 5, 1), np.array([5 * SIZE + 1]), 3.0, 5, 10))
    changes = advance(tracks, found_in(whole), ZONES, 20, 10)
    assert [(one.turn, one.track.id, one.into) for one in changes] == [
        (Turn.SEEN, "a", None),
        (Turn.MERGED, "b", "a"),
    ]
    assert changes[0].track.culprit == Culprit(Suspect.ZONE, 1)


@pytest.mark.parametrize("event", [Event.SICK_VM, Event.CLOCK_STEP, Event.AGENT_GONE, Event.CORRELATED_NOISE])
def test_scenarios_are_found_and_named(event: Event):
    """Four of those that `make bench-alerts` tries in their hundreds."""
    scenario = make(event, 1)
    score = judge(scenario, run(scenario.mesh, scenario.windows, defaults()))
    assert (score.found, score.right, score.wrong) == (
        (None, None, 0) if scenario.truth.culprit is None else (True, True, 0)
    )


def test_a_scenario_is_the_same_whenever_it_is_made():
    one, same, other = make(Event.ZONE_PAIR, 4), make(Event.ZONE_PAIR, 4), make(Event.ZONE_PAIR, 5)
    assert np.array_equal(one.windows.median_ns, same.windows.median_ns, equal_nan=True)
    assert one.described() == same.described() != other.described()
