//! Enrolment: exchanges a one-time token and a description of this VM for an identity.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::http::Method;

use crate::backend::{Answer, Body, CallError, Client};
use crate::cloud::{self, CloudVm};
use crate::config::{Config, Zone};
use crate::identity::Identity;
use crate::network::Listen;

const CLOCK_SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";
/// Optional parts of a plan that this version follows.
const FEATURES: &[&str] = &["on_demand", "path_probes"];
const LIMIT: Duration = Duration::from_secs(30);

/// Description that the agent sends at enrolment and at each start.
#[derive(Debug, Clone, Serialize)]
pub struct SelfDescription {
    pub hostname: String,
    pub zone: Zone,
    pub probe_address: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
    pub agent_version: &'static str,
    pub description: Machine,
}

/// Description of the machine, for people who look for the cause of an odd measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub host_name: String,
    pub operating_system: String,
    pub kernel: String,
    pub architecture: &'static str,
    pub cpus: usize,
    pub clock_source: String,
    /// Clock sources that the kernel could use.
    pub clock_sources: Vec<String>,
    /// Hardware clocks by the names of their drivers (`/sys/class/ptp`): `KVM virtual PTP`, `ena-ptp-00` …
    pub ptp_clocks: Vec<String>,
    pub listen_address: IpAddr,
    /// Optional parts of a plan that this agent follows.
    pub features: &'static [&'static str],
    /// Metadata of the cloud; absent if no metadata service answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<CloudVm>,
}

/// Failure of an enrolment.
#[derive(Debug)]
pub enum EnrolError {
    /// The backend refuses this enrolment; a retry cannot help.
    Refused { why: String, hint: &'static str },
    /// As above, unless the VM that has the name or the address is gone, which shows within two minutes.
    Held { why: String, hint: &'static str },
    /// A retry may succeed.
    Later {
        why: String,
        retry_after: Option<Duration>,
    },
}

impl std::fmt::Display for EnrolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused { why, hint: "" } | Self::Held { why, hint: "" } => {
                write!(f, "the backend refused the enrolment: {why}")
            }
            Self::Refused { why, hint } | Self::Held { why, hint } => {
                let why = why.trim_end_matches('.');
                write!(f, "the backend refused the enrolment: {why}. {hint}")
            }
            Self::Later { why, .. } => f.write_str(why),
        }
    }
}

impl std::error::Error for EnrolError {}

impl From<CallError> for EnrolError {
    fn from(error: CallError) -> Self {
        Self::Later {
            why: error.to_string(),
            retry_after: None,
        }
    }
}

impl SelfDescription {
    /// Describe this machine by its configuration and by the cloud's metadata service, which this queries.
    pub fn of(config: &Config, listen: &Listen, probe_address: IpAddr) -> Self {
        let cloud = config
            .metadata_url
            .as_deref()
            .and_then(|url| cloud::discover(url, cloud::LIMIT));
        let zone = match &cloud {
            Some(vm) if !config.zone_is_set => Zone {
                provider: vm.provider.to_owned(),
                region: vm.region.clone(),
                name: vm.zone.clone(),
                physical_id: vm.physical_zone_id.clone(),
            },
            _ => config.zone.clone(),
        };
        let read = |path: &str| {
            std::fs::read_to_string(path)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        Self {
            hostname: config.name.clone(),
            zone,
            probe_address,
            event_port: listen.event_port,
            general_port: listen.general_port,
            agent_version: env!("CARGO_PKG_VERSION"),
            description: Machine {
                host_name: crate::config::host_name(),
                operating_system: pretty_name(&read("/etc/os-release")),
                kernel: read("/proc/sys/kernel/osrelease"),
                architecture: std::env::consts::ARCH,
                cpus: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
                clock_source: read(&format!("{CLOCK_SOURCES}/current_clocksource")),
                clock_sources: read(&format!("{CLOCK_SOURCES}/available_clocksource"))
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect(),
                ptp_clocks: ptp_clocks(),
                listen_address: listen.address,
                features: FEATURES,
                cloud,
            },
        }
    }
}

/// Exchanges `token` for an identity. The token is used up on success, so the caller must store the identity.
pub fn enrol(
    client: &Client,
    token: &str,
    about: &SelfDescription,
) -> Result<Identity, EnrolError> {
    #[derive(Serialize)]
    struct Request<'a> {
        token: &'a str,
        #[serde(flatten)]
        about: &'a SelfDescription,
    }
    #[derive(Deserialize)]
    struct Enrolled {
        agent_id: String,
        vm_id: String,
        vm_key: u32,
        tenant_id: String,
        credential: String,
        #[serde(default)]
        keys: Vec<String>,
    }
    let body = to_json(&Request { token, about })?;
    let answer = client.send(&Method::POST, "/v1/agents/enrol", Body::Json(&body), LIMIT)?;
    if !(200..300).contains(&answer.status) {
        return Err(refusal(&answer));
    }
    // A captive portal or the maintenance page of a proxy answers 200 in place of the backend, for a while.
    let unreadable = |why: String| EnrolError::Later {
        why: format!(
            "the answer with status {} is not one of a Sinemora backend ({why}); a proxy or a portal may answer in its place, \
             or `backend` is wrong",
            answer.status
        ),
        retry_after: answer.retry_after,
    };
    let enrolled: Enrolled =
        serde_json::from_slice(&answer.body).map_err(|e| unreadable(e.to_string()))?;
    // This agent names a folder by it.
    let is_plain =
        |id: &str| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_plain(&enrolled.vm_id) {
        return Err(unreadable(format!("vm_id {:?}", enrolled.vm_id)));
    }
    Ok(Identity {
        agent_id: enrolled.agent_id,
        vm_id: enrolled.vm_id,
        vm_key: enrolled.vm_key,
        tenant_id: enrolled.tenant_id,
        credential: enrolled.credential,
        backend: client.backend().as_str().to_owned(),
        keys: enrolled.keys,
    })
}

/// Send the values that may have changed since enrolment: address, ports, version, machine.
pub fn refresh(client: &Client, about: &SelfDescription) -> Result<Answer, EnrolError> {
    #[derive(Serialize)]
    struct Changes<'a> {
        probe_address: IpAddr,
        event_port: u16,
        general_port: u16,
        agent_version: &'a str,
        description: &'a Machine,
    }
    let body = to_json(&Changes {
        probe_address: about.probe_address,
        event_port: about.event_port,
        general_port: about.general_port,
        agent_version: about.agent_version,
        description: &about.description,
    })?;
    Ok(client.send(&Method::PATCH, "/v1/agents/self", Body::Json(&body), LIMIT)?)
}

/// Leave all meshes and revoke the credential of `client`. A credential that is unknown or revoked already is no error.
pub fn retire(client: &Client) -> Result<(), EnrolError> {
    let answer = client.send(&Method::DELETE, "/v1/agents/self", Body::None, LIMIT)?;
    let gone = ["agent_credential_unknown", "agent_revoked"];
    if answer.status < 300 || gone.contains(&answer.problem().code.as_str()) {
        return Ok(());
    }
    Err(refusal(&answer))
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, EnrolError> {
    serde_json::to_vec(value).map_err(|e| EnrolError::Refused {
        why: e.to_string(),
        hint: "",
    })
}

fn refusal(answer: &Answer) -> EnrolError {
    let why = answer.describe();
    let hint = match answer.problem().code.as_str() {
        "enrolment_token_unknown" => {
            "Check that the whole token was copied, and that it is for this backend."
        }
        "enrolment_token_used" | "enrolment_token_expired" => {
            "Create a new token on the page \"Add a VM\"."
        }
        "vm_has_agent" => "Revoke the old agent of this VM first, or set another `name`.",
        _ => "",
    };
    match answer.status {
        409 if matches!(
            answer.problem().code.as_str(),
            "vm_has_agent" | "address_in_use"
        ) =>
        {
            EnrolError::Held { why, hint }
        }
        400..=499
            if !matches!(answer.status, 403 | 404 | 405 | 407 | 408 | 425 | 429)
                || !hint.is_empty() =>
        {
            EnrolError::Refused { why, hint }
        }
        _ => EnrolError::Later {
            why: format!("the backend cannot enrol now: {why}"),
            retry_after: answer.retry_after,
        },
    }
}

fn ptp_clocks() -> Vec<String> {
    let Ok(folders) = std::fs::read_dir("/sys/class/ptp") else {
        return Vec::new();
    };
    let name = |path: std::path::PathBuf| std::fs::read_to_string(path.join("clock_name")).ok();
    let names = folders.filter_map(|folder| name(folder.ok()?.path()));
    let mut names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    names.sort();
    names
}

fn pretty_name(os_release: &str) -> String {
    let line = os_release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.unwrap_or("Linux").trim_matches('"').to_owned()
}
