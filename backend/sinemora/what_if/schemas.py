"""Shapes of what-if questions, scenarios and options on the wire. Performance and gains are shares."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.applications.schemas import Named
from sinemora.inventory.schemas import Name
from sinemora.kit.schemas import Read, Write
from sinemora.measurements.schemas import Span
from sinemora.recommendations.schemas import MINUTES, ExpectedRead, GainRead, Percentile

Reference = Annotated[str, Field(max_length=100, description="Name or id")]


class PutTask(Write):
    """A task on another VM; `vm` null takes it off."""

    kind: Literal["task"]
    application: Reference
    task: Reference
    vm: Reference | None


class RecreateVm(Write):
    """A VM made anew in another zone: its paths are then like those of the VMs there."""

    kind: Literal["vm"]
    vm: Reference
    zone: Reference


class DropZone(Write):
    """A zone that is gone; its tasks wait."""

    kind: Literal["drop_zone"]
    zone: Reference


class AddLatency(Write):
    """Every round trip between two zones (or within one, named twice) longer by so much; shorter when below 0."""

    kind: Literal["latency"]
    zones: Annotated[list[Reference], Field(min_length=2, max_length=2)]
    added_us: Annotated[float, Field(ge=-60e6, le=60e6)]


class ChangeCurve(Write):
    """An application on another curve, or on another version of it."""

    kind: Literal["curve"]
    application: Reference
    curve: Reference
    curve_number: Annotated[int, Field(ge=1)] | None = None


Change = Annotated[PutTask | RecreateVm | DropZone | AddLatency | ChangeCurve, Field(discriminator="kind")]


class WhatIf(Write):
    """Changes in the order they happen, and the windows that the answer rests on."""

    changes: Annotated[list[Change], Field(max_length=1_000)] = Field(default_factory=list)
    statistic: Percentile = Percentile.P50
    minutes: Annotated[int, Field(ge=2, le=1440, description="How far back windows are looked at")] = MINUTES
    place_waiting: Annotated[
        bool, Field(description="Look for places for tasks that wait once all is changed; nothing else moves")
    ] = False


class WhatIfCreate(WhatIf):
    """A what-if question about a mesh."""

    mesh: Reference


class ScenarioCreate(WhatIfCreate):
    """A what-if question to keep."""

    name: Name


class ScenarioUpdate(Write):
    """What may change of a scenario; what is left out stays. Changes are replaced as a whole."""

    name: Name | None = None
    changes: Annotated[list[Change], Field(max_length=1_000)] | None = None
    statistic: Percentile | None = None
    minutes: Annotated[int, Field(ge=2, le=1440)] | None = None
    place_waiting: bool | None = None


class ScenarioRead(Read):
    """A kept scenario."""

    id: UUID
    name: str
    mesh: Named
    question: WhatIf
    version: int
    created_at: datetime
    updated_at: datetime


class Fate(Read):
    """One application before and after; null where no window knows all its links.

    `waiting` tasks have no VM, and `beyond` links are slower than the curve knows, after the changes.
    """

    application: Named
    objective: float | None
    before: ExpectedRead | None
    after: ExpectedRead | None
    gain: GainRead | None
    below_objective: bool | None
    waiting: int
    beyond: int


class Placed(Read):
    """A task that waited, and the VM found for it."""

    application: Named
    task: Named
    vm: Named


class Trips(Read):
    """Median round trips in ns, null where unknown, [source][target] by `names`: zones, or VMs where they are few."""

    by: Literal["vm", "zone"]
    names: list[str]
    groups: list[str]
    before_ns: list[list[int | None]]
    after_ns: list[list[int | None]]


class WhatIfRead(Read):
    """What becomes of every application of the mesh; `broken` are limits that do not hold after the changes."""

    window: Span
    windows: int
    applications: list[Fate]
    placed: list[Placed]
    broken: list[str]
    trips: Trips


class OptionRead(Read):
    """Something a tenant could rent or change for an application, with what it brings and costs.

    swap: two tasks change roles. recreate: a VM made anew in a zone, or beside the VMs of a host. over_allocate:
    `count` more VMs in a zone, of which the best stay; the others are given back after an hour. `draws`: VMs measured
    there that stood in for the new ones.
    """

    kind: Literal["swap", "recreate", "over_allocate"]
    tasks: list[Named]
    zone: str | None
    host: str | None
    count: int
    gain: GainRead
    draws: int
    price_change_per_hour: float | None
    price_once: float | None
    words: str


class OptionsRead(Read):
    """What could be done for an application beyond moving tasks, the best first."""

    application: Named
    window: Span
    options: list[OptionRead]
