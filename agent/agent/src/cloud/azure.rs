//! Azure: the instance metadata service. It requires the header `Metadata: true` and refuses forwarded requests.

use serde::Deserialize;

use super::CloudVm;
use super::metadata_client::{MetadataClient, plain};

/// Versions of the API, newest first: regions get them at different times. The older one has no physical zone.
const VERSIONS: [&str; 2] = ["2023-11-15", "2021-02-01"];

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compute {
    location: String,
    #[serde(default)]
    zone: String,
    #[serde(default)]
    physical_zone: String,
    #[serde(default)]
    vm_size: String,
    #[serde(default)]
    vm_id: String,
    #[serde(default)]
    placement_group_id: String,
}

pub(super) fn vm(client: &MetadataClient) -> Option<CloudVm> {
    let text = VERSIONS.iter().find_map(|version| {
        let path = format!("/metadata/instance/compute?api-version={version}&format=json");
        client.get(&path, ("Metadata", "true"))
    })?;
    let compute: Compute = serde_json::from_str(&text).ok()?;
    let region = plain(&compute.location)?;
    // Each subscription numbers zones separately. A VM without a zone is anywhere in the region.
    let zone = plain(&compute.zone).map_or(region.clone(), |number| format!("{region}-{number}"));
    Some(CloudVm {
        provider: "azure",
        zone,
        region,
        physical_zone_id: plain(&compute.physical_zone),
        instance_type: plain(&compute.vm_size),
        instance_id: plain(&compute.vm_id),
        placement: plain(&compute.placement_group_id),
    })
}
