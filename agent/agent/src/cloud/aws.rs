//! Amazon EC2: the instance metadata service, version 2. It requires a token, requested by PUT, which a request forged
//! through a web server on the VM cannot send. Version 1, without a token, is not used.

use super::CloudVm;
use super::metadata_client::{MetadataClient, plain};

pub(super) fn vm(client: &MetadataClient) -> Option<CloudVm> {
    let ttl = ("X-aws-ec2-metadata-token-ttl-seconds", "60");
    let token = client.request("PUT", "/latest/api/token", ttl)?;
    if token.status != 200 {
        return None;
    }
    let token = plain(&token.text)?;
    let get = |path: &str| {
        let path = format!("/latest/meta-data/{path}");
        plain(&client.get(&path, ("X-aws-ec2-metadata-token", &token))?)
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
