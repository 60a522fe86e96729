//! Google Compute Engine: the metadata server. It requires the header `Metadata-Flavor: Google` and returns the same
//! header, which distinguishes it from other servers at this address. Values are requested one by one: a recursive query
//! would return the VM's start-up script too, which may contain secrets.

use super::CloudVm;
use super::metadata_client::{MetadataClient, plain};

const FLAVOR: &str = "Google";

pub(super) fn vm(client: &MetadataClient) -> Option<CloudVm> {
    let get = |path: &str| {
        let path = format!("/computeMetadata/v1/instance/{path}");
        let response = client.request("GET", &path, ("Metadata-Flavor", FLAVOR))?;
        let is_google = response.status == 200 && response.flavor.as_deref() == Some(FLAVOR);
        plain(&response.text).filter(|_| is_google)
    };
    // `projects/123/zones/europe-west1-b`
    let last = |path: &str| get(path)?.rsplit('/').next().map(str::to_owned);
    let zone = last("zone")?;
    Some(CloudVm {
        provider: "gcp",
        region: zone.rsplit_once('-')?.0.to_owned(),
        zone,
        physical_zone_id: None,
        instance_type: last("machine-type"),
        instance_id: get("id"),
        // Only with a compact placement policy: cluster, rack and host.
        placement: get("attributes/physical_host"),
    })
}
