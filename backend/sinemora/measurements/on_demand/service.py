"""Use cases of measurements on demand."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.fleet.inventory.models import Agent
from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.inventory.status import AgentStatus, status_of
from sinemora.fleet.meshes.models import OnDemandMeasurement
from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.fleet.meshes.queries import active_on_demand
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.config import settings
from sinemora.kit.errors import NotFound, ProductError, existing
from sinemora.measurements.on_demand import queries
from sinemora.measurements.on_demand.models import OnDemandWindow
from sinemora.measurements.on_demand.reading import csv_of, read_row, result_of, second_of, source_ports_of
from sinemora.measurements.on_demand.schemas import (
    OnDemandCreate,
    OnDemandRead,
    OnDemandResult,
    OnDemandSecond,
    OnDemandWindowCreate,
    SourcePortsRead,
)
from sinemora.measurements.query.series.paths import path_ends

AT_ONCE = 4
"""Measurements of a tenant at a time; agents accept twice as many."""
KEPT = 200
KEPT_FOR = timedelta(days=30)
"""Number and age of the measurements that a tenant keeps."""
FEATURE = "on_demand"
PROBES_FEATURE = "path_probes"
# The plan reaches the agents within a second or two.
_PREPARATION = timedelta(seconds=3)


def create(session: Session, actor: Actor, body: OnDemandCreate) -> OnDemandRead:
    """Start a measurement of one pair.

    ProductError `mesh_unknown`, `path_unknown`, `on_demand_no_agent`, `on_demand_agent_silent`,
    `on_demand_agent_too_old`, `on_demand_one_port`, `on_demand_too_many`, `on_demand_pair_busy`.
    """
    mesh = mesh_state(session, body.mesh_id)
    source, target = path_ends(mesh, body.source_vm_id, body.target_vm_id)
    now = datetime.now(UTC)
    agents = [_agent_of(session, member, now) for member in (source, target)]
    client = _client(mesh, (source, target), agents)
    if body.ecn or body.reordering:
        _check_probes((source, target), agents)
    if body.source_ports > 1 and any(ip_address(end.address).is_loopback for end in (source, target) if end.address):
        raise ProductError(
            "on_demand_one_port",
            409,
            "One source port only: the demonstration relays no other port between its VMs. Measure with 1.",
        )
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
        ecn=body.ecn,
        reordering=body.reordering,
        loss_deadline_ms=mesh.loss_deadline_ms,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(seconds=body.duration_s),
        requested_by=actor.name,
    )
    session.add(row)
    session.flush()
    audit.record(session, actor, "on_demand.created", row.id, f"{source.name} → {target.name}", rate_hz=row.rate_hz)
    return read_row(row, mesh, 0, now)


def get(session: Session, measurement_id: UUID) -> OnDemandMeasurement:
    """Return a measurement. ProductError `on_demand_measurement_unknown`."""
    return existing(session.get(OnDemandMeasurement, measurement_id), "on_demand_measurement")


def read(session: Session, measurement_id: UUID) -> OnDemandResult:
    """Return a measurement with its seconds. ProductError `on_demand_measurement_unknown`."""
    return result_of(session, get(session, measurement_id))


def source_ports(session: Session, mesh_id: UUID, source_vm_id: UUID, target_vm_id: UUID) -> SourcePortsRead:
    """Return which source ports of a VM reach another one faster. ProductError `mesh_unknown`, `path_unknown`."""
    mesh = mesh_state(session, mesh_id)
    return source_ports_of(session, mesh, *path_ends(mesh, source_vm_id, target_vm_id))


def stop(session: Session, actor: Actor, measurement_id: UUID) -> OnDemandRead:
    """Stop a measurement; repeating is no error, and one that is over stays as it is."""
    row, now = get(session, measurement_id), datetime.now(UTC)
    mesh = mesh_state(session, row.mesh_id)
    if row.stopped_at is None and now < row.ends_at:
        row.stopped_at = now
        audit.record(session, actor, "on_demand.stopped", row.id, str(row.id))
        session.flush()
    return read_row(row, mesh, queries.seconds_of(session, [row.id]).get(row.id, 0), now)


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
    return row.mesh_id, row.id, second_of(row, window)


def csv_rows(session: Session, measurement_id: UUID) -> Iterator[str]:
    """Return every exchange of a measurement as CSV, oldest first. ProductError `on_demand_measurement_unknown`."""
    row = get(session, measurement_id)
    windows = queries.windows_of(session, row.id)
    session.expunge_all()  # they are read while the response is sent
    return csv_of(row, windows)


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


def _check_probes(ends: tuple[Member, Member], agents: Sequence[Agent]) -> None:
    """Refuse probes that one of the agents does not know: both ends read ECN fields, and send in pairs."""
    for end, agent in zip(ends, agents, strict=True):
        if PROBES_FEATURE not in agent.description.get("features", ()):
            raise ProductError(
                "on_demand_agent_too_old",
                409,
                f"Agent too old: version {agent.agent_version} on {end.name} cannot probe ECN and reordering. "
                "Upgrade it, or measure without them.",
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
