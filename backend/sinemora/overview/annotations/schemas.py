"""JSON schemas of annotations."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from sinemora.kit.names import ONE_LINE, Name
from sinemora.kit.schemas import Omittable, Read, Write
from sinemora.measurements.query.ranges import YEARS
from sinemora.overview.annotations.models import AnnotationKind


def _in_years(at: datetime) -> datetime:
    if at.year not in YEARS:
        raise ValueError(f"the year must be {YEARS.start} to {YEARS.stop - 1}")
    return at


Moment = Annotated[AwareDatetime, AfterValidator(_in_years)]
Text = Annotated[str, Field(min_length=1, max_length=500, pattern=ONE_LINE, description="One line")]
Url = Annotated[str, Field(pattern=r"^https?://[^\s\x00-\x1f]+$", max_length=2000)]
Ids = Annotated[list[UUID], Field(max_length=500)]


class AnnotationScope(Write):
    """VMs, zones and applications that an annotation is about."""

    vm_ids: Annotated[Ids, Field(default_factory=list)]
    zone_ids: Annotated[Ids, Field(default_factory=list)]
    application_ids: Annotated[Ids, Field(default_factory=list)]

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not (self.vm_ids or self.zone_ids or self.application_ids):
            raise ValueError("must have an id; omit the scope for all VMs")
        return self


class AnnotationCreate(Write):
    """Annotation to create."""

    kind: AnnotationKind
    text: Text
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    mesh_id: UUID | None = None
    scope: AnnotationScope | None = None
    source: Name | None = None
    url: Url | None = None


class AnnotationUpdate(Write):
    """Changes to an annotation. Omitted fields do not change; null clears `ends_at`, `mesh_id`, `scope` and `url`."""

    kind: Omittable[AnnotationKind] = None
    text: Omittable[Text] = None
    starts_at: Omittable[Moment] = None
    ends_at: Moment | None = None
    mesh_id: UUID | None = None
    scope: AnnotationScope | None = None
    source: Omittable[Name] = None
    url: Url | None = None


class ScopeRead(Read):
    """Scope of an annotation. `task_vm_ids`: VMs that run tasks of its applications now. Deleted objects are absent."""

    vm_ids: list[UUID]
    zone_ids: list[UUID]
    application_ids: list[UUID]
    task_vm_ids: list[UUID]


class AnnotationRead(Read):
    """Annotation. `scope` is null if it is about all VMs."""

    id: UUID
    kind: AnnotationKind
    text: str
    starts_at: datetime
    ends_at: datetime | None
    mesh_id: UUID | None
    mesh_name: str | None
    scope: ScopeRead | None
    source: str
    url: str | None
    version: int
    created_at: datetime
