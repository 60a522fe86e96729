"""Evaluates rules on scenarios and compares the incidents with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.incidents.events import Case
from lab.incidents.network import EXCHANGES, Mesh, Windows
from lab.incidents.notices import NoticeLog
from lab.incidents.weeks import OwnEvent, Timescale, Week
from sinemora.alerts.evaluation.baseline import Flags, Floats, Ints
from sinemora.alerts.evaluation.detections import Detection, Evaluation, conclude
from sinemora.alerts.evaluation.engine import observe, step
from sinemora.alerts.evaluation.root_cause import Culprit
from sinemora.alerts.evaluation.rule import SEVERITIES, Rule, Severity
from sinemora.alerts.evaluation.settling import SETTLING_S
from sinemora.alerts.evaluation.tracking import IncidentChange, Track, Transition, advance, quiet_s, returned
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.alerts.notifications.grouping import lasts
from sinemora.measurements.aggregate.matrix import Metric, Statistic

_LATE = 3
"""Windows after an event in which its incident may still open."""


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident that the rules opened, or a later return of it: from window `opened` to `ended`; the culprit as first
    found, and as known at the end. `id`: the same for all its returns. `notified`: number of notifications to a
    receiver with default settings, the end not counted; 0 of a return that is not notified. `cells`: its paths (flat).
    """

    id: str
    opened: int
    ended: int
    first: Culprit
    last: Culprit
    rules: tuple[str, ...]
    notified: int
    cells: Ints
    onset: int
    told_s: int | None


@dataclass(slots=True)
class _Spell:
    """Time in which an incident was seen without a break of more than a quarter of an hour."""

    opened_s: int
    first: Culprit
    rules: tuple[str, ...]
    notified: int
    cells: Ints
    track: Track
    onset_s: int


@dataclass(slots=True)
class Course:
    """The incidents of a mesh through time, and as they were notified: spells and severity by id of the incident."""

    mesh: Mesh
    tracks: dict[str, Track] = field(default_factory=dict)
    spells: dict[str, list[_Spell]] = field(default_factory=dict)
    severities: dict[str, Severity] = field(default_factory=dict)
    log: NoticeLog = field(default_factory=NoticeLog)

    @property
    def open(self) -> bool:
        """Return whether an incident has not ended."""
        return any(track.ended_at_s is None for track in self.tracks.values())

    def apply(self, evaluation: Evaluation, ended_at_s: int) -> None:
        """Apply a window to the incidents."""
        if not evaluation.detections and not self.open:
            return
        mesh, tracks = self.mesh, self.tracks
        for change in advance(list(tracks.values()), evaluation.detections, mesh.zone_of, ended_at_s, mesh.window_s):
            self._follow(change, tracks.get(change.track.id), ended_at_s)
            tracks[change.track.id] = change.track
            if change.transition is Transition.MERGED:
                del tracks[change.track.id]

    def result(self, until_s: int) -> tuple[list[Incident], int]:
        """Return the incidents, and the number of notifications until a time."""
        window_s = self.mesh.window_s
        number, delivered = self.log.deliveries(until_s)
        spells = [(id, spell) for id, of_one in self.spells.items() for spell in of_one]
        incidents = []
        for id, spell in sorted(spells, key=lambda one: one[1].opened_s):
            ended_s = spell.track.ended_at_s or spell.track.seen_at_s
            sent_s = (at_s for arose_s, at_s in delivered.get(id, ()) if arose_s >= spell.opened_s)
            incidents.append(
                Incident(
                    id,
                    spell.opened_s // window_s - 1,
                    ended_s // window_s - 1,
                    spell.first,
                    spell.track.culprit,
                    spell.rules,
                    spell.notified,
                    spell.cells,
                    spell.onset_s // window_s,
                    next((at_s - spell.opened_s for at_s in sent_s), None),
                )
            )
        return incidents, number

    def _opened(self, track: Track, detection: Detection, ended_at_s: int, notified: int) -> None:
        """Add a spell."""
        onset_s = ended_at_s - detection.windows_ago * self.mesh.window_s
        cells = detection.cause.cells
        spell = _Spell(ended_at_s, track.culprit, tuple(detection.rules), notified, cells, track, onset_s)
        self.spells.setdefault(track.id, []).append(spell)

    def _follow(self, change: IncidentChange, before: Track | None, ended_at_s: int) -> None:
        """Apply a change as `alerts/incidents/store.py` does."""
        track, detection = change.track, change.detection
        if change.transition is Transition.MERGED and change.into is not None:
            merged = self.spells[track.id].pop()
            self.spells[change.into][-1].notified += merged.notified - self.log.withdraw(track.id, ended_at_s)
            self.log.end(track, self.severities[track.id], is_notified=False)
            return
        raised = 0
        known = self.severities.get(track.id)
        if detection is not None:
            raised = known is not None and SEVERITIES.index(detection.severity) > SEVERITIES.index(known)
            self.severities[track.id] = max(detection.severity, known or detection.severity, key=SEVERITIES.index)
        severity = self.severities[track.id]
        if change.transition in (Transition.OPENED, Transition.REOPENED):
            self.log.begin(track.id, ended_at_s)
        elif change.transition is Transition.ENDED:
            self.log.end(track, severity, is_notified=True)
        if change.transition is Transition.OPENED and detection is not None:
            self._opened(track, detection, ended_at_s, 1)
            self.log.add(track, severity, ended_at_s)
        elif change.transition is Transition.REOPENED and detection is not None:
            assert before is not None
            assert before.ended_at_s is not None
            begins = ended_at_s - before.ended_at_s > quiet_s(before.returns, known or detection.severity)
            if (begins or raised) and self.log.add(track, severity, ended_at_s, begins=begins):
                self.spells[track.id][-1].notified -= 1
            if returned(before, ended_at_s):
                self._opened(track, detection, ended_at_s, int(begins or raised))
            else:
                self.spells[track.id][-1].notified += raised
        elif before is not None and before.spikes and not track.spikes and detection is not None:
            # Spikes become a symptom that lasts: it has its own onset and notice.
            self._opened(track, detection, ended_at_s, int(not self.log.add(track, severity, ended_at_s)))
        elif raised:
            self.spells[track.id][-1].notified += not self.log.add(track, severity, ended_at_s)
        spell = self.spells[track.id][-1]
        spell.track = track
        if detection is not None:
            age_s, window_s = ended_at_s - spell.onset_s, self.mesh.window_s
            if lasts(track.culprit.suspect, detection.lasts, window_s, age_s):
                self.log.last(track.id, ended_at_s)
            spell.cells = np.union1d(spell.cells, detection.cause.cells)


def run(mesh: Mesh, windows: Windows, rules: Sequence[Rule]) -> list[Incident]:
    """Return the incidents of a mesh over its windows, each return by itself, in order."""
    state, planned = EvaluationState(np.arange(mesh.size)), ~np.eye(mesh.size, dtype=bool)
    course = Course(mesh)
    steps = windows.median_ns.shape[0]
    for at in range(steps):
        course.apply(step(state, rules, _window(mesh, windows, at, planned)), (at + 1) * mesh.window_s)
    return course.result(steps * mesh.window_s)[0]


def run_together(
    meshes: Sequence[Mesh], windows: Sequence[Windows], rules: Sequence[Rule]
) -> list[tuple[list[Incident], int]]:
    """Return the same as `run` of each mesh, several times faster for many small ones, and the notifications of each.

    They are those that a receiver with default settings gets.
    All meshes have the same zones and window length, and no silent VM. Each may last for its own time.
    """
    first, steps = meshes[0], [one.median_ns.shape[0] for one in windows]
    if any(mesh.window_s != first.window_s or not np.array_equal(mesh.zone_of, first.zone_of) for mesh in meshes):
        raise ValueError("the meshes differ in their zones or in the length of their windows")
    if any(one.silent.any() for one in windows):
        raise ValueError("a VM is silent")
    planned = ~np.eye(first.size, dtype=bool)
    stacked = _stacked(windows)
    state = EvaluationState(np.arange(first.size))
    every = np.broadcast_to(planned, (len(meshes), *planned.shape))
    courses = [Course(mesh) for mesh in meshes]
    for at in range(max(steps)):
        ended_at_s = (at + 1) * first.window_s
        observed = observe(state, rules, _window(first, stacked, at, every))
        for number, fires in enumerate(observed.firing()):
            if at < steps[number] and (fires or courses[number].open):
                window = _window(first, windows[number], at, planned)
                of_one = observed.of(number)
                courses[number].apply(conclude(state.of(number), rules, window, of_one), ended_at_s)
    return [course.result(last * first.window_s) for course, last in zip(courses, steps, strict=True)]


def _window(mesh: Mesh, windows: Windows, at: int, planned: Flags) -> EvaluationWindow:
    return EvaluationWindow(
        (at + 1) * mesh.window_s,
        mesh.window_s,
        np.arange(mesh.size),
        mesh.zone_of,
        planned,
        lambda metric, statistic: _value(windows, at, metric, statistic),
        windows.silent[at],
        packets=lambda: _packets(windows, at),
        settling=-(-SETTLING_S // mesh.window_s),
    )


def _stacked(windows: Sequence[Windows]) -> Windows:
    """Return the windows of several meshes as arrays [window][mesh][source][target]; NaN after the end of a mesh."""
    steps = max(one.median_ns.shape[0] for one in windows)

    def stacked(name: str) -> Floats:
        parts = [getattr(one, name) for one in windows]
        array = np.full((steps, len(parts), *parts[0].shape[1:]), np.nan, np.float32)
        for at, part in enumerate(parts):
            array[: part.shape[0], at] = part
        return array

    return Windows(
        stacked("median_ns"),
        stacked("p90_ns"),
        stacked("max_ns"),
        stacked("loss"),
        stacked("clock_error_ns"),
        np.zeros((steps, windows[0].silent.shape[1]), np.bool_),
    )


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
            values = one_way + np.swapaxes(one_way, -1, -2)
        case Metric.ASYMMETRY:
            values = one_way - np.swapaxes(one_way, -1, -2)
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


def judge(case: Case, incidents: Sequence[Incident]) -> Score:
    """Compare incidents with the truth; `detected`, `right` and `windows` (of detection) are None without a fault.

    Returns of an incident are judged one by one, as if they were incidents.
    """
    count, notified = len(incidents), sum(incident.notified for incident in incidents)
    if not case.culprits:
        return Score(None, None, None, count, count, notified)
    own = [incident for incident in incidents if case.start <= incident.opened <= case.end + _LATE]
    right = own[0].last in case.culprits if own else None
    delay = max(1, own[0].opened - case.detectable + 1) if own else None
    return Score(bool(own), right, delay, count, count - bool(own), notified)


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
