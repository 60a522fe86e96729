use std::process::Command as Program;

use delaybox::line::settings::Direction;
use delaybox::probe::{Plan, send_probes};
use delaybox::summary::Summary;

use crate::boxed::{Boxed, with_namespaces};

fn median_ns(boxed: &Boxed, direction: Direction, count: u32) -> i64 {
    let plan = Plan {
        count,
        interval_ns: 1_000_000,
        patience_ns: 300_000_000,
    };
    let result = send_probes(&boxed.sides, direction, plan, 1).unwrap();
    assert_eq!(result.reordered, 0);
    Summary::of(result.delays_ns).figures().unwrap().p50
}

#[test]
fn a_schedule_is_followed() {
    with_namespaces(|| {
        let boxed = Boxed::start(&delaybox::config::RawConfig {
            both: Some("delay=2ms".to_owned()),
            changes: vec!["1s inbound delay=9ms".to_owned()],
            ..Default::default()
        });
        let before = median_ns(&boxed, Direction::Inbound, 200);
        std::thread::sleep(std::time::Duration::from_millis(1_000));
        let longer = median_ns(&boxed, Direction::Inbound, 200) - before;
        assert!((6_000_000..8_000_000).contains(&longer), "{longer}");
        boxed.stop();
    });
}

#[test]
fn verify_prints_injected_against_achieved() {
    with_namespaces(|| {
        let run = |args: &[&str]| {
            let mut program = Program::new(env!("CARGO_BIN_EXE_delaybox"));
            let done = program.arg("verify").args(args).output().unwrap();
            assert!(done.status.success(), "{done:?}");
            String::from_utf8(done.stdout).unwrap()
        };
        let outbound = "--outbound=delay=normal:4ms,1ms loss=5%";
        let args = ["--probes=500", outbound, "--inbound=delay=2ms"];
        let read = run(&[&args[..], &["--json"]].concat());
        let read: serde_json::Value = serde_json::from_str(&read).unwrap();
        for (at, ms) in [(0, 4.0), (1, 2.0)] {
            let verdict = &read["directions"][at];
            assert_eq!(verdict["lost_in_box"], verdict["not_arrived"], "{verdict}");
            // What was drawn is exact; a busy machine without real-time priority is late.
            for (seen, late_ms) in [("injected_ns", 0.7), ("achieved_ns", 2.0), ("seen_ns", 2.0)] {
                let off_ms = verdict[seen]["p50"].as_f64().unwrap() / 1e6 - ms;
                assert!((-0.7..late_ms).contains(&off_ms), "{seen}: {verdict}");
            }
        }
        let table = run(&args);
        for word in ["injected", "p50"] {
            assert!(table.contains(word), "{table}");
        }
    });
}
