"""JSON schemas of measurements on demand."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.kit.schemas import AgentWrite, Read, Write
from sinemora.measurements.schemas import PathEnd

# Exchanges in a second: 128, and those of a late wakeup of the agent.
_EXCHANGES_MAX = 400
_DELAY_MAX_NS = 2**53
Rate = Literal[1, 2, 4, 8, 16, 32, 64, 128]
SourcePorts = Literal[1, 2, 4, 8, 16, 32, 64]


class OnDemandStatus(StrEnum):
    """`waiting`: no second has arrived; `running`; `completed`; `stopped` by a person; `no_data`: none arrived."""

    waiting = "waiting"
    running = "running"
    completed = "completed"
    stopped = "stopped"
    no_data = "no_data"


class OnDemandCreate(Write):
    """Measurement of one pair to start now: `rate_hz` exchanges per second over all source ports, for `duration_s`."""

    mesh_id: UUID
    source_vm_id: UUID
    target_vm_id: UUID
    rate_hz: Rate = 128
    duration_s: Annotated[int, Field(ge=5, le=60)] = 60
    source_ports: SourcePorts = 1
    ecn: Annotated[bool, Field(description="Send ECN-capable packets and count their marks")] = False
    reordering: Annotated[bool, Field(description="Send packets in pairs and compare their order")] = False

    @model_validator(mode="after")
    def _each_port_is_used(self) -> Self:
        if self.source_ports > self.rate_hz:
            raise ValueError("rate_hz must be at least source_ports: each port sends once a second or more often")
        if self.reordering and self.rate_hz < 2 * self.source_ports:
            raise ValueError("rate_hz must be at least twice source_ports: for reordering each port sends in pairs")
        return self


class DelaySummaryRead(Read):
    """Delays of a direction, or of the round trip. Null without any delay; `unknown`: packets of unknown fate."""

    measured: int
    lost: int
    unknown: int
    min_ns: int | None
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None


class OnDemandSecond(Read):
    """Second of a measurement: `outbound` is from source to target. `clock_error_ns` bounds the error of its delays."""

    started_at: datetime
    sent: int
    outbound: DelaySummaryRead
    inbound: DelaySummaryRead
    round_trip: DelaySummaryRead
    clock_error_ns: int | None


class PathProbesRead(Read):
    """Packets of a direction that were sent ECN-capable, with ECT(0), and the order of those sent in pairs."""

    ecn_known: int
    ce: int
    cleared: int
    altered: int
    pairs: int
    reversed: int


class OnDemandRead(Read):
    """Measurement of one pair on demand. Its first request leaves at `starts_at`, its last one before `ends_at`."""

    id: UUID
    mesh_id: UUID
    source: PathEnd
    target: PathEnd
    rate_hz: int
    source_ports: int
    ecn: bool
    reordering: bool
    starts_at: datetime
    ends_at: datetime
    stopped_at: datetime | None
    requested_by: str
    created_at: datetime
    status: OnDemandStatus
    seconds: int


class OnDemandPathRead(Read):
    """Distinct path of a direction with its source ports: base delay (5 % are below), excess over the fastest path."""

    ports: list[int]
    base_ns: int
    slower_by_ns: int
    sent: int
    lost: int
    lossy: bool


class OnDemandResult(OnDemandRead):
    """Measurement with its seconds so far, oldest first, and their sum."""

    windows: list[OnDemandSecond]
    outbound: DelaySummaryRead
    inbound: DelaySummaryRead
    round_trip: DelaySummaryRead
    outbound_paths: list[OnDemandPathRead]
    inbound_paths: list[OnDemandPathRead]
    outbound_probes: PathProbesRead | None
    inbound_probes: PathProbesRead | None


class SourcePortRead(Read):
    """Source port with the excess of its delay over the fastest one, both directions together."""

    port: int
    slower_by_ns: int


class SourcePortsRead(Read):
    """Which source ports of a VM reach another one faster, by sweeps. Null without a sweep that answers it."""

    source: PathEnd
    target: PathEnd
    measured_at: datetime | None
    faster: list[int]
    faster_by_ns: int | None
    since: datetime | None
    agreeing: int
    sweeps: int
    ports: list[SourcePortRead]
    words: str


_Flags = Annotated[list[bool | None], Field(max_length=_EXCHANGES_MAX)]
_Delay = Annotated[int, Field(ge=-_DELAY_MAX_NS, le=_DELAY_MAX_NS)]
_EcnFields = Annotated[list[Annotated[int, Field(ge=0, le=3)] | None], Field(max_length=_EXCHANGES_MAX)]
_Delays = Annotated[list[_Delay | None], Field(max_length=_EXCHANGES_MAX)]


class OnDemandWindowCreate(AgentWrite):
    """Second of a measurement on demand as an agent reports it: one entry for each exchange in every list."""

    key: Annotated[int, Field(ge=0, lt=2**31)]
    started_at_s: Annotated[int, Field(ge=0, lt=2**33)]
    ports: Annotated[list[Annotated[int, Field(ge=1, le=65535)]], Field(min_length=1, max_length=64)]
    at_ns: Annotated[list[Annotated[int, Field(ge=0, lt=1_000_000_000)]], Field(max_length=_EXCHANGES_MAX)]
    flow: Annotated[list[Annotated[int, Field(ge=0, le=63)]], Field(max_length=_EXCHANGES_MAX)]
    outbound_ns: _Delays
    inbound_ns: _Delays
    outbound_lost: _Flags
    inbound_lost: _Flags
    outbound_ecn: _EcnFields = Field(default_factory=list)
    inbound_ecn: _EcnFields = Field(default_factory=list)
    outbound_reversed: _Flags = Field(default_factory=list)
    inbound_reversed: _Flags = Field(default_factory=list)
    clock_error_ns: Annotated[int, Field(ge=0, le=2**64)] | None
    by_hardware: bool

    @model_validator(mode="after")
    def _lists_match(self) -> Self:
        lists = (self.flow, self.outbound_ns, self.inbound_ns, self.outbound_lost, self.inbound_lost)
        if any(len(one) != len(self.at_ns) for one in lists):
            raise ValueError("every list must have one entry for each exchange of at_ns")
        observed = (self.outbound_ecn, self.inbound_ecn, self.outbound_reversed, self.inbound_reversed)
        if any(one and len(one) != len(self.at_ns) for one in observed):
            raise ValueError("ECN fields and reversals must be empty, or have one entry for each exchange of at_ns")
        if any(flow >= len(self.ports) for flow in self.flow):
            raise ValueError("flow must be below the number of ports")
        return self
