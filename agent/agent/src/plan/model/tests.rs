use super::*;
use crate::plan::Role;
use serde_json::{Value, json};

fn plan() -> Value {
    json!({
        "revision": "r1", "agent_id": "a", "vm_key": 7, "server_time_ns": 1, "spike_threshold_ns": 500_000,
        "caps": {"packets_per_s": 20000, "peers": 2000}, "something_newer": true,
        "meshes": [{
            "id": "m", "key": 1, "name": "demo", "window_s": 10, "rate_hz": 8, "loss_deadline_ms": 1000,
            "period_windows": 4,
            "peers": [
                {"vm_key": 3, "name": "b-1", "address": "127.20.0.3", "event_port": 319, "general_port": 320,
                 "role": "client", "flows": 1, "turns": [0, 3]},
                {"vm_key": 9, "name": "b-2", "address": "::1", "event_port": 319, "general_port": 320,
                 "role": "responder", "flows": 4},
            ],
        }],
    })
}

#[test]
fn reads_the_agreed_shape_and_ignores_what_is_newer() {
    let plan = Plan::from_json(plan().to_string().as_bytes()).unwrap();
    assert_eq!(plan.meshes[0].peers[0].role, Role::Client);
    assert_eq!(plan.meshes[0].peers[0].turns, Some(vec![0, 3]));
    assert_eq!(plan.meshes[0].peers[1].turns, None);
    assert_eq!(
        plan.meshes[0].peers[1].event_address().to_string(),
        "[::1]:319"
    );
    let again = serde_json::to_vec(&plan).unwrap();
    assert_eq!(Plan::from_json(&again), Ok(plan));
}

#[test]
fn refuses_values_outside_their_limits_and_says_where() {
    let cases: &[(&str, Value, &str)] = &[
        (
            "/meshes/0/window_s",
            json!(0),
            "meshes[0].window_s must be 1 to 60",
        ),
        (
            "/meshes/0/window_s",
            json!(61),
            "meshes[0].window_s must be 1 to 60",
        ),
        (
            "/meshes/0/rate_hz",
            json!(3),
            "meshes[0].rate_hz must be 1, 2, 4 … 128",
        ),
        (
            "/meshes/0/rate_hz",
            json!(256),
            "meshes[0].rate_hz must be 1, 2, 4 … 128",
        ),
        (
            "/meshes/0/loss_deadline_ms",
            json!(0),
            "meshes[0].loss_deadline_ms must be 1 to 60000",
        ),
        (
            "/meshes/0/period_windows",
            json!(0),
            "meshes[0].period_windows must be 1 to 60",
        ),
        (
            "/meshes/0/peers/0/turns",
            json!([]),
            "meshes[0].peers[0].turns must be different numbers below period_windows",
        ),
        (
            "/meshes/0/peers/0/turns",
            json!([1, 1]),
            "meshes[0].peers[0].turns must be different numbers below period_windows",
        ),
        (
            "/meshes/0/peers/0/turns",
            json!([0, 4]),
            "meshes[0].peers[0].turns must be different numbers below period_windows",
        ),
        (
            "/meshes/0/peers/1/vm_key",
            json!(3),
            "meshes[0].peers[1].vm_key must differ",
        ),
        (
            "/meshes/0/peers/0/vm_key",
            json!(7),
            "meshes[0].peers[0].vm_key must not be this agent's own",
        ),
        (
            "/meshes/0/peers/0/event_port",
            json!(0),
            "meshes[0].peers[0].event_port must not be 0",
        ),
        (
            "/meshes/0/peers/0/general_port",
            json!(319),
            "general_port must differ from event_port",
        ),
        ("/meshes/0/peers/0/flows", json!(0), "flows must be 1 to 16"),
        (
            "/meshes/0/peers/0/address",
            json!("224.0.1.129"),
            "address must be the address of one host",
        ),
        (
            "/meshes/0/peers/0/address",
            json!("255.255.255.255"),
            "address must be the address of one host",
        ),
        (
            "/meshes/0/peers/0/address",
            json!("0.0.0.0"),
            "address must be the address of one host",
        ),
        (
            "/meshes/0/peers/0/role",
            json!("master"),
            "not readable: unknown variant `master`",
        ),
        (
            "/meshes/0/peers/0/event_port",
            json!(70000),
            "not readable: invalid value",
        ),
    ];
    for (pointer, value, expected) in cases {
        let mut plan = plan();
        *plan.pointer_mut(pointer).unwrap() = value.clone();
        let error = Plan::from_json(plan.to_string().as_bytes())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{pointer} = {value}: {error}");
    }
}

#[test]
fn refuses_an_unknown_protocol_and_names_the_known_protocols() {
    let mut plan = plan();
    plan["meshes"][0]["peers"][0]["protocol"] = json!("lean");
    let error = Plan::from_json(plan.to_string().as_bytes())
        .unwrap_err()
        .to_string();
    let expected = "unknown variant `lean`, expected one of `compact`, `ieee1588`, `sptp`";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_plan_of_an_older_backend_has_no_turns_and_no_tags() {
    let mut old = plan();
    old["meshes"][0]["period_windows"].take();
    old["meshes"][0]
        .as_object_mut()
        .unwrap()
        .remove("period_windows");
    old["meshes"][0]["peers"][0]
        .as_object_mut()
        .unwrap()
        .remove("turns");
    let plan = Plan::from_json(old.to_string().as_bytes()).unwrap();
    assert_eq!(plan.meshes[0].period_windows, 1);
    assert_eq!(plan.meshes[0].peers[0].turns, None);
    assert_eq!(plan.meshes[0].peers[0].vm_tag, 0);
}

#[test]
fn refuses_two_meshes_of_one_key() {
    let mut plan = plan();
    let mesh = plan["meshes"][0].clone();
    plan["meshes"].as_array_mut().unwrap().push(mesh);
    let error = Plan::from_json(plan.to_string().as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("meshes[1].key must differ"), "{error}");
}
