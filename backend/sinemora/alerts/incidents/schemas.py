"""Wire shapes of incidents: culprit, evidence, timeline. Delays in ns."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.models import IncidentState
from sinemora.kit.schemas import Read, Write


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


class HeatmapRead(Read):
    """Paths around a culprit: deviations from the baseline (or loss), [source][target]; null where unknown."""

    names: list[str]
    unit: Literal["deviations", "loss"]
    values: list[list[float | None]]


class EvidenceRead(Read):
    """Evidence of an incident. `rise_ns`: median rise above the baseline."""

    hypotheses: list[HypothesisRead]
    heatmap: HeatmapRead
    paths: int
    rise_ns: int | None


class MeshName(Read):
    """A mesh by name."""

    id: UUID
    name: str


class IncidentSummary(Read):
    """An incident as an item of a list."""

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
    found_late_at: datetime | None = Field(description="Time of detection, if the incident was found in late data")
    version: int


class TimelineEntry(Read):
    """An event in the timeline of an incident."""

    at: datetime
    kind: str
    actor: str
    text: str


class AffectedRead(Read):
    """An application with tasks on the paths of an incident; `performance`: predicted share of its best."""

    id: UUID
    name: str
    performance: float | None
    objective: float | None


class IncidentRead(IncidentSummary):
    """An incident with its evidence, affected applications, timeline and similar incidents."""

    evidence: EvidenceRead
    applications: list[AffectedRead]
    timeline: list[TimelineEntry]
    similar: list[IncidentSummary]


class Note(Write):
    """A person's note."""

    text: Annotated[str, Field(max_length=4000)] = ""


class Assignment(Write):
    """The assignee of an incident; null: no one."""

    assignee: Annotated[str, Field(max_length=200)] | None


class SilencePreview(Read):
    """Incidents of the last week that a silence would have matched."""

    incidents: list[IncidentSummary]
