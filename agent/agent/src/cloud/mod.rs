//! What the cloud says about the VM: each provider answers at a link-local address that only its VMs reach.
//!
//! All three are asked at once and each has a second, so that a machine of no cloud loses a second at most. Nothing
//! here can fail the agent: what is not told is not known.

mod ask;
mod aws;
mod azure;
mod gcp;

use std::sync::mpsc;
use std::time::Duration;

use serde::Serialize;

use ask::Asker;

/// Where AWS, Azure and GCP answer on IPv4.
pub const METADATA_URL: &str = "http://169.254.169.254";

/// How long one provider may take for all its answers.
pub const LIMIT: Duration = Duration::from_secs(1);

/// A VM in its provider's words. What the provider does not tell is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CloudVm {
    /// `aws`, `azure` or `gcp`.
    pub provider: &'static str,
    pub region: String,
    /// Name of the zone; the region's where the VM is in none in particular.
    pub zone: String,
    /// The provider's name of the place itself, the same for every customer: AWS `euw1-az2`, Azure `westeurope-az1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_zone_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    /// Where in the data centre, as far as it is told: GCP, or AWS's placement group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
}

/// Asks the metadata service at `url`, of whatever provider it is; `None` when none answers within `limit`.
pub fn discover(url: &str, limit: Duration) -> Option<CloudVm> {
    let (sender, found) = mpsc::channel();
    let providers: [fn(&Asker) -> Option<CloudVm>; 3] = [aws::vm, azure::vm, gcp::vm];
    for provider in providers {
        let (sender, asker) = (sender.clone(), Asker::new(url, limit));
        let body = move || {
            // Nobody listens any more once another provider has answered.
            let _ = sender.send(provider(&asker));
        };
        // A thread that cannot be had is a provider that does not answer.
        let _ = std::thread::Builder::new()
            .name("metadata".to_owned())
            .spawn(body);
    }
    drop(sender);
    found.into_iter().flatten().next()
}
