//! Table of all settings of a VM: keys of the file, flags, environment variables and documentation follow it.

use strsim::levenshtein;

/// Setting. `event_port` in the file is `--event-port` as a flag and `SINEMORA_AGENT_EVENT_PORT` in the environment.
#[derive(Debug)]
pub struct Setting {
    pub key: &'static str,
    pub value_name: &'static str,
    /// Default as shown to people; `None` if the setting is empty by default.
    pub default: Option<&'static str>,
    pub help: &'static str,
    /// True if the flag needs no value.
    pub is_switch: bool,
}

/// Prefix of the environment variables.
pub const ENV_PREFIX: &str = "SINEMORA_AGENT_";

/// File that is read if it exists and `--config` names no other.
pub const DEFAULT_CONFIG_FILE: &str = "/etc/sinemora/agent.toml";

/// Program of a VM that reads the file. The keys of all programs are valid for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Agent,
    Transfer,
}

/// Settings of `sinemora-transfer` alone.
const OF_TRANSFER: [&str; 7] = [
    "artifacts",
    "artifacts_port",
    "bulk_sender",
    "bulk_port",
    "bulk_max_size",
    "bulk_max_mbit",
    "bulk_max_s",
];

/// Settings of the agent that `sinemora-transfer` follows, too.
const OF_BOTH: [&str; 10] = [
    "backend",
    "listen_address",
    "probe_address",
    "state_dir",
    "ca_file",
    "ca_only",
    "ca_pin",
    "insecure_http",
    "log_level",
    "log_format",
];

pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "backend",
        value_name: "URL",
        default: None,
        help: "URL of the backend, for example https://sinemora.example. Remembered from enrolment",
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
        help: "Source of zone and instance type: auto (the address of AWS, Azure and GCP), off, or http://…",
        is_switch: false,
    },
    Setting {
        key: "listen_address",
        value_name: "IP",
        default: Some("the address that reaches the backend"),
        help: "Address that sends and receives probe packets; :: for all, IPv6 and IPv4",
        is_switch: false,
    },
    Setting {
        key: "probe_address",
        value_name: "IP",
        default: Some("listen_address"),
        help: "Address the other VMs send to, if it differs from listen_address (one-to-one NAT)",
        is_switch: false,
    },
    Setting {
        key: "event_port",
        value_name: "PORT",
        default: Some("319"),
        help: "UDP port of event messages (IEEE 1588). Ports below 1024 need CAP_NET_BIND_SERVICE",
        is_switch: false,
    },
    Setting {
        key: "general_port",
        value_name: "PORT",
        default: Some("320"),
        help: "UDP port of general messages (IEEE 1588)",
        is_switch: false,
    },
    Setting {
        key: "flow_port",
        value_name: "PORT",
        default: Some("0, any"),
        help: "First UDP source port of the flows beyond the first, for meshes with several; the next flows use the next ports",
        is_switch: false,
    },
    Setting {
        key: "standard_clients",
        value_name: "NETWORKS",
        default: Some("none"),
        help: "Addresses or networks, comma separated, whose standard PTP clients (ptpd, ptp4l) are served in addition \
               to the peers of the plan, for example 10.0.0.0/24",
        is_switch: false,
    },
    Setting {
        key: "ptp_minor_version",
        value_name: "NUMBER",
        default: Some("1"),
        help: "Minor version of PTP in sent messages, 0 or 1; some network cards and switches only know 0 (IEEE 1588-2008)",
        is_switch: false,
    },
    Setting {
        key: "max_packets_per_s",
        value_name: "NUMBER",
        default: Some("20000"),
        help: "Most packets that the agent sends per second, whatever the plan says",
        is_switch: false,
    },
    Setting {
        key: "max_peers",
        value_name: "NUMBER",
        default: Some("2000"),
        help: "Most peers of all meshes together, whatever the plan says; meshes are at most a quarter of it",
        is_switch: false,
    },
    Setting {
        key: "max_peers_per_address",
        value_name: "NUMBER",
        default: Some("16"),
        help: "Most peers of one address, whatever the plan says",
        is_switch: false,
    },
    Setting {
        key: "probe_ports",
        value_name: "PORTS",
        default: Some("319-320,1024-65535"),
        help: "UDP ports that the agent sends to, whatever the plan says: ports and ranges, comma separated",
        is_switch: false,
    },
    Setting {
        key: "hardware_clock",
        value_name: "DEVICE",
        default: Some("auto"),
        help: "Hardware clock for peers that have one of the same clock domain: auto, off, or a device such as \
               /dev/ptp0",
        is_switch: false,
    },
    Setting {
        key: "hardware_clock_error",
        value_name: "TIME",
        default: Some("as its driver says"),
        help: "Error bound of that clock, for example 20us; a clock without a known bound is not used",
        is_switch: false,
    },
    Setting {
        key: "hardware_timestamps",
        value_name: "USE",
        default: Some("auto"),
        help: "Timestamps of the network card: auto (where it takes them already), set (switch them on while the agent \
               runs; needs CAP_NET_ADMIN), or off",
        is_switch: false,
    },
    Setting {
        key: "traffic_counters",
        value_name: "INTERFACE",
        default: Some("auto"),
        help: "Network interface whose bytes and packets are counted and reported: auto (that of the address of probes), \
               off, or a name such as eth0. Totals only, nothing of a packet",
        is_switch: false,
    },
    Setting {
        key: "tcp_connections",
        value_name: "BOOL",
        default: Some("false"),
        help: "Report how often TCP connections of this VM wait for a retransmission timeout, by peer VM, from the \
               kernel's socket diagnostics. No addresses, no ports, nothing of their contents",
        is_switch: false,
    },
    Setting {
        key: "state_dir",
        value_name: "DIR",
        default: Some("/var/lib/sinemora-agent"),
        help: "Folder of the identity, the last plan and reports not yet sent; one agent per folder",
        is_switch: false,
    },
    Setting {
        key: "spool_cap",
        value_name: "SIZE",
        default: Some("256MiB"),
        help: "Disk space for reports not yet sent; beyond it the agent drops and counts the oldest",
        is_switch: false,
    },
    Setting {
        key: "artifacts",
        value_name: "BOOL",
        default: Some("false"),
        help: "Fetch artifacts of the tenant, and serve their blocks to the agents of the mesh, where the mesh has them \
               switched on",
        is_switch: true,
    },
    Setting {
        key: "artifacts_port",
        value_name: "PORT",
        default: Some("8421"),
        help: "TCP port at which blocks of artifacts are served to other agents",
        is_switch: false,
    },
    Setting {
        key: "bulk_sender",
        value_name: "BOOL",
        default: Some("false"),
        help: "Send bytes to, and receive them from, the agents of the mesh that have it too, when an editor compares \
               transports or runs planned transfers",
        is_switch: true,
    },
    Setting {
        key: "bulk_port",
        value_name: "PORT",
        default: Some("8422"),
        help: "TCP port at which the bulk sender receives; closed while it has no order",
        is_switch: false,
    },
    Setting {
        key: "bulk_max_size",
        value_name: "SIZE",
        default: Some("1GiB"),
        help: "Largest size that the bulk sender sends, or receives, in one order",
        is_switch: false,
    },
    Setting {
        key: "bulk_max_mbit",
        value_name: "MBIT",
        default: Some("1000"),
        help: "Highest rate of the bulk sender in each direction, Mbit/s: 1 to 100000",
        is_switch: false,
    },
    Setting {
        key: "bulk_max_s",
        value_name: "SECONDS",
        default: Some("120"),
        help: "Longest time of an order of the bulk sender: 1 to 600",
        is_switch: false,
    },
    Setting {
        key: "metrics_listen",
        value_name: "ADDRESS",
        default: Some("off"),
        help: "Address of /metrics and /healthz: IP:PORT such as 127.0.0.1:9319, or off: the agent then opens no TCP port",
        is_switch: false,
    },
    Setting {
        key: "ca_file",
        value_name: "FILE",
        default: None,
        help: "PEM file of certificate authorities to trust in addition to the system's",
        is_switch: false,
    },
    Setting {
        key: "ca_only",
        value_name: "BOOL",
        default: Some("false"),
        help: "Trust only ca_file, not the system's authorities: pins the backend's certificate",
        is_switch: true,
    },
    Setting {
        key: "ca_pin",
        value_name: "PIN",
        default: None,
        help: "Trust only the backend with this public key (sha256//…), whoever signed its certificate; ca_file is then not used",
        is_switch: false,
    },
    Setting {
        key: "insecure_http",
        value_name: "BOOL",
        default: Some("false"),
        help: "Allow http:// to a backend on another machine: credential and reports are then not encrypted",
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
    /// Return whether the program follows this setting.
    pub fn is_of(&self, program: Program) -> bool {
        let of_transfer = OF_TRANSFER.contains(&self.key);
        match program {
            Program::Agent => !of_transfer,
            Program::Transfer => of_transfer || OF_BOTH.contains(&self.key),
        }
    }

    /// Return the flag without its dashes, for example `event-port`.
    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// Return the environment variable, for example `SINEMORA_AGENT_EVENT_PORT`.
    pub fn env(&self) -> String {
        format!("{ENV_PREFIX}{}", self.key.to_uppercase())
    }
}

/// Return the setting with that key.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.key == key)
}

/// Return the known key nearest to a mistyped one, if any is near.
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
    fn a_mistyped_key_finds_the_nearest() {
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
