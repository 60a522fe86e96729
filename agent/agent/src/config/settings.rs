//! Every setting of the agent, once: the file's keys, the flags, the environment and the documentation follow it.

use strsim::levenshtein;

/// One setting. `event_port` in the file is `--event-port` as a flag and `SINEMORA_AGENT_EVENT_PORT` in the environment.
#[derive(Debug)]
pub struct Setting {
    pub key: &'static str,
    pub value_name: &'static str,
    /// As shown to people; `None` when the setting is empty unless given.
    pub default: Option<&'static str>,
    pub help: &'static str,
    /// A flag that may stand without a value.
    pub is_switch: bool,
}

/// What the environment's names start with.
pub const ENV_PREFIX: &str = "SINEMORA_AGENT_";

/// Read when it exists and `--config` names no other file.
pub const DEFAULT_CONFIG_FILE: &str = "/etc/sinemora/agent.toml";

pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "backend",
        value_name: "URL",
        default: None,
        help: "Where the backend answers, for example https://sinemora.example. Remembered from enrolment",
        is_switch: false,
    },
    Setting {
        key: "token",
        value_name: "TOKEN",
        default: None,
        help: "One-time enrolment token (sme_…) from the page \"Add a VM\". Not needed once enrolled",
        is_switch: false,
    },
    Setting {
        key: "name",
        value_name: "NAME",
        default: Some("the host name"),
        help: "Name of this VM in Sinemora",
        is_switch: false,
    },
    Setting {
        key: "zone_provider",
        value_name: "PROVIDER",
        default: Some("other"),
        help: "Cloud provider of this VM's zone, for example aws, gcp, azure",
        is_switch: false,
    },
    Setting {
        key: "zone_region",
        value_name: "REGION",
        default: Some("default"),
        help: "Region of this VM's zone, for example eu-west-1",
        is_switch: false,
    },
    Setting {
        key: "zone_name",
        value_name: "ZONE",
        default: Some("default"),
        help: "Name of this VM's zone, for example eu-west-1a",
        is_switch: false,
    },
    Setting {
        key: "cloud_metadata",
        value_name: "WHERE",
        default: Some("auto"),
        help: "Where to learn zone and instance type from: auto (the address of AWS, Azure and GCP), off, or http://…",
        is_switch: false,
    },
    Setting {
        key: "listen_address",
        value_name: "IP",
        default: Some("the address that reaches the backend"),
        help: "Address that sends and receives probe packets",
        is_switch: false,
    },
    Setting {
        key: "probe_address",
        value_name: "IP",
        default: Some("listen_address"),
        help: "Address the other VMs send to, when it differs from listen_address (one-to-one NAT)",
        is_switch: false,
    },
    Setting {
        key: "event_port",
        value_name: "PORT",
        default: Some("319"),
        help: "UDP port of timed messages (IEEE 1588 event port). Ports below 1024 need CAP_NET_BIND_SERVICE",
        is_switch: false,
    },
    Setting {
        key: "general_port",
        value_name: "PORT",
        default: Some("320"),
        help: "UDP port of untimed messages (IEEE 1588 general port)",
        is_switch: false,
    },
    Setting {
        key: "flow_port",
        value_name: "PORT",
        default: Some("0, any"),
        help: "First UDP source port of the flows beyond the first, for meshes with several; the next ones follow it",
        is_switch: false,
    },
    Setting {
        key: "guests",
        value_name: "NETWORKS",
        default: Some("none"),
        help: "Addresses or networks, comma separated, whose stock PTP clients (ptpd, ptp4l) are served beside the \
               peers of the plan, for example 10.0.0.0/24",
        is_switch: false,
    },
    Setting {
        key: "hardware_clock",
        value_name: "DEVICE",
        default: Some("auto"),
        help: "Hardware clock that delays stand on when the peer has one of the same keeper: auto, off, or a device \
               such as /dev/ptp0",
        is_switch: false,
    },
    Setting {
        key: "hardware_clock_error",
        value_name: "TIME",
        default: Some("as its driver says"),
        help: "What that clock may be off, for example 20us; a clock of which nobody says it is not used",
        is_switch: false,
    },
    Setting {
        key: "state_dir",
        value_name: "DIR",
        default: Some("/var/lib/sinemora-agent"),
        help: "Keeps the identity, the last plan and reports not yet sent; one agent per folder",
        is_switch: false,
    },
    Setting {
        key: "spool_cap",
        value_name: "SIZE",
        default: Some("256MiB"),
        help: "Most disk space for reports not yet sent; beyond it the oldest are dropped and counted",
        is_switch: false,
    },
    Setting {
        key: "metrics_listen",
        value_name: "ADDRESS",
        default: Some("127.0.0.1:9319"),
        help: "Where /metrics and /healthz answer: IP:PORT, or off",
        is_switch: false,
    },
    Setting {
        key: "ca_file",
        value_name: "FILE",
        default: None,
        help: "PEM file of further certificate authorities to trust, beside the system's",
        is_switch: false,
    },
    Setting {
        key: "ca_only",
        value_name: "BOOL",
        default: Some("false"),
        help: "Trust ca_file alone, not the system's authorities: pins the backend's certificate",
        is_switch: true,
    },
    Setting {
        key: "insecure_http",
        value_name: "BOOL",
        default: Some("false"),
        help: "Allow http:// to a backend that is not on this machine: credential and reports travel in the clear",
        is_switch: true,
    },
    Setting {
        key: "log_level",
        value_name: "LEVEL",
        default: Some("info"),
        help: "error, warn, info, debug or trace",
        is_switch: false,
    },
    Setting {
        key: "log_format",
        value_name: "FORMAT",
        default: Some("text"),
        help: "text for people, json for machines; written to standard error",
        is_switch: false,
    },
];

impl Setting {
    /// The flag without its dashes, for example `event-port`.
    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// The environment variable, for example `SINEMORA_AGENT_EVENT_PORT`.
    pub fn env(&self) -> String {
        format!("{ENV_PREFIX}{}", self.key.to_uppercase())
    }
}

/// The setting of that key.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.key == key)
}

/// The known key nearest to a mistyped one, if any is near.
pub fn nearest(key: &str) -> Option<&'static str> {
    let scored = SETTINGS.iter().map(|s| (levenshtein(s.key, key), s.key));
    scored
        .min()
        .filter(|(distance, _)| *distance <= 1 + key.len() / 4)
        .map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_key_finds_its_neighbour() {
        let cases = [
            ("event_prot", Some("event_port")),
            ("backand", Some("backend")),
            ("spoolcap", Some("spool_cap")),
            ("colour", None),
        ];
        for (typed, near) in cases {
            assert_eq!(nearest(typed), near, "{typed}");
        }
    }
}
