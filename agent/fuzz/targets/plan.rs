//! Fuzz target of plans: accept or refuse any bytes from a backend.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinemora_agent::plan::Plan;

fuzz_target!(|body: &[u8]| {
    let Ok(plan) = Plan::from_json(body) else {
        return;
    };
    assert!(plan.same_work(&plan));
    for mesh in &plan.meshes {
        assert!((1..=60).contains(&mesh.window_s) && mesh.rate_hz.is_power_of_two());
        for peer in &mesh.peers {
            assert_ne!(peer.event_address(), peer.general_address());
        }
    }
});
