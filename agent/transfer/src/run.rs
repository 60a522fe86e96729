//! `sinemora-transfer run`: waits for the agent's identity, then runs what the settings switch on.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde::Serialize;
use sinemora_agent::backend::{Body, Client};
use sinemora_agent::check::socket_hint;
use sinemora_agent::config::ConfigError;
use sinemora_agent::identity::Identity;
use sinemora_agent::plan::BackendClock;
use sinemora_agent::run::{
    Ended, RunError, addresses, await_loss, backend_of, spawn, spawn_lasting, until_accepted,
};
use sinemora_agent::state_dir::StateDir;
use sinemora_agent::stop::Stop;
use ureq::http::Method;

use crate::artifacts::{self, ArtifactWorker};
use crate::bulk::{self, BulkWorker, OrderPoller};
use crate::config::TransferConfig;

/// Time between looks at the identity.
const LOOK: Duration = Duration::from_secs(2);
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Folder below the agent's state that one process of this program locks.
const OWN_FOLDER: &str = "transfer";

/// What this program offers to the mesh, as a part of the agent's description.
#[derive(Debug, Serialize)]
struct Offers {
    transfer: Offer,
}

#[derive(Debug, Default, Serialize)]
struct Offer {
    #[serde(skip_serializing_if = "Option::is_none")]
    bulk: Option<bulk::Offer>,
}

/// Run until `stop` is set, or until the VM has another address or identity and this program must start again.
pub fn run(config: &TransferConfig, stop: &Stop) -> Result<Ended, RunError> {
    if config.artifacts_port.is_none() && config.bulk.is_none() {
        let problem = "are both off: set `artifacts = true` or `bulk_sender = true`, or do not run sinemora-transfer";
        return Err(ConfigError::new("artifacts and bulk_sender", problem).into());
    }
    let state_dir = &config.agent.state_dir;
    let Some(identity) = identity(config, stop)? else {
        return Ok(Ended::Stopped);
    };
    let _one_process = StateDir::open(&state_dir.join(OWN_FOLDER))?;
    let backend = backend_of(&config.agent, &identity)?;
    let Some((listen, probe_address)) = addresses(&config.agent, &backend, stop) else {
        return Ok(Ended::Stopped);
    };
    let client = Client::new(backend, &config.agent.trust)?.with_credential(&identity.credential);
    tracing::info!(
        agent = identity.agent_id,
        backend = client.backend().as_str(),
        address = %listen.address,
        artifacts = config.artifacts_port.is_some(),
        bulk_sender = config.bulk.is_some(),
        version = env!("CARGO_PKG_VERSION"),
        "starting"
    );

    if let Some(port) = config.artifacts_port {
        let limits = artifacts::Limits {
            address: listen.address,
            port,
            state_dir: state_dir.clone(),
        };
        let (worker, server) =
            ArtifactWorker::new(client.clone(), &identity, &limits, stop.clone()).map_err(|e| {
                RunError::Io {
                    at: format!("artifacts, port {port} or {}", state_dir.display()),
                    why: socket_hint(&e),
                }
            })?;
        spawn_lasting("artifacts", stop, move || worker.run())?;
        spawn_lasting("artifact-server", stop, move || server.run())?;
    }
    if let Some(limits) = config.bulk {
        let (orders_sender, orders) = mpsc::channel();
        let clock = Arc::new(BackendClock::new());
        let poller = OrderPoller {
            client: client.clone(),
            orders: orders_sender,
            clock: Arc::clone(&clock),
            stop: stop.clone(),
        };
        let worker = BulkWorker {
            client: client.clone(),
            orders,
            limits,
            addresses: [probe_address, listen.address],
            clock,
            stop: stop.clone(),
        };
        spawn_lasting("orders", stop, move || poller.run())?;
        spawn_lasting("bulk", stop, move || worker.run())?;
    }
    let offers = config.bulk.map(|limits| limits.offer());
    let (offering, offer_stop) = (client.clone(), stop.clone());
    spawn("offer", move || {
        until_accepted(&offer_stop, || offer(&offering, offers.clone()));
    })?;

    let must_restart = Arc::new(AtomicBool::new(false));
    // An address that is set is the operator's to change.
    if config.agent.listen_address.is_none() {
        let (lost, stop) = (Arc::clone(&must_restart), stop.clone());
        spawn("address", move || {
            if await_loss(listen.address, &stop) {
                tracing::warn!(address = %listen.address, "this VM has lost its address: starting again with another one");
                lost.store(true, Relaxed);
                stop.set();
            }
        })?;
    }
    while !stop.wait(LOOK) {
        // The agent replaces the file at once. One that is gone or damaged may come back.
        let newest = Identity::load(state_dir).ok().flatten();
        if newest.is_some_and(|newest| newest.credential != identity.credential) {
            tracing::info!("the agent was enrolled again: starting again with its new identity");
            must_restart.store(true, Relaxed);
            stop.set();
        }
    }
    if config.bulk.is_some() {
        // Without this the console would offer a sender that does not run.
        let _ = offer(&client, None);
    }
    Ok(if must_restart.load(Relaxed) {
        Ended::AddressLost
    } else {
        Ended::Stopped
    })
}

/// Return the identity of this VM's agent, which enrols; `None` if stopped before there is one.
fn identity(config: &TransferConfig, stop: &Stop) -> Result<Option<Identity>, RunError> {
    let mut is_logged = false;
    while !stop.is_set() {
        if let Some(identity) = Identity::load(&config.agent.state_dir)? {
            return Ok(Some(identity));
        }
        if !is_logged {
            tracing::info!(
                state_dir = %config.agent.state_dir.display(),
                "waiting for sinemora-agent, which enrols this VM"
            );
            is_logged = true;
        }
        stop.wait(LOOK);
    }
    Ok(None)
}

/// Report to the backend what this program offers.
fn offer(
    client: &Client,
    bulk: Option<bulk::Offer>,
) -> Result<sinemora_agent::backend::Answer, String> {
    let body = serde_json::to_vec(&Offers {
        transfer: Offer { bulk },
    })
    .map_err(|error| error.to_string())?;
    client
        .send(
            &Method::PATCH,
            "/v1/agents/self",
            Body::Json(&body),
            REQUEST_LIMIT,
        )
        .map_err(|error| error.to_string())
}
