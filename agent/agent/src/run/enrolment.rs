//! Enrolment with the backend: at the first start, or on demand.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use super::RunError;
use crate::backend::Client;
use crate::backoff::{Backoff, random};
use crate::check::socket_hint;
use crate::config::{BackendUrl, Config, ConfigError};
use crate::enrol::{self, EnrolError, SelfDescription, enrol};
use crate::identity::{IDENTITY_FILE, Identity};
use crate::network::Listen;
use crate::packet_loop::LoopError;
use crate::state_dir::{StateDir, write_atomically};
use crate::stop::Stop;
use crate::timestamp::BindError;

/// Time for which a name or an address of another VM is asked for again, and the pause between.
const HELD: Duration = Duration::from_secs(150);
const HELD_PAUSE: Duration = Duration::from_secs(10);

/// Enrol this VM and store its identity; `force` replaces an existing one.
pub fn enrol_only(config: &Config, force: bool) -> Result<Identity, RunError> {
    let state = StateDir::open(&config.state_dir)?;
    // A damaged identity may be replaced.
    let present = Identity::load(state.path()).ok().flatten();
    if let Some(identity) = present.filter(|_| !force) {
        let problem = format!(
            "is not needed: this agent is enrolled already ({}, at {}); --force enrols it again",
            identity.agent_id, identity.backend
        );
        return Err(ConfigError::new("enrol", problem).into());
    }
    let (backend, token) = invitation(config)?;
    try_enrol(config, &state, backend, token)
}

/// Take this VM out of its meshes, revoke its identity and delete it. Return whether it had one.
///
/// The agent may run meanwhile: it measures nothing any more and can be stopped.
pub fn retire(config: &Config) -> Result<bool, RunError> {
    let Some(identity) = Identity::load(&config.state_dir)? else {
        return Ok(false);
    };
    let backend = super::backend_of(config, &identity)?;
    let client = Client::new(backend, &config.trust)?.with_credential(&identity.credential);
    enrol::retire(&client)?;
    let path = config.state_dir.join(IDENTITY_FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RunError::Io {
            at: path.display().to_string(),
            why: error.to_string(),
        }),
        _ => Ok(true),
    }
}

/// Return the identity on disk, or enrol with the token and retry while the backend is unreachable.
///
/// `None` if stopped before the backend answered.
pub fn identity(
    config: &Config,
    state: &StateDir,
    stop: &Stop,
) -> Result<Option<Identity>, RunError> {
    if let Some(identity) = Identity::load(state.path())? {
        if config.token.is_some() {
            tracing::debug!("enrolled already, so the token is not used");
        }
        return Ok(Some(identity));
    }
    let (backend, token) = invitation(config)?;
    let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
    let began = Instant::now();
    while !stop.is_set() {
        match try_enrol(config, state, backend, token) {
            Err(RunError::Enrol(EnrolError::Later { why, retry_after })) => {
                let pause = backoff.failed(retry_after, random());
                tracing::warn!(again_in_s = pause.as_secs_f32(), "not enrolled yet: {why}");
                stop.wait(pause);
            }
            // A new machine of an autoscaling group may start before its predecessor counts as silent.
            Err(RunError::Enrol(EnrolError::Held { why, .. })) if began.elapsed() < HELD => {
                tracing::warn!(
                    "not enrolled yet, tried again for {} s in case that VM is gone: {why}",
                    HELD.as_secs()
                );
                stop.wait(HELD_PAUSE);
            }
            done => return done.map(Some),
        }
    }
    Ok(None)
}

/// Try once to enrol.
fn try_enrol(
    config: &Config,
    state: &StateDir,
    backend: &BackendUrl,
    token: &str,
) -> Result<Identity, RunError> {
    let client = Client::new(backend.clone(), &config.trust)?;
    let (listen, probe_address) = config.listen(backend).map_err(|e| EnrolError::Later {
        why: e.to_string(),
        retry_after: None,
    })?;
    let about = SelfDescription::of(config, &listen, probe_address);
    check_writable(state)?;
    let _held = hold_ports(&listen, config.metrics_listen)?;
    let identity = enrol(&client, token, &about)?;
    identity.store(state.path())?;
    tracing::info!(agent = identity.agent_id, vm = about.hostname, "enrolled");
    Ok(identity)
}

/// Check that the state folder is writable before the token is used up.
fn check_writable(state: &StateDir) -> Result<(), RunError> {
    let trial = state.join("trial");
    write_atomically(&trial, &[0; 4096])
        .and_then(|()| std::fs::remove_file(&trial))
        .map_err(|e| RunError::Io {
            at: format!("state_dir {}", state.path().display()),
            why: e.to_string(),
        })
}

/// Open the ports before the token is used up, so that no other program can have them until the enrolment is done.
/// Missing permission is no error: another user than the one that runs the agent may enrol the VM.
fn hold_ports(
    listen: &Listen,
    metrics: Option<SocketAddr>,
) -> Result<(Vec<UdpSocket>, Option<TcpListener>), RunError> {
    let taken = |e: &io::Error| e.kind() != io::ErrorKind::PermissionDenied;
    let mut held = Vec::new();
    for port in [listen.event_port, listen.general_port] {
        let at = SocketAddr::new(listen.address, port);
        match UdpSocket::bind(at) {
            Ok(socket) => held.push(socket),
            Err(source) if taken(&source) => {
                return Err(LoopError::Bind(BindError { at, source }).into());
            }
            Err(_) => {}
        }
    }
    let metrics = metrics.map(|at| (at, TcpListener::bind(at)));
    match metrics {
        Some((at, Err(error))) if taken(&error) => Err(RunError::Io {
            at: format!("metrics_listen {at}"),
            why: format!("{}; or set it to off", socket_hint(&error)),
        }),
        metrics => Ok((held, metrics.and_then(|(_, listener)| listener.ok()))),
    }
}

/// Return the backend and the token of the settings.
fn invitation(config: &Config) -> Result<(&BackendUrl, &str), RunError> {
    let missing = |key: &str| {
        let problem = "is not set, and this agent is not enrolled yet: copy the command of the page \"Add a VM\"";
        ConfigError::new(key, problem)
    };
    let backend = config.backend.as_ref().ok_or_else(|| missing("backend"))?;
    let token = config.token.as_deref().ok_or_else(|| missing("token"))?;
    Ok((backend, token))
}
