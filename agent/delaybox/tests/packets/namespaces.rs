use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command as Program, Stdio};

use delaybox::sys::Namespace;

use crate::boxed::{LEFT, RIGHT, drain, send, socket_in, with_namespaces};

#[test]
fn a_box_prints_its_namespaces_and_follows_its_input() {
    with_namespaces(|| {
        let mut program = Program::new(env!("CARGO_BIN_EXE_delaybox"))
            .args(["run", "--control", "--both", "delay=1ms"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = program.stdin.take().unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap())
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
        let ready = lines.next().unwrap();
        let socket = |side: &str, ip| {
            let path = ready[side]["namespace"].as_str().unwrap();
            socket_in(&Namespace::open(Path::new(path)).unwrap(), ip)
        };
        let (left, right) = (socket("left", LEFT), socket("right", RIGHT));
        let mut ask = |line: &str| {
            writeln!(input, "{line}").unwrap();
            lines.next().unwrap()
        };
        send(&left, &right, 1);
        assert_eq!(drain(&right), [1]);
        assert_eq!(ask("outbound loss=100%")["done"], "outbound loss=100%");
        send(&left, &right, 1);
        assert!(drain(&right).is_empty());
        let refused = ask("outbound loss=lots");
        assert!(refused["error"].as_str().unwrap().contains("share"));
        let counted = &ask("statistics")["statistics"]["outbound"];
        assert_eq!(counted["sent_packets"], 1);
        assert_eq!(counted["lost_packets"], 1);
        drop(input);
        let last = lines.next().unwrap();
        assert!(last["statistics"]["duration_s"].as_f64().unwrap() > 0.0);
        assert!(program.wait().unwrap().success());
    });
}

#[test]
fn errors_name_the_side_that_cannot_be_opened() {
    with_namespaces(|| {
        let nowhere = "/nowhere/at/all of the left side cannot be opened";
        let table = "--outbound=delay=table:/none.csv";
        for (option, code, expected) in [
            ("--left=netns:/nowhere/at/all", 1, nowhere),
            ("--right=if:no-such-if", 1, "ip link"),
            ("--left-address=10.1.0.1/24", 2, "one network"),
            (table, 2, "/none.csv cannot be read"),
        ] {
            let mut program = Program::new(env!("CARGO_BIN_EXE_delaybox"));
            let done = program.args(["run", option]).output().unwrap();
            let message = String::from_utf8_lossy(&done.stderr);
            assert!(message.contains(expected), "{option}: {message}");
            assert_eq!(done.status.code(), Some(code), "{option}");
        }
    });
}
