//! Metadata of the VM: each cloud provider answers at a link-local address that only its VMs reach.
//!
//! The agent queries the services of all three providers at once and waits for a second, so that a machine of no cloud
//! loses a second at most. Failures do not stop the agent: values that it does not get are unknown.

mod aws;
mod azure;
mod gcp;
mod metadata_client;

use std::sync::mpsc;
use std::time::Duration;

use serde::Serialize;

use metadata_client::MetadataClient;

/// Metadata service of AWS, Azure and GCP on IPv4.
pub const METADATA_URL: &str = "http://169.254.169.254";

/// Time limit for all answers of one provider.
pub const LIMIT: Duration = Duration::from_secs(1);

/// Metadata of a VM in its provider's terms. Values that the provider does not give are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CloudVm {
    /// `aws`, `azure` or `gcp`.
    pub provider: &'static str,
    pub region: String,
    /// Name of the zone, or of the region if the VM is in no particular zone.
    pub zone: String,
    /// Id of the physical zone, equal for all customers: AWS `euw1-az2`, Azure `westeurope-az1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_zone_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    /// Position in the data centre: GCP's physical host, Azure's or AWS's placement group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
}

/// Query the metadata service at `url` of any provider; return `None` if none answers within `limit`.
pub fn discover(url: &str, limit: Duration) -> Option<CloudVm> {
    let (sender, answers) = mpsc::channel();
    let providers: [fn(&MetadataClient) -> Option<CloudVm>; 3] = [aws::vm, azure::vm, gcp::vm];
    for provider in providers {
        let (sender, client) = (sender.clone(), MetadataClient::new(url, limit));
        let body = move || {
            // The receiver is gone once another provider has answered.
            let _ = sender.send(provider(&client));
        };
        // A thread that cannot be started counts as a provider that does not answer.
        let _ = std::thread::Builder::new()
            .name("metadata".to_owned())
            .spawn(body);
    }
    drop(sender);
    answers.into_iter().flatten().next()
}
