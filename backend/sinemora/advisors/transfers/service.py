"""Use cases of the transfer planner."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.advisors.measured_path import member_named
from sinemora.advisors.transfers import schemas
from sinemora.advisors.transfers.capacities import limits, measured_capacities
from sinemora.advisors.transfers.core.network import Floats, Indices, Network, grouped, tree
from sinemora.advisors.transfers.core.plan import Transfers, connection_rate, plan, shuffle
from sinemora.advisors.transfers.core.shape import shape_of
from sinemora.advisors.transfers.core.simulate import finish_s
from sinemora.applications.schemas import Named
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import invalid
from sinemora.measurements.aggregate.matrix import Metric
from sinemora.measurements.query.matrix.compute import compute_matrix
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.query.vms.traffic import WINDOW_S
from sinemora.measurements.store import traffic
from sinemora.measurements.token_buckets.models import Direction
from sinemora.recommendations.service import resolve_mesh

_RACKS = {schemas.Topology.STAR: 1, schemas.Topology.TWO_RACK: 2, schemas.Topology.FOUR_RACK: 4}
_BYTES_OF_GBIT = 1e9 / 8
_NAMED = 5
"""Hosts that an error names."""


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """Transfers in their network, the number of those without a measured round trip, and capacities that are known."""

    network: Network
    transfers: Transfers
    unmeasured: int
    capacities: list[schemas.MeasuredCapacity]


def plan_transfers(session: Session, body: schemas.TransferPlanCreate) -> schemas.TransferPlanRead:
    """Return the plan of some transfers. ProductError `mesh_unknown`, `vm_not_in_mesh`, `request_invalid`."""
    work = _listed(session, body) if body.sort is None else _sort(body, body.sort)
    network, transfers = work.network, work.transfers
    planned = plan(network, transfers, body.connections_max)
    fair = finish_s(network, transfers, np.ones(len(transfers)))
    ends = finish_s(network, transfers, planned.connections)
    connections = planned.connections
    if ends.max() > fair.max():  # rounding to whole connections may lose more than weights gain
        ends, connections = fair, np.ones(len(transfers), np.int64)
    limits = transfers.connection_rate
    rows = [
        schemas.PlannedTransfer(
            source=network.names[int(transfers.sources[at])],
            target=network.names[int(transfers.targets[at])],
            size_bytes=float(transfers.size[at]),
            rate_mbit=8e-6 * float(planned.rates[at]),
            connections=int(connections[at]),
            connection_limit_mbit=8e-6 * float(limits[at]) if np.isfinite(limits[at]) else None,
            order=int(planned.order[at]) + 1,
            finish_s=float(ends[at]),
            fair_finish_s=float(fair[at]),
        )
        for at in range(len(transfers))
    ]
    return schemas.TransferPlanRead(
        bound_s=planned.bound_s,
        bottleneck=network.link_name(planned.bottleneck),
        finish_s=float(ends.max()),
        fair_finish_s=float(fair.max()),
        gain_percent=100 * float(1 - ends.max() / fair.max()),
        unmeasured=work.unmeasured,
        capacities=work.capacities,
        transfers=sorted(rows, key=lambda row: row.order),
    )


def _sort(body: schemas.TransferPlanCreate, sort: schemas.SortWrite) -> _Work:
    workers = sort.workers
    names = [f"worker-{at + 1}" for at in range(workers)]
    # A fixed draw, so that the same question has the same answer.
    reducers = np.exp(sort.skew * np.random.default_rng(1).standard_normal(workers))
    network = tree(names, min(_RACKS[body.topology], workers), _capacities(body, names), body.oversubscription)
    return _Work(network, shuffle(1e9 * sort.size_gb, reducers), 0, [])


def _listed(session: Session, body: schemas.TransferPlanCreate) -> _Work:
    """Return listed transfers; hosts are in the order in which the list names them."""
    mesh = None if body.mesh is None else mesh_state(session, resolve_mesh(session, body.mesh).id)
    names: dict[str, int] = {}
    ends = []
    for at, transfer in enumerate(body.transfers):
        pair = [transfer.source, transfer.target]
        if mesh is not None:
            fields = ("source", "target")
            pair = [
                member_named(mesh, name, f"#/transfers/{at}/{field}").name
                for name, field in zip(pair, fields, strict=True)
            ]
        ends.append([names.setdefault(name, len(names)) for name in pair])
    at_hosts = np.array(ends, np.intp)
    size = np.array([transfer.size_bytes for transfer in body.transfers], np.float64)
    hosts = list(names)
    rates = np.full(size.size, np.inf)
    if mesh is not None:
        places = np.array([next(n for n, member in enumerate(mesh.members) if member.name == host) for host in hosts])
        rates = _connection_rates(session, mesh, body, places[at_hosts])
    if mesh is not None and body.topology is schemas.Topology.ZONES:
        zone_of = {member.name: member.zone_id for member in mesh.members}
        zones = list(dict.fromkeys(zone_of[host] for host in hosts))
        rack = np.array([zones.index(zone_of[host]) for host in hosts], np.intp)
        zone_names = {member.zone_id: f"zone {member.zone_name}" for member in mesh.members}
        network = grouped(
            hosts, rack, _capacities(body, hosts), body.oversubscription, tuple(zone_names[zone] for zone in zones)
        )
    else:
        racks = min(_RACKS[body.topology], len(hosts))
        network = tree(hosts, racks, _capacities(body, hosts), body.oversubscription)
    unmeasured = 0 if mesh is None else int(np.isinf(rates).sum())
    known = measured_capacities(session, mesh, hosts) if mesh is not None and body.measured_capacities else []
    network = replace(
        network,
        out=np.minimum(network.out, limits(hosts, known, Direction.SENT)),
        into=np.minimum(network.into, limits(hosts, known, Direction.RECEIVED)),
    )
    return _Work(network, Transfers(at_hosts[:, 0], at_hosts[:, 1], size, rates), unmeasured, known)


def _connection_rates(session: Session, mesh: MeshState, body: schemas.TransferPlanCreate, pairs: Indices) -> Floats:
    """Return the most bytes/s of one connection of each pair of members, infinite without a round trip."""
    end = datetime.now(UTC)
    start = end - timedelta(minutes=body.minutes)
    trips = compute_matrix(session, mesh, MatrixRequest(metric=Metric.ROUND_TRIP, from_=start, to=end)).matrix
    losses = compute_matrix(session, mesh, MatrixRequest(metric=Metric.LOSS, from_=start, to=end)).matrix
    rates = np.full(len(pairs), np.inf)
    for at, (source, target) in enumerate(pairs.tolist()):
        if trips.valued[source, target]:
            loss = float(losses.values[source, target]) if losses.valued[source, target] else 0.0
            rates[at] = connection_rate(float(trips.values[source, target]) / 1e9, loss, body.window_mib * 2**20)
    return rates


def _capacities(body: schemas.TransferPlanCreate, hosts: list[str]) -> list[float]:
    """Return the entered capacity of each host, bytes/s. ProductError `request_invalid` for one of no host."""
    if unknown := [name for name in body.capacities_gbit if name not in hosts]:
        listed = ", ".join(hosts[:_NAMED]) + (", …" if len(hosts) > _NAMED else "")
        words = f"{unknown[0]} is no host of these transfers: use {listed}"
        raise invalid([{"pointer": "#/capacities_gbit", "message": words}])
    return [_BYTES_OF_GBIT * body.capacities_gbit.get(host, body.capacity_gbit) for host in hosts]


def traffic_shapes(session: Session, mesh_id: UUID, minutes: int) -> list[schemas.VmTrafficShape]:
    """Return the shape of what each VM of a mesh sent in the last minutes, in the order of its matrices.

    VMs whose traffic no agent counted are left out, and so are windows without a report. ProductError `mesh_unknown`.
    """
    end = datetime.now(UTC)
    start = end - timedelta(minutes=minutes)
    shapes = []
    for member in mesh_state(session, mesh_id).members:
        steps = traffic.steps(session, member.key, start, end, WINDOW_S)
        if not steps:
            continue
        found = shape_of([step.bytes_sent for step in steps])
        shapes.append(
            schemas.VmTrafficShape.from_row(found, vm=Named(id=member.id, name=member.name), windows=len(steps))
        )
    return shapes
