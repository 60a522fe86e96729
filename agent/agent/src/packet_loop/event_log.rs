//! Events for the backend and the log, limited in frequency.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::hop_counts::Reroute;
use super::load_shedding::CapExceeded;
use crate::clock::{Direction, RouteChange};
use crate::counters::{Counters, EventKind, EventPath};
use crate::log_throttle::LogThrottle;
use crate::paths::dating::{Found, ShownBy};
use crate::paths::peer_session::Foreign;
use crate::paths::schedule::PathKey;
use crate::plan::Plan;
use crate::ptp::NoService;
use crate::standard_clients::standard_client::WithoutService;
use crate::timestamp::Disruption;

const INTERVAL: Duration = Duration::from_secs(60);

/// Event and general port of standard IEEE 1588 implementations (annex C.2).
pub(super) const STANDARD_PORTS: (u16, u16) = (319, 320);

/// Shortest interval between reports of route changes and of steps of peers' clocks: single ones are reported, a network
/// failure or a step of the own clock shows as many at once.
const PEER_INTERVAL: Duration = Duration::from_secs(1);

/// Raises events; times are Unix ns in the backend's time.
pub(super) struct EventLog {
    counters: Arc<Counters>,
    shed: u64,
    shed_throttle: LogThrottle,
    step_throttle: LogThrottle,
    disruption_throttle: LogThrottle,
    refusal_throttle: LogThrottle,
    share_throttle: LogThrottle,
    authentication_throttle: LogThrottle,
    route_throttle: LogThrottle,
    reroute_throttle: LogThrottle,
    peer_step_throttle: LogThrottle,
    /// Steps of peers' clocks since the last report of one.
    steps_untold: u32,
}

impl EventLog {
    pub fn new(counters: Arc<Counters>) -> Self {
        Self {
            counters,
            shed: 0,
            shed_throttle: LogThrottle::new(INTERVAL),
            step_throttle: LogThrottle::new(INTERVAL),
            disruption_throttle: LogThrottle::new(INTERVAL),
            refusal_throttle: LogThrottle::new(INTERVAL),
            share_throttle: LogThrottle::new(INTERVAL),
            authentication_throttle: LogThrottle::new(INTERVAL),
            route_throttle: LogThrottle::new(PEER_INTERVAL),
            reroute_throttle: LogThrottle::new(PEER_INTERVAL),
            peer_step_throttle: LogThrottle::new(PEER_INTERVAL),
            steps_untold: 0,
        }
    }

    /// Report a step of this machine's wall clock.
    pub fn wall_clock_stepped(&mut self, by_ns: i64, at_ns: i64) {
        let by_ms = by_ns as f64 / 1e6;
        let detail = format!(
            "the wall clock of this VM was stepped by {by_ms:.3} ms; delays are not affected"
        );
        if self.step_throttle.due(Instant::now()) {
            self.raise(EventKind::ClockStep, at_ns, detail);
        }
    }

    /// Report that this machine was suspended or has moved.
    pub fn disrupted(&mut self, disruption: Disruption, at_ns: i64) {
        let cause = match disruption {
            Disruption::Moved => {
                "the hypervisor reports that this VM has moved to another host or was restored"
                    .to_owned()
            }
            Disruption::Suspended { for_ns } => {
                format!("this VM was suspended for {:.3} s", for_ns as f64 / 1e9)
            }
        };
        // A step of a clock just before it, of a peer's or the wall clock, must not hide it.
        if self.disruption_throttle.due(Instant::now()) {
            let detail = format!("{cause}; the estimates of its peers' clocks start again");
            self.raise(EventKind::ClockStep, at_ns, detail);
        }
    }

    /// Report that the clocks of this machine stood still, if that is certain.
    pub fn stood_still(&self, found: &Found, at_ns: i64) {
        if !found.is_certain() {
            return;
        }
        let shown = match found.shown_by {
            ShownBy::Suspension | ShownBy::Correction => return,
            ShownBy::Backend => {
                "as when its hypervisor pauses it; windows since then are dated by the backend's time"
            }
            ShownBy::Peers => {
                "by the clocks of its peers; windows follow them until the backend answers"
            }
        };
        let for_s = found.for_ns as f64 / 1e9;
        self.raise(
            EventKind::ClockStep,
            at_ns,
            format!("the clocks of this VM stood still for {for_s:.3} s, {shown}"),
        );
    }

    /// Report a step of a peer's clock against ours, or of ours against it.
    pub fn peer_clock_stepped(&mut self, peer: IpAddr, at_ns: i64) {
        self.peer_step(
            at_ns,
            format!(
                "the clock of {peer} was stepped against that of this VM; the estimate of its offset starts again, and the \
                 exchanges next to the step are not measured"
            ),
        );
    }

    /// Report that a standard responder announces another offset from UTC.
    pub fn time_scale_changed(&mut self, peer: IpAddr, at_ns: i64) {
        self.peer_step(
            at_ns,
            format!(
                "the IEEE 1588 responder at {peer} announces another UTC offset; the estimate of its offset starts again, \
                 and the exchanges under way are not measured"
            ),
        );
    }

    /// Report which timestamps of sent packets are used from now on: the kernel's, or those of this process.
    pub fn timestamps_changed(&self, are_kernels: bool, at_ns: i64) {
        let detail = if are_kernels {
            "the kernel's timestamps of packets come again and are used again"
        } else {
            "the kernel gives no timestamps of packets, or gives them more than a second late: those of this process are used \
             until they come again, so delays hold the waits inside this VM"
        };
        self.raise(EventKind::Timestamps, at_ns, detail);
    }

    /// Report that the route from or to a peer has become longer or shorter.
    pub fn route_changed(&mut self, peer: IpAddr, change: RouteChange, at_ns: i64) {
        if !self.route_throttle.due(Instant::now()) {
            return;
        }
        let preposition = match change.direction {
            Direction::Inbound => "from",
            Direction::Outbound => "to",
        };
        let (by_us, more) = (change.by_ns.abs() / 1e3, change.by_ns > 0.0);
        let detail = format!(
            "the route {preposition} {peer} is {by_us:.1} us {} than before, in that direction only{}",
            if more { "longer" } else { "shorter" },
            if more {
                ": another route, or a persistent queue"
            } else {
                ""
            },
        );
        tracing::info!("{detail}");
        self.counters
            .events
            .raise(EventKind::RouteChange, at_ns, detail);
    }

    /// Report that packets of a peer pass another number of routers than before.
    pub fn rerouted(&mut self, peer: IpAddr, reroute: Reroute) {
        if !self.reroute_throttle.due(Instant::now()) {
            return;
        }
        let Reroute {
            before,
            after,
            at_ns,
        } = reroute;
        let (routers, more) = (before.abs_diff(after), before > after);
        let detail = format!(
            "packets from {peer} pass {routers} router{} {} than before (hop limit {after} instead of {before}): another route",
            if routers == 1 { "" } else { "s" },
            if more { "more" } else { "fewer" },
        );
        tracing::info!("{detail}");
        self.counters
            .events
            .raise(EventKind::RouteChange, at_ns, detail);
    }

    /// Count a packet that was not sent because of a cap.
    pub fn shed(&mut self) {
        self.shed += 1;
        self.counters.requests_shed.fetch_add(1, Relaxed);
    }

    /// Report the packets shed since the last report, the reason for the limit of `packets_per_s`, and the standard client
    /// with the most granted messages per second.
    pub fn report_shed(
        &mut self,
        packets_per_s: u32,
        excess: Option<CapExceeded>,
        largest: Option<(IpAddr, i64)>,
        at_ns: i64,
    ) {
        if self.shed > 0 && self.shed_throttle.due(Instant::now()) {
            let why = match excess {
                None => format!("{packets_per_s} packets/s are allowed"),
                Some(CapExceeded::Cpu(used, cap)) => format!(
                    "the agent used {used:.1} % of a processor, the plan allows {cap} %; it limits itself to \
                     {packets_per_s} packets/s"
                ),
                Some(CapExceeded::Memory(used, cap)) => format!(
                    "the agent used {used:.0} MiB of memory, the plan allows {cap} MiB; it limits itself to \
                     {packets_per_s} packets/s"
                ),
            };
            let granted = largest.map_or_else(String::new, |(address, hz)| {
                format!("; standard clients get granted messages too, {address} the most: {hz}/s")
            });
            let detail = format!(
                "{} packets were not sent since the last notice: {why}{granted}",
                self.shed
            );
            self.shed = 0;
            self.raise(EventKind::RateShed, at_ns, detail);
        }
    }

    /// Report an address whose standard clients ask for more than one address gets.
    pub fn over_share(&mut self, address: IpAddr, at_ns: i64) {
        if self.share_throttle.due(Instant::now()) {
            let detail = format!(
                "standard clients at {address} ask for more than one address gets (4 clients, 264 messages/s), so some \
                 are denied; if only one runs there, its address is forged"
            );
            self.raise(EventKind::RateShed, at_ns, detail);
        }
    }

    /// Report a packet that the system refused to send.
    pub fn refused(&mut self, to: SocketAddr, why: &str, at_ns: i64) {
        if self.refusal_throttle.due(Instant::now()) {
            let detail = format!(
                "this VM cannot send to {to}: {why}; unsent packets are not counted as lost"
            );
            self.raise(EventKind::Error, at_ns, detail);
        }
    }

    /// Report a standard responder that has no service for this agent.
    pub fn no_service(&self, without: &WithoutService, at_ns: i64) {
        let WithoutService {
            path,
            at,
            reason,
            domain,
            is_sptp,
        } = *without;
        let why = match reason {
            NoService::Ports => {
                "it answers to ports 319 and 320, and this agent listens on others: set event_port = 319 and general_port \
                 = 320"
                    .to_owned()
            }
            NoService::Refused => {
                "it refuses the grants: configure it to grant Announce, Sync and Delay_Resp at the rate of the mesh".into()
            }
            NoService::Silent if is_sptp => "it answers no request of SPTP: check that it serves SPTP, and that UDP 319 and 320 \
                                             are open in both directions"
                .into(),
            NoService::Silent => format!(
                "it answers no request in any PTP domain: check that it negotiates unicast, and that UDP 319 and 320 are \
                 open in both directions (the domain of the plan is {domain})"
            ),
            NoService::Domain(other) => format!(
                "it answers in PTP domain {other} and the plan has domain {domain}: set the same domain at both"
            ),
            NoService::Closed if is_sptp => {
                "its host answers that no program listens on its event port: start the server there".into()
            }
            NoService::Closed => {
                "its host answers that no program listens on its general port: start the responder there".into()
            }
            NoService::Unreachable => "no host answers at its address: check the address, and that it runs".into(),
            NoService::Authentication => {
                "it authenticates its messages (AUTHENTICATION TLV, IEEE 1588-2019, 16.14), which is not supported: switch \
                 that off for this client"
                    .into()
            }
            NoService::NoAnnounce => "it sends no Announce, so its time scale is unknown".into(),
        };
        let detail = format!(
            "no service of the IEEE 1588 responder at {at}, so nothing is measured and nothing is lost: {why}"
        );
        self.raise_no_service(path, reason.as_str(), at_ns, detail);
    }

    /// Report a path whose answers are not the peer's, or not from its address.
    pub fn foreign_answers(&self, path: PathKey, at: SocketAddr, foreign: Foreign, at_ns: i64) {
        let why = match foreign {
            Foreign::AnotherVm => format!(
                "another VM answers at {at}: the address has moved to it. Correct or remove the address of one of the two"
            ),
            Foreign::Elsewhere(from) => format!(
                "its answers come from {from} instead of {at}: something on the way rewrites addresses or ports. Exempt UDP \
                 {} from it, or set probe_address and the ports to what others see",
                at.port()
            ),
        };
        let detail = format!("nothing is measured and nothing is lost: {why}");
        self.raise_no_service(path, foreign.as_str(), at_ns, detail);
    }

    /// Report an address that sends authenticated messages.
    pub fn authenticated(&mut self, from: IpAddr, at_ns: i64) {
        if self.authentication_throttle.due(Instant::now()) {
            let detail = format!(
                "messages of {from} carry an AUTHENTICATION TLV (IEEE 1588-2019, 16.14), which this agent cannot verify, \
                 so they are refused: switch authentication off at {from}"
            );
            self.raise(EventKind::Error, at_ns, detail);
        }
    }

    /// Raise a step of a peer's clock. Steps within a second are one event.
    fn peer_step(&mut self, at_ns: i64, detail: String) {
        if !self.peer_step_throttle.due(Instant::now()) {
            self.steps_untold += 1;
            return;
        }
        let others = match std::mem::take(&mut self.steps_untold) {
            0 => String::new(),
            n => format!("; {n} more steps of peers' clocks since the last notice"),
        };
        self.raise(EventKind::ClockStep, at_ns, detail + &others);
    }

    /// Raise an event and log it as a warning.
    fn raise(&self, kind: EventKind, at_ns: i64, detail: impl Into<String>) {
        let detail = detail.into();
        tracing::warn!("{detail}");
        self.counters.events.raise(kind, at_ns, detail);
    }

    /// Raise that nothing is measured on a path, and log it as a warning.
    fn raise_no_service(
        &self,
        (mesh_key, peer_key): PathKey,
        reason: &'static str,
        at_ns: i64,
        detail: String,
    ) {
        tracing::warn!(peer_key, "{detail}");
        let path = Some(EventPath {
            mesh_key,
            peer_key,
            reason,
        });
        let events = &self.counters.events;
        events.raise_of(EventKind::NoService, at_ns, detail, path);
    }
}

/// Log a new plan, and the peers of it that this agent cannot reach.
pub(super) fn log_plan(plan: &Plan, unreachable: usize) {
    let peers = || plan.meshes.iter().flat_map(|mesh| &mesh.peers);
    let (revision, meshes) = (&plan.revision, plan.meshes.len());
    tracing::info!(
        revision,
        meshes,
        peers = peers().count(),
        "measuring according to a new plan"
    );
    if unreachable > 0 {
        tracing::warn!(
            peers = unreachable,
            "peers of another address family than listen_address cannot be measured: set listen_address = \"::\" for both"
        );
    }
}
