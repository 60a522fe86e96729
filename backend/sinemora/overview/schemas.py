"""Schemas of the overview. Lists are short: each comes with the number of all."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sinemora.advisors.fairness.schemas import FairnessOf
from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.incidents.schemas import AffectedRead, CulpritRead, RecurrenceRead
from sinemora.alerts.models import IncidentState
from sinemora.applications.schemas import Named
from sinemora.fleet.meshes.schemas import RosterZone
from sinemora.kit import health
from sinemora.kit.schemas import Read
from sinemora.measurements.aggregate.matrix import Metric
from sinemora.recommendations.schemas import GainRead


class AlertTimeliness(Read):
    """Whether the tenant's alerts are in time."""

    evaluates: bool
    evaluated_at: datetime | None
    notifies: bool
    waiting_since: datetime | None


class About(health.About):
    """Versions, laboratories, and whether alerts are in time; null while the database does not know."""

    alerts: AlertTimeliness | None


class PathCounts(Read):
    """Planned paths by the state of their newest window."""

    planned: int
    measured: int
    lost: int
    stale: int
    no_data: int
    no_service: int


class AgentCounts(Read):
    """Agents by status. `enrolled`: no report yet."""

    reporting: int
    silent: int
    stopped: int
    enrolled: int


class OpenIncident(Read):
    """An unresolved incident with the applications it affects."""

    id: UUID
    severity: Severity
    state: IncidentState
    title: str
    culprit: CulpritRead
    zones: list[UUID]
    metric: Metric | None
    rise_ns: int | None
    loss: float | None
    paths: int
    onset_at: datetime
    seen_at: datetime
    recurrence: RecurrenceRead | None
    applications: list[AffectedRead]
    receivers_notified: int | None


class RecentIncident(Read):
    """A time in the last 24 hours at which an incident was seen. `ended_at` is null while it continues."""

    id: UUID
    severity: Severity
    title: str
    onset_at: datetime
    ended_at: datetime | None


class CureRead(Read):
    """Application that loses most by the first incident, with its performance now and after the moves."""

    application: Named
    now: float | None
    after: float


class ProposedMoves(Read):
    """The newest recommendation that waits for a decision; while an incident is open, only moves that cure it."""

    id: UUID
    moves: int
    total: GainRead | None
    cures: CureRead | None


class LearningRead(Read):
    """How much the alerts of a mesh have learnt. Rules count a path only after it was measured for `settling_s`."""

    settling_paths: int
    settled_s: int
    settling_s: int
    unlearnt_paths: int
    learnt_s: int
    baseline_s: int


class HealthZone(RosterZone):
    """Zone of consecutive rows, and the region that it is in."""

    region: str


class LosingZones(Read):
    """A pair of zones whose paths lose packets."""

    source: UUID
    target: UUID
    loss: float


class MeshHealth(Read):
    """Health of a mesh, from the newest window of each path."""

    id: UUID
    name: str
    vms: int
    zones: list[HealthZone]
    ended_at: datetime | None
    paths: PathCounts
    loss: float | None
    losing: list[LosingZones]
    agents: AgentCounts
    open_incidents: int
    worst_incidents: list[OpenIncident]
    recent_incidents: list[RecentIncident]
    last_incident_ended_at: datetime | None
    alert_rules: int
    evaluated_since: datetime | None
    evaluated_until: datetime | None
    lateness_s: float
    learning: LearningRead
    proposed: ProposedMoves | None


class WorstHour(Read):
    """A measured hour, and the zone pair that differs most from usual in it."""

    started_at: datetime
    source: str | None
    target: str | None
    usual_ns: int | None
    change_ns: int | None
    loss: float | None


class MeshHistory(Read):
    """The worst changes of a mesh by hour, and its incidents."""

    since: datetime
    hours: list[WorstHour]
    incidents: list[RecentIncident]


class SilentAgent(Read):
    """An agent whose windows stopped."""

    vm: Named
    seen_at: datetime


class OutdatedAgent(Read):
    """An agent of an older version."""

    vm: Named
    agent_version: str


class ClockError(Read):
    """A VM whose clock is not known well: median error of its paths."""

    vm: Named
    clock_error_ns: int


class CopiedIdentity(Read):
    """An agent whose identity two machines use. `seen_at`: when that was last noticed."""

    vm: Named
    seen_at: datetime


class CopiedIdentities(Read):
    """Agents whose identity two machines use, newest first."""

    count: int
    first: list[CopiedIdentity]


class SilentAgents(Read):
    """Silent agents, longest silence first."""

    count: int
    first: list[SilentAgent]


class OutdatedAgents(Read):
    """Agents older than the newest version in use."""

    newest: str | None
    count: int
    first: list[OutdatedAgent]


class ClockErrors(Read):
    """VMs with a clock error of `above_ns` or more, largest first."""

    above_ns: int
    count: int
    first: list[ClockError]


class Attention(Read):
    """Agents and clocks that need attention."""

    silent: SilentAgents
    copied: CopiedIdentities
    outdated: OutdatedAgents
    clocks: ClockErrors


class OverviewRead(Read):
    """Health of all meshes, and what needs attention."""

    meshes: list[MeshHealth]
    attention: Attention


class Advisor(StrEnum):
    """Advisor that has a finding."""

    fairness = "fairness"
    shaping = "shaping"
    transport = "transport"


class AdvisorFinding(Read):
    """A finding of an advisor: what it is about, the measurement, and the rule that fired."""

    advisor: Advisor
    mesh: Named
    about: str
    measurement: str
    rule: str
    advice: str | None
    source: str | None
    target: str | None
    of: FairnessOf | None
    incident_id: UUID | None


class PerformanceHistory(Read):
    """Predicted performance of an application at each stored step."""

    step_s: int
    points_at: list[datetime]
    performance: list[float | None]
    usual: float | None


class AppliedMoves(Read):
    """Moves of an application, as a recommendation that was applied."""

    recommendation_id: UUID
    applied_at: datetime
    moves: int


class ApplicationHistory(PerformanceHistory):
    """Predicted performance of an application, with the incidents that affected it and its applied moves."""

    incidents: list[RecentIncident]
    moves: list[AppliedMoves]


class RankedApplication(Read):
    """An application and its predicted performance."""

    id: UUID
    name: str
    mesh: Named
    performance: float | None
    objective: float | None
    below_objective: bool
    links: int
    measured: int
    day: PerformanceHistory


class ApplicationRanking(Read):
    """Applications worst first: below their objective, then by performance. Of `total`, `evaluated` were compared."""

    total: int
    evaluated: int
    below_objective: int
    worst: list[RankedApplication]
