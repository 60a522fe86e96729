"""JSON schemas of shaping: trains, findings, forecasts, checks, tails."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.advisors.shaping.core.bucket import Mechanism, Reason, Unit
from sinemora.advisors.shaping.core.checks import Communication
from sinemora.advisors.shaping.core.treatment import TreatmentVerdict
from sinemora.kit.schemas import Read, Write

TRAINS_MAX = 10
PACKETS_MAX = 50_000
Nanoseconds = Annotated[int, Field(ge=-(2**62), le=2**62)]


class TrainWrite(Write):
    """Packets of a burst in the order sent; `received_ns` is null for lost ones. The clocks need not agree."""

    packet_bytes: Annotated[int, Field(ge=20, le=65_535, description="With the headers that the shaper counts")]
    sent_ns: Annotated[list[Nanoseconds], Field(min_length=1, max_length=PACKETS_MAX)]
    received_ns: Annotated[list[Nanoseconds | None], Field(min_length=1, max_length=PACKETS_MAX)]

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if len(self.sent_ns) != len(self.received_ns):
            raise ValueError("`sent_ns` and `received_ns` must have one value a packet")
        return self


class ApplicationWrite(Write):
    """Facts of an application, for the checks."""

    communication: Communication = Communication.REQUEST_REPLY
    packet_bytes: Annotated[float, Field(gt=0, le=65_535)] = 1_400.0
    write_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    acknowledged_writes: bool = True
    range_inserts: bool = False
    mixed_priorities: bool = False
    shared: Annotated[bool | None, Field(description="Others use the bucket too; null if unknown")] = None
    strict_network: bool = False


class ShapingCreate(Write):
    """Trains over one path, or a known bucket; what uses it, and the application to check.

    Trains of the largest packets show the bucket; those of packets at most half as large show the unit of its tokens.
    """

    trains: Annotated[list[TrainWrite], Field(max_length=TRAINS_MAX)] = []  # noqa: RUF012
    rate_mbit: Annotated[float, Field(gt=0, le=1e6)] | None = None
    burst_kb: Annotated[float, Field(gt=0, le=1e9, description="Depth, 1,000 bytes")] | None = None
    mechanism: Mechanism = Mechanism.POLICER
    upper_rate_mbit: Annotated[float | None, Field(gt=0, le=1e6)] = None
    upper_burst_kb: Annotated[float | None, Field(ge=0, le=1e9)] = None
    use_mbit: Annotated[float, Field(ge=0, le=1e6, description="Use of the path for the forecast")] | None = None
    tokens_kb: Annotated[float, Field(ge=0, le=1e9, description="Tokens now; null: full")] | None = None
    line_mbit: Annotated[float, Field(gt=0, le=1e6)] = 10_000.0
    transfer_mb: Annotated[float, Field(gt=0, le=1e9)] | None = None
    application: ApplicationWrite = ApplicationWrite()

    @model_validator(mode="after")
    def _one_bucket(self) -> Self:
        known = [self.rate_mbit is not None, self.burst_kb is not None]
        if any(known) != all(known) or bool(self.trains) == all(known):
            raise ValueError("give `trains`, or both `rate_mbit` and `burst_kb`")
        upper = (self.upper_rate_mbit, self.upper_burst_kb)
        if any(value is not None for value in upper) and (self.trains or None in upper):
            raise ValueError("give `upper_rate_mbit` and `upper_burst_kb` together, with a known bucket")
        if None not in (*upper, self.rate_mbit) and (self.upper_rate_mbit or 0) <= (self.rate_mbit or 0):
            raise ValueError("`upper_rate_mbit` must be above `rate_mbit`")
        if self.tokens_kb is not None and self.burst_kb is not None and self.tokens_kb > self.burst_kb:
            raise ValueError("`tokens_kb` must be at most `burst_kb`: a bucket holds no more than its depth")
        return self


class UpperBucketRead(Read):
    """Bucket that a burst meets first: a higher rate and a smaller depth, as a peak rate above a sustained one."""

    rate_mbit: float
    burst_kb: float


class SpreadRead(Read):
    """Least and most of the rates and depths that the single bursts with a bucket show, of `bursts` bursts."""

    bursts: int
    rate_min_mbit: float
    rate_max_mbit: float
    burst_min_kb: float
    burst_max_kb: float


class BucketRead(Read):
    """Token bucket."""

    rate_mbit: float
    burst_kb: float
    mechanism: Mechanism
    peak_mbit: float | None
    loss: float | None
    upper: UpperBucketRead | None
    metered: Unit | None
    spread: SpreadRead | None


class ForecastRead(Read):
    """Forecast: seconds until the bucket is empty at the use (null: never), until it is full at rest."""

    tokens_kb: float
    empty_in_s: float | None
    burst_mb: float | None
    full_in_s: float
    transfer_s: float | None
    safe_mbit: float


class CheckRead(Read):
    """Conclusion of the source that applies."""

    id: str
    effect: str
    remedy: str
    caveat: str | None


class ShapingRead(Read):
    """Bucket, or the reason for none with the mean received rate; forecast and checks need a bucket."""

    bucket: BucketRead | None
    reason: Reason | None
    capacity_mbit: float | None
    trains_with_bucket: int
    forecast: ForecastRead | None
    checks: list[CheckRead]


class TailCreate(Write):
    """Latencies of single requests, or three percentiles of them, ms."""

    latency_ms: Annotated[
        list[Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]], Field(max_length=1_000_000)
    ] = []  # noqa: RUF012
    p95_ms: Annotated[float, Field(gt=0, le=1e9)] | None = None
    p99_ms: Annotated[float, Field(gt=0, le=1e9)] | None = None
    p999_ms: Annotated[float, Field(gt=0, le=1e9)] | None = None

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        known = [value is not None for value in (self.p95_ms, self.p99_ms, self.p999_ms)]
        if any(known) != all(known) or bool(self.latency_ms) == all(known):
            raise ValueError("give `latency_ms`, or all of `p95_ms`, `p99_ms` and `p999_ms`")
        if not (self.p95_ms or 0) <= (self.p99_ms or 0) <= (self.p999_ms or 0):
            raise ValueError("`p95_ms`, `p99_ms` and `p999_ms` must ascend")
        return self


class TailRead(Read):
    """Finding about one retransmission timeout (195 to 235 ms) in the latencies, with its evidence."""

    found: bool
    evidence: str
    share: float | None
    mean_cost_ms: float | None


class MetricTailRead(TailRead):
    """Tail of a metric source by its minutes of the range."""

    metric_source_id: UUID
    name: str
    minutes: int
    started_at: datetime
    ended_at: datetime


class ConnectionTimeoutsRow(Read):
    """TCP connections of a VM to a peer: segments sent, sent again, and waits for a retransmission timeout."""

    vm_id: UUID
    vm_name: str
    peer_vm_id: UUID | None
    peer_vm_name: str | None
    connections: int
    segments_sent: int
    segments_retransmitted: int
    timeouts: int
    timeouts_in_band: int
    stalled_ms: int
    rto_ms: float | None
    found: bool
    evidence: str
    stall_ms: float | None
    share: float | None


class ConnectionTimeoutsRead(Read):
    """Timeouts of connections of the VMs of a mesh in a range, most first, at most 200 rows."""

    started_at: datetime
    ended_at: datetime
    vms: int
    vms_reporting: int
    items: list[ConnectionTimeoutsRow]


MIXED_MAX = 20_000
Dscp = Annotated[int, Field(ge=0, le=63)]


class TreatmentCreate(Write):
    """Packets of a burst of several sizes or two DSCP classes in turn, in the order sent; null for lost ones."""

    packet_bytes: Annotated[list[Annotated[int, Field(ge=20, le=65_535)]], Field(min_length=1, max_length=MIXED_MAX)]
    dscp: Annotated[list[Dscp], Field(min_length=1, max_length=MIXED_MAX)]
    received_dscp: Annotated[list[Dscp | None], Field(min_length=1, max_length=MIXED_MAX)]
    sent_ns: Annotated[list[Nanoseconds], Field(min_length=1, max_length=MIXED_MAX)]
    received_ns: Annotated[list[Nanoseconds | None], Field(min_length=1, max_length=MIXED_MAX)]

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        lists = (self.packet_bytes, self.dscp, self.received_dscp, self.sent_ns, self.received_ns)
        if len({len(values) for values in lists}) != 1:
            raise ValueError("all lists must have one value a packet")
        return self


class PacketTreatmentRead(Read):
    """Verdict of a comparison with its evidence and explanation; `share`: that of the preferred class delivered."""

    verdict: TreatmentVerdict
    evidence: str
    explanation: str
    share: float | None


class TreatmentRead(Read):
    """Treatment of packets by size and by DSCP class."""

    by_size: PacketTreatmentRead
    by_class: PacketTreatmentRead
