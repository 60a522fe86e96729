//! The structs agree with Google's protobuf, byte for byte: `golden/` was made with it from `proto/agent.proto`.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use prost::Message;
use serde_json::{Value, json};
use sinemora_wire::{
    Columns, ConnectionPeer, ConnectionWindow, Evidence, FlowColumns, Health, HostWindow,
    MeshWindow, NOT_KNOWN, Report, ServicePeer, ServiceWindow, TrafficWindow, Waits,
};

fn golden(name: &str) -> (Vec<u8>, Value) {
    let stem = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(name);
    let bytes = std::fs::read(stem.with_extension("bin")).unwrap();
    let text = std::fs::read(stem.with_extension("json")).unwrap();
    (bytes, serde_json::from_slice(&text).unwrap())
}

#[test]
fn bytes_and_json_of_every_golden_file_say_the_same() {
    for name in [
        "report",
        "empty",
        "extremes",
        "flows",
        "window_time",
        "traffic",
        "timestamp_source",
        "connections",
        "services",
        "offset",
        "host",
    ] {
        let (bytes, text) = golden(name);
        let report = Report::decode(bytes.as_slice()).unwrap();
        assert_eq!(as_json(&report), text, "{name}");
        assert_eq!(
            report.encode_to_vec(),
            bytes,
            "{name}: encoding gives other bytes"
        );
    }
}

#[test]
fn a_value_not_known_is_not_zero() {
    let report = Report::decode(golden("report").0.as_slice()).unwrap();
    let inbound = report.windows[0].inbound.as_ref().unwrap();
    assert_eq!(inbound.sent, [17, NOT_KNOWN, NOT_KNOWN]);
    assert_eq!(inbound.min_ns, [-500, 0, 44_000]);
    assert_eq!(
        inbound.sketch_words.iter().sum::<u32>() as usize * 2,
        inbound.sketch.len()
    );
}

#[test]
fn a_report_of_a_newer_agent_is_still_read() {
    let (mut bytes, text) = golden("empty");
    bytes.extend([0xf8, 0x7f, 0x01]); // field 2047, varint 1
    assert_eq!(as_json(&Report::decode(bytes.as_slice()).unwrap()), text);
}

/// Protobuf's JSON mapping: 64-bit integers as strings, bytes as base64, defaults left out.
fn as_json(report: &Report) -> Value {
    object([
        ("sequence", long(report.sequence)),
        ("made_at_ns", long(report.made_at_ns)),
        ("agent_version", json!(report.agent_version)),
        ("windows", report.windows.iter().map(window_json).collect()),
        (
            "health",
            report.health.as_ref().map_or(Value::Null, health_json),
        ),
        ("traffic", report.traffic.iter().map(traffic_json).collect()),
        (
            "connections",
            report.connections.iter().map(connections_json).collect(),
        ),
        (
            "services",
            report.services.iter().map(services_json).collect(),
        ),
        ("host", report.host.iter().map(host_json).collect()),
    ])
}

fn window_json(window: &MeshWindow) -> Value {
    let columns = |c: &Option<Columns>| c.as_ref().map_or(Value::Null, columns_json);
    object([
        ("mesh_key", json!(window.mesh_key)),
        ("started_at_s", long(window.started_at_s)),
        ("window_s", json!(window.window_s)),
        ("peer_keys", json!(window.peer_keys)),
        ("flows", json!(window.flows)),
        ("outbound", columns(&window.outbound)),
        ("inbound", columns(&window.inbound)),
        ("round_trip", columns(&window.round_trip)),
        (
            "evidence",
            window.evidence.iter().map(evidence_json).collect(),
        ),
        ("asymmetry_source", json!(window.asymmetry_source)),
        ("clock_offset_ns", longs(&window.clock_offset_ns)),
        (
            "clock_offset_error_ns",
            longs(&window.clock_offset_error_ns),
        ),
        ("clock_skew_ppb", json!(window.clock_skew_ppb)),
        (
            "timestamp_source",
            json!((window.timestamp_source != 0).then_some(window.timestamp_source)),
        ),
        ("outbound_flows", flows_json(&window.outbound_flows)),
        ("inbound_flows", flows_json(&window.inbound_flows)),
        ("offset_from_peer_ns", longs(&window.offset_from_peer_ns)),
        ("offset_error_ns", longs(&window.offset_error_ns)),
        ("skew_from_peer_ppb", json!(window.skew_from_peer_ppb)),
    ])
}

fn columns_json(c: &Columns) -> Value {
    object([
        ("count", json!(c.count)),
        ("sent", json!(c.sent)),
        ("lost", json!(c.lost)),
        ("min_ns", longs(&c.min_ns)),
        ("mean_ns", longs(&c.mean_ns)),
        ("max_ns", longs(&c.max_ns)),
        ("m2", json!(c.m2)),
        ("clock_error_ns", longs(&c.clock_error_ns)),
        ("sketch_words", json!(c.sketch_words)),
        ("sketch", json!(base64(&c.sketch))),
    ])
}

fn flows_json(columns: &Option<FlowColumns>) -> Value {
    columns.as_ref().map_or(Value::Null, |c| {
        object([
            ("count", json!(c.count)),
            ("min_ns", longs(&c.min_ns)),
            ("p50_ns", longs(&c.p50_ns)),
        ])
    })
}

fn evidence_json(e: &Evidence) -> Value {
    object([
        ("peer_key", json!(e.peer_key)),
        ("at_ns", longs(&e.at_ns)),
        ("outbound_ns", longs(&e.outbound_ns)),
        ("inbound_ns", longs(&e.inbound_ns)),
    ])
}

fn health_json(h: &Health) -> Value {
    object([
        ("started_at_ns", long(h.started_at_ns)),
        ("spool_bytes", long(h.spool_bytes)),
        ("spool_reports", long(h.spool_reports)),
        ("reports_dropped", long(h.reports_dropped)),
        ("reports_refused", long(h.reports_refused)),
        ("packets_sent", long(h.packets_sent)),
        ("packets_received", long(h.packets_received)),
        ("transmit_stamps_missing", long(h.transmit_stamps_missing)),
        ("receive_queue_overflows", long(h.receive_queue_overflows)),
        ("packets_rejected", long(h.packets_rejected)),
        ("timestamp_source", json!(h.timestamp_source)),
        ("clock_source", json!(h.clock_source)),
        ("window_time_error_ns", long(h.window_time_error_ns)),
    ])
}

fn connections_json(window: &ConnectionWindow) -> Value {
    object([
        ("started_at_s", long(window.started_at_s)),
        ("window_s", json!(window.window_s)),
        ("peers", window.peers.iter().map(peer_json).collect()),
    ])
}

fn peer_json(peer: &ConnectionPeer) -> Value {
    object([
        ("vm_key", number(peer.vm_key)),
        ("connections", number(peer.connections)),
        ("segments_sent", long(peer.segments_sent)),
        ("segments_retransmitted", long(peer.segments_retransmitted)),
        ("timeouts", number(peer.timeouts)),
        ("timeouts_in_band", number(peer.timeouts_in_band)),
        ("stalled_ms", long(peer.stalled_ms)),
        ("rto_us", number(peer.rto_us)),
    ])
}

fn services_json(window: &ServiceWindow) -> Value {
    object([
        ("started_at_s", long(window.started_at_s)),
        ("window_s", json!(window.window_s)),
        ("peers", window.peers.iter().map(service_json).collect()),
        ("connections_left_out", number(window.connections_left_out)),
    ])
}

fn service_json(peer: &ServicePeer) -> Value {
    object([
        ("vm_key", number(peer.vm_key)),
        ("port", number(peer.port)),
        ("serves", json!(peer.serves.then_some(true))),
        ("connections", number(peer.connections)),
        ("bytes_sent", long(peer.bytes_sent)),
        ("bytes_received", long(peer.bytes_received)),
    ])
}

fn host_json(window: &HostWindow) -> Value {
    // A count of 0 is given, one that is absent is not known.
    let count = |value: Option<u64>| value.map_or(Value::Null, |value| json!(format!("{value}")));
    let mut fields = object([
        ("started_at_s", long(window.started_at_s)),
        ("window_s", json!(window.window_s)),
        ("elapsed_ns", long(window.elapsed_ns)),
        ("wake", waits_json(window.wake)),
        ("receive", waits_json(window.receive)),
        ("send", waits_json(window.send)),
        ("queue", waits_json(window.queue)),
        ("stalled_us", long(window.stalled_us)),
        ("stall_at_us", longs(&window.stall_at_us)),
        ("stall_us", json!(window.stall_us)),
        ("processors", json!(window.processors)),
    ]);
    for (name, value) in [
        ("steal_ms", window.steal_ms),
        ("pressure_us", window.pressure_us),
        ("throttled_us", window.throttled_us),
        ("softirq_squeezed", window.softirq_squeezed),
        ("receive_drops", window.receive_drops),
    ] {
        if value.is_some() {
            fields[name] = count(value);
        }
    }
    fields
}

fn waits_json(waits: Option<Waits>) -> Value {
    waits.map_or(Value::Null, |waits| {
        json!({ "count": waits.count, "p50_us": waits.p50_us, "p99_us": waits.p99_us, "max_us": waits.max_us })
    })
}

fn traffic_json(window: &TrafficWindow) -> Value {
    object([
        ("started_at_s", long(window.started_at_s)),
        ("window_s", json!(window.window_s)),
        ("elapsed_ns", long(window.elapsed_ns)),
        ("interface", json!(window.interface)),
        ("bytes_sent", long(window.bytes_sent)),
        ("packets_sent", long(window.packets_sent)),
        ("bytes_received", long(window.bytes_received)),
        ("packets_received", long(window.packets_received)),
    ])
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let is_default =
        |v: &Value| *v == json!(null) || *v == json!("") || *v == json!("0") || *v == json!([]);
    fields
        .into_iter()
        .filter(|(_, v)| !is_default(v))
        .map(|(k, v)| (k.to_owned(), v))
        .collect()
}

fn number(value: u32) -> Value {
    json!((value != 0).then_some(value))
}

fn long(value: impl std::fmt::Display) -> Value {
    Value::String(value.to_string())
}

fn longs<T: std::fmt::Display>(values: &[T]) -> Value {
    values.iter().map(long).collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0u32, |n, &b| n << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(n >> (18 - 6 * i)) as usize & 63] as char;
            out.push(if i <= chunk.len() { digit } else { '=' });
        }
    }
    out
}
