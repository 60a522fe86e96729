"""Shapes of rules, silences, receivers and routes on the wire; incidents: `incidents/schemas.py`.

Delays in ns, loss and performance as ratios, durations in seconds.
"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.alerts.evaluation.rule import Kind, Severity, Timescale
from sinemora.alerts.incidents.schemas import IncidentSummary
from sinemora.alerts.models import DeliveryState, ReceiverKind
from sinemora.kit.schemas import Read, Write
from sinemora.measurements.aggregate.matrix import Metric, Statistic

Name = Annotated[str, Field(min_length=1, max_length=100)]
Url = Annotated[str, Field(pattern=r"^https?://[^\s]+$", max_length=2000)]


class ConditionModel(Write):
    """When a window of a path is a breach (docs/alerts.md)."""

    kind: Kind
    metric: Metric = Metric.ONE_WAY_DELAY
    statistic: Statistic = Statistic.P50
    above: Annotated[float, Field(ge=0, description="Of a threshold: ns, or a ratio")] = 0.0
    deviations: Annotated[float, Field(gt=0, le=100)] = 6.0
    rise_ns: Annotated[float, Field(ge=0, description="At least so much above what is usual, or above the median")] = 0
    timescale: Timescale = Timescale.SHORT

    @model_validator(mode="after")
    def _complete(self) -> "ConditionModel":
        if self.kind is Kind.SPIKE and not self.rise_ns:
            raise ValueError("a spike needs `rise_ns`, such as 500000")
        return self


class ScopeModel(Write):
    """Which paths a rule is about: all of these must hold; empty: all paths. VMs and zones by name."""

    zones: list[Name] = Field(default_factory=list, description="Paths with an end in one of these")
    zone_pair: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    vms: list[Name] = Field(default_factory=list, description="Paths with an end on one of these")
    path: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    labels: dict[str, str] = Field(default_factory=dict, description="Paths with an end on a VM with all of these")
    application: Annotated[Name | None, Field(description="Paths between the VMs of its tasks")] = None


class RuleFields(Write):
    """What a rule says."""

    name: Name
    enabled: bool = True
    severity: Severity = Severity.WARNING
    condition: ConditionModel
    scope: ScopeModel = Field(default_factory=ScopeModel)
    windows_x: Annotated[int, Field(ge=1, le=16)] = 2
    windows_y: Annotated[int, Field(ge=1, le=16)] = 3
    sources_min: Annotated[int, Field(ge=1, le=10_000)] = 1
    hold_s: Annotated[int, Field(ge=0, le=86_400)] = 0
    keep_firing_s: Annotated[int, Field(ge=0, le=86_400)] = 60
    runbook_url: Url | None = None

    @model_validator(mode="after")
    def _windows(self) -> "RuleFields":
        if self.windows_x > self.windows_y:
            raise ValueError("`windows_x` of the last `windows_y` windows: the first cannot be more than the second")
        return self


class RuleCreate(RuleFields):
    """A new rule of a mesh."""

    mesh_id: UUID


class RuleUpdate(Write):
    """Changes of a rule; what is left out stays."""

    name: Name | None = None
    enabled: bool | None = None
    severity: Severity | None = None
    condition: ConditionModel | None = None
    scope: ScopeModel | None = None
    windows_x: Annotated[int, Field(ge=1, le=16)] | None = None
    windows_y: Annotated[int, Field(ge=1, le=16)] | None = None
    sources_min: Annotated[int, Field(ge=1, le=10_000)] | None = None
    hold_s: Annotated[int, Field(ge=0, le=86_400)] | None = None
    keep_firing_s: Annotated[int, Field(ge=0, le=86_400)] | None = None
    runbook_url: Url | None = None


class RuleRead(Read):
    """A rule."""

    id: UUID
    mesh_id: UUID
    name: str
    enabled: bool
    severity: Severity
    condition: ConditionModel
    scope: ScopeModel
    windows_x: int
    windows_y: int
    sources_min: int
    hold_s: int
    keep_firing_s: int
    runbook_url: str | None
    origin: str | None
    version: int
    created_at: datetime
    updated_at: datetime


class RulesBrought(Read):
    """What bringing a document did: names of rules made, changed, and found as they were."""

    created: list[str]
    changed: list[str]
    unchanged: list[str]


class BackTestCreate(RuleFields):
    """A rule to evaluate on stored windows; nothing is saved, no one is notified."""

    mesh_id: UUID
    hours: Annotated[int, Field(ge=1, le=720, description="How far back; by minutes beyond the windows kept")] = 24


class RulePreviewCreate(RuleFields):
    """A rule to be looked at on one path; nothing is saved."""

    mesh_id: UUID
    source_id: UUID
    target_id: UUID
    hours: Annotated[int, Field(ge=1, le=24, description="How far back")] = 3


class RulePreview(Read):
    """By window of the path (`points_at`: its start): what the rule compares, above which limit it is a breach, and
    whether it fires. ns, or ratios; null where unknown. `notes`: in words, what one path does not show.
    """

    points_at: list[datetime]
    values: list[float | None]
    limits: list[float | None]
    firing: list[bool]
    notes: list[str]


class Matcher(Write):
    """A label of incidents and what it must be: `is` this, or `matches` this pattern (with * for anything)."""

    label: Literal["mesh", "severity", "suspect", "rule", "vm", "zone", "application"]
    value: Annotated[str, Field(min_length=1, max_length=200)]
    negate: bool = False


class Weekly(Write):
    """Every week at a time of UTC. `weekday`: 0 is Monday."""

    weekday: Annotated[int, Field(ge=0, le=6)]
    minute: Annotated[int, Field(ge=0, lt=1440, description="Of the day")]
    lasts_min: Annotated[int, Field(ge=1, le=10_080)]


class SilenceCreate(Write):
    """A silence of incidents that match all matchers, from `starts_at` to `ends_at`, or weekly within that."""

    comment: Annotated[str, Field(min_length=1, max_length=1000)]
    matchers: Annotated[list[Matcher], Field(min_length=1, max_length=20)]
    starts_at: datetime | None = None
    ends_at: datetime
    weekly: Weekly | None = None


class SilenceRead(Read):
    """A silence; `active` now."""

    id: UUID
    comment: str
    matchers: list[Matcher]
    starts_at: datetime
    ends_at: datetime
    weekly: Weekly | None
    created_by: str
    active: bool
    version: int


class SilencePreview(Read):
    """The incidents of the last week that a silence would have matched."""

    incidents: list[IncidentSummary]


class ReceiverFields(Write):
    """Where notifications go. `settings`: `to` (addresses) of email, `url` of webhook; `secret`: `key` signs a webhook,
    `url` of slack and teams, `routing_key` of pagerduty. Secrets are never shown again.
    """

    name: Name
    kind: ReceiverKind
    settings: dict[str, Any] = Field(default_factory=dict)
    secret: dict[str, str] = Field(default_factory=dict)


class ReceiverUpdate(Write):
    """Changes of a receiver; a secret that is left out stays."""

    name: Name | None = None
    settings: dict[str, Any] | None = None
    secret: dict[str, str] | None = None


class ReceiverRead(Read):
    """A receiver; `has_secret` instead of the secret."""

    id: UUID
    name: str
    kind: ReceiverKind
    settings: dict[str, Any]
    has_secret: bool
    version: int
    created_at: datetime


class Route(Write):
    """A branch: incidents that match go to its receivers; the first branch that matches has them, unless it says
    `continue_`. Without matchers all match.
    """

    matchers: list[Matcher] = Field(default_factory=list)
    receivers: list[Name] = Field(default_factory=list)
    repeat_s: Annotated[int | None, Field(ge=300, le=604_800)] = None
    resolved: bool | None = None
    continue_: bool = False
    routes: list["Route"] = Field(default_factory=list)


class RoutingWrite(Write):
    """The tree."""

    root: Route


class RoutingRead(Read):
    """The tree, and its version."""

    root: Route
    version: int


class DeliveryRead(Read):
    """One notification to one receiver."""

    id: UUID
    incident_id: UUID | None
    receiver: str
    about: str
    state: DeliveryState
    attempts: int
    due_at: datetime
    sent_at: datetime | None
    answer: str | None
    created_at: datetime
