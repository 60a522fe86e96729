//! Configuration from flags, environment and file, validated once into values that cannot be wrong.

mod file;
mod layers;
mod limits;
mod settings;
mod trust;
pub mod values;

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;

pub use file::write_settings;
pub use layers::{Layers, RawValue, Source};
pub use limits::LocalLimits;
pub use settings::{DEFAULT_CONFIG_FILE, ENV_PREFIX, Program, SETTINGS, Setting, find};
pub use trust::{Pin, Trust};
pub use values::{BackendUrl, LogFormat, TrafficChoice, Zone};

use self::values::get;
use crate::cloud::METADATA_URL;
use crate::hardware_clock::ClockChoice;
use crate::hardware_timestamps::CardChoice;
use crate::network::{Listen, Network};

/// Validated configuration of the agent. The settings of `sinemora-transfer` are in its crate.
#[derive(Debug, Clone)]
pub struct Config {
    /// `None`: the backend of the enrolment.
    pub backend: Option<BackendUrl>,
    pub token: Option<String>,
    pub name: String,
    pub zone: Zone,
    /// True if a setting names the zone; otherwise the cloud may.
    pub zone_is_set: bool,
    /// Base URL of the cloud's metadata service; `None`: switched off.
    pub metadata_url: Option<String>,
    pub listen_address: Option<IpAddr>,
    pub probe_address: Option<IpAddr>,
    pub event_port: u16,
    pub general_port: u16,
    /// 0: the system chooses.
    pub flow_port: u16,
    /// Networks outside the plan whose standard PTP clients are served.
    pub standard_clients: Vec<Network>,
    /// Minor version of PTP in messages that are sent, 0 or 1.
    pub ptp_minor_version: u8,
    /// Limits of what is sent, whatever the plan says.
    pub limits: LocalLimits,
    pub hardware_clock: ClockChoice,
    /// Error bound of that clock, from the operator.
    pub hardware_clock_error_ns: Option<u64>,
    pub hardware_timestamps: CardChoice,
    pub traffic_counters: TrafficChoice,
    pub tcp_connections: bool,
    pub service_traffic: bool,
    pub state_dir: PathBuf,
    pub spool_cap_bytes: u64,
    /// `None`: switched off.
    pub metrics_listen: Option<SocketAddr>,
    pub trust: Trust,
    pub insecure_http: bool,
    pub log_level: tracing::Level,
    pub log_format: LogFormat,
}

/// Error in a setting: its name and what would be right.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} {problem}")]
pub struct ConfigError {
    setting: String,
    problem: String,
}

impl ConfigError {
    pub fn new(setting: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            setting: setting.into(),
            problem: problem.into(),
        }
    }
}

impl Config {
    /// Validate the settings; `host_name` names the VM unless a setting does.
    pub fn resolve(layers: &Layers, host_name: &str) -> Result<Self, ConfigError> {
        let insecure_http = get(layers, "insecure_http", values::truth)?.unwrap_or(false);
        let event_port = get(layers, "event_port", values::port)?.unwrap_or(319);
        let general_port = get(layers, "general_port", values::port)?.unwrap_or(320);
        let listen_address = get(layers, "listen_address", values::ip)?;
        let probe_address = get(layers, "probe_address", values::ip)?;
        if event_port == general_port {
            return Err(ConfigError::new(
                "general_port",
                format!("must differ from event_port, both are {event_port}"),
            ));
        }
        if probe_address.is_some_and(|a| a.is_unspecified()) {
            return Err(ConfigError::new(
                "probe_address",
                "must be an address the other VMs can send to",
            ));
        }
        if let (Some(listen), Some(probe)) = (listen_address, probe_address) {
            let both = listen == IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED);
            if listen.is_ipv4() != probe.is_ipv4() && !both {
                return Err(ConfigError::new(
                    "probe_address",
                    "must be of the same family (v4 or v6) as listen_address; listen_address :: is both",
                ));
            }
        }
        let trust = Trust {
            ca_file: get(layers, "ca_file", values::path)?,
            ca_only: get(layers, "ca_only", values::truth)?.unwrap_or(false),
            ca_pin: get(layers, "ca_pin", Pin::parse)?,
        };
        if trust.ca_only && trust.ca_file.is_none() {
            return Err(ConfigError::new(
                "ca_only",
                "needs ca_file: without it no certificate would be trusted",
            ));
        }
        let name = get(layers, "name", values::name)?;
        let named =
            |key, default: &str| Ok(get(layers, key, values::name)?.unwrap_or(default.to_owned()));
        Ok(Self {
            backend: get(layers, "backend", |t| BackendUrl::parse(t, insecure_http))?,
            token: get(layers, "token", values::token)?,
            name: name.unwrap_or_else(|| host_name.to_owned()),
            zone: Zone {
                provider: named("zone_provider", "other")?,
                region: named("zone_region", "default")?,
                name: named("zone_name", "default")?,
                physical_id: None,
            },
            zone_is_set: ["zone_provider", "zone_region", "zone_name"]
                .iter()
                .any(|key| layers.get(key).is_some()),
            metadata_url: get(layers, "cloud_metadata", values::metadata_or_off)?
                .unwrap_or_else(|| Some(METADATA_URL.to_owned())),
            listen_address,
            probe_address,
            event_port,
            general_port,
            flow_port: get(layers, "flow_port", values::port_or_any)?.unwrap_or(0),
            standard_clients: get(layers, "standard_clients", values::networks)?
                .unwrap_or_default(),
            ptp_minor_version: get(layers, "ptp_minor_version", values::minor_version)?
                .unwrap_or(1),
            limits: limits(layers)?,
            hardware_clock: get(layers, "hardware_clock", values::hardware_clock)?
                .unwrap_or(ClockChoice::Any),
            hardware_clock_error_ns: get(layers, "hardware_clock_error", values::clock_error)?
                .flatten(),
            hardware_timestamps: get(layers, "hardware_timestamps", values::hardware_timestamps)?
                .unwrap_or(CardChoice::Auto),
            traffic_counters: get(layers, "traffic_counters", values::traffic_counters)?
                .unwrap_or(TrafficChoice::Auto),
            tcp_connections: get(layers, "tcp_connections", values::truth)?.unwrap_or(false),
            service_traffic: get(layers, "service_traffic", values::truth)?.unwrap_or(true),
            state_dir: get(layers, "state_dir", values::path)?
                .unwrap_or("/var/lib/sinemora-agent".into()),
            spool_cap_bytes: get(layers, "spool_cap", values::size)?.unwrap_or(256 << 20),
            metrics_listen: get(layers, "metrics_listen", values::listen_or_off)?.flatten(),
            trust,
            insecure_http,
            log_level: get(layers, "log_level", values::level)?.unwrap_or(tracing::Level::INFO),
            log_format: get(layers, "log_format", values::format)?.unwrap_or(LogFormat::Text),
        })
    }

    /// Return the UDP ports of measurements: the standard ones, which peers may use, and those of this agent.
    pub fn measurement_ports(&self) -> Vec<u16> {
        let own = [self.event_port, self.general_port, self.flow_port];
        let mut ports = vec![319, 320];
        ports.extend(own.iter().filter(|port| **port != 0));
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Return where to receive packets, and the address the other VMs send to.
    ///
    /// Unless set, the address is the one from which this machine reaches `backend`. A connected UDP socket reads it
    /// from the routing table and sends nothing.
    pub fn listen(&self, backend: &BackendUrl) -> Result<(Listen, IpAddr), ConfigError> {
        let detected = || {
            detect_address(backend).map_err(|e| {
                let (host, port) = backend.host_and_port();
                let why =
                    format!("cannot be detected from the route to {host}:{port} ({e}); set it");
                ConfigError::new("listen_address", why)
            })
        };
        let address = match self.listen_address {
            Some(address) => address,
            None => detected()?,
        };
        let probe_address = match self.probe_address {
            Some(address) => address,
            None if address.is_unspecified() => detected()?,
            None => address,
        };
        if is_link_local(probe_address) {
            let why = format!("{probe_address} is a link-local address, which peers cannot reach");
            return Err(ConfigError::new("probe_address", why));
        }
        Ok((
            Listen {
                address,
                event_port: self.event_port,
                general_port: self.general_port,
                flow_port: self.flow_port,
            },
            probe_address,
        ))
    }
}

fn limits(layers: &Layers) -> Result<LocalLimits, ConfigError> {
    let usual = LocalLimits::default();
    let number = |key, usual, most| {
        let within = |text: &str| values::within(text, 1, most);
        Ok(get(layers, key, within)?.unwrap_or(usual))
    };
    Ok(LocalLimits {
        packets_per_s: number("max_packets_per_s", usual.packets_per_s, 10_000_000)?,
        peers: number("max_peers", usual.peers, 100_000)?,
        peers_per_address: number("max_peers_per_address", usual.peers_per_address, 10_000)?,
        ports: get(layers, "probe_ports", values::port_ranges)?.unwrap_or(usual.ports),
    })
}

/// Return the address that the default route leaves from.
pub fn default_address() -> Option<IpAddr> {
    let mut hosts = ANYWHERE.iter().filter_map(|host| host.parse().ok());
    hosts.find_map(|host| source_towards(host).ok())
}

/// Documentation addresses (RFC 5737, RFC 3849), which only the default routes match.
const ANYWHERE: [&str; 2] = ["192.0.2.1:9", "[2001:db8::1]:9"];

fn detect_address(backend: &BackendUrl) -> std::io::Result<IpAddr> {
    let (host, port) = backend.host_and_port();
    let host = host.trim_matches(['[', ']']);
    let mut failed = std::io::Error::from(std::io::ErrorKind::NotFound);
    match std::net::ToSocketAddrs::to_socket_addrs(&(host, port)) {
        Ok(targets) => {
            for target in targets {
                match source_towards(target) {
                    Ok(address) => return Ok(address),
                    Err(error) => failed = error,
                }
            }
        }
        Err(error) => failed = error,
    }
    // DNS may be missing after a boot, or left to a proxy. Nearly every machine has one address for all targets.
    default_address().ok_or(failed)
}

fn source_towards(target: SocketAddr) -> std::io::Result<IpAddr> {
    let any: SocketAddr = if target.is_ipv4() {
        ([0, 0, 0, 0], 0).into()
    } else {
        (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect(target)?;
    let address = socket.local_addr()?.ip();
    if is_link_local(address) {
        // A global address of IPv6 is tentative for a moment after a boot, and not chosen until then.
        let why = format!("only the link-local address {address}, which peers cannot reach");
        return Err(std::io::Error::new(
            std::io::ErrorKind::AddrNotAvailable,
            why,
        ));
    }
    Ok(address)
}

/// Return true for an address that only hosts of one network segment reach (RFC 3927, RFC 4291).
pub fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// Return the kernel's host name, or `unnamed` if there is none.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() {
        "unnamed".to_owned()
    } else {
        name.trim().to_owned()
    }
}

#[cfg(test)]
mod tests;
