"""Shapes of rules, silences, receivers and routes on the wire; incidents: `incidents/schemas.py`.

Delays in ns, loss and performance as ratios, durations in seconds.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator

from sinemora.alerts.evaluation.rule import Among, Kind, Severity, Timescale
from sinemora.alerts.schemas import Url
from sinemora.kit.names import Name
from sinemora.kit.schemas import Omittable, Read, Write
from sinemora.measurements.aggregate.fairness import ALERT_BELOW
from sinemora.measurements.aggregate.matrix import Metric, Statistic

_COUNTED_S_MIN = 300
_BURNT_S_MIN = 3600
_OF_KIND = {
    Kind.THRESHOLD: {"metric", "statistic", "above"},
    Kind.BASELINE: {"metric", "statistic", "deviations", "rise_ns", "timescale", "over_s"},
    Kind.LOSS: {"metric", "statistic", "above", "over_s"},
    Kind.SPIKE: {"metric", "statistic", "deviations", "rise_ns"},
    Kind.SILENT: set[str](),
    Kind.PERFORMANCE: {"above", "over_s"},
    Kind.TOKENS: {"within_s"},
    Kind.HOST: {"above"},
    Kind.FAIRNESS: {"among", "below"},
}
"""Fields that each kind of condition reads."""


class ConditionModel(Write):
    """Condition under which a window of a path is a breach (docs/alerts.md)."""

    kind: Kind
    metric: Metric = Metric.ONE_WAY_DELAY
    statistic: Statistic = Statistic.P50
    above: Annotated[float, Field(ge=0, description="Threshold in ns, or a ratio")] = 0.0
    deviations: Annotated[float, Field(gt=0, le=100)] = 6.0
    rise_ns: Annotated[float, Field(ge=0)] = 0
    timescale: Timescale = Timescale.SHORT
    over_s: Annotated[int, Field(ge=0, le=86_400)] = 0
    within_s: Annotated[int, Field(ge=0, le=86_400)] = 0
    among: Annotated[Among, Field(description="Of `fairness`: members whose shares are compared")] = Among.FLOWS
    below: Annotated[float, Field(ge=0, le=1)] = 0.0

    @model_validator(mode="after")
    def _complete(self) -> "ConditionModel":
        if self.kind is Kind.SPIKE and not self.rise_ns:
            raise ValueError("a spike condition needs `rise_ns`, such as 500000")
        if self.kind is Kind.TOKENS and not self.within_s:
            raise ValueError("a tokens condition needs `within_s` in seconds, such as 60")
        if self.kind is Kind.HOST and not 0 < self.above < 1:
            raise ValueError("a host condition needs `above`, a share of time between 0 and 1, such as 0.1")
        if self.kind is Kind.FAIRNESS and not self.below:
            raise ValueError(f"a fairness condition needs `below`, above 0 and at most 1, such as {ALERT_BELOW}")
        if self.kind is Kind.LOSS and not self.over_s >= _COUNTED_S_MIN:
            raise ValueError(f"a loss condition needs `over_s` of at least {_COUNTED_S_MIN}, such as 3600")
        if self.kind is Kind.BASELINE and 0 < self.over_s < _COUNTED_S_MIN:
            raise ValueError(f"`over_s` of a baseline condition is 0 or at least {_COUNTED_S_MIN}, such as 3600")
        if self.kind is Kind.PERFORMANCE and self.over_s and not (self.over_s >= _BURNT_S_MIN and self.above > 0):
            raise ValueError(f"a rate of use needs `over_s` of at least {_BURNT_S_MIN} and `above`, such as 14.4")
        if self.kind is Kind.LOSS and not 0 < self.above < 1:
            raise ValueError("a loss condition needs `above` as a ratio between 0 and 1, such as 0.002")
        if self.kind is Kind.LOSS and self.metric is not Metric.LOSS:
            raise ValueError("a loss condition needs the metric `loss`")
        return self


def _effective(condition: ConditionModel) -> ConditionModel:
    """Refuse fields that the kind of a condition does not read, unless they have their defaults."""
    kinds_of = {name: [kind.value for kind, names in _OF_KIND.items() if name in names] for name in _FIELDS}
    for name, default in _FIELDS.items():
        if name not in _OF_KIND[condition.kind] and getattr(condition, name) != default:
            kinds = " or ".join(kinds_of[name])
            raise ValueError(
                f"`{name}` has no effect with the kind {condition.kind.value}; omit it, or choose the kind {kinds}"
            )
    return condition


_FIELDS = {name: field.default for name, field in ConditionModel.model_fields.items() if name != "kind"}
Condition = Annotated[ConditionModel, AfterValidator(_effective)]
"""Condition as a client writes it. Stored ones are read without this check: older versions accepted more."""


def effective_fields(condition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a stored condition that its kind reads."""
    read = {"kind"} | _OF_KIND[Kind(condition["kind"])]
    return {name: value for name, value in condition.items() if name in read}


class ScopeModel(Write):
    """Scope of a rule: paths that meet all of these; empty: all paths. VMs and zones by name."""

    zones: list[Name] = Field(default_factory=list, description="Paths with an end in one of these")
    zone_pair: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    vms: list[Name] = Field(default_factory=list, description="Paths with an end on one of these")
    path: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    labels: dict[str, str] = Field(default_factory=dict, description="Paths with an end on a VM with all of these")
    application: Name | None = None


class RuleFields(Write):
    """Fields of a rule. Durations in seconds."""

    name: Name
    enabled: bool = True
    severity: Severity = Severity.WARNING
    condition: Condition
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
            raise ValueError("`windows_x` cannot be more than `windows_y`")
        return self


class RuleCreate(RuleFields):
    """A new rule of a mesh."""

    mesh_id: UUID


class RuleUpdate(Write):
    """Changes of a rule; omitted fields stay."""

    name: Omittable[Name] = None
    enabled: Omittable[bool] = None
    severity: Omittable[Severity] = None
    condition: Omittable[Condition] = None
    scope: Omittable[ScopeModel] = None
    windows_x: Omittable[Annotated[int, Field(ge=1, le=16)]] = None
    windows_y: Omittable[Annotated[int, Field(ge=1, le=16)]] = None
    sources_min: Omittable[Annotated[int, Field(ge=1, le=10_000)]] = None
    hold_s: Omittable[Annotated[int, Field(ge=0, le=86_400)]] = None
    keep_firing_s: Omittable[Annotated[int, Field(ge=0, le=86_400)]] = None
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


class RulesImported(Read):
    """Result of an import: names of rules created, changed and unchanged."""

    created: list[str]
    changed: list[str]
    unchanged: list[str]
