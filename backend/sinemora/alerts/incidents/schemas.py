"""Wire shapes of incidents: culprit, evidence, timeline. Delays in ns."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.alerts.evaluation.rule import Among, Kind, Severity
from sinemora.alerts.figures import IncidentFigures
from sinemora.alerts.models import IncidentState
from sinemora.alerts.verdict import ReasonCode, VerdictKind
from sinemora.kit.schemas import Read, Write
from sinemora.measurements.aggregate.matrix import Metric, Statistic


class CulpritPlace(Read):
    """A VM or a zone of a culprit."""

    id: UUID
    name: str


class CulpritRead(Read):
    """A culprit; `other`: the target of a path or a pair of zones. `words`: its display name."""

    suspect: str
    at: CulpritPlace | None
    other: CulpritPlace | None
    words: str


class HypothesisRead(CulpritRead):
    """A culprit with its evidence: of `known` paths in its set, `bad` look bad."""

    score: float
    bad: int
    known: int
    explained: int | None = None


class HeatmapRead(Read):
    """Paths around a culprit, [source][target]; null where unknown."""

    ids: list[UUID] = Field(default_factory=list)
    names: list[str]
    unit: Literal["deviations", "loss", "spikes", "delay"]
    values: list[list[float | None]]
    changes_ns: list[list[int | None]] | None = None


class ImpactPath(Read):
    """An affected path in the worst window: its value, the usual one, and the limit of the rule."""

    source: CulpritPlace
    target: CulpritPlace
    value: float | None
    usual: float | None
    limit: float | None


class ImpactRead(Read):
    """Affected paths by the metric of the rule that fires on most of them, in ns or as ratios."""

    rule: str
    kind: Kind
    metric: Metric
    statistic: Statistic
    value: float | None
    usual: float | None
    worst: list[ImpactPath]


class BucketEvidence(Read):
    """Token bucket of a VM when the incident opened: its tokens and the use above its rate, which empties it."""

    rate_mbit: float
    use_mbit: float
    burst_kb: float
    tokens_kb: float
    empty_in_s: float | None


class ShareEvidence(Read):
    """Share of a member; `relative` is it over the mean share. Of VMs and flows requests per second: 1 / round trip."""

    name: str
    share: float
    relative: float


class FairnessEvidence(Read):
    """Jain's index in the worst window, its limit, and the members with the least shares, at most 12 of `count`."""

    among: Among
    index: float
    below: float
    path: list[str] | None
    count: int
    members: list[ShareEvidence]


class HostEvidenceRead(Read):
    """Waits on a VM whose host is a suspect, in the minute before an incident was last seen. Null: not available."""

    id: UUID
    name: str
    stalled: float
    longest_ns: int
    wake_p50_ns: int | None
    queue_p99_ns: int | None
    stolen: float | None
    throttled: float | None
    pressure: float | None
    receive_drops: int | None
    spikes: int
    spikes_waiting: int


class IncidentEvidenceRead(Read):
    """Evidence of an incident."""

    hypotheses: list[HypothesisRead]
    heatmap: HeatmapRead
    paths: int
    rise_ns: int | None
    impact: ImpactRead | None = None
    loss: float | None = None
    token_bucket: BucketEvidence | None = None
    fairness: FairnessEvidence | None = None
    hosts: list[HostEvidenceRead] = Field(default_factory=list)


class VerdictReasonRead(Read):
    """A reason of a verdict: `paths` of `compared` ones, the median `change_ns`, `loss` as a ratio."""

    code: ReasonCode
    paths: int | None
    compared: int | None
    change_ns: int | None
    loss: float | None
    applications: list[str]


class OtherIncidentRead(Read):
    """An incident of the network at the same time; `cost`: share of its best that an application loses on its paths."""

    id: UUID
    title: str
    application: str
    cost: float


class VerdictRead(Read):
    """Verdict: the network, a clock, an agent or an application is at fault, with the reasons."""

    kind: VerdictKind
    reasons: list[VerdictReasonRead]
    others: list[OtherIncidentRead]


class Runbook(Read):
    """The runbook of a rule that fired."""

    rule: str
    url: str


class MeshName(Read):
    """A mesh by name."""

    id: UUID
    name: str


class RecurrenceRead(Read):
    """How an incident recurs: seen `times` since `since`, `last_hour` of them in the hour until it was last seen."""

    times: int
    since: datetime
    last_hour: int
    flaps: bool


class IncidentPath(Read):
    """The worst affected path of an incident. `usual` in the unit of the metric: ns, or a ratio of loss."""

    metric: Metric
    statistic: Statistic
    source: CulpritPlace
    target: CulpritPlace
    usual: float | None


class IncidentSummary(Read):
    """An incident as an item of a list. Of one that recurs, `onset_at` and `opened_at` are those of the last time."""

    id: UUID
    mesh: MeshName
    state: IncidentState
    severity: Severity
    title: str
    culprit: CulpritRead
    paths: int
    worst_path: IncidentPath | None
    rules: list[str]
    onset_at: datetime
    opened_at: datetime
    seen_at: datetime
    ended_at: datetime | None
    timescale: Literal["short", "long"]
    assignee: str | None
    silenced_by: str | None
    merged_into: UUID | None
    recurrence: RecurrenceRead | None
    found_late_at: datetime | None
    version: int


class TimelineEntry(Read):
    """An event in the timeline of an incident."""

    at: datetime
    kind: str
    actor: str
    text: str


class AffectedRead(Read):
    """An application with a link on the paths of an incident."""

    id: UUID
    name: str
    performance: float | None
    cost: float | None = None
    objective: float | None


class EpisodeRead(Read):
    """A time at which an incident was seen. `ended_at` is null while it continues."""

    started_at: datetime
    ended_at: datetime | None


class IncidentRead(IncidentSummary):
    """An incident with its evidence, affected applications, timeline and similar incidents."""

    figures: IncidentFigures
    evidence: IncidentEvidenceRead
    verdict: VerdictRead
    runbooks: list[Runbook]
    applications: list[AffectedRead]
    episodes: list[EpisodeRead] = Field(
        description="The newest 100 times at which it was seen, oldest first; empty of incidents before this was kept"
    )
    timeline: list[TimelineEntry]
    similar: list[IncidentSummary] = Field(
        description="Earlier incidents of 30 days with the same suspect or most of the same paths, newest first"
    )


class Note(Write):
    """A person's note."""

    text: Annotated[str, Field(max_length=4000)] = ""


class Assignment(Write):
    """The assignee of an incident; null: no one."""

    assignee: Annotated[str, Field(max_length=200)] | None


class SilencePreview(Read):
    """Incidents of the last week that a silence would have matched; `notes` on names that none or several have."""

    incidents: list[IncidentSummary]
    notes: list[str]
