//! Metadata of clouds, from servers that follow their protocols: methods, paths, headers and refusals.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinemora_agent::cloud::{CloudVm, LIMIT, discover};
use sinemora_agent::run::enrol_only;

use crate::backend::{FakeBackend, Reply, Request, json, reply};
use crate::enrolment::{ENROLLED, config};

fn text(body: &str) -> Reply {
    Reply {
        body: body.to_owned(),
        ..reply(200)
    }
    .with("Content-Type", "text/plain")
}

fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers.get(name).map_or("", String::as_str)
}

/// EC2, version 2 alone: without the token everything is 401; a token asked for without its lifetime is 400.
fn aws(request: &Request) -> Reply {
    match (request.method.as_str(), request.path.as_str()) {
        ("PUT", "/latest/api/token") => {
            let ttl = header(request, "x-aws-ec2-metadata-token-ttl-seconds").parse::<u32>();
            let valid = ttl.is_ok_and(|ttl| (1..=21_600).contains(&ttl));
            if valid && !request.headers.contains_key("x-forwarded-for") {
                text("AQAEAFr5==")
            } else {
                reply(400)
            }
        }
        ("GET", _) if header(request, "x-aws-ec2-metadata-token") != "AQAEAFr5==" => reply(401),
        ("GET", path) => match path.strip_prefix("/latest/meta-data/") {
            Some("placement/region") => text("eu-west-1"),
            Some("placement/availability-zone") => text("eu-west-1a"),
            Some("placement/availability-zone-id") => text("euw1-az3"),
            Some("placement/group-name") => text("together"),
            Some("instance-type") => text("c7g.xlarge"),
            Some("instance-id") => text("i-0123456789abcdef0"),
            _ => reply(404),
        },
        _ => reply(405),
    }
}

/// Azure, in a region that does not know the newest version yet: 400 for that, and for a missing header.
fn azure(newest: &'static str) -> impl Fn(&Request) -> Reply {
    move |request| {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if path != "/metadata/instance/compute" {
            return reply(404);
        }
        let version = query
            .split('&')
            .find_map(|part| part.strip_prefix("api-version="));
        let known = version.is_some_and(|version| version <= newest);
        if request.method != "GET" || header(request, "metadata") != "true" || !known {
            return reply(400).with("Content-Type", "application/json");
        }
        let mut compute = json!({
            "location": "westeurope", "zone": "2", "vmSize": "Standard_D4s_v5", "name": "db-1",
            "vmId": "02aab8a4-74ef-476e-8182-f6d2ba4166a6", "placementGroupId": "", "tagsList": []
        });
        if version >= Some("2023-11-15") {
            compute["physicalZone"] = json!("westeurope-az3");
        }
        text(&compute.to_string()).with("Server", "IMDS/150.870.65.1854")
    }
}

/// GCP: 403 without its header, which it also shows.
fn gcp(request: &Request) -> Reply {
    if request.method != "GET" || header(request, "metadata-flavor") != "Google" {
        return reply(403);
    }
    let answer = match request.path.strip_prefix("/computeMetadata/v1/instance/") {
        Some("zone") => text("projects/1234567890/zones/europe-west1-b"),
        Some("machine-type") => text("projects/1234567890/machineTypes/n2-standard-4"),
        Some("id") => text("5580201911215521280"),
        _ => reply(404),
    };
    answer
        .with("Metadata-Flavor", "Google")
        .with("Server", "Metadata Server for VM")
}

fn query(service: impl FnMut(&Request) -> Reply + Send + 'static) -> Option<CloudVm> {
    // A busy machine answers late, which must not fail the test.
    discover(&FakeBackend::start(service).url, Duration::from_secs(20))
}

#[test]
fn zone_and_type_are_read_from_each_cloud() {
    let of_aws = json!({
        "provider": "aws", "region": "eu-west-1", "zone": "eu-west-1a", "physical_zone_id": "euw1-az3",
        "instance_type": "c7g.xlarge", "instance_id": "i-0123456789abcdef0", "placement": "together",
    });
    assert_eq!(json!(query(aws)), of_aws);
    let mut of_azure = json!({
        "provider": "azure", "region": "westeurope", "zone": "westeurope-2", "physical_zone_id": "westeurope-az3",
        "instance_type": "Standard_D4s_v5", "instance_id": "02aab8a4-74ef-476e-8182-f6d2ba4166a6",
    });
    assert_eq!(json!(query(azure("2025-04-07"))), of_azure);
    // An older service.
    of_azure.as_object_mut().unwrap().remove("physical_zone_id");
    assert_eq!(json!(query(azure("2021-12-13"))), of_azure);
    let of_gcp = json!({
        "provider": "gcp", "region": "europe-west1", "zone": "europe-west1-b", "instance_type": "n2-standard-4",
        "instance_id": "5580201911215521280",
    });
    assert_eq!(json!(query(gcp)), of_gcp);
}

#[test]
fn another_server_at_this_address_is_no_cloud() {
    assert_eq!(query(|_| reply(404)), None);
    assert_eq!(query(|_| reply(500)), None);
    // A captive portal answers every request with 200.
    assert_eq!(query(|_| text("<html>Welcome\n</html>")), None);
    assert_eq!(query(|_| text("{}")), None);
    // Google's paths without Google's header.
    let without_header = |request: &Request| Reply {
        headers: Vec::new(),
        ..gcp(request)
    };
    assert_eq!(query(without_header), None);
}

#[test]
fn a_machine_outside_clouds_is_not_delayed() {
    // A server that accepts connections and does not answer.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let began = Instant::now();
    assert_eq!(discover(&url, LIMIT), None);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(discover("http://127.0.0.1:1", LIMIT), None, "a closed port");
}

/// Return the zone and the cloud that the agent reports when it enrols on a VM of AWS.
fn reported_zone(state_dir: &Path, more: &[(&str, &str)]) -> (Value, Value) {
    let cloud = FakeBackend::start(aws);
    let backend = FakeBackend::start(|_| json(201, &serde_json::from_str(ENROLLED).unwrap()));
    let settings = [more, &[("cloud_metadata", &cloud.url)]].concat();
    enrol_only(&config(&backend.url, state_dir, &settings), true).unwrap();
    let body = backend.next().json();
    (body["zone"].clone(), body["description"]["cloud"].clone())
}

#[test]
fn an_agent_enrols_in_the_zone_of_its_cloud_unless_set_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let of_cloud = json!({
        "provider": "aws", "region": "eu-west-1", "name": "eu-west-1a", "physical_id": "euw1-az3"
    });
    let (zone, cloud) = reported_zone(folder.path(), &[]);
    assert_eq!(zone, of_cloud);
    assert_eq!(cloud["instance_type"], "c7g.xlarge");
    let other = |name| json!({"provider": "other", "region": "default", "name": name});
    let (zone, cloud) = reported_zone(folder.path(), &[("zone_name", "mine")]);
    assert_eq!(zone, other("mine"));
    assert_eq!(cloud["zone"], "eu-west-1a", "reported nevertheless");
    let (zone, cloud) = reported_zone(folder.path(), &[("cloud_metadata", "off")]);
    assert_eq!(zone, other("default"));
    assert_eq!(cloud, Value::Null);
}
