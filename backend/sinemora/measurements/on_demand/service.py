"""Use cases of measurements on demand."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.inventory.agents import AgentIdentity
from sinemora.inventory.models import Agent
from sinemora.inventory.service import get_vm
from sinemora.inventory.status import AgentStatus, status_of
from sinemora.kit.config import settings
from sinemora.kit.errors import NotFound, ProductError
from sinemora.measurements.on_demand import queries
from sinemora.measurements.on_demand.models import OnDemandWindow
from sinemora.measurements.on_demand.port_paths import paths_of
from sinemora.measurements.on_demand.schemas import (
    DelaySummaryRead,
    OnDemandCreate,
    OnDemandPathRead,
    OnDemandRead,
    OnDemandResult,
    OnDemandSecond,
    OnDemandStatus,
    OnDemandWindowCreate,
)
from sinemora.measurements.on_demand.summary import Delays, Exchanges, Losses, summarise
from sinemora.measurements.query.matrix import end_of
from sinemora.measurements.query.paths import path_ends
from sinemora.measurements.schemas import PathEnd
from sinemora.meshes.models import OnDemandMeasurement
from sinemora.meshes.plan import Member, MeshState
from sinemora.meshes.queries import active_on_demand
from sinemora.meshes.service import mesh_state
from sinemora.tenants import audit, quotas
from sinemora.tenants.access import Actor

AT_ONCE = 4
"""Measurements of a tenant at a time; agents accept twice as many."""
KEPT = 200
KEPT_FOR = timedelta(days=30)
"""Number and age of the measurements that a tenant keeps."""
FEATURE = "on_demand"
# The plan reaches the agents within a second or two.
_PREPARATION = timedelta(seconds=3)
# From the end of the last second until it has arrived: the loss deadline, a wakeup, the way.
_LAST_ARRIVES = timedelta(seconds=8)
_CSV_HEADER = (
    "started_at_ns",
    "source_port",
    "outbound_ns",
    "inbound_ns",
    "round_trip_ns",
    "outbound_lost",
    "inbound_lost",
    "clock_error_ns",
)


def create(session: Session, actor: Actor, body: OnDemandCreate) -> OnDemandRead:
    """Start a measurement of one pair.

    ProductError `mesh_unknown`, `path_unknown`, `on_demand_no_agent`, `on_demand_agent_silent`,
    `on_demand_agent_too_old`, `on_demand_too_many`, `on_demand_pair_busy`.
    """
    mesh = mesh_state(session, body.mesh_id)
    source, target = path_ends(mesh, body.source_vm_id, body.target_vm_id)
    now = datetime.now(UTC)
    client = _client(mesh, (source, target), [_agent_of(session, member, now) for member in (source, target)])
    quotas.lock(session)
    _check_free(session, source, target)
    queries.delete_old(session, now - KEPT_FOR, KEPT - 1)
    starts_at = (now + _PREPARATION).replace(microsecond=0) + timedelta(seconds=1)
    row = OnDemandMeasurement(
        mesh_id=mesh.id,
        source_vm_id=source.id,
        target_vm_id=target.id,
        client_vm_id=client.id,
        rate_hz=body.rate_hz,
        source_ports=body.source_ports,
        loss_deadline_ms=mesh.loss_deadline_ms,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(seconds=body.duration_s),
        requested_by=actor.name,
    )
    session.add(row)
    session.flush()
    audit.record(session, actor, "on_demand.created", row.id, f"{source.name} → {target.name}", rate_hz=row.rate_hz)
    return _read(row, mesh, 0, now)


def get(session: Session, measurement_id: UUID) -> OnDemandMeasurement:
    """Return a measurement. ProductError `on_demand_measurement_unknown`."""
    row = session.get(OnDemandMeasurement, measurement_id)
    if row is None:
        raise NotFound("on_demand_measurement")
    return row


def read(session: Session, measurement_id: UUID) -> OnDemandResult:
    """Return a measurement with its seconds. ProductError `on_demand_measurement_unknown`."""
    row = get(session, measurement_id)
    mesh = mesh_state(session, row.mesh_id)
    windows = queries.windows_of(session, row.id)
    all_of = _joined([_exchanges(row, window) for window in windows])
    base = _read(row, mesh, len(windows), datetime.now(UTC))
    return OnDemandResult(
        **base.model_dump(),
        windows=[_second(row, window) for window in windows],
        **_summaries(all_of),
        outbound_paths=_paths(windows, all_of.flow, all_of.outbound_ns, all_of.outbound_lost),
        inbound_paths=_paths(windows, all_of.flow, all_of.inbound_ns, all_of.inbound_lost),
    )


def read_all(session: Session, rows: Sequence[OnDemandMeasurement]) -> list[OnDemandRead]:
    """Convert measurements to their JSON form."""
    meshes, now = {id: mesh_state(session, id) for id in {row.mesh_id for row in rows}}, datetime.now(UTC)
    seconds = queries.seconds_of(session, [row.id for row in rows])
    return [_read(row, meshes[row.mesh_id], seconds.get(row.id, 0), now) for row in rows]


def stop(session: Session, actor: Actor, measurement_id: UUID) -> OnDemandRead:
    """Stop a measurement; repeating is no error, and one that is over stays as it is."""
    row, now = get(session, measurement_id), datetime.now(UTC)
    mesh = mesh_state(session, row.mesh_id)
    if row.stopped_at is None and now < row.ends_at:
        row.stopped_at = now
        audit.record(session, actor, "on_demand.stopped", row.id, str(row.id))
        session.flush()
    return _read(row, mesh, queries.seconds_of(session, [row.id]).get(row.id, 0), now)


def add_window(
    session: Session, agent: AgentIdentity, body: OnDemandWindowCreate
) -> tuple[UUID, UUID, OnDemandSecond] | None:
    """Store a second that an agent measured; return its mesh, measurement and summary, or None if it was stored before.

    ProductError `on_demand_measurement_unknown`, `on_demand_window_outside` (409).
    """
    row = queries.by_key(session, body.key)
    if row is None or row.client_vm_id != agent.vm_id:
        raise NotFound("on_demand_measurement")
    started_at = datetime.fromtimestamp(body.started_at_s, UTC)
    if not row.starts_at <= started_at < row.ends_at:
        raise ProductError(
            "on_demand_window_outside", 409, "Outside the measurement: its span does not contain this second."
        )
    if not queries.add_window(session, row.id, started_at, body):
        return None
    exchanges = body.model_dump(mode="json")
    window = OnDemandWindow(measurement_id=row.id, started_at=started_at, ports=body.ports, exchanges=exchanges)
    return row.mesh_id, row.id, _second(row, window)


def csv_rows(session: Session, measurement_id: UUID) -> Iterator[str]:
    """Return every exchange of a measurement as CSV, oldest first. ProductError `on_demand_measurement_unknown`."""
    row = get(session, measurement_id)
    windows = queries.windows_of(session, row.id)
    session.expunge_all()  # they are read while the response is sent
    return _csv(row, windows)


def _csv(row: OnDemandMeasurement, windows: Sequence[OnDemandWindow]) -> Iterator[str]:
    yield ",".join(_CSV_HEADER) + "\n"
    for window in windows:
        exchanges, text = _exchanges(row, window), io.StringIO()
        base_ns = round(window.started_at.timestamp()) * 1_000_000_000
        error_ns = window.exchanges["clock_error_ns"]
        columns = zip(
            exchanges.at_ns,
            exchanges.flow,
            exchanges.outbound_ns,
            exchanges.inbound_ns,
            exchanges.round_trip_ns,
            exchanges.outbound_lost,
            exchanges.inbound_lost,
            strict=True,
        )
        writer = csv.writer(text, lineterminator="\n")
        for at_ns, flow, *rest in columns:
            values = ["" if value is None else int(value) for value in rest]
            writer.writerow([base_ns + at_ns, window.ports[flow], *values, "" if error_ns is None else error_ns])
        yield text.getvalue()


def _agent_of(session: Session, member: Member, now: datetime) -> Agent:
    """Return the agent of a member, which must be connected."""
    agent = get_vm(session, member.id).agent
    if agent is None or member.address is None:
        raise ProductError(
            "on_demand_no_agent",
            409,
            f"No agent on {member.name}: both VMs need one. Install it on the page Add a VM, then try again.",
        )
    status = status_of(None, agent.last_report_at, agent.report_every_s, now, settings().stale_windows)
    if status is not AgentStatus.reporting:
        at = agent.last_report_at
        last = "has never reported" if at is None else f"last reported at {at:%H:%M:%S} UTC"
        raise ProductError(
            "on_demand_agent_silent",
            409,
            f"Agent not connected: the agent of {member.name} {last}. Start it, then try again.",
        )
    return agent


def _client(mesh: MeshState, ends: tuple[Member, Member], agents: Sequence[Agent]) -> Member:
    """Return the end that sends the requests: the source, or the target if only its agent is new enough."""
    able = [FEATURE in agent.description.get("features", ()) for agent in agents]
    places = [mesh.members.index(end) for end in ends]
    # An older agent answers the peers of its plan.
    if any(able) and (all(able) or mesh.planned[places[0], places[1]]):
        return ends[able.index(True)]
    old = ends[able.index(False)]
    version = agents[able.index(False)].agent_version
    raise ProductError(
        "on_demand_agent_too_old",
        409,
        f"Agent too old: version {version} on {old.name} cannot measure on demand. Upgrade it, then try again.",
    )


def _check_free(session: Session, source: Member, target: Member) -> None:
    active = active_on_demand(session)
    ends = {source.id, target.id}
    if any({row.source_vm_id, row.target_vm_id} == ends for row in active):
        raise ProductError(
            "on_demand_pair_busy",
            409,
            f"Already running: {source.name} and {target.name} are being measured. Stop that measurement first.",
        )
    if len(active) >= AT_ONCE:
        raise ProductError(
            "on_demand_too_many",
            409,
            f"Too many at once: {AT_ONCE} measurements on demand are running. Wait a minute, or stop one.",
            limit=AT_ONCE,
        )


def _status(row: OnDemandMeasurement, seconds: int, now: datetime) -> OnDemandStatus:
    if row.stopped_at is not None:
        return OnDemandStatus.stopped
    planned_s = round((row.ends_at - row.starts_at).total_seconds())
    if seconds >= planned_s or now > row.ends_at + _LAST_ARRIVES:
        return OnDemandStatus.completed if seconds else OnDemandStatus.no_data
    return OnDemandStatus.running if seconds else OnDemandStatus.waiting


def _read(row: OnDemandMeasurement, mesh: MeshState, seconds: int, now: datetime) -> OnDemandRead:
    return OnDemandRead(
        id=row.id,
        mesh_id=row.mesh_id,
        source=_end(mesh, row.source_vm_id),
        target=_end(mesh, row.target_vm_id),
        rate_hz=row.rate_hz,
        source_ports=row.source_ports,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        stopped_at=row.stopped_at,
        requested_by=row.requested_by,
        created_at=row.created_at,
        status=_status(row, seconds, now),
        seconds=seconds,
    )


def _end(mesh: MeshState, vm_id: UUID) -> PathEnd:
    """Return an end of a measurement. A VM that has left the mesh since has no name here."""
    member = next((member for member in mesh.members if member.id == vm_id), None)
    return PathEnd(id=vm_id, name="", zone_name="") if member is None else end_of(member)


def _second(row: OnDemandMeasurement, window: OnDemandWindow) -> OnDemandSecond:
    exchanges = _exchanges(row, window)
    return OnDemandSecond(
        started_at=window.started_at,
        sent=len(exchanges.at_ns),
        clock_error_ns=window.exchanges["clock_error_ns"],
        **_summaries(exchanges),
    )


def _summaries(exchanges: Exchanges) -> dict[str, DelaySummaryRead]:
    parts = {
        "outbound": summarise(exchanges.outbound_ns, exchanges.outbound_lost),
        "inbound": summarise(exchanges.inbound_ns, exchanges.inbound_lost),
        "round_trip": summarise(exchanges.round_trip_ns, exchanges.round_trip_lost),
    }
    return {name: DelaySummaryRead(**asdict(part)) for name, part in parts.items()}


def _paths(
    windows: Sequence[OnDemandWindow], flow: Sequence[int], delays_ns: Delays, lost: Losses
) -> list[OnDemandPathRead]:
    """Return the paths of a direction behind several source ports; none for a single port."""
    ports = max((window.ports for window in windows), key=len, default=[])
    if len(ports) < 2:
        return []
    return [
        OnDemandPathRead(**asdict(path) | {"ports": sorted(ports[place] for place in path.ports)})
        for path in paths_of(len(ports), flow, delays_ns, lost)
    ]


def _exchanges(row: OnDemandMeasurement, window: OnDemandWindow) -> Exchanges:
    """Return the exchanges of a second, seen from the source of the measurement."""
    stored = window.exchanges
    exchanges = Exchanges(
        stored["at_ns"],
        stored["flow"],
        stored["outbound_ns"],
        stored["inbound_ns"],
        stored["outbound_lost"],
        stored["inbound_lost"],
    )
    return exchanges if row.client_vm_id == row.source_vm_id else exchanges.turned()


def _joined(parts: Sequence[Exchanges]) -> Exchanges:
    """Return the exchanges of several seconds as one; `at_ns` is within each second."""
    return Exchanges(
        [value for part in parts for value in part.at_ns],
        [value for part in parts for value in part.flow],
        [value for part in parts for value in part.outbound_ns],
        [value for part in parts for value in part.inbound_ns],
        [value for part in parts for value in part.outbound_lost],
        [value for part in parts for value in part.inbound_lost],
    )
