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

const fn setting(key: &'static str, value_name: &'static str) -> Setting {
    Setting {
        key,
        value_name,
        default: None,
        help: "",
        is_switch: false,
    }
}

// A setting a row, and what it means below.
#[rustfmt::skip]
pub static SETTINGS: &[Setting] = &[
    setting("backend", "URL")
        .help("URL of the backend, for example https://sinemora.example. Remembered from enrolment"),
    setting("token", "TOKEN")
        .help("One-time enrolment token (sme_…) from the page \"Add a VM\". Not needed once enrolled"),
    setting("name", "NAME").or("the host name")
        .help("Name of this VM in Sinemora"),
    setting("zone_provider", "PROVIDER").or("other")
        .help("Cloud provider of this VM's zone, for example aws, gcp, azure"),
    setting("zone_region", "REGION").or("default")
        .help("Region of this VM's zone, for example eu-west-1"),
    setting("zone_name", "ZONE").or("default")
        .help("Name of this VM's zone, for example eu-west-1a"),
    setting("cloud_metadata", "WHERE").or("auto")
        .help("Source of zone and instance type: auto (the address of AWS, Azure and GCP), off, or http://…"),
    setting("listen_address", "IP").or("the address that reaches the backend")
        .help("Address that sends and receives probe packets; :: for all, IPv6 and IPv4"),
    setting("probe_address", "IP").or("listen_address")
        .help("Address the other VMs send to, if it differs from listen_address (one-to-one NAT)"),
    setting("event_port", "PORT").or("319")
        .help("UDP port of event messages (IEEE 1588). Ports below 1024 need CAP_NET_BIND_SERVICE"),
    setting("general_port", "PORT").or("320")
        .help("UDP port of general messages (IEEE 1588)"),
    setting("flow_port", "PORT").or("0, any")
        .help("First UDP source port of the flows beyond the first, for meshes with several; the next flows use the \
               next ports"),
    setting("standard_clients", "NETWORKS").or("none")
        .help("Addresses or networks, comma separated, whose standard PTP clients (ptpd, ptp4l) are served in \
               addition to the peers of the plan, for example 10.0.0.0/24"),
    setting("ptp_minor_version", "NUMBER").or("1")
        .help("Minor version of PTP in sent messages, 0 or 1; some network cards and switches only know 0 (IEEE \
               1588-2008)"),
    setting("max_packets_per_s", "NUMBER").or("20000")
        .help("Most packets that the agent sends per second, whatever the plan says"),
    setting("max_peers", "NUMBER").or("2000")
        .help("Most peers of all meshes together, whatever the plan says; meshes are at most a quarter of it"),
    setting("max_peers_per_address", "NUMBER").or("16")
        .help("Most peers of one address, whatever the plan says"),
    setting("probe_ports", "PORTS").or("319-320,1024-65535")
        .help("UDP ports that the agent sends to, whatever the plan says: ports and ranges, comma separated"),
    setting("hardware_clock", "DEVICE").or("auto")
        .help("Hardware clock for peers that have one of the same clock domain: auto, off, or a device such as \
               /dev/ptp0"),
    setting("hardware_clock_error", "TIME").or("as its driver says")
        .help("Error bound of that clock, for example 20us; a clock without a known bound is not used"),
    setting("hardware_timestamps", "USE").or("auto")
        .help("Timestamps of the network card: auto (where it takes them already), set (switch them on while the \
               agent runs; needs CAP_NET_ADMIN), or off"),
    setting("traffic_counters", "INTERFACE").or("auto")
        .help("Network interface whose bytes and packets are counted and reported: auto (that of the address of \
               probes), off, or a name such as eth0. Totals only, nothing of a packet"),
    setting("tcp_connections", "BOOL").or("false")
        .help("Report how often TCP connections of this VM wait for a retransmission timeout, by peer VM, from the \
               kernel's socket diagnostics. No addresses, no ports, nothing of their contents"),
    setting("service_traffic", "BOOL").or("true")
        .help("Where the tenant asks for it, report the number and bytes of TCP connections by peer VM and listening \
               port. No other addresses, nothing of their contents; false: never"),
    setting("state_dir", "DIR").or("/var/lib/sinemora-agent")
        .help("Folder of the identity, the last plan and reports not yet sent; one agent per folder"),
    setting("spool_cap", "SIZE").or("256MiB")
        .help("Disk space for reports not yet sent; beyond it the agent drops and counts the oldest"),
    setting("artifacts", "BOOL").or("false").switch()
        .help("Fetch artifacts of the tenant, and serve their blocks to the agents of the mesh, where the mesh has \
               them switched on"),
    setting("artifacts_port", "PORT").or("8421")
        .help("TCP port at which blocks of artifacts are served to other agents"),
    setting("bulk_sender", "BOOL").or("false").switch()
        .help("Send bytes to, and receive them from, the agents of the mesh that have it too, when an editor compares \
               transports"),
    setting("bulk_port", "PORT").or("8422")
        .help("TCP port at which the bulk sender receives; closed while it has no order"),
    setting("bulk_max_size", "SIZE").or("1GiB")
        .help("Largest size that the bulk sender sends, or receives, in one order"),
    setting("bulk_max_mbit", "MBIT").or("1000")
        .help("Highest rate of the bulk sender in each direction, Mbit/s: 1 to 100000"),
    setting("bulk_max_s", "SECONDS").or("120")
        .help("Longest time of an order of the bulk sender: 1 to 600"),
    setting("metrics_listen", "ADDRESS").or("off")
        .help("Address of /metrics and /healthz: IP:PORT such as 127.0.0.1:9319, or off: the agent then opens no TCP \
               port"),
    setting("ca_file", "FILE")
        .help("PEM file of certificate authorities to trust in addition to the system's"),
    setting("ca_only", "BOOL").or("false").switch()
        .help("Trust only ca_file, not the system's authorities: pins the backend's certificate"),
    setting("ca_pin", "PIN")
        .help("Trust only the backend with this public key (sha256//…), whoever signed its certificate; ca_file is \
               then not used"),
    setting("insecure_http", "BOOL").or("false").switch()
        .help("Allow http:// to a backend on another machine: credential and reports are then not encrypted"),
    setting("log_level", "LEVEL").or("info")
        .help("error, warn, info, debug or trace"),
    setting("log_format", "FORMAT").or("text")
        .help("text for people, json for machines; written to standard error"),
];

impl Setting {
    const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    const fn switch(mut self) -> Self {
        self.is_switch = true;
        self
    }

    const fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

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
