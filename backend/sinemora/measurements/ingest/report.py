"""Reports of agents: as they arrived, and what they contain once `validation` has read them."""

from dataclasses import dataclass, field

import numpy as np
import sinemora_native as native

from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import Sketches, Stats
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.ingest.key_cache import TenantKeys
from sinemora.measurements.store.traffic_edges import ServiceWindowRow


@dataclass(frozen=True, slots=True)
class ReportedSpike:
    """The exchanges around a spike towards one peer; times in ns from the start of the window."""

    peer_key: int
    at_ns: Ints
    outbound_ns: Ints
    inbound_ns: Ints


@dataclass(frozen=True, slots=True)
class ReportedClocks:
    """Offsets of the agent's clock from those of the peers at the end of a window: the own clock minus the peer's.

    `error_ns` is `NO_CLOCK` where unknown.
    """

    offset_ns: Ints
    error_ns: Ints
    skew_ppb: Ints


@dataclass(frozen=True, slots=True)
class ReportedWindow:
    """One window of one mesh as it will be stored.

    `asymmetry_source`, `by_flow`, `clocks`, `timestamp_source` and `peer_notes` are None when the agent reports none.
    `peer_notes`: marks, and mean residence times outbound and inbound (ns), of each target.
    """

    mesh_key: int
    started_at_s: int
    window_s: int
    targets: Ints
    columns: native.WindowColumns
    asymmetry_source: frame.Bytes | None
    by_flow: frame.Columns | None
    spikes: list[ReportedSpike]
    clocks: ReportedClocks | None
    timestamp_source: int | None
    peer_notes: Ints | None = None

    @property
    def stats(self) -> Stats:
        """The statistics of all targets."""
        source, by_flow = self.asymmetry_source, self.by_flow
        return Stats(
            self.columns.columns(),
            self.columns.quantiles(),
            self.columns.flows(),
            np.zeros(self.targets.size, np.uint8) if source is None else source,
            np.empty((3, 2, 0), np.int32) if by_flow is None else by_flow,
        )

    @property
    def sketches(self) -> Sketches:
        """The sketches of all targets."""
        return Sketches(self.columns.lengths(), self.columns.words())


@dataclass(frozen=True, slots=True)
class ReportedTraffic:
    """Bytes and packets of a VM's network interface in one window, counted over `elapsed_ns`."""

    started_at_s: int
    window_s: int
    elapsed_ns: int
    interface: str
    bytes_sent: int
    packets_sent: int
    bytes_received: int
    packets_received: int


@dataclass(frozen=True, slots=True)
class ReportedHost:
    """Waits on a VM in one window; `values` in the order of `store.host_waits.COLUMNS`."""

    started_at_s: int
    window_s: int
    values: tuple[int | list[int] | None, ...]


@dataclass(frozen=True, slots=True)
class ReportedPeer:
    """TCP connections of a VM to one peer in one window; key 0: to all others. `stalled_ms`: time in timeouts."""

    vm_key: int
    connections: int
    segments_sent: int
    segments_retransmitted: int
    timeouts: int
    timeouts_in_band: int
    stalled_ms: int
    rto_us: int


@dataclass(frozen=True, slots=True)
class ReportedConnections:
    """TCP connections of a VM in one window, by peer."""

    started_at_s: int
    window_s: int
    peers: list[ReportedPeer]


@dataclass(slots=True)
class Report:
    """A report of `agent` that arrived at `at_s`, and the keys of its tenant.

    What follows `keys` is empty until `validation.read` has read `content`. `health` is None when not reported.
    """

    agent: AgentIdentity
    content: bytes
    media_type: str
    encoding: str
    at_s: float
    keys: TenantKeys
    health: dict[str, int | str] | None = None
    agent_version: str = ""
    windows: list[ReportedWindow] = field(default_factory=list)
    traffic: list[ReportedTraffic] = field(default_factory=list)
    connections: list[ReportedConnections] = field(default_factory=list)
    services: list[ServiceWindowRow] = field(default_factory=list)
    host: list[ReportedHost] = field(default_factory=list)
