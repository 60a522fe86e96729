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
    let address = plan.meshes[0].peers[1].event_address();
    assert_eq!(address.to_string(), "[::1]:319");
    let again = serde_json::to_vec(&plan).unwrap();
    assert_eq!(Plan::from_json(&again), Ok(plan));
}

#[test]
fn refuses_values_outside_their_limits_and_says_where() {
    // Places in the first mesh, values as JSON, and words behind the place.
    let cases = [
        ("window_s", "0", "must be 1 to 60"),
        ("window_s", "61", "must be 1 to 60"),
        ("rate_hz", "3", "must be 1, 2, 4 … 128"),
        ("rate_hz", "256", "must be 1, 2, 4 … 128"),
        ("loss_deadline_ms", "0", "must be 1 to 60000"),
        ("period_windows", "0", "must be 1 to 60"),
        ("peers[0].turns", "[]", "must be different numbers"),
        ("peers[0].turns", "[1, 1]", "must be different numbers"),
        ("peers[0].turns", "[0, 4]", "must be different numbers"),
        ("peers[1].vm_key", "3", "must differ"),
        ("peers[0].vm_key", "7", "must not be this agent's own"),
        ("peers[0].event_port", "0", "must not be 0"),
        ("peers[0].general_port", "319", "must differ"),
        ("peers[0].flows", "0", "must be 1 to 16"),
        ("peers[0].address", "\"224.0.1.129\"", "must be the address"),
        ("peers[0].address", "\"255.255.255.255\"", "must be the"),
        ("peers[0].address", "\"0.0.0.0\"", "must be the address"),
    ];
    for (place, value, expected) in cases {
        let error = refusal(place, value);
        let expected = format!("meshes[0].{place} {expected}");
        assert!(error.contains(&expected), "{place} = {value}: {error}");
    }
    let protocol = "unknown variant `lean`, expected one of `compact`, `ieee1588`, `sptp`";
    for (place, value, expected) in [
        ("peers[0].role", "\"master\"", "unknown variant `master`"),
        ("peers[0].event_port", "70000", "invalid value"),
        ("peers[0].protocol", "\"lean\"", protocol),
    ] {
        let error = refusal(place, value);
        let expected = format!("not readable: {expected}");
        assert!(error.contains(&expected), "{place} = {value}: {error}");
    }
}

/// Return the error of the plan with another value, as JSON, at a place of its first mesh.
fn refusal(place: &str, value: &str) -> String {
    let pointer = place.replace("[", "/").replace("].", "/");
    let mut plan = plan();
    plan["meshes"][0]["peers"][0]["protocol"] = json!("compact");
    let place = plan.pointer_mut(&format!("/meshes/0/{pointer}")).unwrap();
    *place = serde_json::from_str(value).unwrap();
    refused(&plan)
}

fn refused(plan: &Value) -> String {
    let error = Plan::from_json(plan.to_string().as_bytes()).unwrap_err();
    error.to_string()
}

#[test]
fn a_plan_of_an_older_backend_has_no_turns_and_no_tags() {
    let mut old = plan();
    let mesh = old["meshes"][0].as_object_mut().unwrap();
    mesh.remove("period_windows");
    mesh["peers"][0].as_object_mut().unwrap().remove("turns");
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
    let error = refused(&plan);
    assert!(error.contains("meshes[1].key must differ"), "{error}");
}
