//! The exchanges with one peer in one window.

use sinemora_wire::MeshWindow;

use super::evidence::{Measured, around_spike};
use super::exchanges::Exchanges;
use super::pair_order::{PairOrder, Reversed};
use super::statistics::{Loss, append, append_flow};
use crate::clock::{Leg, PeerClock, TimestampSource};
use crate::ptp::{EcnField, EcnSeen, Outcome};

/// Basis of the delays, as coded in reports.
const ASSUMED: u32 = 0;
const HARDWARE: u32 = 2;

/// The source port of an exchange, and the number of source ports of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub number: u8,
    pub of: u8,
}

impl Flow {
    /// The flow of a path with one source port.
    pub const ONLY: Self = Self { number: 0, of: 1 };
}

/// Outcomes of the exchanges with one peer that started in one window.
#[derive(Debug, Default)]
pub struct PeerWindow {
    flows: u8,
    /// Timestamps not yet converted to delays: the estimate of the peer's clock improves with time.
    unresolved: Vec<Stamps>,
    resolved: Vec<Delays>,
    clock_error_ns: u64,
    /// True if some delay assumes that both routes are equally long.
    assumed: bool,
    /// Least precise origin of this VM's timestamps.
    source: Option<TimestampSource>,
    requests: u32,
    requests_lost: u32,
    request_unknown: bool,
    syncs: u32,
    syncs_lost: u32,
    sync_unknown: bool,
    round_trips_lost: u32,
    /// Set if the order of the packets of pairs is compared.
    order: Option<PairOrder>,
}

/// True if the packet of a direction was lost; `None` is unknown.
#[derive(Debug, Clone, Copy)]
struct Lost {
    outbound: Option<bool>,
    inbound: Option<bool>,
}

#[derive(Debug)]
struct Stamps {
    flow: u8,
    lost: Lost,
    at_ns: u64,
    outbound: Option<Leg>,
    inbound: Option<Leg>,
    ecn: EcnSeen,
    reversed: Reversed,
}

#[derive(Debug, Clone, Copy)]
struct Delays {
    flow: u8,
    lost: Lost,
    at_ns: u64,
    outbound_ns: Option<i64>,
    inbound_ns: Option<i64>,
    ecn: EcnSeen,
    reversed: Reversed,
}

impl PeerWindow {
    /// Records an exchange that started `at_ns` after the window did.
    pub fn record<T>(&mut self, at_ns: u64, flow: Flow, outcome: &Outcome<T>) {
        self.flows = self.flows.max(flow.of);
        self.source = self.source.into_iter().chain(outcome.source).min();
        self.requests += 1;
        match outcome.request_arrived {
            Some(arrived) => self.requests_lost += u32::from(!arrived),
            None => self.request_unknown = true,
        }
        match outcome.sync_sent {
            Some(sent) => {
                self.syncs += u32::from(sent);
                self.syncs_lost += u32::from(sent && !outcome.sync_arrived);
            }
            None => self.sync_unknown = true,
        }
        // A late Sync corrects the count of an earlier window.
        self.sync_unknown |= outcome.syncs_missed.is_none();
        let missed = outcome.syncs_missed.unwrap_or(0);
        self.syncs = self.syncs.saturating_add_signed(missed.max(0));
        self.syncs_lost = self.syncs_lost.saturating_add_signed(missed);
        // A round trip without its response is lost. A lost Follow_Up or Delay_Resp costs a measurement, but is no further
        // loss of the round trip.
        self.round_trips_lost += u32::from(!outcome.answered);
        let sent = outcome.sync_sent;
        self.unresolved.push(Stamps {
            flow: flow.number,
            lost: Lost {
                outbound: outcome.request_arrived.map(|arrived| !arrived),
                inbound: sent.map(|sent| sent && !outcome.sync_arrived),
            },
            at_ns,
            outbound: outcome.outbound,
            inbound: outcome.inbound,
            ecn: outcome.ecn,
            reversed: Reversed::default(),
        });
    }

    /// Compares the order of the packets of the exchange that was recorded last with that of the other one of its pair.
    pub fn compare_order<T>(&mut self, at_ns: u64, flow: Flow, outcome: &Outcome<T>) {
        let order = self.order.get_or_insert_default();
        let reversed = order.compare(at_ns, flow.number, outcome);
        if let Some(last) = self.unresolved.last_mut() {
            last.reversed = reversed;
        }
    }

    /// Converts timestamps to delays with the current estimate of the clock.
    pub fn resolve_delays(&mut self, clock: &PeerClock) {
        let (mut error_ns, mut assumed) = (self.clock_error_ns, self.assumed);
        let mut delay = |leg: Leg, sign: i64| {
            let offset = clock.offset_at(leg.local)?;
            error_ns = error_ns.max(offset.error_ns);
            assumed |= !offset.by_hardware;
            Some(
                leg.difference_ns()
                    .saturating_sub(offset.offset_ns)
                    .saturating_mul(sign),
            )
        };
        for raw in self.unresolved.drain(..) {
            self.resolved.push(Delays {
                flow: raw.flow,
                lost: raw.lost,
                at_ns: raw.at_ns,
                outbound_ns: raw.outbound.and_then(|leg| delay(leg, -1)),
                inbound_ns: raw.inbound.and_then(|leg| delay(leg, 1)),
                ecn: raw.ecn,
                reversed: raw.reversed,
            });
        }
        (self.clock_error_ns, self.assumed) = (error_ns, assumed);
    }

    /// Returns every exchange in order of time. Exchanges that were not [`resolve_delays`](Self::resolve_delays) have no
    /// delays.
    pub fn exchanges(&self) -> Exchanges {
        let mut exchanges = Exchanges {
            clock_error_ns: self.is_resolved().then_some(self.clock_error_ns),
            by_hardware: self.is_by_hardware(),
            ..Exchanges::default()
        };
        let without_delays = self.unresolved.iter().map(|raw| Delays {
            flow: raw.flow,
            lost: raw.lost,
            at_ns: raw.at_ns,
            outbound_ns: None,
            inbound_ns: None,
            ecn: raw.ecn,
            reversed: raw.reversed,
        });
        let mut all: Vec<Delays> = self
            .resolved
            .iter()
            .copied()
            .chain(without_delays)
            .collect();
        all.sort_by_key(|exchange| exchange.at_ns);
        for exchange in all {
            exchanges.at_ns.push(exchange.at_ns);
            exchanges.flow.push(exchange.flow);
            exchanges.outbound_ns.push(exchange.outbound_ns);
            exchanges.inbound_ns.push(exchange.inbound_ns);
            exchanges.outbound_lost.push(exchange.lost.outbound);
            exchanges.inbound_lost.push(exchange.lost.inbound);
            let (ecn, reversed) = (exchange.ecn, exchange.reversed);
            exchanges
                .outbound_ecn
                .push(ecn.outbound.map(EcnField::code));
            exchanges.inbound_ecn.push(ecn.inbound.map(EcnField::code));
            exchanges.outbound_reversed.push(reversed.outbound);
            exchanges.inbound_reversed.push(reversed.inbound);
        }
        exchanges.drop_unasked(self.order.is_some());
        exchanges
    }

    /// Returns true if some delay is known.
    fn is_resolved(&self) -> bool {
        let mut delays = self.resolved.iter();
        delays.any(|read| read.outbound_ns.is_some() || read.inbound_ns.is_some())
    }

    fn is_by_hardware(&self) -> bool {
        !self.assumed && self.is_resolved()
    }

    /// Appends the peer to its window. Exchanges that were not [`resolve_delays`](Self::resolve_delays) are only counted.
    pub fn append_to(&self, window: &mut MeshWindow, peer_key: u32, spike_threshold_ns: u64) {
        let measured: Vec<Measured> = self.resolved.iter().filter_map(Delays::measured).collect();
        let outbound: Vec<i64> = self.resolved.iter().filter_map(|r| r.outbound_ns).collect();
        let inbound: Vec<i64> = self.resolved.iter().filter_map(|r| r.inbound_ns).collect();
        let round_trip: Vec<i64> = measured
            .iter()
            .map(|m| m.outbound_ns.saturating_add(m.inbound_ns))
            .collect();
        let all = Some(self.requests);
        let unless = |unknown: bool, count: u32| (!unknown).then_some(count);
        window.peer_keys.push(peer_key);
        window.flows.push(self.flows.into());
        if let Some(source) = self.source.map(|source| source as u32) {
            window.timestamp_source = match window.timestamp_source {
                0 => source,
                known => known.min(source),
            };
        }
        let source = if self.is_by_hardware() {
            HARDWARE
        } else {
            ASSUMED
        };
        window.asymmetry_source.push(source);
        let measured_flows = |delay: fn(&Delays) -> Option<i64>| {
            let of = |flow| self.resolved.iter().filter(move |read| read.flow == flow);
            (0..self.flows).map(move |flow| of(flow).filter_map(delay).collect())
        };
        let [outbound_flows, inbound_flows] =
            [&mut window.outbound_flows, &mut window.inbound_flows]
                .map(Option::get_or_insert_default);
        measured_flows(|read| read.outbound_ns).for_each(|f| append_flow(outbound_flows, f));
        measured_flows(|read| read.inbound_ns).for_each(|f| append_flow(inbound_flows, f));
        let columns = [
            (
                &mut window.outbound,
                outbound,
                self.clock_error_ns,
                Loss {
                    sent: all,
                    lost: unless(self.request_unknown, self.requests_lost),
                },
            ),
            (
                &mut window.inbound,
                inbound,
                self.clock_error_ns,
                Loss {
                    sent: unless(self.sync_unknown, self.syncs),
                    lost: unless(self.sync_unknown, self.syncs_lost),
                },
            ),
            (
                &mut window.round_trip,
                round_trip,
                0,
                Loss {
                    sent: all,
                    lost: Some(self.round_trips_lost),
                },
            ),
        ];
        for (columns, delays_ns, error_ns, loss) in columns {
            append(columns.get_or_insert_default(), &delays_ns, loss, error_ns);
        }
        window
            .evidence
            .extend(around_spike(peer_key, &measured, spike_threshold_ns));
    }
}

impl Delays {
    fn measured(&self) -> Option<Measured> {
        Some(Measured {
            at_ns: self.at_ns,
            outbound_ns: self.outbound_ns?,
            inbound_ns: self.inbound_ns?,
        })
    }
}
