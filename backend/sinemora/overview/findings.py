"""Findings of the advisors: what the same measurements say beyond incidents, each with its measurement and its rule."""

from collections.abc import Iterator
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.advisors.fairness.schemas import FairnessOf, FairnessRead
from sinemora.advisors.fairness.service import fairness
from sinemora.advisors.shaping.service import metric_tails
from sinemora.advisors.transport.schemas import TransportCreate
from sinemora.advisors.transport.service import transport
from sinemora.alerts.models import Incident
from sinemora.applications.schemas import Named
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.percent import percent
from sinemora.meshes.models import Mesh
from sinemora.overview import queries
from sinemora.overview.schemas import Advisor, AdvisorFinding

_MINUTES = 60
_TAIL_MINUTES = 1_440
_PATHS_MAX = 5
_MEMBERS = {
    FairnessOf.VMS: "VMs",
    FairnessOf.APPLICATIONS: "applications",
    FairnessOf.METRIC_SOURCES: "metric sources",
}
# The base of comparison: no finding.
_NO_RULE = "R15"


def findings(session: Session) -> list[AdvisorFinding]:
    """Return the findings about all meshes of the tenant, those about open incidents first."""
    found: list[AdvisorFinding] = []
    for mesh in session.scalars(select(Mesh).order_by(Mesh.name)).all():
        for incident in queries.worst_incidents(session, mesh.id, _PATHS_MAX):
            found += _of_incident(session, mesh, incident)
        found += _fairness(session, mesh)
        found += _tails(session, mesh)
    return sorted(found, key=lambda one: one.incident_id is None)


def findings_of_incident(session: Session, incident_id: UUID) -> list[AdvisorFinding]:
    """Return the findings about the most affected path of an incident. ProductError `incident_unknown`."""
    incident = session.get(Incident, incident_id)
    if incident is None:
        raise NotFound("incident")
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


def _fairness(session: Session, mesh: Mesh) -> Iterator[AdvisorFinding]:
    """Yield the kinds of members of a mesh that share its network unevenly."""
    for of, members in _MEMBERS.items():
        read = fairness(session, mesh.id, of, _MINUTES, None)
        if read.below and read.members:
            yield AdvisorFinding(
                advisor=Advisor.fairness,
                mesh=Named(id=mesh.id, name=mesh.name),
                about=f"{len(read.members)} {members}",
                measurement=_unevenness(read),
                rule=f"Jain's index below {read.alert_below:.3g}",
                advice=None,
                source=None,
                target=None,
                of=of,
                incident_id=None,
            )


def _unevenness(read: FairnessRead) -> str:
    least, most = read.members[0], read.members[-1]
    shares = f"{least.name} has {percent(least.relative, 0)} of the mean, {most.name} {percent(most.relative, 0)}"
    return f"index {read.index:.3f}: {shares}"


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
