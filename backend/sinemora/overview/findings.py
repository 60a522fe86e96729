"""Findings of the advisors: what the same measurements say beyond incidents, each with its measurement and its rule."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.advisors.fairness.schemas import FairnessOf, FairnessRead
from sinemora.advisors.fairness.service import fairness
from sinemora.advisors.shaping.connections import connection_timeouts
from sinemora.advisors.shaping.service import metric_tails
from sinemora.advisors.transport.schemas import TransportCreate
from sinemora.advisors.transport.service import transport
from sinemora.alerts.models import Incident
from sinemora.applications.schemas import Named
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.percent import percent
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.store.tiers import Tier, floor
from sinemora.measurements.token_buckets import service as token_buckets
from sinemora.overview import queries
from sinemora.overview.schemas import Advisor, AdvisorFinding

_MINUTES = 60
_TAIL_MINUTES = 1_440
_PATHS_MAX = 5
_EMPTY_WITHIN_S = 600
_MBIT_OF_BYTES = 8e-6
_MEMBERS = {
    FairnessOf.VMS: "VMs",
    FairnessOf.APPLICATIONS: "applications",
    FairnessOf.METRIC_SOURCES: "metric sources",
}
# Size of a cached share with its name, about.
_MEMBER_BYTES = 400
_YOUNG_S = 300
# The base of comparison: no finding.
_NO_RULE = "R15"


def findings(session: Session) -> list[AdvisorFinding]:
    """Return the findings about all meshes of the tenant, those about open incidents first."""
    found: list[AdvisorFinding] = []
    now = datetime.now(UTC)
    for mesh in session.scalars(select(Mesh).order_by(Mesh.name)).all():
        for incident in queries.worst_incidents(session, mesh.id, _PATHS_MAX):
            found += _of_incident(session, mesh, incident)
        found += _fairness(session, mesh, now)
        found += _tails(session, mesh)
        found += _timeouts(session, mesh)
        found += _buckets(session, mesh, now)
    return sorted(found, key=lambda one: one.incident_id is None)


def findings_of_incident(session: Session, incident_id: UUID) -> list[AdvisorFinding]:
    """Return the findings about the most affected path of an incident. ProductError `incident_unknown`."""
    incident = existing(session.get(Incident, incident_id), "incident")
    return list(_of_incident(session, session.get_one(Mesh, incident.mesh_id), incident))


def _of_incident(session: Session, mesh: Mesh, incident: Incident) -> Iterator[AdvisorFinding]:
    """Yield the transports that the advisor chooses for the path of an incident that changed most."""
    worst = ((incident.evidence.get("impact") or {}).get("worst") or [None])[0]
    if worst is None:
        return
    source, target = worst["source"]["name"], worst["target"]["name"]
    try:
        advice = transport(session, TransportCreate(mesh=str(mesh.id), source=source, target=target, minutes=_MINUTES))
    except ProductError:  # the VM has left the mesh, or is not measured any more
        return
    for fired in advice.fired:
        if fired.overridden_by is None and fired.rule != _NO_RULE:
            yield AdvisorFinding(
                advisor=Advisor.transport,
                mesh=Named(id=mesh.id, name=mesh.name),
                about=f"{source} → {target}",
                measurement=fired.measurement,
                rule=f"{fired.rule}: {fired.condition}",
                advice=fired.choice,
                source=source,
                target=target,
                of=None,
                incident_id=incident.id,
            )


def _fairness(session: Session, mesh: Mesh, now: datetime) -> Iterator[AdvisorFinding]:
    """Yield the kinds of members of a mesh that share its network unevenly."""
    for of, members in _MEMBERS.items():
        read = _shares_of_vms(session, mesh, now) if of is FairnessOf.VMS else _shares(session, mesh, of)
        if read.below and read.members:
            yield AdvisorFinding(
                advisor=Advisor.fairness,
                mesh=Named(id=mesh.id, name=mesh.name),
                about=f"{len(read.members)} {members}",
                measurement=_unevenness(read),
                rule=f"Fairness index below {read.alert_below:.3g}",
                advice=_fairer(of, read),
                source=None,
                target=None,
                of=of,
                incident_id=None,
            )


def _shares(session: Session, mesh: Mesh, of: FairnessOf, until: datetime | None = None) -> FairnessRead:
    return fairness(session, mesh.id, of, _MINUTES, None, until=until)


def _shares_of_vms(session: Session, mesh: Mesh, now: datetime) -> FairnessRead:
    """Return the shares of VMs in the last four whole quarters of an hour, of a younger mesh up to now.

    An hour of a large mesh takes seconds to merge from minutes. Quarters are merged already. A result of whole ones is
    cached until the next quarter, one of a younger mesh for five minutes.
    """
    quarter = floor(now, Tier.QUARTER.step_s)
    key = ("shares of VMs", session.info["tenant_key"], mesh.key, mesh.revision)
    for until, kept_of in ((quarter, quarter), (None, floor(now, _YOUNG_S))):
        cached: FairnessRead | None = shared_cache().get((*key, kept_of, until is None))
        if cached is not None:
            return cached
        read = _shares(session, mesh, FairnessOf.VMS, until)
        if read.members:
            shared_cache().put((*key, kept_of, until is None), read, _MEMBER_BYTES * len(read.members))
            return read
    return read


def _unevenness(read: FairnessRead) -> str:
    least, most = read.members[0], read.members[-1]
    shares = f"{least.name} has {percent(least.relative, 0)} of the mean, {most.name} {percent(most.relative, 0)}"
    return f"index {read.index:.4f}: {shares}"


def _fairer(of: FairnessOf, read: FairnessRead) -> str | None:
    """Return the advice where shares are 1 / round trip."""
    return None if of is FairnessOf.METRIC_SOURCES else f"Shorter round trips for {read.members[0].name}"


def _tails(session: Session, mesh: Mesh) -> Iterator[AdvisorFinding]:
    """Yield the metrics of applications that show one retransmission timeout."""
    for tail in metric_tails(session, mesh.id, _TAIL_MINUTES):
        if tail.found:
            yield AdvisorFinding(
                advisor=Advisor.shaping,
                mesh=Named(id=mesh.id, name=mesh.name),
                about=tail.name,
                measurement=tail.evidence,
                rule="one retransmission timeout: 195 to 235 ms",
                advice=None,
                source=None,
                target=None,
                of=None,
                incident_id=None,
            )


def _timeouts(session: Session, mesh: Mesh) -> Iterator[AdvisorFinding]:
    """Yield the VMs whose connections wait for retransmission timeouts, with the peer that has most."""
    seen: set[UUID] = set()
    for row in connection_timeouts(session, mesh.id, _MINUTES).items:
        if row.found and row.vm_id not in seen:
            seen.add(row.vm_id)
            yield AdvisorFinding(
                advisor=Advisor.shaping,
                mesh=Named(id=mesh.id, name=mesh.name),
                about=f"{row.vm_name} → {row.peer_vm_name or 'others'}",
                measurement=f"connections: {row.evidence}",
                rule="timeouts of connections mostly of 195 to 235 ms",
                advice="Look for a token bucket that drops on the path",
                source=None,
                target=None,
                of=None,
                incident_id=None,
            )


def _buckets(session: Session, mesh: Mesh, now: datetime) -> Iterator[AdvisorFinding]:
    """Yield the VMs of a mesh whose token bucket is empty, or soon will be at their present use."""
    for row in token_buckets.of_mesh(session, mesh.id):
        forecast = token_buckets.forecast_of(session, row, now)
        if forecast is None or forecast.empty_in_s is None or forecast.empty_in_s > _EMPTY_WITHIN_S:
            continue
        rate, use = row.rate_bytes_per_s * _MBIT_OF_BYTES, forecast.use * _MBIT_OF_BYTES
        left = percent(forecast.tokens.expected / row.depth_bytes, 0)
        when = f"empty in {forecast.empty_in_s:.0f} s at this rate" if forecast.empty_in_s else "empty"
        yield AdvisorFinding(
            advisor=Advisor.shaping,
            mesh=Named(id=mesh.id, name=mesh.name),
            about=row.vm.name,
            measurement=f"token bucket {when}: {left} left, {row.direction} {use:.3g} Mbit/s",
            rule=f"use above the rate of {rate:.3g} Mbit/s, empty within {_EMPTY_WITHIN_S // 60} min",
            advice="Send less until it has refilled, or rent a VM with a higher rate",
            source=None,
            target=None,
            of=None,
            incident_id=None,
        )
