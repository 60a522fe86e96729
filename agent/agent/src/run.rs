//! `sinemora-agent run`: puts the parts together, and takes them apart so that nothing measured is lost.

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::backend::{CallError, Client, Verdict};
use crate::backoff::{Backoff, random};
use crate::calendar;
use crate::check::socket_hint;
use crate::config::{BackendUrl, Config, ConfigError};
use crate::counters::Counters;
use crate::enrol::{EnrolError, SelfDescription, enrol, refresh};
use crate::event_loop;
use crate::identity::{Identity, IdentityError};
use crate::metrics::MetricsServer;
use crate::plan::{BackendClock, PlanCache, PollPace, Poller};
use crate::report::{Batcher, Pace, RefusedReports, Sequence, Spool, Uploader};
use crate::state_dir::{StateDir, StateError};
use crate::stop::Stop;

/// How long the packet loop may take to hand over its windows after the stop signal.
const LAST_WINDOWS_LIMIT: Duration = Duration::from_secs(2);
/// Refused reports kept for people to look at.
const REFUSED_LIMIT: usize = 100;

/// Why the agent ended otherwise than asked to.
#[derive(Debug)]
pub enum RunError {
    Config(ConfigError),
    State(StateError),
    Identity(IdentityError),
    Enrol(EnrolError),
    Call(CallError),
    /// A file or socket the agent cannot do without.
    Io {
        at: String,
        why: String,
    },
    Measuring(event_loop::LoopError),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::State(error) => error.fmt(f),
            Self::Identity(error) => error.fmt(f),
            Self::Enrol(error) => error.fmt(f),
            Self::Call(error) => error.fmt(f),
            Self::Io { at, why } => write!(f, "{at}: {why}"),
            Self::Measuring(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<ConfigError> for RunError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<StateError> for RunError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<IdentityError> for RunError {
    fn from(error: IdentityError) -> Self {
        Self::Identity(error)
    }
}

impl From<CallError> for RunError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl RunError {
    /// What the process ends with: 2 for a wrong setting, 3 for a refused enrolment, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) => 2,
            Self::Enrol(EnrolError::Refused { .. }) => 3,
            _ => 1,
        }
    }
}

/// Enrols this VM and keeps the identity; `force` replaces one that is there.
pub fn enrol_only(config: &Config, force: bool) -> Result<Identity, RunError> {
    let state = StateDir::open(&config.state_dir)?;
    if let Some(identity) = Identity::load(state.path())
        .ok()
        .flatten()
        .filter(|_| !force)
    {
        let problem = format!(
            "is not needed: this agent is enrolled already ({}, at {}); --force enrols it anew",
            identity.agent_id, identity.backend
        );
        return Err(ConfigError::new("enrol", problem).into());
    }
    let (backend, token) = invitation(config)?;
    become_known(config, &state, backend, token, |error| {
        Err(RunError::Enrol(error))
    })
}

/// Measures until `stop` is set; enrols first if there is no identity and a token is given.
///
/// Returns when the windows measured are in the spool. Threads that wait for the backend end with the process.
pub fn run(config: &Config, stop: &Stop) -> Result<(), RunError> {
    let state = StateDir::open(&config.state_dir)?;
    let Some(identity) = identity(config, &state, stop)? else {
        return Ok(());
    };
    let backend = match &config.backend {
        Some(backend) => backend.clone(),
        None => remembered(&identity, config)?,
    };
    let (listen, probe_address) = config.listen(&backend)?;
    let client =
        Client::new(backend, config.ca_file.as_deref())?.with_credential(&identity.credential);
    let about = SelfDescription::of(config, &listen, probe_address);

    let counters = Arc::new(Counters::default());
    let backend_clock = Arc::new(BackendClock::new());
    // By VM: after `enrol --force` reports of another VM must not be sent as this one's.
    let spool_folder = state.join("spool").join(&identity.vm_id);
    let spool = Spool::open(&spool_folder, config.spool_cap_bytes).map_err(|e| RunError::Io {
        at: spool_folder.display().to_string(),
        why: e.to_string(),
    })?;
    let spool = Arc::new(spool);
    let sequence = Sequence::open(&state.join("sequence"), spool.newest(), calendar::now_s())
        .map_err(|e| RunError::Io {
            at: state.join("sequence").display().to_string(),
            why: e.to_string(),
        })?;
    if let Some(address) = config.metrics_listen {
        let server =
            MetricsServer::bind(address, Arc::clone(&counters), Arc::clone(&backend_clock))
                .map_err(|e| RunError::Io {
                    at: format!("metrics_listen {address}"),
                    why: format!("{}; or set it to off", socket_hint(&e)),
                })?;
        spawn("metrics", move || server.run())?;
    }
    tracing::info!(
        agent = identity.agent_id,
        backend = client.backend().as_str(),
        address = %listen.address,
        event_port = listen.event_port,
        general_port = listen.general_port,
        spooled = spool.size().1,
        version = about.agent_version,
        "starting"
    );

    let (plan_sender, plans) = mpsc::channel();
    let (window_sender, windows) = mpsc::channel();
    let poller = Poller {
        client: client.clone(),
        agent_id: identity.agent_id,
        cache: PlanCache::new(state.path()),
        plans: plan_sender,
        backend_clock: Arc::clone(&backend_clock),
        counters: Arc::clone(&counters),
        pace: PollPace::default(),
        stop: stop.clone(),
    };
    let uploader = Uploader {
        client: client.clone(),
        spool: Arc::clone(&spool),
        refused: RefusedReports::new(&state.join("refused"), REFUSED_LIMIT),
        backend_clock: Arc::clone(&backend_clock),
        counters: Arc::clone(&counters),
        pace: Pace::default(),
        stop: stop.clone(),
    };
    let batcher = Batcher {
        spool,
        sequence,
        backend_clock: Arc::clone(&backend_clock),
        counters: Arc::clone(&counters),
    };

    let refresh_stop = stop.clone();
    spawn("describe", move || describe(&client, &about, &refresh_stop))?;
    spawn("plan", move || poller.run())?;
    spawn("upload", move || uploader.run())?;
    let batching = spawn("batch", move || batcher.run(&windows))?;
    let measured = measure(listen, plans, window_sender, backend_clock, counters, stop)?;
    // The loop is gone and with it the last sender, so the batcher comes to its end.
    if batching.join().is_err() {
        tracing::error!("the last windows could not be spooled");
    }
    measured.map_err(RunError::Measuring)
}

/// Runs the packet loop in its own thread until it ends or is told to.
fn measure(
    listen: event_loop::Listen,
    plans: mpsc::Receiver<Arc<crate::plan::Plan>>,
    windows: mpsc::Sender<crate::wire::MeshWindow>,
    backend_clock: Arc<BackendClock>,
    counters: Arc<Counters>,
    stop: &Stop,
) -> Result<Result<(), event_loop::LoopError>, RunError> {
    let (ended, end) = mpsc::channel();
    let loop_stop = stop.clone();
    spawn("packets", move || {
        let result = event_loop::run(
            listen,
            plans,
            windows,
            backend_clock,
            counters,
            loop_stop.flag(),
        );
        // Nobody hears it after the limit below; then the process is ending anyway.
        let _ = ended.send(result);
        loop_stop.set();
    })?;
    while !stop.wait(Duration::from_secs(3600)) {}
    Ok(end.recv_timeout(LAST_WINDOWS_LIMIT).unwrap_or_else(|_| {
        tracing::error!("the packet loop did not end in time; its last windows are lost");
        Ok(())
    }))
}

/// The identity on disk, or a new one by the token; `None` if stopped before the backend answered.
fn identity(config: &Config, state: &StateDir, stop: &Stop) -> Result<Option<Identity>, RunError> {
    if let Some(identity) = Identity::load(state.path())? {
        if config.token.is_some() {
            tracing::debug!("enrolled already, so the token is not used");
        }
        return Ok(Some(identity));
    }
    let (backend, token) = invitation(config)?;
    let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
    let identity = become_known(config, state, backend, token, |error| {
        let EnrolError::Later { why, retry_after } = error else {
            return Err(RunError::Enrol(error));
        };
        let pause = backoff.failed(retry_after, random());
        tracing::warn!(again_in_s = pause.as_secs_f32(), "not enrolled yet: {why}");
        Ok(!stop.wait(pause))
    });
    match identity {
        Err(RunError::Enrol(EnrolError::Later { .. })) if stop.is_set() => Ok(None),
        other => other.map(Some),
    }
}

/// Enrols, asking `again` after each failure whether to go on.
fn become_known(
    config: &Config,
    state: &StateDir,
    backend: &BackendUrl,
    token: &str,
    mut again: impl FnMut(EnrolError) -> Result<bool, RunError>,
) -> Result<Identity, RunError> {
    let client = Client::new(backend.clone(), config.ca_file.as_deref())?;
    let (listen, probe_address) = config.listen(backend)?;
    let about = SelfDescription::of(config, &listen, probe_address);
    prove_writable(state)?;
    loop {
        match enrol(&client, token, &about) {
            Ok(identity) => {
                identity.store(state.path())?;
                tracing::info!(agent = identity.agent_id, vm = about.hostname, "enrolled");
                return Ok(identity);
            }
            Err(error) => {
                let why = error.to_string();
                if !again(error)? {
                    return Err(RunError::Enrol(EnrolError::Later {
                        why,
                        retry_after: None,
                    }));
                }
            }
        }
    }
}

/// The token is used up by enrolling: a disk that cannot keep what it gives must be found before.
fn prove_writable(state: &StateDir) -> Result<(), RunError> {
    let trial = state.join("trial");
    crate::state_dir::write_atomically(&trial, &[0; 4096])
        .and_then(|()| std::fs::remove_file(&trial))
        .map_err(|e| RunError::Io {
            at: format!("state_dir {}", state.path().display()),
            why: e.to_string(),
        })
}

fn invitation(config: &Config) -> Result<(&BackendUrl, &str), RunError> {
    let missing = |key: &str| {
        ConfigError::new(
            key,
            "is not set, and this agent is not enrolled yet: copy the command of the page \"Add a VM\"",
        )
    };
    let backend = config.backend.as_ref().ok_or_else(|| missing("backend"))?;
    let token = config.token.as_deref().ok_or_else(|| missing("token"))?;
    Ok((backend, token))
}

fn remembered(identity: &Identity, config: &Config) -> Result<BackendUrl, ConfigError> {
    BackendUrl::parse(&identity.backend, config.insecure_http).map_err(|why| {
        ConfigError::new(
            "backend",
            format!("{why} (remembered from enrolment: {})", identity.backend),
        )
    })
}

/// Tells the backend once what this agent is now; keeps trying while the backend is away.
fn describe(client: &Client, about: &SelfDescription, stop: &Stop) {
    let mut backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(300));
    while !stop.is_set() {
        let verdict = refresh(client, about).map(|answer| answer.verdict());
        let (retry_after, why) = match verdict {
            Ok(Verdict::Accepted) => return,
            Ok(Verdict::Refused { why }) => {
                tracing::warn!("the backend does not take this agent's new description: {why}");
                return;
            }
            Ok(Verdict::Later { retry_after, why }) => (retry_after, why),
            Ok(Verdict::Locked { why, .. }) => (Some(Duration::from_secs(60)), why),
            Err(error) => (None, error.to_string()),
        };
        tracing::debug!("the description waits: {why}");
        stop.wait(backoff.failed(retry_after, random()));
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, RunError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|e| RunError::Io {
            at: format!("thread {name}"),
            why: e.to_string(),
        })
}
