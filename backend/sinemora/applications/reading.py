"""Applications as they are shown: rows to shapes, and how they do under the round trips of their mesh."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach
from sinemora.applications.models import Application
from sinemora.applications.performance import Indices, Links, Reached, graph, reached, star
from sinemora.applications.queries import Carrier
from sinemora.applications.schemas import (
    ApplicationPerformance,
    ApplicationRead,
    CapacityRead,
    CurveAttached,
    EdgeRead,
    LinkPerformance,
    Named,
    Shape,
    TaskRead,
)
from sinemora.curves import queries as curve_queries
from sinemora.curves.catalogue import Entry
from sinemora.curves.core.curve import Floats
from sinemora.curves.schemas import Origin
from sinemora.inventory.schemas import VmName
from sinemora.measurements.aggregate.matrix import Metric, State, Statistic
from sinemora.measurements.codec.flows import Flows
from sinemora.measurements.query.matrix import MatrixQuery, MatrixResult, read_matrix
from sinemora.measurements.schemas import STATE_NAMES, By, Span


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """The newest round trips of a mesh, ns, NaN where unknown, [source][target] by `machine_of` (VM id → index).

    Of paths with several source ports percentiles are those of the slowest, since an application cannot choose its way.
    """

    result: MatrixResult
    machine_of: dict[UUID, int]
    round_trips_ns: Floats

    @property
    def states(self) -> np.ndarray:
        return self.result.matrix.states


def network(session: Session, mesh_id: UUID, statistic: Statistic) -> Network:
    """What the newest windows say. ProductError `mesh_unknown`."""
    flows = Flows.ALL if statistic.quantile is None else Flows.SLOWEST
    found = read_matrix(session, mesh_id, MatrixQuery(By.VM, Metric.ROUND_TRIP, statistic, flows=flows))
    trips = np.where(found.matrix.valued, found.matrix.values, np.nan).astype(np.float64)
    return Network(found, {axis.id: at for at, axis in enumerate(found.axis)}, trips)


def links_of(application: Application) -> Links:
    """Who talks to whom, by the position of tasks."""
    if application.edges:
        place = {task.id: position for position, task in enumerate(application.tasks)}
        return graph([(place[one.source_task_id], place[one.target_task_id], one.weight) for one in application.edges])
    root = next(position for position, task in enumerate(application.tasks) if task.root)
    return star(root, len(application.tasks))


def machines_of(application: Application, net: Network) -> Indices:
    """Where its tasks run, as machines of the network; -1 where that is unknown."""
    found = [-1 if task.vm_id is None else net.machine_of.get(task.vm_id, -1) for task in application.tasks]
    return np.array(found, np.intp)


def shown(session: Session, applications: list[Application]) -> list[ApplicationRead]:
    """Applications with the curves they are attached to."""
    entries = attach.entries(session, applications)
    own = {one.stored[0].id for one in entries.values() if one.stored is not None}
    newest = {key: version.number for key, version in curve_queries.newest_versions(session, own).items()}
    return [_read(one, entries[one.id], newest) for one in applications]


def _read(application: Application, curve: Entry, newest: dict[UUID, int]) -> ApplicationRead:
    names = {task.id: task.name for task in application.tasks}
    fields = ("id", "name", "description", "reference_us", "objective", "moves_max", "move_cost")
    limits = ("per_vm_max", "per_host_max", "per_zone_max", "version", "created_at")
    return ApplicationRead(
        **{field: getattr(application, field) for field in (*fields, *limits)},
        shape=Shape.GRAPH if application.edges else Shape.STAR,
        mesh=Named.model_validate(application.mesh),
        curve=CurveAttached(
            id=curve.id,
            origin=Origin.PUBLISHED if curve.stored is None else Origin.OWN,
            name=curve.stored[0].name if curve.stored is not None else curve.read().name,
            number=curve.number,
            newest=1 if curve.stored is None else newest[curve.stored[0].id],
        ),
        zones=sorted((Named.model_validate(one.zone) for one in application.zones), key=lambda one: one.name),
        apart_from=sorted(
            (Named.model_validate(one.other) for one in application.apart_from), key=lambda one: one.name
        ),
        tasks=[TaskRead.model_validate(task) for task in application.tasks],
        edges=[
            EdgeRead(source=names[edge.source_task_id], target=names[edge.target_task_id], weight=edge.weight)
            for edge in application.edges
        ],
    )


def performance(session: Session, application: Application, statistic: Statistic) -> ApplicationPerformance:
    """How an application does in the newest windows."""
    net = network(session, application.mesh_id, statistic)
    sensitivity = attach.sensitivity(application, attach.entries(session, [application])[application.id])
    links, at = links_of(application), machines_of(application, net)
    found = reached(links, at, net.round_trips_ns, sensitivity)
    mean = found.mean()
    objective = application.objective
    return ApplicationPerformance(
        application_id=application.id,
        name=application.name,
        window=Span(from_=net.result.started_at, to=net.result.ended_at),
        statistic=statistic,
        performance=mean,
        low=found.mean(found.low),
        high=found.mean(found.high),
        worst=found.worst,
        objective=objective,
        below_objective=None if objective is None or mean is None else mean < objective,
        links=len(links),
        measured=found.measured,
        detail=_detail(application, net, at, found),
    )


def _detail(application: Application, net: Network, at: Indices, found: Reached) -> list[LinkPerformance]:
    names = [task.name for task in application.tasks]
    sources, targets = at[found.links.sources], at[found.links.targets]
    rows = zip(found.links.sources.tolist(), found.links.targets.tolist(), strict=True)
    detail = []
    for row, (source, target) in enumerate(rows):
        a, b = int(sources[row]), int(targets[row])
        known = bool(np.isfinite(found.performance[row]))
        trip = 0.0 if a == b else net.round_trips_ns[a, b]
        detail.append(
            LinkPerformance(
                source=names[source],
                target=names[target],
                weight=float(found.links.weights[row]),
                state=_state(net, a, b),
                round_trip_ns=round(float(trip)) if known else None,
                performance=float(found.performance[row]) if known else None,
                low=float(found.low[row]) if known else None,
                high=float(found.high[row]) if known else None,
                extrapolated=bool(found.extrapolated[row]),
            )
        )
    return detail


def _state(net: Network, source: int, target: int) -> str:
    if source < 0 or target < 0:
        return STATE_NAMES[State.NOT_PLANNED]
    return STATE_NAMES[State.MEASURED if source == target else State(int(net.states[source, target]))]


def capacity_read(carrier: Carrier) -> CapacityRead:
    """What a VM can carry."""
    return CapacityRead(
        vm=VmName(id=carrier.vm_id, key=carrier.vm_key, name=carrier.vm_name),
        slots=carrier.slots,
        slots_taken=carrier.slots_taken,
        cpu_millicores=carrier.cpu_millicores,
        memory_mib=carrier.memory_mib,
        price_per_hour=carrier.price_per_hour,
        host=carrier.host,
    )
