"""Evaluates rules on scenarios and compares the incidents with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.incidents.events import Scenario
from lab.incidents.network import EXCHANGES, Mesh, Windows
from lab.incidents.weeks import OwnEvent, Timescale, Week
from sinemora.alerts.evaluation.baseline import Floats, Ints
from sinemora.alerts.evaluation.engine import EvaluationState, Window, step
from sinemora.alerts.evaluation.root_cause import Culprit
from sinemora.alerts.evaluation.rule import Rule
from sinemora.alerts.evaluation.tracking import Track, Transition, advance
from sinemora.measurements.aggregate.matrix import Metric, Statistic

_LATE = 3
"""Windows after an event in which its incident may still open."""


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident that the rules opened: from window `opened` to `ended`; the culprit as first notified, and as
    known at the end. `notified`: number of notifications to a receiver with default settings, the end not counted.
    `cells`: its paths (flat).
    """

    opened: int
    ended: int
    first: Culprit
    last: Culprit
    rules: tuple[str, ...]
    notified: int
    cells: Ints


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
            packets=lambda at=at: _packets(windows, at),  # type: ignore[misc]
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
            track.cells,
        )
        for track in sorted(tracks.values(), key=lambda track: track.opened_at_s)
    ]


def _packets(windows: Windows, at: int) -> tuple[Floats, Floats]:
    sent = np.where(np.isnan(windows.loss[at]), np.nan, EXCHANGES).astype(np.float32)
    return sent, sent * windows.loss[at]


def _value(windows: Windows, at: int, metric: Metric, statistic: Statistic) -> Floats:
    by_statistic = {Statistic.MAX: windows.max_ns, Statistic.P90: windows.p90_ns}
    one_way = by_statistic.get(statistic, windows.median_ns)[at]
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


@dataclass(frozen=True, slots=True)
class WeekScore:
    """Incidents of a week against its own events: long and short events, whether each was detected, false incidents."""

    events: tuple[OwnEvent, ...]
    detected: tuple[bool, ...]
    false: tuple[Incident, ...]


def judge_week(week: Week, incidents: Sequence[Incident]) -> WeekScore:
    """Compare incidents with the own events of a trace.

    An event is detected if an incident on one of its paths was open during it. An incident is false if it opened when
    no event and no other published spike of one of its paths was there.
    """
    events, size = week.events, week.mesh.size
    start, end = (np.array([getattr(event, name) for event in events], np.int64) for name in ("start", "end"))
    cells = [
        np.array([one * size + other for pair in event.pairs for one, other in (pair, pair[::-1])]) for event in events
    ]
    on = np.zeros((len(events), size * size), np.bool_)
    for at, paths in enumerate(cells):
        on[at, paths] = True
    detected, false = np.zeros(len(events), np.bool_), []
    for incident in incidents:
        touched = on[:, incident.cells].any(axis=1)
        detected |= touched & (incident.opened < end + _LATE) & (incident.ended >= start)
        if not (touched & (start <= incident.opened) & (incident.opened < end + _LATE)).any():
            false.append(incident)
    asked = np.array([event.timescale is not Timescale.SPIKE for event in events], np.bool_)
    return WeekScore(
        tuple(event for event, asks in zip(events, asked, strict=True) if asks),
        tuple(detected[asked].tolist()),
        tuple(false),
    )
