use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Command as Program, Stdio};

use delaybox::sys::Namespace;

use crate::boxed::{LEFT, RIGHT, drain, with_namespaces};

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
            let namespace = Namespace::open(Path::new(path)).unwrap();
            let socket = namespace
                .within(|| UdpSocket::bind(SocketAddr::from((ip, 0))))
                .unwrap();
            socket
                .set_read_timeout(Some(std::time::Duration::from_millis(500)))
                .unwrap();
            socket
        };
        let (left, right) = (socket("left", LEFT), socket("right", RIGHT));
        let mut ask = |line: &str| {
            writeln!(input, "{line}").unwrap();
            lines.next().unwrap()
        };
        let send = || {
            left.send_to(&1u32.to_le_bytes(), right.local_addr().unwrap())
                .unwrap()
        };
        send();
        assert_eq!(drain(&right), [1]);
        assert_eq!(ask("outbound loss=100%")["done"], "outbound loss=100%");
        send();
        assert!(drain(&right).is_empty());
        assert!(
            ask("outbound loss=lots")["error"]
                .as_str()
                .unwrap()
                .contains("share")
        );
        let counted = &ask("statistics")["statistics"]["outbound"];
        assert_eq!(
            (&counted["sent_packets"], &counted["lost_packets"]),
            (&1.into(), &1.into())
        );
        drop(input);
        assert!(
            lines.next().unwrap()["statistics"]["duration_s"]
                .as_f64()
                .unwrap()
                > 0.0
        );
        assert!(program.wait().unwrap().success());
    });
}

#[test]
fn errors_name_the_side_that_cannot_be_opened() {
    with_namespaces(|| {
        for (args, code, expected) in [
            (
                &["--left", "netns:/nowhere/at/all"][..],
                1,
                "/nowhere/at/all of the left side cannot be opened",
            ),
            (&["--right", "if:no-such-if"], 1, "ip link"),
            (&["--left-address", "10.1.0.1/24"], 2, "one network"),
            (
                &["--outbound", "delay=table:/none.csv"],
                2,
                "/none.csv cannot be read",
            ),
        ] {
            let done = Program::new(env!("CARGO_BIN_EXE_delaybox"))
                .arg("run")
                .args(args)
                .output()
                .unwrap();
            let message = String::from_utf8_lossy(&done.stderr);
            assert!(message.contains(expected), "{args:?}: {message}");
            assert_eq!(done.status.code(), Some(code), "{args:?}");
        }
    });
}
