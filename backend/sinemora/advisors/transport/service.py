"""Use cases of the transport advisor."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from sinemora.advisors.measured_path import member_named, path_delays
from sinemora.advisors.transport.core.evidence import Evidence, ecn_of, reordering_of, routes_of
from sinemora.advisors.transport.core.rules import SOURCE, Fired, advise, job_saving
from sinemora.advisors.transport.schemas import FiredRead, TransportCreate, TransportEvidenceRead, TransportRead
from sinemora.applications.service import capacity_of
from sinemora.fleet.meshes.service import mesh_state
from sinemora.measurements.on_demand.probed_path import ProbedPath, newest_probes
from sinemora.measurements.query.series.paths import path_now
from sinemora.measurements.schemas import PathRead
from sinemora.recommendations.service import resolve_mesh

_EVIDENCE = {field.name for field in fields(Evidence)}
PROBED_WITHIN = timedelta(hours=24)
"""Age of a measurement on demand up to which its probes count: routes and the settings of switches rarely change."""


def transport(session: Session, body: TransportCreate) -> TransportRead:
    """Return the rules that fire for a path and a transfer.

    ProductError `mesh_unknown`, `vm_not_in_mesh`, `path_unmeasured`, `path_same_ends`.
    """
    measured, probed = _measured(session, body) if body.mesh is not None else ({}, None)
    given = {name: value for name, value in body.model_dump(include=_EVIDENCE).items() if value is not None}
    # A given round trip and the smallest measured one are not of the same packets: together they say nothing.
    unused = given.keys() | ({"min_round_trip_us"} if "round_trip_us" in given else set())
    used = {name: value for name, value in measured.items() if name not in unused}
    seen = Evidence(**(used | given))
    return TransportRead(
        evidence=TransportEvidenceRead(
            **{name: getattr(seen, name) for name in TransportEvidenceRead.model_fields.keys() & _EVIDENCE},
            measured=sorted(used),
            probed_at=None if probed is None else probed.started_at,
        ),
        fired=[_read(fired, body) for fired in advise(seen)],
        source=SOURCE,
    )


def _measured(session: Session, body: TransportCreate) -> tuple[dict[str, Any], ProbedPath | None]:
    """Return the evidence that agents and the inventory have about a path, and its newest probes."""
    mesh = mesh_state(session, resolve_mesh(session, body.mesh or "").id)
    source = member_named(mesh, body.source or "", "#/source")
    target = member_named(mesh, body.target or "", "#/target")
    delays = path_delays(session, mesh, source, target, body.minutes, "#/target")
    now = path_now(session, mesh.id, source.id, target.id)
    hosts = [capacity_of(session, member.id).host for member in (source, target)]
    probed = newest_probes(session, mesh.id, source.id, target.id, datetime.now(UTC) - PROBED_WITHIN)
    found: dict[str, Any] = {
        # Clock errors of the two directions cancel in their sum.
        "min_round_trip_us": ((delays.outbound.min_ns or 0) + (delays.inbound.min_ns or 0)) / 1e3,
        "round_trip_us": sum(delays.delays_ns("p50")) / 1e3,
        "loss": _loss(now),
        "routes": _routes(now),
        "same_host": None if None in hosts else hosts[0] == hosts[1],
    }
    if probed is not None:
        probes = probed.probes
        found["ecn"] = ecn_of(probes.ecn_known, probes.ce, probes.cleared)
        found["reordering"] = reordering_of(probes.pairs, probes.reversed)
    return {name: value for name, value in found.items() if value is not None}, probed


def _loss(path: PathRead) -> float | None:
    """Return the loss of both directions in the newest window."""
    ways = [way for way in (path.outbound, path.inbound) if way is not None and way.sent]
    sent = sum(way.sent or 0 for way in ways)
    return sum(way.lost or 0 for way in ways) / sent if sent else None


def _routes(path: PathRead) -> int | None:
    """Return the number of routes of the direction that shows more; None with one source port."""
    ways = [
        [delay.min_ns for delay in delays if delay.min_ns is not None]
        for delays in ([flow.outbound for flow in path.by_flow], [flow.inbound for flow in path.by_flow])
    ]
    return max(map(routes_of, ways)) if path.by_flow else None


def _read(fired: Fired, body: TransportCreate) -> FiredRead:
    rule = fired.rule
    saved = rule.effect.saved
    unknown = body.available is None or rule.kernel is None
    return FiredRead.from_row(
        rule,
        rule=rule.id,
        measurement=fired.measurement,
        effect=rule.effect.words,
        transfer_saved=saved,
        job_saved=None if saved is None else job_saving(body.transfer_share, saved),
        is_available=None if unknown else rule.kernel in (body.available or []),
        overridden_by=fired.overridden_by,
    )
