//! Amazon EC2: the instance metadata service, version 2. A token comes first, by PUT, which a forged request in some
//! web server on the VM could not send; version 1, without it, is not used.

use super::CloudVm;
use super::ask::{Asker, plain};

pub(super) fn vm(asker: &Asker) -> Option<CloudVm> {
    let ttl = ("X-aws-ec2-metadata-token-ttl-seconds", "60");
    let token = asker.ask("PUT", "/latest/api/token", ttl)?;
    if token.status != 200 {
        return None;
    }
    let token = plain(&token.text)?;
    let get = |path: &str| {
        let path = format!("/latest/meta-data/{path}");
        plain(&asker.get(&path, ("X-aws-ec2-metadata-token", &token))?)
    };
    let placement = get("placement/group-name").map(|group| {
        let partition = get("placement/partition-number");
        partition.map_or(group.clone(), |partition| format!("{group}/{partition}"))
    });
    Some(CloudVm {
        provider: "aws",
        region: get("placement/region")?,
        zone: get("placement/availability-zone")?,
        physical_zone_id: get("placement/availability-zone-id"),
        instance_type: get("instance-type"),
        instance_id: get("instance-id"),
        placement,
    })
}
