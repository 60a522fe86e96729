"""Wire shapes of evidence. The report is signed as canonical JSON, so its numbers are whole: ns, counts, millionths."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.verdict import ReasonCode, VerdictKind
from sinemora.kit.schemas import Read
from sinemora.measurements.schemas import AsymmetrySource, BasisName


class EvidenceProduct(Read):
    """The product that measured; `keys_url`: where the public keys of signatures are published."""

    name: Literal["Sinemora"]
    version: str
    keys_url: str


class EvidenceMethod(Read):
    """Method of the measurement, and the standards it follows."""

    summary: str
    clocks: str
    statistics: str
    standards: list[str]


class EvidenceMesh(Read):
    """The mesh: probing rate, length of a window, number of VMs."""

    id: UUID
    name: str
    rate_hz: int
    window_s: int
    vms: int


class EvidenceVerdict(Read):
    """The verdict on the incident, with the codes of its reasons."""

    kind: VerdictKind
    reasons: list[ReasonCode]


class EvidenceWorst(Read):
    """Worst window of the incident: medians over its affected `paths`, of `of_paths` paths of the suspect with data."""

    window_ended_at: datetime
    metric: str | None
    statistic: str | None
    unit: Literal["ns", "ppm"]
    value: int | None
    usual: int | None
    limit: int | None
    paths: int
    of_paths: int | None


class EvidenceIncident(Read):
    """The incident. `ended_at` is null while it continues. `worst`: null where no figures of paths are known."""

    id: UUID
    title: str
    suspect: str
    severity: Severity
    rules: list[str]
    onset_at: datetime
    detected_at: datetime
    ended_at: datetime | None
    verdict: EvidenceVerdict
    worst: EvidenceWorst | None


class EvidenceZone(Read):
    """A zone; `physical_id` is the provider's name for it, equal for every customer."""

    provider: str
    region: str
    name: str
    physical_id: str | None


class EvidenceVm(Read):
    """A VM at an end of a path; `address`: where it was probed."""

    id: UUID
    name: str
    address: str | None
    zone: EvidenceZone


class EvidenceRange(Read):
    """A range of time [from, to), UTC."""

    from_: Annotated[datetime, Field(alias="from")]
    to: datetime

    model_config = Read.model_config | {"populate_by_name": True}


class EvidenceRoundTrip(Read):
    """Round trips of a path, which need no clock in common."""

    count: int
    p50_ns: int | None
    p99_ns: int | None


class EvidenceStatistics(Read):
    """Statistics of one direction."""

    count: int
    sent: int | None
    lost: int | None
    loss_ppm: int | None
    min_ns: int | None
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    clock_error_ns: int | None
    asymmetry_source: AsymmetrySource | None
    round_trip: EvidenceRoundTrip


class EvidenceUsual(Read):
    """Usual median of a path before the incident: the median of `steps` stored steps."""

    p50_ns: int
    basis: BasisName
    steps: int


class EvidencePath(Read):
    """An affected path before and during the incident; null where nothing is stored."""

    source: UUID
    target: UUID
    usual: EvidenceUsual | None
    before: EvidenceStatistics | None
    during: EvidenceStatistics | None


class EvidenceExchange(Read):
    """An exchange: ns from the start of the window, then the delays of both directions."""

    at_ns: int
    outbound_ns: int
    inbound_ns: int


class EvidenceSpike(Read):
    """A spike on an affected path, with the raw exchanges around it."""

    source: UUID
    target: UUID
    window_started_at: datetime
    window_s: int
    max_ns: int
    median_ns: int
    exchanges: list[EvidenceExchange]


class EvidenceReport(Read):
    """Self-contained report of an incident. Of `affected_paths`, the worst are in `paths`; of spikes the largest."""

    format: Literal["sinemora-evidence/1"]
    product: EvidenceProduct
    method: EvidenceMethod
    mesh: EvidenceMesh
    incident: EvidenceIncident
    before: EvidenceRange
    during: EvidenceRange
    vms: list[EvidenceVm]
    affected_paths: int
    paths: list[EvidencePath]
    spikes: list[EvidenceSpike]


class EvidenceSignature(Read):
    """Signature of the report as canonical JSON (RFC 8785); `value` is base64, `key_id` names the public key."""

    algorithm: Literal["Ed25519"]
    canonicalization: Literal["RFC 8785"]
    key_id: str
    value: str


class SignedEvidence(Read):
    """A report with its signature."""

    report: EvidenceReport
    signature: EvidenceSignature


class EvidenceKey(Read):
    """A public key of this installation: 32 bytes of Ed25519, base64."""

    key_id: str
    algorithm: Literal["Ed25519"]
    public_key: str


class EvidenceKeys(Read):
    """Public keys of this installation, the one in use first."""

    keys: list[EvidenceKey]
