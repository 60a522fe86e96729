//! Bodies of the endpoints.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::calendar::rfc3339;
use crate::counters::Counters;
use crate::plan::BackendClock;

/// Write the metrics in the text format of Prometheus, version 0.0.4.
pub fn metrics(c: &Counters, backend_clock: &BackendClock) -> String {
    let of = |counter: &AtomicU64| counter.load(Relaxed);
    let counters = [
        ("packets_sent", "PTP packets sent", of(&c.packets_sent)),
        (
            "packets_received",
            "PTP packets received",
            of(&c.packets_received),
        ),
        (
            "packets_rejected",
            "Packets from unknown addresses, or not readable",
            of(&c.packets_rejected),
        ),
        (
            "transmit_stamps_missing",
            "Packets sent without a transmit timestamp",
            of(&c.transmit_stamps_missing),
        ),
        (
            "receive_queue_overflows",
            "Packets this machine dropped after they had arrived",
            of(&c.receive_queue_overflows),
        ),
        (
            "exchanges_completed",
            "Exchanges with all four timestamps",
            of(&c.exchanges_completed),
        ),
        (
            "exchanges_lost",
            "Exchanges abandoned at their loss deadline",
            of(&c.exchanges_lost),
        ),
        (
            "responses_late",
            "Answers after the loss deadline",
            of(&c.responses_late),
        ),
        ("duplicates", "Repeated packets", of(&c.duplicates)),
        (
            "requests_left_out",
            "Requests of the plan that this agent did not send",
            of(&c.requests_left_out),
        ),
        (
            "requests_shed",
            "Requests not sent or not answered, to keep the packet limit",
            of(&c.requests_shed),
        ),
        (
            "windows_closed",
            "Windows passed to reporting",
            of(&c.windows_closed),
        ),
        (
            "reports_sent",
            "Reports acknowledged, by the backend or by a gateway",
            of(&c.reports_sent),
        ),
        (
            "reports_queued",
            "Of these, reports that a gateway had queued on its disk",
            of(&c.reports_queued),
        ),
        (
            "reports_dropped",
            "Reports dropped because the spool was full",
            of(&c.reports_dropped),
        ),
        (
            "reports_refused",
            "Reports the backend refused, kept in refused/",
            of(&c.reports_refused),
        ),
        (
            "upload_failures",
            "Attempts to send reports or events that failed",
            of(&c.upload_failures),
        ),
        (
            "plan_failures",
            "Attempts to fetch the plan that failed",
            of(&c.plan_failures),
        ),
        (
            "events_dropped",
            "Events dropped because the queue was full",
            c.events.dropped(),
        ),
    ];
    let gauges = [
        ("peers", "Peers of the plan in force", of(&c.peers)),
        (
            "packets_per_s_cap",
            "Packet limit of the plan per second; 0 is no plan",
            of(&c.packets_per_s_cap),
        ),
        (
            "packets_per_s_allowed",
            "Packet limit in force per second; below the cap while the agent exceeds its processor or memory limit",
            of(&c.packets_per_s_allowed),
        ),
        (
            "cpu_percent_cap",
            "Processor time limit, percent of one processor; 0 is no limit",
            of(&c.cpu_percent_cap),
        ),
        ("memory_bytes", "Memory in use", of(&c.memory_bytes)),
        (
            "memory_bytes_cap",
            "Memory limit; 0 is no limit",
            of(&c.memory_mib_cap) << 20,
        ),
        (
            "spool_bytes",
            "Bytes of reports that wait to be sent",
            of(&c.spool_bytes),
        ),
        (
            "spool_reports",
            "Reports that wait to be sent",
            of(&c.spool_reports),
        ),
        (
            "last_report_timestamp_seconds",
            "Last acknowledged report, Unix time; 0 is never",
            of(&c.last_report_at_s),
        ),
        (
            "last_plan_timestamp_seconds",
            "Last answer about the plan, Unix time; 0 is never",
            of(&c.last_plan_at_s),
        ),
        (
            "credential_refused",
            "1 while the backend refuses the credential",
            c.credential_refused.load(Relaxed).into(),
        ),
    ];
    let mut text = String::with_capacity(4096);
    for (name, help, value) in counters {
        metric(
            &mut text,
            "counter",
            &format!("{name}_total"),
            help,
            "",
            value,
        );
    }
    for (name, help, value) in gauges {
        metric(&mut text, "gauge", name, help, "", value);
    }
    let cpu_percent = of(&c.cpu_millipercent) as f64 / 1e3;
    metric(
        &mut text,
        "gauge",
        "cpu_percent",
        "Processor time of the last seconds, percent of one processor",
        "",
        cpu_percent,
    );
    let hardware_error_ns = of(&c.hardware_error_ns);
    if hardware_error_ns > 0 {
        metric(
            &mut text,
            "gauge",
            "hardware_clock_error_seconds",
            "Error bound of the hardware clock in use",
            "",
            hardware_error_ns as f64 / 1e9,
        );
    }
    let card_error_ns = of(&c.card_error_ns);
    if card_error_ns > 0 {
        metric(
            &mut text,
            "gauge",
            "card_clock_error_seconds",
            "Error bound of the conversion of the network card's timestamps",
            "",
            card_error_ns as f64 / 1e9,
        );
    }
    if backend_clock.is_known() {
        let offset_s = backend_clock.lead_ns() as f64 / 1e9;
        metric(
            &mut text,
            "gauge",
            "backend_clock_offset_seconds",
            "Backend clock minus this machine's",
            "",
            offset_s,
        );
    }
    if let Some(error_ns) = backend_clock.error_ns() {
        metric(
            &mut text,
            "gauge",
            "window_time_error_seconds",
            "Bound on the difference between the time of windows and the backend's clock",
            "",
            error_ns as f64 / 1e9,
        );
    }
    let labels = format!(
        "{{version=\"{}\",timestamp_source=\"{}\",clock_source=\"{}\"}}",
        env!("CARGO_PKG_VERSION"),
        c.timestamp_source(),
        escaped(&c.clock_source()),
    );
    metric(
        &mut text,
        "gauge",
        "info",
        "Version and sources of time",
        &labels,
        1,
    );
    text
}

fn metric(
    text: &mut String,
    kind: &str,
    name: &str,
    help: &str,
    labels: &str,
    value: impl std::fmt::Display,
) {
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "# HELP sinemora_agent_{name} {help}.\n# TYPE sinemora_agent_{name} {kind}\nsinemora_agent_{name}{labels} {value}\n"
    );
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

/// Write the state of the agent as JSON.
pub fn health(c: &Counters) -> String {
    let at = |seconds: u64| match i64::try_from(seconds).unwrap_or(0) {
        0 => serde_json::Value::Null,
        seconds => rfc3339(seconds.saturating_mul(1_000_000_000)).into(),
    };
    let status = match (c.credential_refused.load(Relaxed), c.peers.load(Relaxed)) {
        (true, _) => "refused",
        (false, 0) => "idle",
        (false, _) => "measuring",
    };
    let body = serde_json::json!({
        "status": status,
        "peers": c.peers.load(Relaxed),
        "clock_source": c.clock_source(),
        "spool_reports": c.spool_reports.load(Relaxed),
        "last_report_at": at(c.last_report_at_s.load(Relaxed)),
        "last_plan_at": at(c.last_plan_at_s.load(Relaxed)),
    });
    format!("{body}\n")
}
