"""Measurements on demand as readers see them: JSON of their rows, and every exchange as CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.fleet.meshes.models import OnDemandMeasurement
from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.csv_rows import csv_text
from sinemora.measurements.on_demand import queries, schemas
from sinemora.measurements.on_demand.models import OnDemandWindow
from sinemora.measurements.on_demand.path_probes import EcnFields, count_probes
from sinemora.measurements.on_demand.port_paths import PortAdvice, advise, paths_of, sweep_of
from sinemora.measurements.on_demand.summary import Delays, Exchanges, Losses, summarise
from sinemora.measurements.query.axis import end_of
from sinemora.measurements.schemas import PathEnd

SWEEPS_MOST = 10
"""Newest sweeps of a pair that are compared."""
# From the end of the last second until it has arrived: the loss deadline, a wakeup, the way.
_LAST_ARRIVES = timedelta(seconds=8)
# In the order of `Exchanges`; seconds stored by earlier versions lack them.
_OBSERVED = ("outbound_ecn", "inbound_ecn", "outbound_reversed", "inbound_reversed")
_CSV_HEADER = (
    "started_at_ns",
    "source_port",
    "outbound_ns",
    "inbound_ns",
    "round_trip_ns",
    "outbound_lost",
    "inbound_lost",
    "clock_error_ns",
    "outbound_ecn",
    "inbound_ecn",
    "outbound_reversed",
    "inbound_reversed",
)


def result_of(session: Session, row: OnDemandMeasurement) -> schemas.OnDemandResult:
    """Return a measurement with its seconds."""
    mesh = mesh_state(session, row.mesh_id)
    windows = queries.windows_of(session, row.id)
    all_of = joined([exchanges_of(row, window) for window in windows])
    base = read_row(row, mesh, len(windows), datetime.now(UTC))
    return schemas.OnDemandResult(
        **base.model_dump(),
        windows=[second_of(row, window) for window in windows],
        **_summaries(all_of),
        outbound_paths=_paths(windows, all_of.flow, all_of.outbound_ns, all_of.outbound_lost),
        inbound_paths=_paths(windows, all_of.flow, all_of.inbound_ns, all_of.inbound_lost),
        outbound_probes=_probes(row, all_of.outbound_ecn, all_of.outbound_reversed),
        inbound_probes=_probes(row, all_of.inbound_ecn, all_of.inbound_reversed),
    )


def source_ports_of(session: Session, mesh: MeshState, source: Member, target: Member) -> schemas.SourcePortsRead:
    """Return which source ports of a VM reach another one faster, by its newest sweeps."""
    sweeps = []
    for row in queries.sweeps_of(session, mesh.id, source.id, target.id, SWEEPS_MOST):
        windows = queries.windows_of(session, row.id)
        ports = max((window.ports for window in windows), key=len, default=[])
        exchanges = joined([exchanges_of(row, window) for window in windows])
        sweeps.append(sweep_of(row.starts_at, ports, exchanges))
    found = advise([sweep for sweep in sweeps if sweep is not None])
    ends = {"source": end_of(source), "target": end_of(target)}
    if found is None:
        words = f"No sweep yet: measure from {source.name} to {target.name} with 16 or more source ports."
        return schemas.SourcePortsRead(
            **ends,
            measured_at=None,
            faster=[],
            faster_by_ns=None,
            since=None,
            agreeing=0,
            sweeps=0,
            ports=[],
            words=words,
        )
    excess = found.newest.excess_ns
    return schemas.SourcePortsRead(
        **ends,
        measured_at=found.newest.at,
        faster=sorted(found.newest.fast) if found.faster_by_ns else [],
        faster_by_ns=found.faster_by_ns,
        since=found.since,
        agreeing=found.agreeing,
        sweeps=found.compared,
        ports=[schemas.SourcePortRead(port=port, slower_by_ns=excess[port]) for port in sorted(excess)],
        words=_words(source, target, found),
    )


def _words(source: Member, target: Member, found: PortAdvice) -> str:
    count, fast = len(found.newest.excess_ns), len(found.newest.fast)
    of = f"by {found.agreeing} of {found.compared} sweeps of these ports"
    if not found.faster_by_ns:
        above = f"{found.newest.hidden_ns / 1e3:.1f} µs"
        return f"No difference above {above} between {count} source ports of {source.name} to {target.name}, {of}."
    return (
        f"{fast} of {count} source ports of {source.name} reach {target.name} and back"
        f" {found.faster_by_ns / 1e3:.1f} µs faster than the others, {of}. They were measured to UDP port"
        f" {target.event_port}. To another port, or by TCP, others may be faster: compare a few there first."
    )


def read_all(session: Session, rows: Sequence[OnDemandMeasurement]) -> list[schemas.OnDemandRead]:
    """Convert measurements to their JSON form."""
    meshes, now = {id: mesh_state(session, id) for id in {row.mesh_id for row in rows}}, datetime.now(UTC)
    seconds = queries.seconds_of(session, [row.id for row in rows])
    return [read_row(row, meshes[row.mesh_id], seconds.get(row.id, 0), now) for row in rows]


def read_row(row: OnDemandMeasurement, mesh: MeshState, seconds: int, now: datetime) -> schemas.OnDemandRead:
    """Convert a measurement with a number of stored seconds to its JSON form."""
    return schemas.OnDemandRead.from_row(
        row,
        source=_end(mesh, row.source_vm_id),
        target=_end(mesh, row.target_vm_id),
        status=_status(row, seconds, now),
        seconds=seconds,
    )


def second_of(row: OnDemandMeasurement, window: OnDemandWindow) -> schemas.OnDemandSecond:
    """Summarise a second of a measurement."""
    exchanges = exchanges_of(row, window)
    return schemas.OnDemandSecond(
        started_at=window.started_at,
        sent=len(exchanges.at_ns),
        clock_error_ns=window.exchanges["clock_error_ns"],
        **_summaries(exchanges),
    )


def exchanges_of(row: OnDemandMeasurement, window: OnDemandWindow) -> Exchanges:
    """Return the exchanges of a second, seen from the source of the measurement."""
    stored = window.exchanges
    exchanges = Exchanges(
        stored["at_ns"],
        stored["flow"],
        stored["outbound_ns"],
        stored["inbound_ns"],
        stored["outbound_lost"],
        stored["inbound_lost"],
        *(stored.get(name) or [None] * len(stored["at_ns"]) for name in _OBSERVED),
    )
    return exchanges if row.client_vm_id == row.source_vm_id else exchanges.turned()


def csv_of(row: OnDemandMeasurement, windows: Sequence[OnDemandWindow]) -> Iterator[str]:
    """Return every exchange of these seconds as CSV, the header first."""
    yield ",".join(_CSV_HEADER) + "\n"
    for window in windows:
        exchanges = exchanges_of(row, window)
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
            [error_ns] * len(exchanges.at_ns),
            exchanges.outbound_ecn,
            exchanges.inbound_ecn,
            exchanges.outbound_reversed,
            exchanges.inbound_reversed,
            strict=True,
        )
        yield csv_text(
            [base_ns + at_ns, window.ports[flow], *("" if value is None else int(value) for value in rest)]
            for at_ns, flow, *rest in columns
        )


def joined(parts: Sequence[Exchanges]) -> Exchanges:
    """Return the exchanges of several seconds as one; `at_ns` is within each second."""
    names = [field.name for field in fields(Exchanges)]
    return Exchanges(**{name: [value for part in parts for value in getattr(part, name)] for name in names})


def _status(row: OnDemandMeasurement, seconds: int, now: datetime) -> schemas.OnDemandStatus:
    if row.stopped_at is not None:
        return schemas.OnDemandStatus.stopped
    planned_s = round((row.ends_at - row.starts_at).total_seconds())
    if seconds >= planned_s or now > row.ends_at + _LAST_ARRIVES:
        return schemas.OnDemandStatus.completed if seconds else schemas.OnDemandStatus.no_data
    return schemas.OnDemandStatus.running if seconds else schemas.OnDemandStatus.waiting


def _end(mesh: MeshState, vm_id: UUID) -> PathEnd:
    """Return an end of a measurement. A VM that has left the mesh since has no name here."""
    member = next((member for member in mesh.members if member.id == vm_id), None)
    return PathEnd(id=vm_id, name="", zone_name="") if member is None else end_of(member)


def _summaries(exchanges: Exchanges) -> dict[str, schemas.DelaySummaryRead]:
    parts = {
        "outbound": summarise(exchanges.outbound_ns, exchanges.outbound_lost),
        "inbound": summarise(exchanges.inbound_ns, exchanges.inbound_lost),
        "round_trip": summarise(exchanges.round_trip_ns, exchanges.round_trip_lost),
    }
    return {name: schemas.DelaySummaryRead(**asdict(part)) for name, part in parts.items()}


def _paths(
    windows: Sequence[OnDemandWindow], flow: Sequence[int], delays_ns: Delays, lost: Losses
) -> list[schemas.OnDemandPathRead]:
    """Return the paths of a direction behind several source ports; none for a single port."""
    ports = max((window.ports for window in windows), key=len, default=[])
    if len(ports) < 2:
        return []
    return [
        schemas.OnDemandPathRead(**asdict(path) | {"ports": sorted(ports[place] for place in path.ports)})
        for path in paths_of(len(ports), flow, delays_ns, lost)
    ]


def _probes(
    row: OnDemandMeasurement, ecn: EcnFields, reversals: Sequence[bool | None]
) -> schemas.PathProbesRead | None:
    if not (row.ecn or row.reordering):
        return None
    return schemas.PathProbesRead(**asdict(count_probes(ecn, reversals)))
