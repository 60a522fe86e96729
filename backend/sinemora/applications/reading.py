"""Conversion of applications to API schemas, and their performance under current round trips."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach, queries
from sinemora.applications.curves import queries as curve_queries
from sinemora.applications.curves.catalogue import CatalogueEntry
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.schemas import CurveOrigin
from sinemora.applications.models import Application
from sinemora.applications.performance import Indices, Links, Reached, graph, reached, star
from sinemora.applications.queries import Carrier
from sinemora.applications.schemas import (
    ApplicationPerformance,
    ApplicationRead,
    ApplicationSensitivity,
    ApplicationShape,
    CapacityRead,
    CurveAttached,
    EdgeRead,
    FollowingRead,
    LinkPerformance,
    Named,
    PathApplication,
    PathApplications,
    TaskRead,
)
from sinemora.fleet.inventory.schemas import VmName
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import invalid
from sinemora.measurements.aggregate.matrix import CellState, Metric, Statistic
from sinemora.measurements.codec.flows import Flows
from sinemora.measurements.codec.llq16 import VALUE_OF_BIN
from sinemora.measurements.query.matrix.compute import MatrixResult, compute_matrix
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.query.series.paths import path_ends
from sinemora.measurements.schemas import STATE_NAMES, Span


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPaths:
    """Newest round trips of a mesh in ns, NaN where unknown, [source][target] by `machine_of` (VM id → index).

    For paths with several source ports, percentiles are those of the slowest: an application cannot choose its route.
    """

    result: MatrixResult
    machine_of: dict[UUID, int]
    round_trips_ns: Floats

    @property
    def states(self) -> np.ndarray:
        return self.result.matrix.states


def network(session: Session, mesh_id: UUID, statistic: Statistic) -> MeasuredPaths:
    """Return the newest round trips of a mesh. ProductError `mesh_unknown`."""
    return newest_round_trips(session, mesh_state(session, mesh_id), statistic)


def newest_round_trips(session: Session, mesh: MeshState, statistic: Statistic) -> MeasuredPaths:
    """Return the newest round trips of a mesh that is loaded already."""
    flows = Flows.ALL if statistic.quantile is None else Flows.SLOWEST
    matrix = compute_matrix(session, mesh, MatrixRequest(metric=Metric.ROUND_TRIP, statistic=statistic, flows=flows))
    trips = np.where(matrix.matrix.valued, matrix.matrix.values, np.nan).astype(np.float64)
    return MeasuredPaths(matrix, {axis.id: at for at, axis in enumerate(matrix.axis)}, trips)


def links_of(application: Application) -> Links:
    """Return the links of an application, by position of tasks."""
    if application.edges:
        place = {task.id: position for position, task in enumerate(application.tasks)}
        return graph(
            [(place[edge.source_task_id], place[edge.target_task_id], edge.weight) for edge in application.edges]
        )
    root = next(position for position, task in enumerate(application.tasks) if task.root)
    return star(root, len(application.tasks))


def machines_of(application: Application, net: MeasuredPaths) -> Indices:
    """Return the machine of each task in the network; -1 where unknown."""
    machines = [-1 if task.vm_id is None else net.machine_of.get(task.vm_id, -1) for task in application.tasks]
    return np.array(machines, np.intp)


def shown(session: Session, applications: list[Application]) -> list[ApplicationRead]:
    """Convert applications with their curves."""
    entries = attach.entries(session, applications)
    own = {entry.stored[0].id for entry in entries.values() if entry.stored is not None}
    newest = {key: version.number for key, version in curve_queries.newest_versions(session, own).items()}
    return [_read(application, entries[application.id], newest) for application in applications]


def _read(application: Application, curve: CatalogueEntry, newest: dict[UUID, int]) -> ApplicationRead:
    names = {task.id: task.name for task in application.tasks}
    fields = ("id", "name", "description", "reference_us", "objective", "moves_max", "move_cost")
    limits = (
        "kept_share",
        "moves_per_day",
        "leaves_region",
        "moves_for_others",
        "per_vm_max",
        "per_host_max",
        "per_zone_max",
        "version",
        "created_at",
    )
    return ApplicationRead(
        **{field: getattr(application, field) for field in (*fields, *limits)},
        shape=ApplicationShape.GRAPH if application.edges else ApplicationShape.STAR,
        mesh=Named.model_validate(application.mesh),
        curve=CurveAttached(
            id=curve.id,
            origin=CurveOrigin.PUBLISHED if curve.stored is None else CurveOrigin.OWN,
            name=curve.stored[0].name if curve.stored is not None else curve.read().name,
            number=curve.number,
            newest=1 if curve.stored is None else newest[curve.stored[0].id],
        ),
        zones=sorted((Named.model_validate(zone.zone) for zone in application.zones), key=lambda entry: entry.name),
        apart_from=sorted(
            (Named.model_validate(entry.other) for entry in application.apart_from), key=lambda entry: entry.name
        ),
        tasks=[TaskRead.model_validate(task) for task in application.tasks],
        edges=[
            EdgeRead(source=names[edge.source_task_id], target=names[edge.target_task_id], weight=edge.weight)
            for edge in application.edges
        ],
        following=FollowingRead(
            proposals=sorted(decision.key for decision in application.traffic),
            since=max(decision.since for decision in application.traffic),
            stopped=application.traffic[0].stopped,
        )
        if application.traffic
        else None,
    )


def predict(application: Application, net: MeasuredPaths, curve: CatalogueEntry) -> Reached:
    """Return the performance of each link of an application in a network."""
    sensitivity = attach.sensitivity(application, curve)
    return reached(links_of(application), machines_of(application, net), net.round_trips_ns, sensitivity)


def performance(session: Session, application: Application, statistic: Statistic) -> ApplicationPerformance:
    """Return the performance of an application in the newest windows. ProductError `request_invalid`."""
    if statistic is Statistic.SD:
        message = "A standard deviation is no round trip. Choose 'min', 'mean', 'p50', 'p90', 'p99', 'p999' or 'max'."
        raise invalid([{"pointer": "#/query/statistic", "message": message}])
    net = network(session, application.mesh_id, statistic)
    reached_links = predict(application, net, attach.entries(session, [application])[application.id])
    mean = reached_links.mean()
    objective = application.objective
    return ApplicationPerformance(
        application_id=application.id,
        name=application.name,
        window=Span(from_=net.result.started_at, to=net.result.ended_at),
        statistic=statistic,
        performance=mean,
        low=reached_links.mean(reached_links.low),
        high=reached_links.mean(reached_links.high),
        worst=reached_links.worst,
        objective=objective,
        below_objective=None if objective is None or mean is None else mean < objective,
        links=len(reached_links.links),
        measured=reached_links.measured,
        detail=_detail(application, net, machines_of(application, net), reached_links),
    )


def sensitivity(session: Session, application: Application) -> ApplicationSensitivity:
    """Return the performance of a link of an application by its round trip."""
    sensitive = attach.sensitivity(application, attach.entries(session, [application])[application.id])
    return ApplicationSensitivity(
        application_id=application.id,
        name=application.name,
        reference_us=sensitive.reference_us,
        round_trip_ns=VALUE_OF_BIN.tolist(),
        performance=sensitive.curve(sensitive.added_us(VALUE_OF_BIN)).round(6).tolist(),
    )


def on_path(session: Session, mesh_id: UUID, source_id: UUID, target_id: UUID) -> PathApplications:
    """Return the applications with links over a path, highest cost first. ProductError `mesh_unknown`, `path_unknown`.

    Links are predicted from round trips, so that both directions count.
    """
    path_ends(mesh_state(session, mesh_id), source_id, target_id)
    applications = queries.applications_between(session, mesh_id, (source_id, target_id))
    if not applications:
        return PathApplications(window=Span(from_=None, to=None), items=[])
    net = network(session, mesh_id, Statistic.P50)
    curves = attach.entries(session, applications)
    ends = {net.machine_of[source_id], net.machine_of[target_id]}
    found = [_on_path(application, net, curves[application.id], ends) for application in applications]
    items = sorted((one for one in found if one.path_links), key=lambda one: -1.0 if one.cost is None else one.cost)
    return PathApplications(window=Span(from_=net.result.started_at, to=net.result.ended_at), items=items[::-1])


def _on_path(application: Application, net: MeasuredPaths, curve: CatalogueEntry, ends: set[int]) -> PathApplication:
    reached_links, at = predict(application, net, curve), machines_of(application, net)
    links, mean, objective = reached_links.links, reached_links.mean(), application.objective
    sources, targets = at[links.sources].tolist(), at[links.targets].tolist()
    over = np.array([{a, b} == ends for a, b in zip(sources, targets, strict=True)], np.bool_)
    return PathApplication(
        id=application.id,
        name=application.name,
        path_links=int(over.sum()),
        links=len(links),
        performance=mean,
        cost=reached_links.cost(over),
        objective=objective,
        below_objective=None if objective is None or mean is None else mean < objective,
    )


def _detail(application: Application, net: MeasuredPaths, at: Indices, reached_links: Reached) -> list[LinkPerformance]:
    names = [task.name for task in application.tasks]
    sources, targets = at[reached_links.links.sources], at[reached_links.links.targets]
    rows = zip(reached_links.links.sources.tolist(), reached_links.links.targets.tolist(), strict=True)
    detail = []
    for row, (source, target) in enumerate(rows):
        a, b = int(sources[row]), int(targets[row])
        known = bool(np.isfinite(reached_links.performance[row]))
        trip = 0.0 if a == b else net.round_trips_ns[a, b]
        detail.append(
            LinkPerformance(
                source=names[source],
                target=names[target],
                weight=float(reached_links.links.weights[row]),
                state=_state(net, a, b),
                round_trip_ns=round(float(trip)) if known else None,
                performance=float(reached_links.performance[row]) if known else None,
                low=float(reached_links.low[row]) if known else None,
                high=float(reached_links.high[row]) if known else None,
                extrapolated=bool(reached_links.extrapolated[row]),
            )
        )
    return detail


def _state(net: MeasuredPaths, source: int, target: int) -> str:
    if source < 0 or target < 0:
        return STATE_NAMES[CellState.NOT_PLANNED]
    return STATE_NAMES[CellState.MEASURED if source == target else CellState(int(net.states[source, target]))]


def capacity_read(carrier: Carrier) -> CapacityRead:
    """Convert the capacity of a VM."""
    return CapacityRead.from_row(carrier, vm=VmName(id=carrier.vm_id, key=carrier.vm_key, name=carrier.vm_name))
