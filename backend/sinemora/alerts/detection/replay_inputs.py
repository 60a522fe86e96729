"""Silent agents, application performance and token buckets for replayed windows, reconstructed from stored data."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.detection import queries
from sinemora.alerts.detection.replay import ReplaySpan
from sinemora.alerts.evaluation.baseline import Flags
from sinemora.alerts.evaluation.rule import Among, Kind, Rule
from sinemora.alerts.evaluation.window import BucketForecast, EvaluationWindow
from sinemora.alerts.incidents.affected import Predict
from sinemora.applications import attach, reading
from sinemora.applications import queries as applications
from sinemora.applications.models import Application
from sinemora.applications.performance import Reached, reached
from sinemora.fleet.inventory.status import silent_after
from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.config import settings
from sinemora.measurements.aggregate.matrix import Metric, Statistic, positions_of
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier
from sinemora.measurements.token_buckets import service as token_buckets
from sinemora.measurements.token_buckets.tokens import Tracker

# Reporters are read in chunks of this many seconds.
_READ_S = 3600
_NAMES_MAX = 10
_SEVERAL = 2


class ReportHistory:
    """VMs that reported, by window; windows must be requested in order.

    A VM counts as silent after the time that live evaluation would have waited. Windows received too late to count
    then do not count now, as far as receive times are kept (not for minutes). A window without any report counts as
    no silence: an outage of all agents and one of the backend look alike.
    """

    def __init__(self, session: Session, mesh: MeshState, span: ReplaySpan) -> None:
        self._session, self._mesh, self._span = session, mesh, span
        self._keys = keys_of(mesh)
        self._patience_s = silent_after(mesh.window_s, settings().stale_windows).total_seconds()
        self._seen_s = np.zeros(self._keys.size, np.int64)
        self._reporting_since_s = 0
        self._read_until_s = span.first_s - span.step_s
        self._present: dict[int, list[int]] = {}

    def silent(self, ended_at_s: int) -> Flags:
        """Return the members that should have reported by the end of this window and had not."""
        keys = self._reporters(ended_at_s - self._span.step_s)
        known = positions_of(self._keys, np.array(keys, np.int64))
        known = known[known >= 0]
        if not known.size:
            self._reporting_since_s = 0
            return np.zeros(self._keys.size, np.bool_)
        if not self._reporting_since_s:
            self._reporting_since_s = ended_at_s
        self._seen_s[known] = ended_at_s
        since = np.maximum(self._seen_s, self._reporting_since_s)
        silent: Flags = (self._seen_s > 0) & (ended_at_s - since > self._patience_s)
        return silent

    def never_seen(self) -> list[str]:
        """Return names of VMs that have reported nothing so far."""
        return [member.name for member, seen_s in zip(self._mesh.members, self._seen_s, strict=True) if not seen_s]

    def _reporters(self, started_at_s: int) -> list[int]:
        while started_at_s >= self._read_until_s:
            start, end = utc(self._read_until_s), utc(self._read_until_s + _READ_S)
            in_time = timedelta(seconds=self._patience_s) if self._span.tier is Tier.RAW else None
            self._present = queries.reporters(self._session, self._mesh.key, self._span.tier, start, end, in_time)
            self._read_until_s += _READ_S
        return self._present.get(started_at_s, [])


class Predictions:
    """Predicted performance of a mesh's applications under past round trips, with today's curves and placement."""

    def __init__(self, session: Session, mesh: MeshState) -> None:
        rows = applications.applications_of(session, mesh.id)
        entries = attach.entries(session, rows)
        places: dict[UUID, int] = {member.id: at for at, member in enumerate(mesh.members)}
        self._known = {
            one.name: (
                one.objective,
                reading.links_of(one),
                np.array([-1 if task.vm_id is None else places.get(task.vm_id, -1) for task in one.tasks], np.intp),
                attach.sensitivity(one, entries[one.id]),
            )
            for one in rows
        }

    @property
    def count(self) -> int:
        """Return the number of applications."""
        return len(self._known)

    @property
    def objectives(self) -> int:
        """Return the number of applications with an objective."""
        return sum(objective is not None for objective, *_ in self._known.values())

    def at(self, window: EvaluationWindow) -> Predict:
        """Return predictions for one window; None for an application that is unknown."""

        def predict(application: Application) -> Reached:
            return self._reached(application.name, window)

        return predict

    def completed(self, window: EvaluationWindow) -> EvaluationWindow:
        """Return a window with the predicted performance of applications, and how far they are below objectives."""
        means = {name: self._reached(name, window).mean() for name in self._known}
        performances = {name: float("nan") if mean is None else mean for name, mean in means.items()}
        objectives = {name: objective for name, (objective, *_) in self._known.items() if objective is not None}
        below = {name: objective - performances[name] for name, objective in objectives.items()}
        return replace(window, performances=performances, below=below)

    def _reached(self, name: str, window: EvaluationWindow) -> Reached:
        _, links, at, sensitivity = self._known[name]
        trips = window.values(Metric.ROUND_TRIP, Statistic.P50).astype(np.float64)
        return reached(links, at, trips, sensitivity)


class BucketHistory:
    """Token buckets of a mesh's VMs through past windows, with today's rate and depth.

    Windows must be requested in order. A bucket is unknown an hour before the range, and expected to be full then.
    """

    def __init__(self, session: Session, mesh: MeshState, span: ReplaySpan) -> None:
        start, end = utc(span.first_s) - timedelta(hours=1), utc(span.last_s)
        rows = token_buckets.of_mesh(session, mesh.id)
        self._trackers = {row.vm.key: Tracker(token_buckets.bucket_of(row)) for row in rows}
        self._uses = {row.vm.key: deque(token_buckets.uses_of(session, row, start, end)) for row in rows}

    @property
    def count(self) -> int:
        """Return the number of VMs with a token bucket."""
        return len(self._trackers)

    def at(self, ended_at_s: int) -> dict[int, BucketForecast]:
        """Return the forecasts at the end of a window, of the VMs with recent traffic."""
        forecasts = {}
        for key, tracker in self._trackers.items():
            uses = self._uses[key]
            while uses and uses[0].started_at_s < ended_at_s:
                tracker.add(uses.popleft())
            forecast = tracker.forecast()
            if forecast is not None and ended_at_s - forecast.at_s <= token_buckets.FRESH.total_seconds():
                forecasts[key] = tracker.bucket, forecast
        return forecasts


class Completion:
    """Adds the inputs that rules about silence, performance and token buckets need to replayed windows."""

    def __init__(self, session: Session, mesh: MeshState, rules: Sequence[Rule], span: ReplaySpan) -> None:
        kinds = {rule.condition.kind for rule in rules}
        self._mesh = mesh
        self._by_minutes = span.tier is not Tier.RAW
        self._reports = ReportHistory(session, mesh, span) if Kind.SILENT in kinds else None
        self._fairness = [rule.condition.among for rule in rules if rule.condition.kind is Kind.FAIRNESS]
        self._performance = Kind.PERFORMANCE in kinds
        self._burns = any(rule.condition.kind is Kind.PERFORMANCE and rule.condition.over_s for rule in rules)
        of_applications = any(rule.condition.of_applications for rule in rules)
        self._predictions = Predictions(session, mesh) if of_applications else None
        self._buckets = BucketHistory(session, mesh, span) if Kind.TOKENS in kinds else None

    def __call__(self, window: EvaluationWindow) -> EvaluationWindow:
        if self._reports is not None:
            window = replace(window, silent=self._reports.silent(window.ended_at_s))
        if self._predictions is not None:
            window = self._predictions.completed(window)
        if self._buckets is not None:
            window = replace(window, buckets=self._buckets.at(window.ended_at_s))
        return window

    def notes(self) -> list[str]:
        """Return notes on the basis and the limits of the result."""
        notes = []
        if self._reports is not None:
            notes.append(
                "Silence is derived from stored windows. Windows without any report count as no silence: an outage of"
                " all agents and one of the backend look alike."
            )
            if self._by_minutes:
                notes.append("Late reports count as in time: receive times are not kept for minutes.")
            if never_reported := self._reports.never_seen():
                more = len(never_reported) - _NAMES_MAX
                names = ", ".join(never_reported[:_NAMES_MAX]) + (f" and {more} more" if more > 0 else "")
                notes.append(f"No windows stored for {names}: silence is unknown.")
        if self._predictions is not None:
            notes += self._notes_on_applications(self._predictions)
        if Among.FLOWS in self._fairness and self._mesh.flows < _SEVERAL:
            notes.append("This mesh measures one flow per path: a rule among flows cannot fire.")
        if self._buckets is not None:
            if self._by_minutes:
                notes.append("Traffic is kept as long as windows: token rules cannot fire on minutes before that.")
            if self._buckets.count:
                notes.append("Token buckets have today's rate and depth, and are expected to be full at the start.")
            else:
                notes.append("No VM of this mesh has a token bucket: token rules cannot fire.")
        return notes

    def _notes_on_applications(self, predictions: Predictions) -> list[str]:
        if self._performance and not predictions.objectives:
            return ["No application of this mesh has an objective: performance rules cannot fire."]
        if self._burns:
            return ["Rules about the budget of a contract are evaluated live alone."]
        if Among.APPLICATIONS in self._fairness and predictions.count < _SEVERAL:
            return ["This mesh has fewer than two applications: a rule among applications cannot fire."]
        return ["Performance is predicted with today's placement, curves and objectives."]
