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

    @model_validator(mode="after")
    def _each_port_is_used(self) -> Self:
        if self.source_ports > self.rate_hz:
            raise ValueError("rate_hz must be at least source_ports: each port sends once a second or more often")
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


class OnDemandRead(Read):
    """Measurement of one pair on demand. Its first request leaves at `starts_at`, its last one before `ends_at`."""

    id: UUID
    mesh_id: UUID
    source: PathEnd
    target: PathEnd
    rate_hz: int
    source_ports: int
    starts_at: datetime
    ends_at: datetime
    stopped_at: datetime | None
    requested_by: str
    created_at: datetime
    status: OnDemandStatus
    seconds: int


class OnDemandPathRead(Read):
    """Distinct path of a direction with its source ports: base delay (first quartile), excess over the fastest path.

    `lossy`: it loses more packets than the other paths do, beyond chance.
    """

    ports: list[int]
    base_ns: int
    slower_by_ns: int
    sent: int
    lost: int
    lossy: bool


class OnDemandResult(OnDemandRead):
    """Measurement with its seconds so far, oldest first, and their sum.

    With several source ports, the distinct paths of each direction, fastest first. Their number is a lower bound, since
    paths of equal delay look like one. A path needs 20 delays of each port.
    """

    windows: list[OnDemandSecond]
    outbound: DelaySummaryRead
    inbound: DelaySummaryRead
    round_trip: DelaySummaryRead
    outbound_paths: list[OnDemandPathRead]
    inbound_paths: list[OnDemandPathRead]


_Flags = Annotated[list[bool | None], Field(max_length=_EXCHANGES_MAX)]
_Delay = Annotated[int, Field(ge=-_DELAY_MAX_NS, le=_DELAY_MAX_NS)]
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
    clock_error_ns: Annotated[int, Field(ge=0, le=2**64)] | None
    by_hardware: bool

    @model_validator(mode="after")
    def _lists_match(self) -> Self:
        lists = (self.flow, self.outbound_ns, self.inbound_ns, self.outbound_lost, self.inbound_lost)
        if any(len(one) != len(self.at_ns) for one in lists):
            raise ValueError("every list must have one entry for each exchange of at_ns")
        if any(flow >= len(self.ports) for flow in self.flow):
            raise ValueError("flow must be below the number of ports")
        return self
