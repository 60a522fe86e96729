"""Schemas of what-if requests, scenarios and options. Performance and gains are shares."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.applications.schemas import Named
from sinemora.kit.names import Name
from sinemora.kit.schemas import Omittable, Read, Write
from sinemora.measurements.schemas import Span
from sinemora.recommendations.schemas import MINUTES, ExpectedRead, GainRead, Percentile

Reference = Annotated[str, Field(max_length=100, description="Name or id")]


class PutTask(Write):
    """Move of a task to another VM; `vm` null unplaces it."""

    kind: Literal["task"]
    application: Reference
    task: Reference
    vm: Reference | None


class RecreateVm(Write):
    """Re-creation of a VM in another zone, with paths like those of the VMs there."""

    kind: Literal["vm"]
    vm: Reference
    zone: Reference


class DropZone(Write):
    """Loss of a zone; its tasks wait."""

    kind: Literal["drop_zone"]
    zone: Reference


class AddLatency(Write):
    """Latency added to every round trip between two zones, or within one named twice; negative to remove."""

    kind: Literal["latency"]
    zones: Annotated[list[Reference], Field(min_length=2, max_length=2)]
    added_us: Annotated[float, Field(ge=-60e6, le=60e6)]


class ChangeCurve(Write):
    """Assignment of another curve, or of another version."""

    kind: Literal["curve"]
    application: Reference
    curve: Reference
    curve_number: Annotated[int, Field(ge=1)] | None = None


LookBack = Annotated[
    int | None,
    Field(
        ge=2,
        le=1440,
        description="Look-back in minutes: performance is the mean over its windows. Null: the newest window of each"
        " path, as for the current performance of an application",
    ),
]

Change = Annotated[PutTask | RecreateVm | DropZone | AddLatency | ChangeCurve, Field(discriminator="kind")]


class WhatIf(Write):
    """Changes in order, and the windows to evaluate them on."""

    changes: Annotated[list[Change], Field(max_length=1_000)] = Field(default_factory=list)
    statistic: Percentile = Percentile.P50
    minutes: LookBack = None
    place_waiting: Annotated[
        bool, Field(description="Place waiting tasks after the changes; other tasks do not move")
    ] = False


class WhatIfCreate(WhatIf):
    """What-if request for a mesh."""

    mesh: Reference


class ScenarioCreate(WhatIfCreate):
    """Scenario to save."""

    name: Name


class ScenarioUpdate(Write):
    """Update of a scenario; omitted fields stay. Changes are replaced as a whole; `minutes` may be set to null."""

    name: Omittable[Name] = None
    changes: Omittable[Annotated[list[Change], Field(max_length=1_000)]] = None
    statistic: Omittable[Percentile] = None
    minutes: LookBack = None
    place_waiting: Omittable[bool] = None


class ScenarioRead(Read):
    """Saved scenario."""

    id: UUID
    name: str
    mesh: Named
    request: WhatIf
    version: int
    created_at: datetime
    updated_at: datetime


class ApplicationImpact(Read):
    """Impact on one application; null where no window has all its links.

    At the newest windows (`minutes` null), links that are not measured before the changes do not count, and intervals
    are the band of the curve. After the changes, `waiting` tasks have no VM, and `beyond` links are slower than the
    domain of the curve.
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
    """Task that was waiting, and its VM."""

    application: Named
    task: Named
    vm: Named


class RoundTrips(Read):
    """Median round trips in ns, null where unknown, [source][target] by `names`: VMs of small meshes, else zones."""

    by: Literal["vm", "zone"]
    names: list[str]
    groups: list[str]
    before_ns: list[list[int | None]]
    after_ns: list[list[int | None]]


class WhatIfRead(Read):
    """Impact on every application of the mesh; `broken` lists constraints violated after the changes."""

    window: Span
    windows: int
    statistic: Percentile
    minutes: int | None
    applications: list[ApplicationImpact]
    placed: list[Placed]
    broken: list[str]
    trips: RoundTrips


class OptionsRequest(Write):
    """Request for options of an application."""

    statistic: Percentile = Percentile.P50
    minutes: Annotated[int, Field(ge=2, le=1440, description="Look-back in minutes")] = MINUTES
    extra_max: Annotated[int, Field(ge=0, le=10, description="Maximum number of additional VMs")] = 3


class OptionRead(Read):
    """Change of VMs for an application, with its gain and price."""

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
    """Options for an application other than moves, the best first. `untried`: what was left out of a large one."""

    application: Named
    window: Span
    options: list[OptionRead]
    untried: list[str]


class NextVmsRequest(Write):
    """Request for places of new VMs for more tasks of an application."""

    vms: Annotated[int, Field(ge=1, le=20, description="Number of VMs needed")] = 1
    trial_max: Annotated[int, Field(ge=0, le=10, description="Maximum number of VMs to rent beyond those")] = 5
    price_per_hour: Annotated[
        float | None, Field(ge=0, le=1e6, description="Price of a VM; default: that of the VMs of the place")
    ] = None
    task: Annotated[
        str | None,
        Field(max_length=100, description="Name or id of the task that the new ones are like; default: a usual one"),
    ] = None
    statistic: Percentile = Percentile.P50
    minutes: Annotated[int, Field(ge=2, le=1440, description="Look-back in minutes")] = MINUTES


class PlaceRead(Read):
    """Zone, or neighbourhood of a host, with the performance of new tasks there, and the VMs to rent for a trial."""

    zone: str
    host: str | None
    rent: int
    first: float
    performance: ExpectedRead
    like: int
    estimated: int
    price_per_hour: float | None
    trial_price: float | None
    words: str


class IdleVmRead(Read):
    """VM without a task, with the performance that a new task would have on it; null where no path is known."""

    vm: Named
    zone: str
    price_per_hour: float | None
    performance: ExpectedRead | None


class NextVmsRead(Read):
    """Places for the next VMs of an application, and its idle VMs, the best first. `untried`: what is not known."""

    application: Named
    task: Named
    vms: int
    window: Span
    places: list[PlaceRead]
    idle: list[IdleVmRead]
    untried: list[str]
