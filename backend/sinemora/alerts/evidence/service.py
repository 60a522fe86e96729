"""Use cases of evidence: the signed report of an incident, and the keys that verify it."""

import base64
from collections.abc import Sequence
from datetime import timedelta
from importlib.metadata import version
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.alerts.evidence import schemas
from sinemora.alerts.evidence.measured import Path, spikes_of, statistics_of, usual_of, windows_of
from sinemora.alerts.figures import IncidentFigures
from sinemora.alerts.incidents.service import get_incident
from sinemora.alerts.models import Incident
from sinemora.alerts.paths import cells_of
from sinemora.alerts.summary import figures_of, verdict_on
from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit import signing
from sinemora.kit.config import settings

_BEFORE = timedelta(hours=1)
_PATHS_MAX = 50
_MILLION = 1_000_000
KEYS_PATH = "/v1/evidence-keys"

_METHOD = schemas.EvidenceMethod(
    summary=(
        "Agents on the VMs exchange messages of the Precision Time Protocol over UDP. Each exchange has four"
        " timestamps and yields the delay of both directions and the round trip. Agents sum up the exchanges of a"
        " window; windows of the ranges below are merged."
    ),
    clocks=(
        "System clocks are not steered. Each agent estimates offset and skew of the clock of each peer and corrects"
        " one-way delays by them. clock_error_ns bounds the remaining error. asymmetry_source is the basis:"
        " assumed: both directions of the fastest exchange take equally long; mesh: corrected by loops of clocks;"
        " hardware: hardware clocks at both ends. Round trips and loss do not depend on clocks."
    ),
    statistics=(
        "Delays in ns. p50 and p99 are quantiles of all exchanges of the range from mergeable sketches with a"
        " resolution of 1.6 %. usual is the median of stored medians before the incident. A packet is lost if no"
        " response arrived within 1 s."
    ),
    standards=[
        "IEEE 1588-2019 (Precision Time Protocol): exchanges and timestamps",
        "RFC 7679: one-way delay",
        "RFC 2681: round-trip delay",
        "RFC 7680, RFC 6673: loss, one-way and round-trip",
        "RFC 8785, RFC 8032: canonical JSON and Ed25519 of the signature",
    ],
)


def signed_evidence(session: Session, incident_id: UUID) -> schemas.SignedEvidence:
    """Return the signed report of an incident. The same stored measurements give the same report and signature.

    ProductError `incident_unknown`, `secret_key_missing`, `range_too_large`.
    """
    report = evidence_report(session, get_incident(session, incident_id))
    signature = signing.sign(report.model_dump(mode="json", by_alias=True))
    return schemas.SignedEvidence(
        report=report,
        signature=schemas.EvidenceSignature(
            algorithm="Ed25519", canonicalization="RFC 8785", key_id=signature.key_id, value=signature.value
        ),
    )


def evidence_report(session: Session, row: Incident) -> schemas.EvidenceReport:
    """Return the report of an incident. ProductError `range_too_large`."""
    mesh = mesh_state(session, row.mesh_id)
    end = max(row.ended_at or row.seen_at, row.onset_at + timedelta(seconds=mesh.window_s))
    paths = affected_paths(row, mesh)
    before = windows_of(session, mesh, paths, row.onset_at - _BEFORE, row.onset_at)
    during = windows_of(session, mesh, paths, row.onset_at, end)
    usual = usual_of(session, mesh, paths, row.onset_at)
    ends = sorted({end for path in paths for end in path})
    return schemas.EvidenceReport(
        format="sinemora-evidence/1",
        product=schemas.EvidenceProduct(
            name="Sinemora", version=version("sinemora"), keys_url=settings().public_url + KEYS_PATH
        ),
        method=_METHOD,
        mesh=schemas.EvidenceMesh.from_row(mesh, vms=len(mesh.members)),
        incident=_incident(session, row),
        before=schemas.EvidenceRange(
            from_=before.started_at or row.onset_at - _BEFORE, to=before.ended_at or row.onset_at
        ),
        during=schemas.EvidenceRange(from_=during.started_at or row.onset_at, to=during.ended_at or end),
        vms=_vms(session, mesh, ends),
        affected_paths=int(row.evidence.get("paths", 0)),
        paths=[
            schemas.EvidencePath(
                source=mesh.members[source].id,
                target=mesh.members[target].id,
                usual=known,
                before=statistics_of(before.cells, (source, target)),
                during=statistics_of(during.cells, (source, target)),
            )
            for (source, target), known in zip(paths, usual, strict=True)
        ],
        spikes=spikes_of(session, mesh, paths, row.onset_at, end) if paths else [],
    )


def affected_paths(row: Incident, mesh: MeshState) -> list[Path]:
    """Return affected paths between members, those with the largest change first, at most 50."""
    places = {str(member.id): at for at, member in enumerate(mesh.members)}
    worst = (row.evidence.get("impact") or {}).get("worst", [])
    named = [(places.get(one["source"]["id"]), places.get(one["target"]["id"])) for one in worst]
    first = [(source, target) for source, target in named if source is not None and target is not None]
    cells = cells_of(row.paths, mesh)[: 2 * _PATHS_MAX].tolist()
    paths = [*first, *(divmod(cell, len(mesh.members)) for cell in cells)]
    return list(dict.fromkeys(paths))[:_PATHS_MAX]


def evidence_keys() -> schemas.EvidenceKeys:
    """Return the public keys of this installation. ProductError `secret_key_missing`."""
    return schemas.EvidenceKeys(
        keys=[
            schemas.EvidenceKey(
                key_id=signing.key_id(key), algorithm="Ed25519", public_key=base64.b64encode(key).decode()
            )
            for key in signing.public_keys()
        ]
    )


def _incident(session: Session, row: Incident) -> schemas.EvidenceIncident:
    found = verdict_on(session, row)
    return schemas.EvidenceIncident.from_row(
        row,
        suspect=row.culprit["words"],
        rules=[one["name"] for one in row.rules],
        detected_at=row.opened_at,
        verdict=schemas.EvidenceVerdict(kind=found.kind, reasons=[reason.code for reason in found.reasons]),
        worst=_worst(figures_of(session, row, found)),
    )


def _worst(figures: IncidentFigures) -> schemas.EvidenceWorst | None:
    """Return the figures of the worst window in whole numbers; None of incidents without figures of paths."""
    if figures.unit not in ("ns", "ratio"):
        return None
    scale = _MILLION if figures.unit == "ratio" else 1
    value, usual, limit = (
        None if one is None else round(scale * one) for one in (figures.value, figures.usual, figures.limit)
    )
    return schemas.EvidenceWorst.from_row(
        figures,
        window_ended_at=figures.at,
        unit="ppm" if figures.unit == "ratio" else "ns",
        value=value,
        usual=usual,
        limit=limit,
    )


def _vms(session: Session, mesh: MeshState, ends: Sequence[int]) -> list[schemas.EvidenceVm]:
    members = [mesh.members[end] for end in ends]
    return [
        schemas.EvidenceVm.from_row(member, zone=schemas.EvidenceZone.from_row(get_vm(session, member.id).zone))
        for member in members
    ]
