"""What frames alone do not say of windows of the past: whose agent was silent, which application was below its
objective. Told from what is stored, as far as that can tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.detection import queries
from sinemora.alerts.detection.replay import Span
from sinemora.alerts.evaluation.baseline import Flags
from sinemora.alerts.evaluation.engine import Window
from sinemora.alerts.evaluation.rule import Kind, Rule
from sinemora.applications import attach, reading
from sinemora.applications import queries as applications
from sinemora.applications.models import Application
from sinemora.applications.performance import reached
from sinemora.inventory.status import silent_after
from sinemora.kit.config import settings
from sinemora.measurements.aggregate.matrix import Metric, Statistic, positions_of
from sinemora.measurements.query.matrix import keys_of
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier
from sinemora.meshes.plan import MeshState

Predicting = Callable[[Application], float | None]
"""What an application keeps of its performance, None where that cannot be told."""

# Rows of who reported are read so many seconds at a time.
_READ_S = 3600
_NAMED = 10


class Attendance:
    """Who has reported, window by window; asked in the order of time.

    A VM counts as silent when nothing of it was stored for as long as the present would wait for it. Windows that
    came too late to count then do not count now, where the time they came is kept (not by minutes). A window nobody
    reported says nothing: agents and backend cannot be told apart.
    """

    def __init__(self, session: Session, mesh: MeshState, span: Span) -> None:
        self._session, self._mesh, self._span = session, mesh, span
        self._keys = keys_of(mesh)
        self._patience_s = silent_after(mesh.window_s, settings().stale_windows).total_seconds()
        self._seen_s = np.zeros(self._keys.size, np.int64)
        self._anybody_s = 0
        self._read_until_s = span.first_s - span.step_s
        self._present: dict[int, list[int]] = {}

    def silent(self, ended_at_s: int) -> Flags:
        """Return the members that should have reported by the end of this window and had not."""
        keys = self._reporters(ended_at_s - self._span.step_s)
        known = positions_of(self._keys, np.array(keys, np.int64))
        known = known[known >= 0]
        if not known.size:
            self._anybody_s = 0
            return np.zeros(self._keys.size, np.bool_)
        if not self._anybody_s:
            self._anybody_s = ended_at_s
        self._seen_s[known] = ended_at_s
        since = np.maximum(self._seen_s, self._anybody_s)
        found: Flags = (self._seen_s > 0) & (ended_at_s - since > self._patience_s)
        return found

    def never_seen(self) -> list[str]:
        """Names of VMs that have reported nothing so far."""
        return [member.name for member, seen_s in zip(self._mesh.members, self._seen_s, strict=True) if not seen_s]

    def _reporters(self, started_at_s: int) -> list[int]:
        while started_at_s >= self._read_until_s:
            start, end = utc(self._read_until_s), utc(self._read_until_s + _READ_S)
            in_time = timedelta(seconds=self._patience_s) if self._span.tier is Tier.RAW else None
            self._present = queries.reporters(self._session, self._mesh.key, self._span.tier, start, end, in_time)
            self._read_until_s += _READ_S
        return self._present.get(started_at_s, [])


class Predictions:
    """What the applications of a mesh would keep of their performance under round trips of the past: with the curves
    they have now and their tasks where they are now.
    """

    def __init__(self, session: Session, mesh: MeshState) -> None:
        found = applications.applications_of(session, mesh.id)
        entries = attach.entries(session, found)
        places: dict[UUID, int] = {member.id: at for at, member in enumerate(mesh.members)}
        self._known = {
            one.name: (
                one.objective,
                reading.links_of(one),
                np.array([-1 if task.vm_id is None else places.get(task.vm_id, -1) for task in one.tasks], np.intp),
                attach.sensitivity(one, entries[one.id]),
            )
            for one in found
        }

    @property
    def objectives(self) -> int:
        """How many state one."""
        return sum(objective is not None for objective, *_ in self._known.values())

    def at(self, window: Window) -> Predicting:
        """Return predictions for one window; None for an application that is unknown."""

        def predicted(application: Application) -> float | None:
            return self._performance(application.name, window)

        return predicted

    def below(self, window: Window) -> dict[str, float]:
        """Return by name how far each application with an objective is below it in a window (NaN: unknown)."""
        found = {}
        for name, (objective, *_) in self._known.items():
            if objective is not None:
                predicted = self._performance(name, window)
                found[name] = float("nan") if predicted is None else objective - predicted
        return found

    def _performance(self, name: str, window: Window) -> float | None:
        _, links, at, sensitivity = self._known[name]
        trips = window.values(Metric.ROUND_TRIP, Statistic.P50).astype(np.float64)
        return reached(links, at, trips, sensitivity).mean()


class Completed:
    """What rules of these kinds need to know of each window, and what they cannot."""

    def __init__(self, session: Session, mesh: MeshState, rules: Sequence[Rule], span: Span) -> None:
        kinds = {rule.condition.kind for rule in rules}
        self._by_minutes = span.tier is not Tier.RAW
        self._attendance = Attendance(session, mesh, span) if Kind.SILENT in kinds else None
        self._predictions = Predictions(session, mesh) if Kind.PERFORMANCE in kinds else None

    def __call__(self, window: Window) -> Window:
        if self._attendance is not None:
            window = replace(window, silent=self._attendance.silent(window.ended_at_s))
        if self._predictions is not None:
            window = replace(window, below=self._predictions.below(window))
        return window

    def notes(self) -> list[str]:
        """Return in words the basis of the result and what stored data cannot show."""
        found = []
        if self._attendance is not None:
            found.append(
                "Whose agent was silent is told from the windows that are stored. Where nobody has any, agents and"
                " backend cannot be told apart: that counts as no silence."
            )
            if self._by_minutes:
                found.append("When reports came is not kept so long: those that came late count as if in time.")
            if never := self._attendance.never_seen():
                shown = ", ".join(never[:_NAMED]) + (f" and {len(never) - _NAMED} more" if len(never) > _NAMED else "")
                found.append(f"Of {shown} no window was stored in this time: silence cannot be told.")
        if self._predictions is not None:
            if self._predictions.objectives:
                found.append("Performance is predicted with the tasks, curves and objectives of now.")
            else:
                found.append("No application of this mesh states an objective: nothing can be below it.")
        return found
