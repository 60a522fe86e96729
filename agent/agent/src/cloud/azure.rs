//! Azure: the instance metadata service. It answers only with `Metadata: true`, and refuses what a proxy forwarded.

use serde::Deserialize;

use super::CloudVm;
use super::ask::{Asker, plain};

/// The newest first: regions get versions at different times. The older one does not tell the physical zone.
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

pub(super) fn vm(asker: &Asker) -> Option<CloudVm> {
    let text = VERSIONS.iter().find_map(|version| {
        let path = format!("/metadata/instance/compute?api-version={version}&format=json");
        asker.get(&path, ("Metadata", "true"))
    })?;
    let compute: Compute = serde_json::from_str(&text).ok()?;
    let region = plain(&compute.location)?;
    // Zones are numbered for each subscription by itself; a VM of no zone is somewhere in the region.
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
