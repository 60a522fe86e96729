//! Bodies of the endpoints.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::calendar::rfc3339;
use crate::counters::Counters;
use crate::plan::BackendClock;

/// Write the metrics in the text format of Prometheus, version 0.0.4.
pub fn metrics(c: &Counters, backend_clock: &BackendClock) -> String {
    let of = |counter: &AtomicU64| counter.load(Relaxed);
    #[rustfmt::skip]
    let counters = [
        ("packets_sent", of(&c.packets_sent), "PTP packets sent"),
        ("packets_received", of(&c.packets_received), "PTP packets received"),
        ("packets_rejected", of(&c.packets_rejected), "Packets from unknown addresses, or not readable"),
        ("transmit_stamps_missing", of(&c.transmit_stamps_missing), "Packets sent without a transmit timestamp"),
        ("receive_queue_overflows", of(&c.receive_queue_overflows),
            "Packets this machine dropped after they had arrived"),
        ("exchanges_completed", of(&c.exchanges_completed), "Exchanges with all four timestamps"),
        ("exchanges_lost", of(&c.exchanges_lost), "Exchanges abandoned at their loss deadline"),
        ("responses_late", of(&c.responses_late), "Answers after the loss deadline"),
        ("duplicates", of(&c.duplicates), "Repeated packets"),
        ("requests_left_out", of(&c.requests_left_out), "Requests of the plan that this agent did not send"),
        ("requests_shed", of(&c.requests_shed), "Requests not sent or not answered, to keep the packet limit"),
        ("windows_closed", of(&c.windows_closed), "Windows passed to reporting"),
        ("reports_sent", of(&c.reports_sent), "Reports acknowledged, by the backend or by a gateway"),
        ("reports_queued", of(&c.reports_queued), "Of these, reports that a gateway had queued on its disk"),
        ("reports_dropped", of(&c.reports_dropped), "Reports dropped because the spool was full"),
        ("reports_refused", of(&c.reports_refused), "Reports the backend refused, kept in refused/"),
        ("upload_failures", of(&c.upload_failures), "Attempts to send reports or events that failed"),
        ("plan_failures", of(&c.plan_failures), "Attempts to fetch the plan that failed"),
        ("events_dropped", c.events.dropped(), "Events dropped because the queue was full"),
    ];
    #[rustfmt::skip]
    let gauges = [
        ("peers", of(&c.peers), "Peers of the plan in force"),
        ("packets_per_s_cap", of(&c.packets_per_s_cap), "Packet limit of the plan per second; 0 is no plan"),
        ("packets_per_s_allowed", of(&c.packets_per_s_allowed),
            "Packet limit in force per second; below the cap while the agent exceeds its processor or memory limit"),
        ("cpu_percent_cap", of(&c.cpu_percent_cap), "Processor time limit, percent of one processor; 0 is no limit"),
        ("memory_bytes", of(&c.memory_bytes), "Memory in use"),
        ("memory_bytes_cap", of(&c.memory_mib_cap) << 20, "Memory limit; 0 is no limit"),
        ("spool_bytes", of(&c.spool_bytes), "Bytes of reports that wait to be sent"),
        ("spool_reports", of(&c.spool_reports), "Reports that wait to be sent"),
        ("last_report_timestamp_seconds", of(&c.last_report_at_s), "Last acknowledged report, Unix time; 0 is never"),
        ("last_plan_timestamp_seconds", of(&c.last_plan_at_s), "Last answer about the plan, Unix time; 0 is never"),
        ("credential_refused", c.credential_refused.load(Relaxed).into(), "1 while the backend refuses the credential"),
    ];
    let seconds = |ns: u64| (ns > 0).then_some(ns as f64 / 1e9);
    let lead_s = backend_clock
        .is_known()
        .then(|| backend_clock.lead_ns() as f64 / 1e9);
    let window_error_s = backend_clock.error_ns().map(|ns| ns as f64 / 1e9);
    #[rustfmt::skip]
    let known = [
        ("cpu_percent", Some(of(&c.cpu_millipercent) as f64 / 1e3),
            "Processor time of the last seconds, percent of one processor"),
        ("hardware_clock_error_seconds", seconds(of(&c.hardware_error_ns)), "Error bound of the hardware clock in use"),
        ("card_clock_error_seconds", seconds(of(&c.card_error_ns)),
            "Error bound of the conversion of the network card's timestamps"),
        ("backend_clock_offset_seconds", lead_s, "Backend clock minus this machine's"),
        ("window_time_error_seconds", window_error_s,
            "Bound on the difference between the time of windows and the backend's clock"),
    ];
    let mut text = String::with_capacity(4096);
    for (name, value, help) in counters {
        metric(
            &mut text,
            "counter",
            &format!("{name}_total"),
            "",
            value,
            help,
        );
    }
    for (name, value, help) in gauges {
        metric(&mut text, "gauge", name, "", value, help);
    }
    for (name, value, help) in known {
        if let Some(value) = value {
            metric(&mut text, "gauge", name, "", value, help);
        }
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
        &labels,
        1,
        "Version and sources of time",
    );
    text
}

fn metric(
    text: &mut String,
    kind: &str,
    name: &str,
    labels: &str,
    value: impl std::fmt::Display,
    help: &str,
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
