"""Root cause of firing paths, and tracking of incidents."""

from dataclasses import replace

import numpy as np
import pytest

from lab.incidents.events import Event, make
from lab.incidents.trial import judge, run
from sinemora.alerts.evaluation.engine import Detection
from sinemora.alerts.evaluation.root_cause import Culprit, PathEvidence, Suspect, causes, explains, name
from sinemora.alerts.evaluation.rule import Severity, defaults
from sinemora.alerts.evaluation.tracking import REOPENED_S, SETTLED_S, Track, Transition, advance

ZONES = np.repeat(np.arange(3), 4)
SIZE = ZONES.size


def evidence(firing: np.ndarray, signed: np.ndarray | None = None, known: np.ndarray | None = None) -> PathEvidence:
    known_paths = ~np.eye(SIZE, dtype=bool) if known is None else known
    return PathEvidence(firing & known_paths, firing & known_paths, known_paths, signed, np.zeros_like(firing), ZONES)


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
def test_the_culprit_is_found_although_some_of_its_paths_are_good(culprit: Culprit, seen: float):
    whole = explains(culprit, ZONES) & ~np.eye(SIZE, dtype=bool)
    firing = whole & (np.random.default_rng(1).random(whole.shape) < seen) if whole.sum() > 2 else whole
    result = causes(evidence(firing))
    assert [one.culprit for one in result] == [culprit]
    assert np.array_equal(np.sort(result[0].cells), np.flatnonzero(firing))
    assert name(culprit, [f"v{i}" for i in range(SIZE)], "abc")


def test_a_clock_step_differs_from_congestion_by_its_sign():
    up, down = explains(Culprit(Suspect.INGRESS, 4), ZONES), explains(Culprit(Suspect.EGRESS, 4), ZONES)
    noise = np.random.default_rng(3).standard_normal((SIZE, SIZE))
    firing = up & ~np.eye(SIZE, dtype=bool)
    stepped = causes(evidence(firing, noise + 20.0 * up - 20.0 * down))
    congested = causes(evidence(firing, noise + 20.0 * up))
    assert [one.culprit for one in stepped] == [Culprit(Suspect.CLOCK, 4)]
    assert [one.culprit for one in congested] == [Culprit(Suspect.INGRESS, 4)]


def test_two_simultaneous_causes_are_two():
    firing = explains(Culprit(Suspect.EGRESS, 1), ZONES) | explains(Culprit(Suspect.ZONE_PAIR, 1, 2), ZONES)
    result = {one.culprit for one in causes(evidence(firing & ~np.eye(SIZE, dtype=bool)))}
    assert result == {Culprit(Suspect.EGRESS, 1), Culprit(Suspect.ZONE_PAIR, 1, 2)}


def detections_in(firing: np.ndarray) -> list[Detection]:
    return [Detection(one, {"r": 1}, Severity.WARNING, 1) for one in causes(evidence(firing))]


def test_one_cause_is_one_incident_from_its_first_path_to_its_end():
    whole = explains(Culprit(Suspect.EGRESS, 3), ZONES) & ~np.eye(SIZE, dtype=bool)
    first = whole.copy()
    first[3, 9:] = False
    tracks: dict[str, Track] = {}
    transitions = []
    seen = [first, whole, whole, *[np.zeros_like(whole)] * 30, whole, *[np.zeros_like(whole)] * 20]
    for at, firing in enumerate(seen):
        for change in advance(list(tracks.values()), detections_in(firing), ZONES, at * 10, 10):
            tracks[change.track.id] = change.track
            if change.transition is not Transition.SEEN:
                transitions.append((at, change.transition, change.track.culprit.suspect))
    assert len(tracks) == 1
    quiet = SETTLED_S // 10
    assert transitions[-3:] == [
        (2 + quiet, Transition.ENDED, Suspect.EGRESS),
        (33, Transition.REOPENED, Suspect.EGRESS),
        (33 + quiet, Transition.ENDED, Suspect.EGRESS),
    ]


def test_spikes_all_over_the_mesh_do_not_absorb_a_lasting_rise():
    spiky = Detection(causes(evidence(explains(Culprit(Suspect.MESH, 0), ZONES)))[0], {"s": 9}, Severity.WARNING, 1)
    spiky = replace(spiky, spikes=True)
    (rise,) = detections_in(explains(Culprit(Suspect.ZONE_PAIR, 0, 1), ZONES))
    tracks: dict[str, Track] = {}
    # The rise comes after the spikes, and ends before them.
    for at, detections in enumerate([[spiky], [rise, spiky], [spiky, rise], [spiky], [spiky]]):
        for change in advance(list(tracks.values()), detections, ZONES, at * 10, 10):
            assert change.transition is not Transition.MERGED
            tracks[change.track.id] = change.track
    assert {track.culprit: track.seen_at_s for track in tracks.values()} == {
        Culprit(Suspect.MESH, 0): 40,
        Culprit(Suspect.ZONE_PAIR, 0, 1): 20,
    }


def test_the_same_cause_much_later_is_another_incident():
    whole = explains(Culprit(Suspect.EGRESS, 3), ZONES) & ~np.eye(SIZE, dtype=bool)
    old = Track("old", Culprit(Suspect.EGRESS, 3), np.flatnonzero(whole), 9.0, 0, 100, 100)
    changes = advance([old], detections_in(whole), ZONES, 100 + REOPENED_S + 10, 10)
    assert [change.transition for change in changes] == [Transition.OPENED]


def test_a_zone_incident_merges_incidents_of_its_paths():
    whole = explains(Culprit(Suspect.ZONE, 1), ZONES) & ~np.eye(SIZE, dtype=bool)
    tracks = [Track("a", Culprit(Suspect.PATH, 4, 0), np.array([4 * SIZE]), 3.0, 0, 10)]
    tracks.append(Track("b", Culprit(Suspect.PATH, 5, 1), np.array([5 * SIZE + 1]), 3.0, 5, 10))
    changes = advance(tracks, detections_in(whole), ZONES, 20, 10)
    assert [(one.transition, one.track.id, one.into) for one in changes] == [
        (Transition.SEEN, "a", None),
        (Transition.MERGED, "b", "a"),
    ]
    assert changes[0].track.culprit == Culprit(Suspect.ZONE, 1)


@pytest.mark.thorough
@pytest.mark.parametrize("event", [Event.SICK_VM, Event.CLOCK_STEP, Event.AGENT_GONE, Event.CORRELATED_NOISE])
def test_scenarios_are_found_and_named(event: Event):
    """Four of those that `make bench-alerts` tries in their hundreds."""
    scenario = make(event, 1)
    score = judge(scenario, run(scenario.mesh, scenario.windows, defaults()))
    assert (score.detected, score.right, score.wrong) == (
        (None, None, 0) if scenario.truth.culprit is None else (True, True, 0)
    )


def test_a_scenario_is_deterministic():
    one, same, other = make(Event.ZONE_PAIR, 4), make(Event.ZONE_PAIR, 4), make(Event.ZONE_PAIR, 5)
    assert np.array_equal(one.windows.median_ns, same.windows.median_ns, equal_nan=True)
    assert one.described() == same.described() != other.described()
