from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Report(_message.Message):
    __slots__ = ("sequence", "made_at_ns", "agent_version", "windows", "health", "traffic", "connections")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    MADE_AT_NS_FIELD_NUMBER: _ClassVar[int]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    TRAFFIC_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    made_at_ns: int
    agent_version: str
    windows: _containers.RepeatedCompositeFieldContainer[MeshWindow]
    health: Health
    traffic: _containers.RepeatedCompositeFieldContainer[TrafficWindow]
    connections: _containers.RepeatedCompositeFieldContainer[ConnectionWindow]
    def __init__(self, sequence: _Optional[int] = ..., made_at_ns: _Optional[int] = ..., agent_version: _Optional[str] = ..., windows: _Optional[_Iterable[_Union[MeshWindow, _Mapping]]] = ..., health: _Optional[_Union[Health, _Mapping]] = ..., traffic: _Optional[_Iterable[_Union[TrafficWindow, _Mapping]]] = ..., connections: _Optional[_Iterable[_Union[ConnectionWindow, _Mapping]]] = ...) -> None: ...

class ConnectionWindow(_message.Message):
    __slots__ = ("started_at_s", "window_s", "peers")
    STARTED_AT_S_FIELD_NUMBER: _ClassVar[int]
    WINDOW_S_FIELD_NUMBER: _ClassVar[int]
    PEERS_FIELD_NUMBER: _ClassVar[int]
    started_at_s: int
    window_s: int
    peers: _containers.RepeatedCompositeFieldContainer[ConnectionPeer]
    def __init__(self, started_at_s: _Optional[int] = ..., window_s: _Optional[int] = ..., peers: _Optional[_Iterable[_Union[ConnectionPeer, _Mapping]]] = ...) -> None: ...

class ConnectionPeer(_message.Message):
    __slots__ = ("vm_key", "connections", "segments_sent", "segments_retransmitted", "timeouts", "timeouts_in_band", "stalled_ms", "rto_us")
    VM_KEY_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_SENT_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_RETRANSMITTED_FIELD_NUMBER: _ClassVar[int]
    TIMEOUTS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUTS_IN_BAND_FIELD_NUMBER: _ClassVar[int]
    STALLED_MS_FIELD_NUMBER: _ClassVar[int]
    RTO_US_FIELD_NUMBER: _ClassVar[int]
    vm_key: int
    connections: int
    segments_sent: int
    segments_retransmitted: int
    timeouts: int
    timeouts_in_band: int
    stalled_ms: int
    rto_us: int
    def __init__(self, vm_key: _Optional[int] = ..., connections: _Optional[int] = ..., segments_sent: _Optional[int] = ..., segments_retransmitted: _Optional[int] = ..., timeouts: _Optional[int] = ..., timeouts_in_band: _Optional[int] = ..., stalled_ms: _Optional[int] = ..., rto_us: _Optional[int] = ...) -> None: ...

class TrafficWindow(_message.Message):
    __slots__ = ("started_at_s", "window_s", "elapsed_ns", "interface", "bytes_sent", "packets_sent", "bytes_received", "packets_received")
    STARTED_AT_S_FIELD_NUMBER: _ClassVar[int]
    WINDOW_S_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_NS_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    BYTES_SENT_FIELD_NUMBER: _ClassVar[int]
    PACKETS_SENT_FIELD_NUMBER: _ClassVar[int]
    BYTES_RECEIVED_FIELD_NUMBER: _ClassVar[int]
    PACKETS_RECEIVED_FIELD_NUMBER: _ClassVar[int]
    started_at_s: int
    window_s: int
    elapsed_ns: int
    interface: str
    bytes_sent: int
    packets_sent: int
    bytes_received: int
    packets_received: int
    def __init__(self, started_at_s: _Optional[int] = ..., window_s: _Optional[int] = ..., elapsed_ns: _Optional[int] = ..., interface: _Optional[str] = ..., bytes_sent: _Optional[int] = ..., packets_sent: _Optional[int] = ..., bytes_received: _Optional[int] = ..., packets_received: _Optional[int] = ...) -> None: ...

class MeshWindow(_message.Message):
    __slots__ = ("mesh_key", "started_at_s", "window_s", "peer_keys", "flows", "outbound", "inbound", "round_trip", "evidence", "asymmetry_source", "clock_offset_ns", "clock_offset_error_ns", "clock_skew_ppb", "outbound_flows", "inbound_flows", "timestamp_source")
    MESH_KEY_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_S_FIELD_NUMBER: _ClassVar[int]
    WINDOW_S_FIELD_NUMBER: _ClassVar[int]
    PEER_KEYS_FIELD_NUMBER: _ClassVar[int]
    FLOWS_FIELD_NUMBER: _ClassVar[int]
    OUTBOUND_FIELD_NUMBER: _ClassVar[int]
    INBOUND_FIELD_NUMBER: _ClassVar[int]
    ROUND_TRIP_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    ASYMMETRY_SOURCE_FIELD_NUMBER: _ClassVar[int]
    CLOCK_OFFSET_NS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_OFFSET_ERROR_NS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_SKEW_PPB_FIELD_NUMBER: _ClassVar[int]
    OUTBOUND_FLOWS_FIELD_NUMBER: _ClassVar[int]
    INBOUND_FLOWS_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_SOURCE_FIELD_NUMBER: _ClassVar[int]
    mesh_key: int
    started_at_s: int
    window_s: int
    peer_keys: _containers.RepeatedScalarFieldContainer[int]
    flows: _containers.RepeatedScalarFieldContainer[int]
    outbound: Columns
    inbound: Columns
    round_trip: Columns
    evidence: _containers.RepeatedCompositeFieldContainer[Evidence]
    asymmetry_source: _containers.RepeatedScalarFieldContainer[int]
    clock_offset_ns: _containers.RepeatedScalarFieldContainer[int]
    clock_offset_error_ns: _containers.RepeatedScalarFieldContainer[int]
    clock_skew_ppb: _containers.RepeatedScalarFieldContainer[int]
    outbound_flows: FlowColumns
    inbound_flows: FlowColumns
    timestamp_source: int
    def __init__(self, mesh_key: _Optional[int] = ..., started_at_s: _Optional[int] = ..., window_s: _Optional[int] = ..., peer_keys: _Optional[_Iterable[int]] = ..., flows: _Optional[_Iterable[int]] = ..., outbound: _Optional[_Union[Columns, _Mapping]] = ..., inbound: _Optional[_Union[Columns, _Mapping]] = ..., round_trip: _Optional[_Union[Columns, _Mapping]] = ..., evidence: _Optional[_Iterable[_Union[Evidence, _Mapping]]] = ..., asymmetry_source: _Optional[_Iterable[int]] = ..., clock_offset_ns: _Optional[_Iterable[int]] = ..., clock_offset_error_ns: _Optional[_Iterable[int]] = ..., clock_skew_ppb: _Optional[_Iterable[int]] = ..., outbound_flows: _Optional[_Union[FlowColumns, _Mapping]] = ..., inbound_flows: _Optional[_Union[FlowColumns, _Mapping]] = ..., timestamp_source: _Optional[int] = ...) -> None: ...

class Columns(_message.Message):
    __slots__ = ("count", "sent", "lost", "min_ns", "mean_ns", "max_ns", "m2", "clock_error_ns", "sketch_words", "sketch")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SENT_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    MIN_NS_FIELD_NUMBER: _ClassVar[int]
    MEAN_NS_FIELD_NUMBER: _ClassVar[int]
    MAX_NS_FIELD_NUMBER: _ClassVar[int]
    M2_FIELD_NUMBER: _ClassVar[int]
    CLOCK_ERROR_NS_FIELD_NUMBER: _ClassVar[int]
    SKETCH_WORDS_FIELD_NUMBER: _ClassVar[int]
    SKETCH_FIELD_NUMBER: _ClassVar[int]
    count: _containers.RepeatedScalarFieldContainer[int]
    sent: _containers.RepeatedScalarFieldContainer[int]
    lost: _containers.RepeatedScalarFieldContainer[int]
    min_ns: _containers.RepeatedScalarFieldContainer[int]
    mean_ns: _containers.RepeatedScalarFieldContainer[int]
    max_ns: _containers.RepeatedScalarFieldContainer[int]
    m2: _containers.RepeatedScalarFieldContainer[float]
    clock_error_ns: _containers.RepeatedScalarFieldContainer[int]
    sketch_words: _containers.RepeatedScalarFieldContainer[int]
    sketch: bytes
    def __init__(self, count: _Optional[_Iterable[int]] = ..., sent: _Optional[_Iterable[int]] = ..., lost: _Optional[_Iterable[int]] = ..., min_ns: _Optional[_Iterable[int]] = ..., mean_ns: _Optional[_Iterable[int]] = ..., max_ns: _Optional[_Iterable[int]] = ..., m2: _Optional[_Iterable[float]] = ..., clock_error_ns: _Optional[_Iterable[int]] = ..., sketch_words: _Optional[_Iterable[int]] = ..., sketch: _Optional[bytes] = ...) -> None: ...

class FlowColumns(_message.Message):
    __slots__ = ("count", "min_ns", "p50_ns")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_NS_FIELD_NUMBER: _ClassVar[int]
    P50_NS_FIELD_NUMBER: _ClassVar[int]
    count: _containers.RepeatedScalarFieldContainer[int]
    min_ns: _containers.RepeatedScalarFieldContainer[int]
    p50_ns: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, count: _Optional[_Iterable[int]] = ..., min_ns: _Optional[_Iterable[int]] = ..., p50_ns: _Optional[_Iterable[int]] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("peer_key", "at_ns", "outbound_ns", "inbound_ns")
    PEER_KEY_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    OUTBOUND_NS_FIELD_NUMBER: _ClassVar[int]
    INBOUND_NS_FIELD_NUMBER: _ClassVar[int]
    peer_key: int
    at_ns: _containers.RepeatedScalarFieldContainer[int]
    outbound_ns: _containers.RepeatedScalarFieldContainer[int]
    inbound_ns: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, peer_key: _Optional[int] = ..., at_ns: _Optional[_Iterable[int]] = ..., outbound_ns: _Optional[_Iterable[int]] = ..., inbound_ns: _Optional[_Iterable[int]] = ...) -> None: ...

class Health(_message.Message):
    __slots__ = ("started_at_ns", "spool_bytes", "spool_reports", "reports_dropped", "reports_refused", "packets_sent", "packets_received", "transmit_stamps_missing", "receive_queue_overflows", "packets_rejected", "timestamp_source", "clock_source", "window_time_error_ns")
    STARTED_AT_NS_FIELD_NUMBER: _ClassVar[int]
    SPOOL_BYTES_FIELD_NUMBER: _ClassVar[int]
    SPOOL_REPORTS_FIELD_NUMBER: _ClassVar[int]
    REPORTS_DROPPED_FIELD_NUMBER: _ClassVar[int]
    REPORTS_REFUSED_FIELD_NUMBER: _ClassVar[int]
    PACKETS_SENT_FIELD_NUMBER: _ClassVar[int]
    PACKETS_RECEIVED_FIELD_NUMBER: _ClassVar[int]
    TRANSMIT_STAMPS_MISSING_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_QUEUE_OVERFLOWS_FIELD_NUMBER: _ClassVar[int]
    PACKETS_REJECTED_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_SOURCE_FIELD_NUMBER: _ClassVar[int]
    CLOCK_SOURCE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TIME_ERROR_NS_FIELD_NUMBER: _ClassVar[int]
    started_at_ns: int
    spool_bytes: int
    spool_reports: int
    reports_dropped: int
    reports_refused: int
    packets_sent: int
    packets_received: int
    transmit_stamps_missing: int
    receive_queue_overflows: int
    packets_rejected: int
    timestamp_source: str
    clock_source: str
    window_time_error_ns: int
    def __init__(self, started_at_ns: _Optional[int] = ..., spool_bytes: _Optional[int] = ..., spool_reports: _Optional[int] = ..., reports_dropped: _Optional[int] = ..., reports_refused: _Optional[int] = ..., packets_sent: _Optional[int] = ..., packets_received: _Optional[int] = ..., transmit_stamps_missing: _Optional[int] = ..., receive_queue_overflows: _Optional[int] = ..., packets_rejected: _Optional[int] = ..., timestamp_source: _Optional[str] = ..., clock_source: _Optional[str] = ..., window_time_error_ns: _Optional[int] = ...) -> None: ...
