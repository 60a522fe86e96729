"""Evaluates rules on scenarios and compares the incidents with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.incidents.events import Scenario
from lab.incidents.network import Mesh, Windows
from sinemora.alerts.evaluation.baseline import Floats
from sinemora.alerts.evaluation.engine import EvaluationState, Window, step
from sinemora.alerts.evaluation.root_cause import Culprit
from sinemora.alerts.evaluation.rule import Rule
from sinemora.alerts.evaluation.tracking import Track, Transition, advance
from sinemora.measurements.aggregate.matrix import Metric, Statistic


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident that the rules opened: from window `opened` to `ended`; the culprit as first notified, and as
    known at the end. `notified`: number of notifications to a receiver with default settings, the end not counted.
    """

    opened: int
    ended: int
    first: Culprit
    last: Culprit
    rules: tuple[str, ...]
    notified: int


def run(mesh: Mesh, windows: Windows, rules: Sequence[Rule]) -> list[Incident]:
    """Return the incidents of a mesh over its windows."""
    size = mesh.size
    state = EvaluationState(np.arange(size))
    planned = ~np.eye(size, dtype=bool)
    tracks: dict[str, Track] = {}
    notified: dict[str, tuple[Culprit, tuple[str, ...], int]] = {}
    for at in range(windows.median_ns.shape[0]):
        ended_at_s = (at + 1) * mesh.window_s
        window = Window(
            ended_at_s,
            mesh.window_s,
            state.keys,
            mesh.zone_of,
            planned,
            lambda metric, statistic, at=at: _value(windows, at, metric, statistic),  # type: ignore[misc]
            windows.silent[at],
        )
        evaluation = step(state, rules, window)
        if not evaluation.detections and not tracks:
            continue
        alive = [
            track for track in tracks.values() if track.ended_at_s is None or ended_at_s - track.ended_at_s <= 1800
        ]
        for change in advance(alive, evaluation.detections, mesh.zone_of, ended_at_s, mesh.window_s):
            track = change.track
            tracks[track.id] = track
            if change.transition is Transition.OPENED and change.detection is not None:
                notified[track.id] = (track.culprit, tuple(change.detection.rules), 1)
            elif change.transition is Transition.REOPENED:
                culprit, rules_then, times = notified[track.id]
                notified[track.id] = (culprit, rules_then, times + 1)
            elif change.transition is Transition.MERGED and change.into is not None:
                del tracks[track.id]
                notified[change.into] = (*notified[change.into][:2], notified[change.into][2] + notified[track.id][2])
    return [
        Incident(
            track.opened_at_s // mesh.window_s - 1,
            (track.ended_at_s or track.seen_at_s) // mesh.window_s - 1,
            notified[track.id][0],
            track.culprit,
            notified[track.id][1],
            notified[track.id][2],
        )
        for track in sorted(tracks.values(), key=lambda track: track.opened_at_s)
    ]


def _value(windows: Windows, at: int, metric: Metric, statistic: Statistic) -> Floats:
    one_way = windows.max_ns[at] if statistic is Statistic.MAX else windows.median_ns[at]
    values: Floats
    match metric:
        case Metric.LOSS:
            values = windows.loss[at]
        case Metric.CLOCK_ERROR:
            values = windows.clock_error_ns[at]
        case Metric.ROUND_TRIP:
            values = one_way + one_way.T
        case Metric.ASYMMETRY:
            values = one_way - one_way.T
        case _:
            values = one_way
    return values


@dataclass(frozen=True, slots=True)
class Score:
    """Comparison of a synthetic mesh with its truth: `wrong` incidents match nothing that happened, or repeat an
    earlier one.
    """

    detected: bool | None
    right: bool | None
    windows: int | None
    incidents: int
    wrong: int
    notified: int


def judge(scenario: Scenario, incidents: Sequence[Incident]) -> Score:
    """Compare incidents with the truth; `detected`, `right` and `windows` (of detection) are None without a fault."""
    truth = scenario.truth
    if truth.culprit is None:
        return Score(None, None, None, len(incidents), len(incidents), sum(incident.notified for incident in incidents))
    own = [incident for incident in incidents if truth.start <= incident.opened <= truth.end + 3]
    delay = max(1, own[0].opened - truth.detectable + 1) if own else None
    return Score(
        bool(own),
        own[0].last == truth.culprit if own else None,
        delay,
        len(incidents),
        len(incidents) - bool(own),
        sum(incident.notified for incident in incidents),
    )
