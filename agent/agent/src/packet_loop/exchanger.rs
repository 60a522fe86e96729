//! Both roles of this agent on its ports: client and responder, with their counters.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::client::{Client, ClosedWindows};
use super::event_log::{self, EventLog, STANDARD_PORTS};
use super::hardware_time::HardwareTime;
use super::hop_counts::HopCounts;
use super::load_shedding::LoadShedder;
use super::sockets::Sockets;
use super::sockets::packet::{Departure, ReceivedMessage};
use super::wakeup::{POLICY, WakeupIntervals};
use super::{LoopError, Options};
use crate::clock::{RawTime, TimestampSource};
use crate::counters::Counters;
use crate::host::SharedWaits;
use crate::network::Listen;
use crate::paths::dating::ClockWish;
use crate::plan::{BackendTime, Caps, Plan, Role};
use crate::ptp::{Responder, TokenBucket};
use crate::standard_clients::unicast_service::UnicastService;
use crate::timestamp::{DepartureTimestamp, Disruption, Disruptions};

/// Time that source ports stay open after the plan that used them, ns: responses may still be on their way.
const UNUSED_PORT_NS: i64 = 5_000_000_000;

/// Largest difference between a suspension and the step that the wall clock seems to make, ns: the clocks are read at
/// different times.
const SUSPENSION_ERROR_NS: i64 = 100_000_000;

/// Largest number of packets that leave for one request that is answered.
pub(super) const ANSWER_PACKETS: u32 = 3;

pub(super) struct Exchanger {
    pub(super) sockets: Sockets,
    pub(super) disruptions: Disruptions,
    pub(super) client: Client,
    pub(super) responder: Responder,
    pub(super) unicast_service: UnicastService,
    pub(super) hardware_time: HardwareTime,
    pub(super) hop_counts: HopCounts,
    pub(super) caps: Caps,
    pub(super) load_shedder: LoadShedder,
    pub(super) budget: TokenBucket,
    /// The part of the budget for answers to addresses that have not proven that they receive.
    pub(super) unproven_budget: TokenBucket,
    pub(super) counters: Arc<Counters>,
    pub(super) event_log: EventLog,
    /// Messages received in this turn.
    pub(super) received: Vec<ReceivedMessage>,
    /// Step of the wall clock before this turn, ns.
    pub(super) stepped_ns: Option<i64>,
    pub(super) departures: Vec<DepartureTimestamp<Departure>>,
    /// Source ports that the plan in force uses, and its time.
    flows_used: (u8, RawTime),
    /// True if a window that is over waits for exchanges.
    is_window_due: bool,
    pub(super) waits: Arc<SharedWaits>,
    /// True if the kernel timestamped packets at the last settlement.
    had_kernel_stamps: bool,
}

impl Exchanger {
    /// Open the two ports. No packet leaves until there is a plan.
    pub fn open(
        listen: Listen,
        options: Options,
        counters: Arc<Counters>,
    ) -> Result<Self, LoopError> {
        let sockets = Sockets::open(listen, options.card, options.ptp_minor_version)?;
        let clock = random_identity();
        let mut exchanger = Self {
            disruptions: Disruptions::watch(),
            client: Client::new(clock, sockets.wire_ns(RawTime(0))),
            responder: Responder::default(),
            unicast_service: UnicastService::new(options.standard_clients),
            hardware_time: HardwareTime::new(options.hardware),
            hop_counts: HopCounts::default(),
            caps: Caps::default(),
            load_shedder: LoadShedder::default(),
            budget: TokenBucket::new(0, 0, sockets.now()),
            unproven_budget: TokenBucket::new(0, 0, sockets.now()),
            event_log: EventLog::new(counters.clone()),
            counters,
            flows_used: (1, sockets.now()),
            is_window_due: false,
            waits: options.waits,
            had_kernel_stamps: sockets.kernel_stamps(),
            sockets,
            received: Vec::new(),
            stepped_ns: None,
            departures: Vec::new(),
        };
        exchanger.report_timestamp_source();
        Ok(exchanger)
    }

    /// Return the driver of the hardware clock in use.
    pub fn hardware(&self) -> Option<&str> {
        self.hardware_time.name()
    }

    /// Return when the next request or granted message is due.
    pub fn next_due(&self) -> Option<RawTime> {
        let grants = self.unicast_service.grants.next();
        self.client.next_due().into_iter().chain(grants).min()
    }

    /// Return true if a granted message is due so soon that the next turn comes for it anyway.
    pub(super) fn grant_due_soon(&self) -> bool {
        let soon = self.sockets.now().plus(POLICY.follow_up_wait_ns);
        self.unicast_service
            .grants
            .next()
            .is_some_and(|due| due <= soon)
    }

    /// Return the time until the next settlement, ns.
    pub fn settle_ns(&self) -> i64 {
        if self.is_window_due {
            POLICY.settle_ns
        } else {
            POLICY.idle_settle_ns
        }
    }

    /// Return the intervals of the plan, shortened while standard clients are served.
    pub fn intervals(&self, of_plan: WakeupIntervals) -> WakeupIntervals {
        let expected_until = self.unicast_service.sptp_at.plus(POLICY.sptp_expected_ns);
        let of_plan = if self.sockets.now() < expected_until {
            of_plan.serving_sptp()
        } else {
            of_plan
        };
        if self.unicast_service.grants.is_empty() {
            of_plan
        } else {
            of_plan.serving(self.unicast_service.grants.messages_hz())
        }
    }

    /// Follow a new plan within its own caps.
    pub fn follow(&mut self, plan: &Plan, now: RawTime) {
        let asks_ecn = plan.meshes.iter().any(|mesh| mesh.probes.ecn);
        self.sockets.ask_ecn(asks_ecn);
        let flows = self.open_flows(plan, now);
        self.client.follow(plan, flows, now);
        // Every peer of the plan may send requests: while roles change, both ends may be clients for a moment.
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        let addresses = peers
            .clone()
            .map(|peer| (peer.event_address(), peer.general_port, peer.vm_tag));
        self.responder.set_peers(addresses, now);
        self.unicast_service.follow(&self.responder);
        self.hop_counts
            .follow(peers.clone().map(|peer| peer.address));
        self.caps = plan.caps;
        let set_or_0 = |gauge, cap: Option<u32>| set(gauge, cap.unwrap_or(0).into());
        set(
            &self.counters.packets_per_s_cap,
            plan.caps.packets_per_s.into(),
        );
        set_or_0(&self.counters.cpu_percent_cap, plan.caps.cpu_percent);
        set_or_0(&self.counters.memory_mib_cap, plan.caps.memory_mib);
        self.apply_limits();
        set(&self.counters.peers, self.responder.peers() as u64);
        event_log::log_plan(
            plan,
            peers
                .filter(|peer| !self.sockets.reaches(peer.address))
                .count(),
        );
    }

    /// Open the source ports that a plan asks for. Return how many there are.
    fn open_flows(&mut self, plan: &Plan, now: RawTime) -> u8 {
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        let clients = peers.filter(|peer| peer.role == Role::Client);
        let most = clients.map(|peer| peer.flows).max().unwrap_or(1);
        let most = u8::try_from(most).unwrap_or(u8::MAX);
        self.flows_used = (most, now);
        if let Err(error) = self.sockets.open_flows(most) {
            let opened = self.sockets.flows();
            tracing::warn!(
                "of {most} source ports per path only {opened} could be opened: {error}"
            );
        }
        self.sockets.flows()
    }

    /// Receive packets, and wait for them up to `timeout` if there are none. Return true if everything that had arrived
    /// before was received, which `all` demands.
    pub fn poll(&mut self, timeout: Duration, all: bool) -> io::Result<bool> {
        let poll = self.sockets.poll(timeout, all, &mut self.received)?;
        self.stepped_ns = poll.stepped_ns;
        Ok(poll.all)
    }

    /// Follow the backend's time. Date again what was measured since a standstill of this machine's clocks, if it shows one.
    pub fn follow_time(&mut self, time: BackendTime) {
        let now = self.sockets.now();
        if let Some(found) = self.client.follow_time(time, now) {
            self.event_log
                .stood_still(&found, now.0.saturating_add(time.ahead_ns));
        }
    }

    /// Take the wishes to the clock of windows.
    pub fn take_clock_wishes(&mut self) -> Vec<ClockWish> {
        self.client.take_clock_wishes()
    }

    /// Respond to the received messages and send the requests that are due. Return true if packets left. `backend_ns`
    /// converts a raw time to the backend's time.
    pub fn turn(&mut self, backend_ns: impl Fn(RawTime) -> i64) -> io::Result<bool> {
        if let Some(by_ns) = self.stepped_ns.take() {
            let now = self.sockets.now();
            let at_ns = backend_ns(now);
            // The wall clock runs on during a suspension, so it looks stepped by that time.
            match self.notice_disruption(now, at_ns) {
                Some(Disruption::Suspended { for_ns })
                    if (by_ns - for_ns).abs() < SUSPENSION_ERROR_NS => {}
                Some(Disruption::Suspended { for_ns }) => {
                    self.event_log.wall_clock_stepped(by_ns - for_ns, at_ns);
                }
                _ => self.event_log.wall_clock_stepped(by_ns, at_ns),
            }
        }
        self.record_departures(&mut [], &backend_ns);
        self.dispatch(&backend_ns);
        self.queue_requests(&backend_ns);
        self.queue_granted();
        let sent = self.transmit(&backend_ns)?;
        set(
            &self.counters.receive_queue_overflows,
            self.sockets.overflows(),
        );
        set(
            &self.counters.transmit_stamps_missing,
            self.sockets.stamps_missing(),
        );
        Ok(sent > 0)
    }

    /// Settle the exchanges whose deadline has passed at `polled_until`, before which all arrived packets must have been
    /// received. Return the windows that are over.
    pub fn settle(
        &mut self,
        polled_until: RawTime,
        backend_ns: impl Fn(RawTime) -> i64,
    ) -> io::Result<ClosedWindows> {
        let now = self.sockets.now();
        let at_ns = backend_ns(now);
        self.notice_disruption(now, at_ns);
        self.hardware_time.read(now);
        let error_ns = self.hardware_time.error_ns(now).unwrap_or(0);
        set(&self.counters.hardware_error_ns, error_ns);
        self.shed_load(now);
        let (packets_per_s, excess) = self.load_shedder.packets_per_s(&self.caps);
        let grants = &mut self.unicast_service.grants;
        self.event_log
            .report_shed(packets_per_s, excess, grants.largest(), at_ns);
        if let Some(address) = grants.take_over_share() {
            self.event_log.over_share(address, at_ns);
        }
        self.sockets.check_card()?;
        let error_ns = self.sockets.card_error_ns().unwrap_or(0);
        set(&self.counters.card_error_ns, error_ns);
        self.report_timestamp_source();
        let has_kernel_stamps = self.sockets.kernel_stamps();
        if std::mem::replace(&mut self.had_kernel_stamps, has_kernel_stamps) != has_kernel_stamps {
            self.event_log.timestamps_changed(has_kernel_stamps, at_ns);
        }
        let listen = self.sockets.listen();
        let standard_ports = (listen.event_port, listen.general_port) == STANDARD_PORTS;
        while let Some(without) = self.client.new_without_service(standard_ports, now) {
            self.event_log.no_service(&without, at_ns);
        }
        while let Some((path, at, foreign)) = self.client.new_foreign(now) {
            self.event_log.foreign_answers(path, at, foreign, at_ns);
        }
        self.unicast_service.grants.expire(polled_until);
        let (flows, since) = self.flows_used;
        if flows < self.sockets.flows() && now.since(since) > UNUSED_PORT_NS {
            self.sockets.close_flows(flows);
        }
        let settlement = self.client.settle(polled_until, now, at_ns);
        add(&self.counters.exchanges_lost, settlement.lost);
        for found in [&settlement.confirmed, &settlement.stood_still]
            .into_iter()
            .flatten()
        {
            self.event_log.stood_still(found, at_ns);
        }
        self.is_window_due = self.client.has_due_window(at_ns);
        Ok(self.with_ports(settlement.closed))
    }

    /// Act on a disruption of this machine since the last call, if there was one, and return it.
    fn notice_disruption(&mut self, now: RawTime, at_ns: i64) -> Option<Disruption> {
        let disruption = self.disruptions.poll()?;
        self.client.disrupted(disruption == Disruption::Moved, now);
        self.responder.forget_requests();
        self.hardware_time.reset();
        self.sockets.reset_card();
        self.event_log.disrupted(disruption, at_ns);
        Some(disruption)
    }

    /// End all exchanges and return every window as it is.
    pub fn finish(&mut self) -> ClosedWindows {
        for signal in self.client.cancellations() {
            self.sockets.queue_general(&signal.message, signal.to, None);
        }
        self.sockets.send_generals(false);
        let closed = self.client.finish(self.sockets.now());
        self.with_ports(closed)
    }

    /// Add the source ports to the windows of measurements on demand.
    fn with_ports(&self, mut closed: ClosedWindows) -> ClosedWindows {
        for window in &mut closed.on_demand {
            let flows = window
                .exchanges
                .flow
                .iter()
                .max()
                .map_or(0, |flow| flow + 1);
            window.ports = self.sockets.ports(flows);
        }
        closed
    }

    /// Report the least precise origin of the latest timestamps; before the first one that of the kernel.
    fn report_timestamp_source(&mut self) {
        let latest = self.sockets.take_least_source();
        if !self.sockets.kernel_stamps() {
            self.counters.set_timestamp_source(TimestampSource::User);
        } else if let Some(source) = latest.filter(|source| *source > TimestampSource::User) {
            self.counters.set_timestamp_source(source);
        } else if self.counters.timestamp_source().is_empty() {
            self.counters.set_timestamp_source(TimestampSource::Kernel);
        }
    }
}

/// Return a clock identity that differs between processes, so that peers notice a restart. It is locally administered.
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
