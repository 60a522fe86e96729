//! Both roles on the two ports: who is asked, who is answered, and what is counted.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use sinemora_wire::MeshWindow;

use super::client::Client;
use super::event_log::{self, Notices};
use super::hardware_clock::Standing;
use super::limits::within_caps;
use super::load_shedding::Restraint;
use super::sockets::Ports;
use super::sockets::packet::{Departure, Received};
use super::wakeup::Pace;
use super::{Listen, LoopError, Means};
use crate::clock::RawTime;
use crate::counters::{Counters, TimestampSource};
use crate::plan::{Caps, Plan, Role};
use crate::ptp::{PortIdentity, Responder, TokenBucket};
use crate::standard_clients::unicast_service::Serving;
use crate::timestamp::{Departed, Disruption, Disruptions};

/// Packets that leave for one answered request, at most.
pub(super) const ANSWER_PACKETS: u32 = 3;

/// How soon something granted must be due, ns, for a Follow_Up to wait for the turn that it brings about.
const SOON_NS: i64 = 1_000_000;

pub(super) struct Exchanger {
    pub(super) ports: Ports,
    pub(super) disruptions: Disruptions,
    pub(super) client: Client,
    pub(super) responder: Responder,
    pub(super) serving: Serving,
    /// Ours as a responder.
    pub(super) identity: PortIdentity,
    pub(super) standing: Standing,
    pub(super) caps: Caps,
    pub(super) restraint: Restraint,
    pub(super) budget: TokenBucket,
    pub(super) counters: Arc<Counters>,
    pub(super) notices: Notices,
    /// What this turn has heard.
    pub(super) received: Vec<Received>,
    /// By how much the wall clock was stepped before it, ns.
    pub(super) stepped_ns: Option<i64>,
    pub(super) departures: Vec<Departed<Departure>>,
}

impl Exchanger {
    /// Opens the two ports; nothing is asked or answered until there is a plan.
    pub fn open(listen: Listen, means: Means, counters: Arc<Counters>) -> Result<Self, LoopError> {
        let ports = Ports::open(listen)?;
        let clock = random_identity();
        let identity = PortIdentity { clock, port: 1 };
        let exchanger = Self {
            disruptions: Disruptions::watch(),
            client: Client::new(clock, ports.on_the_wire(RawTime(0))),
            responder: Responder::default(),
            serving: Serving::new(means.guests, identity),
            identity,
            standing: Standing::on(means.hardware),
            caps: Caps::default(),
            restraint: Restraint::default(),
            budget: TokenBucket::new(0, 0, ports.now()),
            notices: Notices::new(counters.clone()),
            counters,
            ports,
            received: Vec::new(),
            stepped_ns: None,
            departures: Vec::new(),
        };
        exchanger.tell_stamps();
        let told = exchanger.disruptions.told_of_moves();
        tracing::debug!(told, "a hypervisor that moves this VM tells it");
        Ok(exchanger)
    }

    /// The driver of the hardware clock that this agent stands on.
    pub fn hardware(&self) -> Option<&str> {
        self.standing.name()
    }

    /// When the next request is due.
    pub fn next_due(&self) -> Option<RawTime> {
        let grants = self.serving.grants.next();
        self.client.next_due().into_iter().chain(grants).min()
    }

    /// Whether something granted is due so soon that the next turn comes for it anyway.
    pub(super) fn serves_soon(&self) -> bool {
        let soon = self.ports.now().plus(SOON_NS);
        self.serving.grants.next().is_some_and(|due| due <= soon)
    }

    /// The pace that served clients need within that of the plan.
    pub fn pace(&self, of_plan: Pace) -> Pace {
        if self.serving.grants.is_empty() {
            of_plan
        } else {
            of_plan.serving(self.serving.grants.messages_hz())
        }
    }

    /// Follows a new plan, as far as it keeps to its own caps.
    pub fn follow(&mut self, plan: &Plan, now: RawTime) {
        let plan = &within_caps(plan);
        let flows = self.provide_flows(plan);
        self.client.follow(plan, flows, now);
        // Whoever is in the plan may ask: while roles change hands, both ends may be clients for a moment.
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        let addresses = peers
            .clone()
            .map(|peer| (peer.event_address(), peer.general_port));
        self.responder.set_peers(addresses, now);
        self.serving.follow(&self.responder);
        self.caps = plan.caps;
        let set_or_0 = |gauge, cap: Option<u32>| set(gauge, cap.unwrap_or(0).into());
        set(
            &self.counters.packets_per_s_cap,
            plan.caps.packets_per_s.into(),
        );
        set_or_0(&self.counters.cpu_percent_cap, plan.caps.cpu_percent);
        set_or_0(&self.counters.memory_mib_cap, plan.caps.memory_mib);
        self.limit();
        set(&self.counters.peers, self.responder.peers() as u64);
        event_log::tell_plan(
            plan,
            peers
                .filter(|peer| !self.ports.reaches(peer.address))
                .count(),
        );
    }

    /// Opens the source ports that a plan asks for; how many it can have.
    fn provide_flows(&mut self, plan: &Plan) -> u8 {
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        let asking = peers.filter(|peer| peer.role == Role::Client);
        let most = asking.map(|peer| peer.flows).max().unwrap_or(1);
        let most = u8::try_from(most).unwrap_or(u8::MAX);
        if let Err(error) = self.ports.provide(most) {
            self.notices.fewer_flows(most, self.ports.flows(), &error);
        }
        self.ports.flows()
    }

    /// Hears what has come in, and waits for it if there is nothing yet, at most `timeout`. Whether everything that had
    /// arrived before was heard, which `all` asks for.
    pub fn listen(&mut self, timeout: Duration, all: bool) -> io::Result<bool> {
        let listened = self.ports.listen(timeout, all, &mut self.received)?;
        self.stepped_ns = listened.stepped_ns;
        Ok(listened.all)
    }

    /// Answers what was heard, and sends the requests that are due. `backend_ns` tells the backend's time at a raw time.
    pub fn turn(&mut self, backend_ns: impl Fn(RawTime) -> i64) -> io::Result<()> {
        if let Some(by_ns) = self.stepped_ns.take() {
            let at_ns = backend_ns(self.ports.now());
            self.notices.wall_clock_stepped(by_ns, at_ns);
        }
        self.depart(&mut [], &backend_ns);
        self.hear(&backend_ns);
        self.ask(&backend_ns);
        self.serve();
        self.send(&backend_ns)?;
        set(
            &self.counters.receive_queue_overflows,
            self.ports.overflows(),
        );
        set(
            &self.counters.transmit_stamps_missing,
            self.ports.stamps_missing(),
        );
        Ok(())
    }

    /// Settles the exchanges whose deadline has passed at `heard_until`, before which everything that arrived must
    /// have been heard, and returns the windows that are over.
    pub fn settle(
        &mut self,
        heard_until: RawTime,
        backend_ns: impl Fn(RawTime) -> i64,
    ) -> Vec<MeshWindow> {
        let now = self.ports.now();
        let at_ns = backend_ns(now);
        if let Some(disruption) = self.disruptions.look() {
            self.client.disrupted(disruption == Disruption::Moved, now);
            self.responder.forget();
            self.standing.forget();
            self.notices.disrupted(disruption, at_ns);
        }
        self.standing.look(now);
        let error_ns = self.standing.error_ns(now).unwrap_or(0);
        set(&self.counters.hardware_error_ns, error_ns);
        self.restrain(now);
        let (packets_per_s, excess) = self.restraint.packets_per_s(&self.caps);
        self.notices.tell_shed(packets_per_s, excess, at_ns);
        self.tell_stamps();
        if let Some(at) = self.client.stocks.refusing() {
            self.notices.refuses(at, at_ns);
        }
        self.serving.grants.expire(heard_until);
        let settlement = self.client.settle(heard_until, now, at_ns);
        add(&self.counters.exchanges_lost, settlement.lost);
        settlement.windows
    }

    /// Ends all exchanges and returns every window as it stands.
    pub fn finish(&mut self) -> Vec<MeshWindow> {
        for signal in self.client.farewells() {
            self.ports.queue_general(&signal.message, signal.to, None);
        }
        self.ports.send_generals(false);
        self.client.finish(self.ports.now())
    }

    fn tell_stamps(&self) {
        let source = if self.ports.kernel_stamps() {
            TimestampSource::Kernel
        } else {
            TimestampSource::User
        };
        self.counters.set_timestamp_source(source);
    }
}

/// Another one for each process, so that peers notice a restart. Locally administered, as no hardware vouches for it.
fn random_identity() -> u64 {
    let random = RandomState::new().build_hasher().finish();
    random & !(0x03 << 56) | 0x02 << 56
}

pub(super) fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Relaxed);
}

pub(super) fn set(gauge: &AtomicU64, to: u64) {
    gauge.store(to, Relaxed);
}
