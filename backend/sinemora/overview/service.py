"""Use cases of the overview."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from sinemora.alerts.detection import timeliness
from sinemora.alerts.evaluation.baseline import LEARNT
from sinemora.alerts.incidents.schemas import AffectedRead, CulpritRead
from sinemora.alerts.incidents.service import recurrence_read
from sinemora.alerts.models import Incident
from sinemora.applications import attach, reading
from sinemora.applications.models import Application
from sinemora.applications.queries import first_applications
from sinemora.applications.schemas import Named
from sinemora.fleet.inventory import copies
from sinemora.fleet.inventory.queries import newest_events
from sinemora.fleet.inventory.status import AgentStatus, silent_after, status_of
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import ZoneRun, mesh_state, zone_runs
from sinemora.kit.config import settings
from sinemora.measurements.aggregate.matrix import Cells, CellState, Flags, Statistic
from sinemora.measurements.query.matrix.compute import read_windows
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store import latest
from sinemora.overview import history, queries
from sinemora.overview.figures import PathFigures, is_below, is_older, losing, newest_version, path_figures, worst_first
from sinemora.overview.queries import AgentRow, MeshEvaluation
from sinemora.overview.schemas import (
    AgentCounts,
    AlertTimeliness,
    ApplicationRanking,
    Attention,
    ClockError,
    ClockErrors,
    CopiedIdentities,
    CopiedIdentity,
    CureRead,
    HealthZone,
    LearningRead,
    LosingZones,
    MeshHealth,
    OpenIncident,
    OutdatedAgent,
    OutdatedAgents,
    OverviewRead,
    PathCounts,
    ProposedMoves,
    RankedApplication,
    RecentIncident,
    SilentAgent,
    SilentAgents,
)
from sinemora.recommendations.models import Recommendation

_SHOWN = 5
_RECENT = timedelta(hours=24)
_RECENT_MAX = 200
APPLICATIONS_MAX = 200
# Zones of one region are some hundred microseconds apart: a larger error hides the difference.
_LARGE_CLOCK_ERROR_NS = 100_000


class _Statuses:
    """Unrevoked agents of a tenant with their status at one time.

    `of_vm` is by reports; `quiet`, ends of the newest windows of agents that report but send no new windows of a mesh.
    """

    def __init__(self, rows: Sequence[AgentRow], now: datetime) -> None:
        self.rows, self.now, self.stale = rows, now, settings().stale_windows
        self.heard: set[UUID] = set()
        self.quiet: dict[UUID, datetime] = {}
        self.of_vm = {
            row.vm_id: status_of(None, row.last_report_at, row.report_every_s, now, self.stale, row.stopped_since)
            for row in rows
        }

    def judge(self, session: Session, mesh: MeshState, has_paths: Flags, is_heard: Flags) -> dict[UUID, AgentStatus]:
        """Return the status of each agent of a mesh, by reports and by windows.

        `has_paths`, `is_heard`: members with planned paths, and with a current window of any of them.
        """
        found = {member.id: self.of_vm[member.id] for member in mesh.members if member.id in self.of_vm}
        self.heard |= {mesh.members[at].id for at in np.flatnonzero(is_heard).tolist()}
        asked = {mesh.members[at].key for at in np.flatnonzero(has_paths & ~is_heard).tolist()}
        # A VM that is the client of no pair has no windows of its own.
        heads = sorted(latest.heads(session, mesh.key), key=lambda head: head.started_at_s) if asked else []
        ends = {head.vm_key: utc(head.started_at_s + mesh.window_s) for head in heads if head.vm_key in asked}
        turns = mesh.strategy.period if mesh.strategy.rotates else 1
        for row in self.rows:
            late = silent_after(row.report_every_s, self.stale) + turns * timedelta(seconds=mesh.window_s)
            if found.get(row.vm_id) is AgentStatus.reporting and self.now - ends.get(row.vm_key, self.now) > late:
                found[row.vm_id] = AgentStatus.silent
                self.quiet[row.vm_id] = ends[row.vm_key]
        return found

    def silent(self) -> list[SilentAgent]:
        """Return the silent agents, longest silence first, once all meshes are judged."""
        found = []
        for row in self.rows:
            seen_at = row.last_report_at
            if row.vm_id not in self.heard:
                seen_at = self.quiet.get(row.vm_id, seen_at)
            if seen_at is not None and (self.of_vm[row.vm_id] is AgentStatus.silent or seen_at != row.last_report_at):
                found.append(SilentAgent(vm=Named(id=row.vm_id, name=row.vm_name), seen_at=seen_at))
        return sorted(found, key=lambda one: one.seen_at)


def _counts(statuses: Mapping[UUID, AgentStatus]) -> AgentCounts:
    """Return the number of agents by status."""
    found = Counter(statuses.values())
    return AgentCounts(
        reporting=found[AgentStatus.reporting],
        silent=found[AgentStatus.silent],
        stopped=found[AgentStatus.stopped],
        enrolled=found[AgentStatus.enrolled],
    )


def overview(session: Session) -> OverviewRead:
    """Return the health of the tenant's meshes, and what needs attention."""
    now = datetime.now(UTC)
    statuses = _Statuses(queries.agents(session), now)
    reader = _MeshReader(session, statuses, now)
    ids = session.scalars(select(Mesh.id).order_by(Mesh.name)).all()
    meshes = [reader.read(mesh_id) for mesh_id in ids]
    return OverviewRead(meshes=meshes, attention=_attention(session, statuses, reader.clocks.values()))


def alert_timeliness(session: Session) -> AlertTimeliness | None:
    """Return whether the tenant's alerts are in time; None where the database does not answer in time."""
    try:
        with session.begin_nested():
            now = timeliness.read(session)
    except SQLAlchemyError:
        return None
    return AlertTimeliness(
        evaluates=now.evaluates,
        evaluated_at=None if now.evaluates else now.evaluated_at,
        notifies=now.notifies,
        waiting_since=None if now.notifies else now.waiting_since,
    )


def mesh_health(session: Session, mesh_id: UUID) -> MeshHealth:
    """Return the health of one mesh. ProductError `mesh_unknown`."""
    now = datetime.now(UTC)
    return _MeshReader(session, _Statuses(queries.agents(session), now), now).read(mesh_id)


class _MeshReader:
    """Reads the meshes of a tenant in turn. `clocks`: VMs with a large clock error in the meshes read so far."""

    def __init__(self, session: Session, statuses: _Statuses, now: datetime) -> None:
        self.session, self.statuses, self.now = session, statuses, now
        self.open_incidents = queries.open_incidents(session)
        self.last_ends = queries.last_ends(session)
        self.alert_rules = queries.alert_rules(session)
        self.evaluations = queries.evaluations(session)
        self.proposed = queries.proposed(session)
        self.regions = queries.regions(session)
        self.clocks: dict[UUID, ClockError] = {}

    def read(self, mesh_id: UUID) -> MeshHealth:
        mesh = mesh_state(self.session, mesh_id)
        windows = read_windows(self.session, mesh, None, None)
        figures = path_figures(windows.cells, windows.no_service)
        self._collect_clocks(mesh, figures)
        planned: Flags = windows.cells.planned.sum(axis=1) > 0
        statuses = self.statuses.judge(self.session, mesh, planned, figures.clock_errors_ns >= 0)
        runs = zone_runs(mesh)
        zone_of = {member.id: member.zone_id for member in mesh.members} | {run.id: run.id for run in runs}
        states, evaluation = figures.states, self.evaluations.get(mesh_id, MeshEvaluation())
        open_incidents = self.open_incidents.get(mesh_id, 0)
        worst = queries.worst_incidents(self.session, mesh_id, _SHOWN) if open_incidents else ()
        recent = queries.recent_incidents(self.session, mesh_id, self.now - _RECENT, _RECENT_MAX)
        notified = queries.receivers_notified(self.session, [row.id for row in worst])
        return MeshHealth(
            id=mesh.id,
            name=mesh.name,
            vms=len(mesh.members),
            zones=[HealthZone(**vars(run), region=self.regions.get(run.id, "")) for run in runs],
            ended_at=windows.ended_at,
            paths=PathCounts(
                planned=int(windows.cells.planned.sum()),
                measured=states[CellState.MEASURED],
                lost=states[CellState.LOST],
                stale=states[CellState.STALE],
                no_data=states[CellState.NO_DATA],
                no_service=figures.no_service,
            ),
            loss=figures.loss,
            losing=_losing(mesh, runs, windows.cells, statuses),
            agents=_counts(statuses),
            open_incidents=open_incidents,
            worst_incidents=[_open_incident(row, notified, zone_of) for row in worst],
            recent_incidents=[RecentIncident.model_validate(one) for one in recent],
            last_incident_ended_at=self.last_ends.get(mesh_id),
            alert_rules=self.alert_rules.get(mesh_id, 0),
            evaluated_since=evaluation.since,
            evaluated_until=evaluation.until,
            lateness_s=round(evaluation.lateness_s, 1),
            learning=_learning(mesh, evaluation, int(windows.cells.planned.sum())),
            proposed=_proposed(self.proposed.get(mesh_id), worst),
        )

    def _collect_clocks(self, mesh: MeshState, figures: PathFigures) -> None:
        for member, error_ns in zip(mesh.members, figures.clock_errors_ns.tolist(), strict=True):
            known = self.clocks.get(member.id)
            if error_ns >= _LARGE_CLOCK_ERROR_NS and (known is None or known.clock_error_ns < error_ns):
                self.clocks[member.id] = ClockError(vm=Named(id=member.id, name=member.name), clock_error_ns=error_ns)


def _learning(mesh: MeshState, evaluation: MeshEvaluation, planned: int) -> LearningRead:
    """Return how much the alerts of a mesh have learnt; nothing before their first evaluation."""
    names = ("settling_paths", "settled_s", "unlearnt_paths", "learnt_s")
    values = {name: getattr(evaluation, name) for name in names}
    settling_s = settings().alert_settling_s
    if evaluation.until is None:
        values |= {"settling_paths": planned if settling_s else 0, "unlearnt_paths": planned}
    turns = mesh.strategy.period if mesh.strategy.rotates else 1
    return LearningRead(**values, settling_s=settling_s, baseline_s=LEARNT * mesh.window_s * turns)


def _losing(
    mesh: MeshState, runs: Sequence[ZoneRun], cells: Cells, statuses: Mapping[UUID, AgentStatus]
) -> list[LosingZones]:
    """Return the zone pairs that lose packets; those of silent agents are not counted again."""
    group_of = np.repeat(np.arange(len(runs)), [run.count for run in runs])
    away = (AgentStatus.silent, AgentStatus.stopped)
    without = np.array([statuses.get(member.id) in away for member in mesh.members], np.bool_)
    return [
        LosingZones(source=runs[source].id, target=runs[target].id, loss=loss)
        for source, target, loss in losing(cells, group_of, without)
    ]


def _open_incident(row: Incident, notified: Mapping[UUID, int], zone_of: Mapping[UUID, UUID]) -> OpenIncident:
    culprit = CulpritRead.model_validate(row.culprit)
    places = [place.id for place in (culprit.at, culprit.other) if place is not None]
    return OpenIncident(
        **{name: getattr(row, name) for name in ("id", "severity", "state", "title", "onset_at", "seen_at")},
        culprit=culprit,
        # A VM or a zone that has left the mesh is on no picture.
        zones=[zone_of[place] for place in places if place in zone_of],
        metric=(row.evidence.get("impact") or {}).get("metric"),
        rise_ns=row.evidence.get("rise_ns"),
        loss=row.evidence.get("loss"),
        paths=int(row.evidence.get("paths", 0)),
        recurrence=recurrence_read(row),
        applications=[AffectedRead.model_validate(one) for one in row.applications],
        receivers_notified=None if row.silenced_by is not None else notified.get(row.id, 0),
    )


def _proposed(recommendation: Recommendation | None, worst: Sequence[Incident]) -> ProposedMoves | None:
    """Return moves that were proposed; while an incident is open, only moves that cure what it costs most."""
    if recommendation is None:
        return None
    cures = _cured(recommendation, worst[0].applications) if worst else None
    if worst and cures is None:
        return None
    total = recommendation.result["total"]
    return ProposedMoves(id=recommendation.id, moves=len(recommendation.moves), total=total, cures=cures)


def _cured(recommendation: Recommendation, affected: Sequence[Mapping[str, Any]]) -> CureRead | None:
    """Return what loses most, if moves bring it to its objective, or without one give half of its loss back."""
    losing = max(affected, key=lambda one: one["cost"] or 0.0, default=None)
    if losing is None or not losing["cost"]:
        return None
    now, objective = losing["performance"], losing["objective"]
    for one in recommendation.result.get("applications", []):
        after = one["expected"]["after"]["mean"]
        least = (1.0 if now is None else now) + losing["cost"] / 2 if objective is None else objective
        if one["application"]["id"] == losing["id"] and after >= least:
            return CureRead(application=Named(id=losing["id"], name=losing["name"]), now=now, after=after)
    return None


def _attention(session: Session, statuses: _Statuses, clocks: Collection[ClockError]) -> Attention:
    newest = newest_version(row.agent_version for row in statuses.rows)
    silent = statuses.silent()
    outdated = [
        OutdatedAgent(vm=Named(id=row.vm_id, name=row.vm_name), agent_version=row.agent_version)
        for row in statuses.rows
        if is_older(row.agent_version, newest)
    ]
    names = {row.vm_id: row.vm_name for row in statuses.rows}
    since = datetime.now(UTC) - timedelta(seconds=2 * copies.EVENT_EVERY_S)
    noticed: dict[UUID, CopiedIdentity] = {}
    for vm_id, event in newest_events(session, copies.EVENT, names, {}, since):
        noticed.setdefault(vm_id, CopiedIdentity(vm=Named(id=vm_id, name=names[vm_id]), seen_at=event.at))
    return Attention(
        copied=CopiedIdentities(count=len(noticed), first=list(noticed.values())[:_SHOWN]),
        silent=SilentAgents(count=len(silent), first=silent[:_SHOWN]),
        outdated=OutdatedAgents(newest=newest, count=len(outdated), first=outdated[:_SHOWN]),
        clocks=ClockErrors(
            above_ns=_LARGE_CLOCK_ERROR_NS,
            count=len(clocks),
            first=sorted(clocks, key=lambda one: -one.clock_error_ns)[:_SHOWN],
        ),
    )


def rank_applications(session: Session, limit: int) -> ApplicationRanking:
    """Return `limit` applications with the lowest performance under the newest round trips."""
    rows = first_applications(session, APPLICATIONS_MAX)
    entries = attach.entries(session, rows)
    networks = {mesh_id: reading.network(session, mesh_id, Statistic.P50) for mesh_id in {row.mesh_id for row in rows}}
    reached = [reading.predict(row, networks[row.mesh_id], entries[row.id]) for row in rows]
    performances = [one.mean() for one in reached]
    order = worst_first(performances, [row.objective for row in rows])
    below = [is_below(performance, row.objective) for performance, row in zip(performances, rows, strict=True)]
    shown = order[:limit]
    days = history.performances(session, [rows[at] for at in shown])
    return ApplicationRanking(
        total=session.scalar(select(func.count()).select_from(Application)) or 0,
        evaluated=len(rows),
        below_objective=sum(below),
        worst=[
            RankedApplication.from_row(
                rows[at],
                mesh=Named.model_validate(rows[at].mesh),
                performance=performances[at],
                below_objective=below[at],
                links=len(reached[at].links),
                measured=reached[at].measured,
                day=day,
            )
            for at, day in zip(shown, days, strict=True)
        ],
    )
