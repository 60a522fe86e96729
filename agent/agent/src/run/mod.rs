//! `sinemora-agent run`: starts the parts of the agent, and stops them so that no measured window is lost.

mod address_watch;
mod enrolment;
mod error;
mod network_card;

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

pub use address_watch::await_loss;
pub use enrolment::{enrol_only, retire};
pub use error::RunError;

use crate::backend::{Answer, Client, Verdict};
use crate::backoff::{Backoff, random};
use crate::calendar;
use crate::check::socket_hint;
use crate::config::{BackendUrl, Config, ConfigError, TrafficChoice};
use crate::connections::ConnectionWorker;
use crate::counters::Counters;
use crate::enrol::{SelfDescription, refresh};
use crate::hardware_clock;
use crate::host::{HostMeter, SharedWaits};
use crate::identity::Identity;
use crate::interface::interface_of;
use crate::metrics::MetricsServer;
use crate::network::Listen;
use crate::packet_loop::{self, Options};
use crate::plan::{BackendClock, PeerAddresses, PlanCache, PlanTag, PollPace, Poller, TimeKeeper};
use crate::report::{
    Batcher, EarlierParts, OnDemandUploader, Pace, RefusedReports, Sequence, Spool, Uploader,
    WindowQueue, events,
};
use crate::state_dir::{SEQUENCE_FILE, StateDir};
use crate::stop::Stop;
use crate::traffic::TrafficWorker;

/// Time limit for the packet loop to report its windows after the stop signal.
const LAST_WINDOWS_LIMIT: Duration = Duration::from_secs(2);
/// Largest number and size, bytes, of the refused reports kept for people to look at.
const REFUSED_LIMIT: usize = 100;
const REFUSED_LIMIT_BYTES: u64 = 16 << 20;

/// The reason why a run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Stopped,
    /// The address that probes left from is gone, so the agent must start again with another one.
    AddressLost,
}

/// Measure until `stop` is set; enrol first if there is no identity and a token is given.
///
/// Return when the windows measured are in the spool. Threads that wait for the backend end with the process.
pub fn run(config: &Config, stop: &Stop) -> Result<Ended, RunError> {
    let state = StateDir::open(&config.state_dir)?;
    let Some(identity) = enrolment::identity(config, &state, stop)? else {
        return Ok(Ended::Stopped);
    };
    let backend = backend_of(config, &identity)?;
    let Some((listen, probe_address)) = addresses(config, &backend, stop) else {
        return Ok(Ended::Stopped);
    };
    let client = Client::new(backend, &config.trust)?.with_credential(&identity.credential);
    let counters = Arc::new(Counters::default());
    let backend_clock = Arc::new(BackendClock::new());
    // Named by VM: after `enrol --force` reports of another VM must not be sent as this one's.
    let spool_folder = state.join("spool").join(&identity.vm_id);
    let spool = Spool::open(&spool_folder, config.spool_cap_bytes).map_err(|e| RunError::Io {
        at: spool_folder.display().to_string(),
        why: e.to_string(),
    })?;
    let spool = Arc::new(spool);
    let sequence = Sequence::open(
        &state.join(SEQUENCE_FILE),
        spool.newest(),
        calendar::now_s(),
    )
    .map_err(|e| RunError::Io {
        at: state.join(SEQUENCE_FILE).display().to_string(),
        why: e.to_string(),
    })?;
    if let Some(address) = config.metrics_listen {
        let server =
            MetricsServer::bind(address, Arc::clone(&counters), Arc::clone(&backend_clock))
                .map_err(|e| RunError::Io {
                    at: format!("metrics_listen {address}"),
                    why: format!("{}; or set it to off", socket_hint(&e)),
                })?;
        spawn_lasting("metrics", stop, move || server.run())?;
    }
    tracing::info!(
        agent = identity.agent_id,
        backend = client.backend().as_str(),
        address = %listen.address,
        event_port = listen.event_port,
        general_port = listen.general_port,
        spooled = spool.size().1,
        version = env!("CARGO_PKG_VERSION"),
        "starting"
    );

    let (plan_sender, plans) = mpsc::channel();
    let (window_sender, windows) = mpsc::channel();
    let (on_demand_sender, on_demand_windows) = mpsc::channel();
    let peers = Arc::new(PeerAddresses::default());
    let plan_tag = PlanTag::default();
    let time_keeper = TimeKeeper {
        client: client.clone(),
        plan_tag: plan_tag.clone(),
        backend_clock: Arc::clone(&backend_clock),
        stop: stop.clone(),
    };
    let poller = Poller {
        client: client.clone(),
        agent_id: identity.agent_id,
        cache: PlanCache::new(state.path()),
        limits: config.limits.clone(),
        plans: plan_sender,
        peers: Arc::clone(&peers),
        backend_clock: Arc::clone(&backend_clock),
        plan_tag,
        counters: Arc::clone(&counters),
        pace: PollPace::default(),
        stop: stop.clone(),
    };
    let uploader = Uploader {
        client: client.clone(),
        spool: Arc::clone(&spool),
        refused: RefusedReports::new(&state.join("refused"), REFUSED_LIMIT, REFUSED_LIMIT_BYTES),
        backend_clock: Arc::clone(&backend_clock),
        counters: Arc::clone(&counters),
        pace: Pace::default(),
        stop: stop.clone(),
    };
    let on_demand = OnDemandUploader {
        client: client.clone(),
        windows: on_demand_windows,
        stop: stop.clone(),
    };
    let traffic = Arc::new(WindowQueue::default());
    let connections = Arc::new(WindowQueue::default());
    let services = Arc::new(WindowQueue::default());
    let host = Arc::new(WindowQueue::default());
    let batcher = Batcher {
        // Before the uploader sends them.
        earlier: EarlierParts::hold(&spool, backend_clock.now_ns() / 1_000_000_000),
        spool,
        sequence,
        backend_clock: Arc::clone(&backend_clock),
        counters: Arc::clone(&counters),
        traffic: Arc::clone(&traffic),
        connections: Arc::clone(&connections),
        services: Arc::clone(&services),
        host: Arc::clone(&host),
    };
    let waits = Arc::new(SharedWaits::default());
    let worker = TrafficWorker {
        interface: counted_interface(config, &listen, probe_address),
        host: HostMeter::new(Arc::clone(&waits)),
        backend_clock: Arc::clone(&backend_clock),
        windows: traffic,
        host_windows: host,
        stop: stop.clone(),
    };
    spawn_lasting("traffic", stop, move || worker.run())?;
    if config.tcp_connections || config.service_traffic {
        let worker = ConnectionWorker {
            counts_timeouts: config.tcp_connections,
            counts_services: config.service_traffic,
            peers,
            backend_clock: Arc::clone(&backend_clock),
            windows: connections,
            services,
            stop: stop.clone(),
        };
        spawn_lasting("connections", stop, move || worker.run())?;
    }

    let address_lost = Arc::new(AtomicBool::new(false));
    // An address that is set is the operator's to change.
    if config.listen_address.is_none() {
        let (lost, stop) = (Arc::clone(&address_lost), stop.clone());
        spawn("address", move || {
            if address_watch::await_loss(listen.address, &stop) {
                tracing::warn!(address = %listen.address, "this VM has lost its address: starting again with another one");
                lost.store(true, Relaxed);
                stop.set();
            }
        })?;
    }
    let farewell = client.clone();
    let (describe_stop, describe_config) = (stop.clone(), config.clone());
    spawn("describe", move || {
        // The measurement does not wait for the cloud's metadata service.
        let about = SelfDescription::of(&describe_config, &listen, probe_address);
        until_accepted(&describe_stop, || refresh(&client, &about));
    })?;
    spawn_lasting("plan", stop, move || poller.run())?;
    spawn_lasting("time", stop, move || time_keeper.run())?;
    spawn_lasting("upload", stop, move || uploader.run())?;
    spawn("on-demand", move || on_demand.run())?;
    let batching = spawn("batch", move || batcher.run(&windows))?;
    let options = Options {
        card: network_card::find(config, listen.own_address(probe_address)),
        standard_clients: config.standard_clients.clone().into(),
        ptp_minor_version: config.ptp_minor_version,
        hardware: hardware_clock::find(&config.hardware_clock, config.hardware_clock_error_ns),
        on_demand: Some(on_demand_sender),
        waits,
    };
    let measured = measure(
        listen,
        options,
        plans,
        window_sender,
        backend_clock,
        counters,
        stop,
    )?;
    if measured.is_ok() && !address_lost.load(Relaxed) {
        say_stopping(&farewell);
    }
    // The packet loop held the last sender of windows, so the batcher ends now.
    if batching.join().is_err() {
        tracing::error!("the last windows could not be spooled");
    }
    measured.map_err(RunError::Measuring)?;
    Ok(if address_lost.load(Relaxed) {
        Ended::AddressLost
    } else {
        Ended::Stopped
    })
}

/// Tell the backend that this agent is being stopped. Without an answer the agent counts as silent soon.
fn say_stopping(client: &Client) {
    let why = match events::send_stopping(client) {
        Ok(Verdict::Accepted) => return,
        Ok(Verdict::Refused { why } | Verdict::Later { why, .. } | Verdict::Locked { why, .. }) => {
            why
        }
        Err(error) => error.to_string(),
    };
    tracing::warn!("the backend does not know of this stop: {why}");
}

/// Run the packet loop in a separate thread until it ends or `stop` is set.
fn measure(
    listen: Listen,
    options: Options,
    plans: mpsc::Receiver<crate::plan::PassedPlan>,
    windows: mpsc::Sender<crate::wire::MeshWindow>,
    backend_clock: Arc<BackendClock>,
    counters: Arc<Counters>,
    stop: &Stop,
) -> Result<Result<(), packet_loop::LoopError>, RunError> {
    let (ended, end) = mpsc::channel();
    let loop_stop = stop.clone();
    spawn("packets", move || {
        let result = packet_loop::run(
            listen,
            options,
            plans,
            windows,
            backend_clock,
            counters,
            loop_stop.flag(),
        );
        // The receiver is gone after the time limit below, when the process ends.
        let _ = ended.send(result);
        loop_stop.set();
    })?;
    while !stop.wait(Duration::from_secs(3600)) {}
    Ok(end.recv_timeout(LAST_WINDOWS_LIMIT).unwrap_or_else(|_| {
        tracing::error!("the packet loop did not end in time; its last windows are lost");
        Ok(())
    }))
}

/// Wait for the network and return the addresses to listen at and to advertise; `None` if stopped before.
///
/// A VM that boots may have no network yet.
pub fn addresses(config: &Config, backend: &BackendUrl, stop: &Stop) -> Option<(Listen, IpAddr)> {
    while !stop.is_set() {
        match config.listen(backend) {
            Ok(addresses) => return Some(addresses),
            Err(error) => tracing::warn!("waiting for the network: {error}"),
        }
        stop.wait(Duration::from_secs(5));
    }
    None
}

/// Return the interface whose bytes and packets are counted; `None` if the settings say so, or with a reason in the log.
fn counted_interface(config: &Config, listen: &Listen, probe_address: IpAddr) -> Option<String> {
    let address = match &config.traffic_counters {
        TrafficChoice::None => return None,
        TrafficChoice::Interface(name) => return Some(name.clone()),
        TrafficChoice::Auto => listen.own_address(probe_address),
    };
    // Loopback carries the traffic of this machine to itself, which no network shapes.
    if address.is_loopback() {
        return None;
    }
    match interface_of(address) {
        Ok(Some(name)) => Some(name),
        Ok(None) => {
            tracing::warn!(%address, "traffic is not counted: no interface has this address; set traffic_counters");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "traffic is not counted: the interfaces cannot be listed; set traffic_counters");
            None
        }
    }
}

/// Return the backend of the settings, else that of the enrolment.
pub fn backend_of(config: &Config, identity: &Identity) -> Result<BackendUrl, ConfigError> {
    if let Some(backend) = &config.backend {
        return Ok(backend.clone());
    }
    BackendUrl::parse(&identity.backend, config.insecure_http).map_err(|why| {
        ConfigError::new(
            "backend",
            format!("{why} (remembered from enrolment: {})", identity.backend),
        )
    })
}

/// Send a description of this VM to the backend, with retries while the backend is unreachable.
pub fn until_accepted<E: std::fmt::Display>(
    stop: &Stop,
    mut send: impl FnMut() -> Result<Answer, E>,
) {
    let mut backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(300));
    while !stop.is_set() {
        let verdict = send().map(|answer| answer.verdict());
        let (retry_after, why) = match verdict {
            Ok(Verdict::Accepted) => return,
            Ok(Verdict::Refused { why }) => {
                tracing::warn!("the backend refuses this agent's new description: {why}");
                return;
            }
            Ok(Verdict::Later { retry_after, why }) => (retry_after, why),
            Ok(Verdict::Locked { why, .. }) => (Some(Duration::from_secs(60)), why),
            Err(error) => (None, error.to_string()),
        };
        tracing::debug!("the description cannot be sent yet: {why}");
        stop.wait(backoff.failed(retry_after, random()));
    }
}

/// Start a thread that lasts until `stop`. If it ends by itself, the process ends, which would go on without that part.
pub fn spawn_lasting(
    name: &'static str,
    stop: &Stop,
    body: impl FnOnce() + Send + 'static,
) -> Result<(), RunError> {
    let stop = stop.clone();
    let lasting = move || {
        body();
        if !stop.is_set() {
            tracing::error!("the thread {name} has ended by itself, so this program ends");
            std::process::abort();
        }
    };
    spawn(name, lasting).map(drop)
}

/// Start a thread.
pub fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, RunError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|e| RunError::Io {
            at: format!("thread {name}"),
            why: e.to_string(),
        })
}
