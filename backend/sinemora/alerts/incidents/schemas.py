"""Wire shapes of incidents: culprit, evidence, timeline. Delays in ns."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.alerts.evaluation.rule import Among, Kind, Severity
from sinemora.alerts.incidents.verdict import ReasonCode, VerdictKind
from sinemora.alerts.models import IncidentState
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
    """A culprit with its evidence: of `known` paths in its set, `bad` look bad.

    `explained`: number of affected paths in its set; null of incidents before it was recorded.
    """

    score: float
    bad: int
    known: int
    explained: int | None = None


class HeatmapRead(Read):
    """Paths around a culprit, [source][target]; null where unknown.

    `unit`: `deviations` in spreads from the baseline; `spikes`, the maximum minus the median, and `delay`, both ns;
    `loss`, a share.
    `ids`: the VMs, empty before they were recorded. `changes_ns`: one-way delays minus their baselines; null without
    any baseline.
    """

    ids: list[UUID] = Field(default_factory=list)
    names: list[str]
    unit: Literal["deviations", "loss", "spikes", "delay"]
    values: list[list[float | None]]
    changes_ns: list[list[int | None]] | None = None


class ImpactPath(Read):
    """An affected path: its value when the incident last grew, the usual one, and the limit of the rule."""

    source: CulpritPlace
    target: CulpritPlace
    value: float | None
    usual: float | None
    limit: float | None


class ImpactRead(Read):
    """Affected paths by the metric of the rule that fires on most of them, in ns or as ratios.

    `value` and `usual` are medians over the paths; `worst`: those with the largest change, at most 12. Of a spike,
    `usual` is the median of the window.
    """

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
    """Jain's index when the incident opened, its limit, and the members with the least shares, at most 12 of `count`.

    `path`: VMs of the path whose flows are members, of several the least even one; null of VMs and applications.
    """

    among: Among
    index: float
    below: float
    path: list[str] | None
    count: int
    members: list[ShareEvidence]


class HostEvidenceRead(Read):
    """Waits on a VM whose host is a suspect, in the minute before an incident was last seen. Null: not available.

    Ratios of time: its agent waited for a processor (`stalled`), the hypervisor ran others (`stolen`), a quota held the
    agent back (`throttled`), some process waited (`pressure`). Of `spikes` of its paths, `spikes_waiting` fall into
    moments in which it waited for a processor. `queue_p99_ns`: wait in the VM's own queue.
    """

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


class EvidenceRead(Read):
    """Evidence of an incident. `rise_ns`: median rise above the baseline. `loss`: mean ratio on its paths.

    `token_bucket`: the one that the incident is about, null of others. `fairness`: uneven shares, null of others.
    `hosts`: VMs whose hosts are suspects, that of the culprit first.
    """

    hypotheses: list[HypothesisRead]
    heatmap: HeatmapRead
    paths: int
    rise_ns: int | None
    impact: ImpactRead | None = None
    loss: float | None = None
    token_bucket: BucketEvidence | None = None
    fairness: FairnessEvidence | None = None
    hosts: list[HostEvidenceRead] = Field(default_factory=list)


class ReasonRead(Read):
    """A reason of a verdict: `paths` of `compared` ones, the median `change_ns`, `loss` as a ratio."""

    code: ReasonCode
    paths: int | None
    compared: int | None
    change_ns: int | None
    loss: float | None
    applications: list[str]


class OtherIncidentRead(Read):
    """An incident of the network at the same time, and what an application loses on its paths (a share of its best)."""

    id: UUID
    title: str
    application: str
    cost: float


class VerdictRead(Read):
    """Verdict: the network, a clock, an agent or an application is at fault, with the reasons.

    `others`: incidents of the network that explain why an application misses its objective, costliest first.
    """

    kind: VerdictKind
    reasons: list[ReasonRead]
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
    """How an incident recurs: seen `times` since `since`, `last_hour` of them in the hour until it was last seen.

    `flaps`: three times in that hour or more.
    """

    times: int
    since: datetime
    last_hour: int
    flaps: bool


class IncidentSummary(Read):
    """An incident as an item of a list. Of one that recurs, `onset_at` and `opened_at` are those of the last time."""

    id: UUID
    mesh: MeshName
    state: IncidentState
    severity: Severity
    title: str
    culprit: CulpritRead
    paths: int
    rules: list[str]
    onset_at: datetime
    opened_at: datetime
    seen_at: datetime
    ended_at: datetime | None
    timescale: Literal["short", "long"]
    assignee: str | None
    silenced_by: str | None
    merged_into: UUID | None
    recurrence: RecurrenceRead | None = Field(description="How it recurs; null if it was seen once")
    found_late_at: datetime | None = Field(description="Time of detection, if the incident was found in late data")
    version: int


class TimelineEntry(Read):
    """An event in the timeline of an incident."""

    at: datetime
    kind: str
    actor: str
    text: str


class AffectedRead(Read):
    """An application with a link on the paths of an incident; `performance`: predicted share of its best.

    `cost`: the part of 1 - `performance` that links on these paths cause. While the incident lasts it is that of the
    last minute, then the largest. Null where unknown, and of incidents before it was recorded.
    """

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

    evidence: EvidenceRead
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
    """Incidents of the last week that a silence would have matched."""

    incidents: list[IncidentSummary]
