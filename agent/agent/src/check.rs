//! `sinemora-agent check`: tests everything the agent needs on this machine and reports the findings.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use crate::backend::Client;
use crate::clocks_command::timestamps;
use crate::config::{BackendUrl, Config, Layers, Program, SETTINGS, Source};
use crate::identity::Identity;
use crate::state_dir::{StateDir, StateError};

const LIMIT: Duration = Duration::from_secs(10);

/// Result of one test.
enum Finding {
    Well(String),
    /// Unusual, but the agent can run.
    Note(String),
    Wrong(String),
}

/// Write the settings in force and the findings to `out`; return whether the agent can run.
pub fn check(config: &Config, layers: &Layers, out: &mut impl Write) -> io::Result<bool> {
    writeln!(out, "Settings")?;
    for setting in SETTINGS
        .iter()
        .filter(|setting| setting.is_of(Program::Agent))
    {
        let (value, source) = match layers.get(setting.key) {
            Some(_) if setting.key == "token" => ("(given)".to_owned(), "not shown".to_owned()),
            Some(raw) => {
                let source = match &raw.source {
                    Source::Flag => "flag".to_owned(),
                    Source::Environment => "environment".to_owned(),
                    Source::File(path) => path.display().to_string(),
                };
                (raw.text.clone(), source)
            }
            None => (
                setting.default.unwrap_or("-").to_owned(),
                "default".to_owned(),
            ),
        };
        writeln!(out, "  {:<15} {value} ({source})", setting.key)?;
    }
    writeln!(out, "\nFindings")?;
    let mut ready = true;
    for (name, finding) in findings(config) {
        let (mark, text) = match finding {
            Finding::Well(text) => ("ok", text),
            Finding::Note(text) => ("note", text),
            Finding::Wrong(text) => {
                ready = false;
                ("WRONG", text)
            }
        };
        writeln!(out, "  {mark:<5} {name:<12} {text}")?;
    }
    writeln!(
        out,
        "\n{}",
        if ready {
            "The agent can run."
        } else {
            "The agent cannot run yet: see above."
        }
    )?;
    Ok(ready)
}

fn findings(config: &Config) -> Vec<(&'static str, Finding)> {
    let (state, running) = state(config);
    let mut findings = vec![("state_dir", state)];
    let identity = Identity::load(&config.state_dir);
    findings.push(("identity", known(config, &identity)));
    let enrolled_with = identity.ok().flatten().map(|identity| identity.backend);
    let remembered =
        enrolled_with.and_then(|url| BackendUrl::parse(&url, config.insecure_http).ok());
    let Some(backend) = config.backend.clone().or(remembered) else {
        findings.push((
            "backend",
            Finding::Wrong("not set: give --backend https://…".to_owned()),
        ));
        return findings;
    };
    findings.push(("backend", reach(config, &backend)));
    match config.listen(&backend) {
        Err(error) => findings.push(("address", Finding::Wrong(error.to_string()))),
        Ok((listen, probe_address)) => {
            findings.push(("address", address(listen.address, probe_address)));
            let own_address = listen.own_address(probe_address);
            findings.push(("timestamps", Finding::Note(timestamps(config, own_address))));
            let ports = [
                ("event_port", listen.event_port),
                ("general_port", listen.general_port),
            ];
            findings.extend(
                ports.map(|(name, port)| {
                    (name, udp(SocketAddr::new(listen.address, port), running))
                }),
            );
        }
    }
    findings.push(("metrics", metrics(config, running)));
    findings
}

/// Test the folder; the second value is true if an agent runs on it already.
fn state(config: &Config) -> (Finding, bool) {
    match StateDir::open(&config.state_dir) {
        Ok(held) => {
            let path = held.path().display();
            let finding = match held.check_space() {
                Ok(()) => Finding::Well(format!("{path} can be written")),
                Err(error) => Finding::Wrong(format!(
                    "{path}: {error}; free space on that disk: unsent reports wait in memory only"
                )),
            };
            (finding, false)
        }
        Err(StateError::InUse(path)) => (
            Finding::Note(format!(
                "an agent runs on {} and uses its ports",
                path.display()
            )),
            true,
        ),
        Err(error) => (Finding::Wrong(error.to_string()), false),
    }
}

fn known<E: std::fmt::Display>(config: &Config, identity: &Result<Option<Identity>, E>) -> Finding {
    match identity {
        Ok(Some(identity)) => Finding::Well(format!(
            "enrolled as agent {} with {}",
            identity.agent_id, identity.backend
        )),
        Ok(None) if config.token.is_some() => {
            Finding::Note("none yet; the first run uses the token".to_owned())
        }
        Ok(None) => {
            Finding::Wrong("none: run `sinemora-agent enrol --backend … --token …`".to_owned())
        }
        Err(error) => Finding::Wrong(error.to_string()),
    }
}

fn reach(config: &Config, backend: &BackendUrl) -> Finding {
    let asked = Instant::now();
    let answer =
        Client::new(backend.clone(), &config.trust).and_then(|c| c.get("/readyz", None, LIMIT));
    match answer {
        Ok(answer) if answer.status == 200 && !is_readiness(&answer.body) => {
            Finding::Wrong(format!(
                "{backend} answers with a page that is not of a Sinemora backend: a proxy or a portal answers in its place, or \
             `backend` is wrong"
            ))
        }
        Ok(answer) if answer.status == 200 => Finding::Well(format!(
            "{backend} is ready ({} ms)",
            asked.elapsed().as_millis()
        )),
        Ok(answer) if answer.status == 503 => Finding::Note(format!(
            "{backend} answers, but is not ready: {}",
            answer.describe()
        )),
        Ok(answer) => Finding::Wrong(format!(
            "{backend} is not a Sinemora backend: {}",
            answer.describe()
        )),
        Err(error) => Finding::Wrong(error.to_string()),
    }
}

/// Return true if this is the body of a backend's `/readyz`: any web server may answer with status 200.
fn is_readiness(body: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(body)
        .is_ok_and(|readiness| readiness["status"].is_string())
}

fn address(listen: IpAddr, probe: IpAddr) -> Finding {
    let text = if listen == probe {
        format!("{listen}")
    } else {
        format!("{listen}, the other VMs send to {probe}")
    };
    if probe.is_loopback() {
        return Finding::Note(format!(
            "{text}: only agents on this machine can reach it; set listen_address"
        ));
    }
    Finding::Well(text)
}

fn udp(at: SocketAddr, running: bool) -> Finding {
    match UdpSocket::bind(at) {
        Ok(_) => Finding::Well(format!("UDP {at} is free")),
        Err(e) if running && e.kind() == io::ErrorKind::AddrInUse => {
            Finding::Note(format!("UDP {at} is in use"))
        }
        Err(e) => Finding::Wrong(format!("UDP {at}: {}", socket_hint(&e))),
    }
}

fn metrics(config: &Config, running: bool) -> Finding {
    match config.metrics_listen {
        None => Finding::Note("switched off".to_owned()),
        Some(at) => match TcpListener::bind(at) {
            Ok(_) => Finding::Well(format!("http://{at}/metrics")),
            Err(e) if running && e.kind() == io::ErrorKind::AddrInUse => {
                Finding::Note(format!("TCP {at} is in use"))
            }
            Err(e) => Finding::Wrong(format!("TCP {at}: {}; set metrics_listen", socket_hint(&e))),
        },
    }
}

/// Format a socket error with its usual remedy.
pub fn socket_hint(error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program uses it, perhaps a PTP daemon or another agent: stop it or set another port"
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 need root or CAP_NET_BIND_SERVICE: grant it (setcap cap_net_bind_service=+ep) or set ports above 1023"
        }
        io::ErrorKind::AddrNotAvailable => {
            "this machine does not have that address: set listen_address to one it has (ip addr)"
        }
        _ => return error.to_string(),
    };
    format!("{error} ({hint})")
}
