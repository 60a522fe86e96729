from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from sinemora.alerts.evaluation.detections import Detection
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.root_cause import (
    Cause,
    Culprit,
    Hypothesis,
    PathEvidence,
    Suspect,
    causes,
    explains,
    name,
    standing_out,
)
from sinemora.alerts.evaluation.rule import Severity, Symptom, defaults
from sinemora.alerts.evaluation.tracking import REMEMBERED_S, REOPENED_S, SETTLED_S, Track, Transition, advance, quiet_s
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric
from tests.alerts.evaluation.windows import series, window_of

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


@pytest.mark.parametrize(("loss", "culprits"), [(0.2, [Culprit(Suspect.MESH, 0)]), (0.09, [])])
def test_bad_paths_scattered_over_a_large_mesh_are_one_cause(loss: float, culprits: list[Culprit]):
    zones = np.repeat(np.arange(3), 100)
    lossy = np.random.default_rng(6).random((300, 300)) < 0.05
    np.fill_diagonal(lossy, False)
    state = EvaluationState(np.arange(300))
    for number in range(1, 4):
        found = step(state, defaults(), window_of(number, zones, series(np.full((300, 300), 2e5), loss=loss * lossy)))
    assert [one.cause.culprit for one in found.detections] == culprits
    assert [one.cause.cells.tolist() for one in found.detections] == [np.flatnonzero(lossy).tolist()] * len(culprits)
    assert found.alone == (0 if culprits else lossy.sum())


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


LARGE = np.repeat(np.arange(2), 12)
"""Two zones of 12 VMs: a pair of zones has more paths than a VM."""


def sick_and_slow(sick_ns: float, slow_ns: float, lost: float = 0.0) -> Iterator[EvaluationWindow]:
    """Yield windows of two zones: at first usual, then the pair of zones slower by a little and VM 3 sick in it."""
    size, rng = LARGE.size, np.random.default_rng(11)
    base = 2e5 * rng.uniform(0.9, 1.1, (size, size))
    pair, vm = (
        explains(Culprit(Suspect.ZONE_PAIR, 0, 1), LARGE),
        explains(Culprit(Suspect.EGRESS, 3), LARGE) & (LARGE == 1),
    )
    for number in range(1, 200):
        ill = number > 150
        delay = base + 4e3 * rng.standard_normal((size, size)) + ill * (slow_ns * pair + sick_ns * vm)
        ratio = np.where(vm & ill, lost, 0.0)
        yield window_of(number, LARGE, series(np.where(ratio == 1, np.nan, delay), loss=ratio))


@pytest.mark.parametrize(("sick_ns", "lost"), [(2e6, 0.0), (0.0, 1.0), (0.0, 0.4)])
def test_a_sick_vm_in_a_mildly_slow_pair_of_zones_has_an_incident_of_its_own(sick_ns: float, lost: float):
    state, tracks = EvaluationState(np.arange(LARGE.size)), dict[str, Track]()
    rules = [rule for rule in defaults() if rule.condition.metric is not Metric.CLOCK_ERROR]
    for one in sick_and_slow(sick_ns, 6e4, lost):
        evaluation = step(state, rules, one)
        for change in advance(list(tracks.values()), evaluation.detections, LARGE, one.ended_at_s, 10):
            assert change.transition is not Transition.MERGED
            tracks[change.track.id] = change.track
    open_tracks = [track for track in tracks.values() if track.ended_at_s is None]
    assert len(tracks) == len(open_tracks) == 2
    (sick,) = [track for track in open_tracks if track.sharp]
    (slow,) = [track for track in open_tracks if not track.sharp]
    assert sick.culprit in (Culprit(Suspect.EGRESS, 3), Culprit(Suspect.VM, 3))
    assert slow.culprit == Culprit(Suspect.ZONE_PAIR, 0, 1)


def test_an_uneven_event_is_one_cause():
    """Paths of one cause differ, without a gap between the slower and the faster ones."""
    firing = explains(Culprit(Suspect.ZONE, 1), ZONES) & ~np.eye(SIZE, dtype=bool)
    uneven = np.where(firing, np.random.default_rng(2).uniform(5e4, 4e5, firing.shape), 0).astype(np.float32)
    assert not standing_out(firing, [uneven]).any()
    uneven[4] *= 20 * firing[4]
    assert np.array_equal(standing_out(firing, [uneven]), firing & (np.arange(SIZE) == 4)[:, None])


@pytest.mark.parametrize(
    ("pause_s", "transition", "returns", "opened_at_s"),
    [
        (REOPENED_S, Transition.REOPENED, 0, 0),
        (REOPENED_S + 10, Transition.REOPENED, 1, 100 + REOPENED_S + 10),
        (REMEMBERED_S, Transition.REOPENED, 1, 100 + REMEMBERED_S),
        (REMEMBERED_S + 10, Transition.OPENED, 0, 110 + REMEMBERED_S),
    ],
)
def test_a_cause_that_returns_within_a_day_is_the_same_incident(
    pause_s: int, transition: Transition, returns: int, opened_at_s: int
):
    whole = explains(Culprit(Suspect.EGRESS, 3), ZONES) & ~np.eye(SIZE, dtype=bool)
    old = Track("old", Culprit(Suspect.EGRESS, 3), np.flatnonzero(whole), 9.0, 0, 100, 100)
    (change,) = advance([old], detections_in(whole), ZONES, 100 + pause_s, 10)
    assert (change.transition, change.track.returns, change.track.opened_at_s) == (transition, returns, opened_at_s)


@pytest.mark.parametrize(
    ("before", "now", "pause_s", "same"),
    [
        ({Symptom.DELAY}, {Symptom.DELAY, Symptom.LOSS}, 7200, True),
        ({Symptom.DELAY}, {Symptom.LOSS}, 7200, False),
        ({Symptom.DELAY}, {Symptom.LOSS}, 600, True),
        (set(), {Symptom.LOSS}, 7200, True),
    ],
)
def test_another_symptom_hours_later_is_another_incident(
    before: set[Symptom], now: set[Symptom], pause_s: int, same: bool
):
    whole = explains(Culprit(Suspect.EGRESS, 3), ZONES) & ~np.eye(SIZE, dtype=bool)
    culprit = Culprit(Suspect.EGRESS, 3)
    old = Track("old", culprit, np.flatnonzero(whole), 9.0, 0, 100, 100, symptoms=frozenset(before))
    detections = [replace(one, symptoms=frozenset(now)) for one in detections_in(whole)]
    (change,) = advance([old], detections, ZONES, 100 + pause_s, 10)
    assert (change.transition is Transition.REOPENED) is same


def test_both_directions_and_the_pair_are_one_recurring_incident():
    forth, back = Culprit(Suspect.PATH, 2, 7), Culprit(Suspect.PATH, 7, 2)
    old = Track("old", forth, np.array([2 * SIZE + 7]), 3.0, 0, 100, 100)
    for culprit, same in ((back, True), (Culprit(Suspect.PAIR, 2, 7), True), (Culprit(Suspect.PATH, 2, 8), False)):
        cause = Cause((Hypothesis(culprit, 3.0, 1, 1),), np.array([culprit.at * SIZE + culprit.other]))
        (change,) = advance([old], [Detection(cause, {"r": 1}, Severity.INFO, 1)], ZONES, 100 + 7200, 10)
        assert (change.transition is Transition.REOPENED) is same


def test_an_incident_that_keeps_returning_waits_longer_until_its_end_is_told():
    assert [quiet_s(returns, Severity.WARNING) // 60 for returns in (0, 1, 2, 3)] == [15, 30, 60, 120]
    assert [quiet_s(returns, Severity.INFO) // 3600 for returns in (0, 1, 2, 3)] == [4, 8, 16, 24]
    assert quiet_s(60, Severity.CRITICAL) == REMEMBERED_S


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


@pytest.mark.parametrize(
    ("ago_s", "symptom", "cell", "spikes", "transition"),
    [
        (None, Symptom.LOSS, 3 * SIZE + 8, False, Transition.SEEN),  # a path of the open culprit, of another rule
        (None, Symptom.DELAY, 3 * SIZE + 8, False, Transition.SEEN),
        (None, Symptom.LOSS, 3 * SIZE + 8, True, Transition.OPENED),  # a loss that lasts is no part of spikes
        (None, Symptom.LOSS, 4 * SIZE + 8, False, Transition.OPENED),  # another VM's path
        (300, Symptom.LOSS, 3 * SIZE + 8, False, Transition.REOPENED),  # the rest of an incident that has just ended
        (300, Symptom.DELAY, 3 * SIZE + 8, False, Transition.OPENED),
        (REOPENED_S + 10, Symptom.LOSS, 3 * SIZE + 8, False, Transition.OPENED),
    ],
)
def test_paths_of_an_open_culprit_are_absorbed_whichever_rule_fires(
    ago_s: int | None, symptom: Symptom, cell: int, spikes: bool, transition: Transition
):
    egress = Culprit(Suspect.EGRESS, 3)
    ended_at_s = None if ago_s is None else 2000 - ago_s
    cells, symptoms = np.array([3 * SIZE + 1, 3 * SIZE + 2]), frozenset((Symptom.LOSS,))
    track = Track("vm", egress, cells, 9.0, 0, ended_at_s or 1990, ended_at_s, spikes=spikes, symptoms=symptoms)
    path = Cause((Hypothesis(Culprit(Suspect.PATH, *divmod(cell, SIZE)), 3.7, 1, 1),), np.array([cell]))
    late = Detection(path, {"lasting": 1}, Severity.WARNING, 2, symptoms=frozenset((symptom,)))
    changes = [one for one in advance([track], [late], ZONES, 2000, 10) if one.detection is late]
    assert [one.transition for one in changes] == [transition]
    assert changes[0].track.culprit == (egress if transition is not Transition.OPENED else path.culprit)


def test_the_culprit_changes_at_most_once_a_minute():
    whole = explains(Culprit(Suspect.VM, 3), ZONES) & ~np.eye(SIZE, dtype=bool)
    egress, ingress = (whole & explains(Culprit(one, 3), ZONES) for one in (Suspect.EGRESS, Suspect.INGRESS))
    tracks: dict[str, Track] = {}
    named = []
    for at, firing in enumerate([egress, ingress, egress, whole, *[whole] * 12]):
        for change in advance(list(tracks.values()), detections_in(firing), ZONES, at * 10, 10):
            tracks[change.track.id] = change.track
        named.append(tracks["0-0"].culprit.suspect)
    changes = [at for at in range(1, len(named)) if named[at] is not named[at - 1]]
    assert changes == [1, 7]
    assert named[-1] is Suspect.VM


@pytest.mark.parametrize(("firing", "suspect"), [([1], Suspect.PATH), ([1, 2, 4], Suspect.EGRESS)])
def test_a_path_keeps_its_name_while_it_fires_alone(firing: list[int], suspect: Suspect):
    """Noise of other paths in one window would name a VM, which nothing later would undo."""
    cells = np.array([3 * SIZE + target for target in firing])
    track = Track("slow", Culprit(Suspect.PATH, 3, 1), cells[:1], 3.7, 0, 990)
    wider = Cause((Hypothesis(Culprit(Suspect.EGRESS, 3), 8.4, 5, 8),), cells)
    (change,) = advance([track], [Detection(wider, {"drift": 1}, Severity.WARNING, 1)], ZONES, 1000, 10)
    assert change.track.culprit.suspect is suspect


def test_the_onset_is_that_of_the_symptom_that_is_named():
    rules = [one for one in defaults() if one.id in ("loss", "path-loss", "strong-spike")]
    state, ago = EvaluationState(np.arange(6)), []
    loss, median = np.zeros((6, 6)), np.full((6, 6), 2e5)
    for number in range(1, 30):
        rise = 3e6 if number in (20, 27) else 1e4
        loss[2] = 0.3 if number >= 27 else 0.0
        window = window_of(number, np.repeat(np.arange(2), 3), series(median, median + rise, loss))
        ago = [(one.windows_ago, one.lasts) for one in step(state, rules, window).detections]
    assert ago == [(3, 3)]
