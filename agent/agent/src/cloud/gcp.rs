//! Google Compute Engine: the metadata server. It answers only with `Metadata-Flavor: Google`, and shows the same
//! header, by which others that answer at this address are told apart. Values are asked one by one: all at once would
//! bring the VM's start-up script along, and what secrets stand in it.

use super::CloudVm;
use super::ask::{Asker, plain};

const FLAVOR: &str = "Google";

pub(super) fn vm(asker: &Asker) -> Option<CloudVm> {
    let get = |path: &str| {
        let path = format!("/computeMetadata/v1/instance/{path}");
        let told = asker.ask("GET", &path, ("Metadata-Flavor", FLAVOR))?;
        let right = told.status == 200 && told.flavor.as_deref() == Some(FLAVOR);
        plain(&told.text).filter(|_| right)
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
