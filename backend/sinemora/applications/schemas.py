"""Schemas of applications, identical in JSON and YAML. Performance is a share: 1 is the best possible."""

from collections import Counter
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.applications.curves.schemas import CurveOrigin, Description
from sinemora.fleet.inventory.schemas import VmName
from sinemora.kit.names import Name
from sinemora.kit.schemas import Omittable, Read, Write
from sinemora.measurements.schemas import Span, StateName

TASKS_MAX = 2_000
EDGES_MAX = 20_000
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Share = Annotated[float, Field(gt=0, le=1)]
Millicores = Annotated[int, Field(ge=0, le=10_000_000)]
Mebibytes = Annotated[int, Field(ge=0, le=1_000_000_000)]


class ApplicationShape(StrEnum):
    """Communication pattern: all tasks with the root, or along edges."""

    STAR = "star"
    GRAPH = "graph"


class TaskWrite(Write):
    """Task. `vm` is the VM's name or id; without one the task waits. Default name: that of the VM."""

    name: Name | None = None
    vm: Annotated[str, Field(max_length=100)] | None = None
    root: bool = False
    pinned: bool = False
    slots: Count = 1
    cpu_millicores: Millicores = 0
    memory_mib: Mebibytes = 0

    @model_validator(mode="after")
    def _called(self) -> Self:
        if self.name is None:
            if self.vm is None:
                raise ValueError("a task needs a name, a vm or both")
            self.name = self.vm
        return self


class EdgeWrite(Write):
    """Communication between two tasks, by name, with its weight."""

    source: Name
    target: Name
    weight: Annotated[float, Field(gt=0, le=1e6)] = 1


MOVE_COST = 0.01
"""Minimum gain of a move for its task where a declaration says nothing: a point of performance."""


class _Declared(Write):
    """Declaration of an application without its name."""

    description: Description = ""
    mesh: Annotated[str, Field(max_length=100, description="Name or id of the mesh its VMs are in")]
    curve: Annotated[str, Field(max_length=100, description="Key of a published curve, or name or id of your own")]
    curve_number: Annotated[int | None, Field(ge=1)] = None
    reference_us: Annotated[float | None, Field(ge=0, le=60e6)] = None
    tasks: Annotated[list[TaskWrite], Field(min_length=2, max_length=TASKS_MAX)]
    edges: Annotated[list[EdgeWrite], Field(max_length=EDGES_MAX)] = Field(default_factory=list)
    objective: Share | None = None
    kept_share: Annotated[float | None, Field(gt=0, lt=1)] = None
    moves_max: Annotated[int | None, Field(ge=0)] = None
    moves_per_day: Annotated[int | None, Field(ge=0)] = None
    move_cost: Annotated[float, Field(ge=0, le=1)] = MOVE_COST
    leaves_region: bool = False
    moves_for_others: bool = False
    zones: Annotated[list[str], Field(max_length=1_000)] = Field(default_factory=list)
    per_vm_max: Count | None = None
    per_host_max: Count | None = None
    per_zone_max: Count | None = None
    apart_from: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = Counter(task.name for task in self.tasks)
        if twice := [name for name, count in names.items() if count > 1]:
            raise ValueError(f"two tasks are named {twice[0]}; give each a unique name")
        roots = [task for task in self.tasks if task.root]
        if len(roots) > 1:
            raise ValueError(f"{roots[0].name} and {roots[1].name} are both root; a star has a single root")
        if bool(roots) == bool(self.edges):
            raise ValueError("mark one task as root (a star), or give edges (a graph), but not both")
        pairs = set()
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in names:
                    raise ValueError(f"an edge names {end}, which is not a task of the application")
            pair = frozenset((edge.source, edge.target))
            if len(pair) == 1:
                raise ValueError(f"an edge leads from {edge.source} to itself")
            if pair in pairs:
                raise ValueError(f"two edges join {edge.source} and {edge.target}; add up their weights")
            pairs.add(pair)
        return self


class ApplicationCreate(_Declared):
    """Declaration of an application; name, mesh, curve and tasks suffice."""

    name: Name


class ApplicationUpdate(Write):
    """Update of an application; omitted fields stay. `tasks` and `edges` are replaced as a whole."""

    name: Omittable[Name] = None
    description: Omittable[Description] = None
    curve: Omittable[Annotated[str, Field(max_length=100)]] = None
    curve_number: Annotated[int, Field(ge=1)] | None = None
    reference_us: Annotated[float, Field(ge=0, le=60e6)] | None = None
    tasks: Omittable[Annotated[list[TaskWrite], Field(min_length=2, max_length=TASKS_MAX)]] = None
    edges: Omittable[Annotated[list[EdgeWrite], Field(max_length=EDGES_MAX)]] = None
    objective: Share | None = None
    kept_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    moves_max: Annotated[int, Field(ge=0)] | None = None
    moves_per_day: Annotated[int, Field(ge=0)] | None = None
    move_cost: Omittable[Annotated[float, Field(ge=0, le=1)]] = None
    leaves_region: Omittable[bool] = None
    moves_for_others: Omittable[bool] = None
    zones: Omittable[Annotated[list[str], Field(max_length=1_000)]] = None
    per_vm_max: Count | None = None
    per_host_max: Count | None = None
    per_zone_max: Count | None = None
    apart_from: Omittable[Annotated[list[str], Field(max_length=100)]] = None
    following: Omittable[bool] = None


class CurveAttached(Read):
    """Curve version of an application; a larger `newest` means that a newer version exists."""

    id: str
    origin: CurveOrigin
    name: str
    number: int
    newest: int


class TaskRead(Read):
    """Task and its VM."""

    id: UUID
    name: str
    vm: VmName | None
    root: bool
    pinned: bool
    slots: int
    cpu_millicores: int
    memory_mib: int
    placed_at: datetime | None = None
    waiting_since: datetime | None = None


class EdgeRead(Read):
    """Communication between two tasks."""

    source: str
    target: str
    weight: float


class Named(Read):
    """Object with a name."""

    id: UUID
    name: str


class FollowingRead(Read):
    """Traffic that the tasks of an application follow. `proposals` are keys; `stopped` is why they stopped, or null."""

    proposals: list[str]
    since: datetime
    stopped: str | None


class ApplicationRead(Read):
    """Declared application. `following` is null for one that nobody found in traffic."""

    id: UUID
    name: str
    description: str
    shape: ApplicationShape
    mesh: Named
    curve: CurveAttached
    reference_us: float | None
    objective: float | None
    kept_share: float | None
    moves_max: int | None
    moves_per_day: int | None
    move_cost: float
    leaves_region: bool = False
    moves_for_others: bool = False
    zones: list[Named]
    per_vm_max: int | None
    per_host_max: int | None
    per_zone_max: int | None
    apart_from: list[Named]
    tasks: list[TaskRead]
    edges: list[EdgeRead]
    following: FollowingRead | None = None
    version: int
    created_at: datetime


class LinkPerformance(Read):
    """Performance of one link: round trip (ns, null while unknown), state and performance."""

    source: str
    target: str
    weight: float
    state: StateName
    round_trip_ns: int | None
    performance: float | None
    low: float | None
    high: float | None
    extrapolated: bool


class ApplicationPerformance(Read):
    """Current performance of an application: the weighted mean over its links, and its worst link."""

    application_id: UUID
    name: str
    window: Span
    statistic: str
    performance: float | None
    low: float | None
    high: float | None
    worst: float | None
    objective: float | None
    below_objective: bool | None
    links: int
    measured: int
    detail: list[LinkPerformance]


class ApplicationSensitivity(Read):
    """Performance that a link reaches, as a table over its round trip: ns, the centre of each LLQ16 bin."""

    application_id: UUID
    name: str
    reference_us: float
    round_trip_ns: list[int]
    performance: list[float]


class PathApplication(Read):
    """Application with links over one path."""

    id: UUID
    name: str
    path_links: int
    links: int
    performance: float | None
    cost: float | None
    objective: float | None
    below_objective: bool | None


class PathApplications(Read):
    """Applications with links between two VMs in either direction, highest cost first."""

    window: Span
    items: list[PathApplication]


class ApplicationCost(Read):
    """Application with the predicted performance lost on some paths; null while unknown."""

    id: UUID
    name: str
    cost: float | None


class SelectionCost(Read):
    """Number of applications with links over the paths of a selection, and the one they cost most; null without any."""

    selection: str
    applications: int
    worst: ApplicationCost | None


class PathCosts(Read):
    """Costs of selections of paths, in the order of the request."""

    window: Span
    items: list[SelectionCost]


class CapacityUpdate(Write):
    """Update of a VM's capacity; omitted fields stay, null removes a value."""

    slots: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    cpu_millicores: Millicores | None = None
    memory_mib: Mebibytes | None = None
    price_per_hour: Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=6)] | None = None
    host: Name | None = None


class CapacityRead(Read):
    """Capacity of a VM, slots in use, hourly price, and the host of its hardware. `version` is 0 until it is set."""

    vm: VmName
    slots: int
    slots_taken: int
    cpu_millicores: int | None
    memory_mib: int | None
    price_per_hour: Decimal | None
    host: str | None
    version: int


class ManifestResult(Read):
    """Result of a manifest import: names of created, updated and unchanged applications."""

    created: list[str]
    changed: list[str]
    unchanged: list[str]
