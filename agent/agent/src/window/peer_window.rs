//! The exchanges with one peer in one window.

use sinemora_wire::MeshWindow;

use super::delay::{Delays, Timestamps};
use super::evidence::{Measured, around_spike};
use super::exchanges::Exchanges;
use super::loss::{LossCount, Lost};
use super::pair_order::{PairOrder, Reversed};
use super::statistics::{Row, append_flow};
use crate::clock::{Leg, PeerClock, RawTime, TimestampSource};
use crate::ptp::{EcnField, EcnSeen, Outcome, ResponderNotes};

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
    unresolved: Vec<(Exchange, Timestamps)>,
    resolved: Vec<(Exchange, Delays)>,
    clock_error_ns: u64,
    /// True if some delay assumes that both routes are equally long.
    assumed: bool,
    /// Least precise origin of this VM's timestamps.
    source: Option<TimestampSource>,
    loss: LossCount,
    residence: ResidenceSum,
    /// Bits of `peer_marks` in the report.
    marks: u32,
    /// Set if the order of the packets of pairs is compared.
    order: Option<PairOrder>,
}

/// An exchange without its times.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    flow: u8,
    at_ns: u64,
    lost: Lost,
    ecn: EcnSeen,
    reversed: Reversed,
}

impl PeerWindow {
    /// Record an exchange that started `at_ns` after the window did.
    pub fn record<T>(&mut self, at_ns: u64, flow: Flow, outcome: &Outcome<T>) {
        self.flows = self.flows.max(flow.of);
        self.source = self.source.into_iter().chain(outcome.source).min();
        self.loss.add(outcome);
        self.residence.add(outcome);
        self.marks |= marks_of(outcome.responder);
        let exchange = Exchange {
            flow: flow.number,
            at_ns,
            lost: Lost::of(outcome),
            ecn: outcome.ecn,
            reversed: Reversed::default(),
        };
        self.unresolved.push((exchange, Timestamps::of(outcome)));
    }

    /// Compare the order of the packets of the exchange that was recorded last with that of the other one of its pair.
    pub fn compare_order<T>(&mut self, at_ns: u64, flow: Flow, outcome: &Outcome<T>) {
        let order = self.order.get_or_insert_default();
        let reversed = order.compare(at_ns, flow.number, outcome);
        if let Some((last, _)) = self.unresolved.last_mut() {
            last.reversed = reversed;
        }
    }

    /// Convert timestamps to delays with the current estimate of the clock.
    pub fn resolve_delays(&mut self, clock: &PeerClock) {
        let (mut error_ns, mut assumed) = (self.clock_error_ns, self.assumed);
        let mut offset_at = |legs: Option<(Leg, Leg)>, at: RawTime| {
            let offset = match legs {
                Some(legs) => clock.offset_of(legs, at),
                None => clock.offset_at(at),
            }?;
            error_ns = error_ns.max(offset.error_ns);
            assumed |= !offset.by_hardware;
            Some(offset.offset_ns)
        };
        for (exchange, timestamps) in self.unresolved.drain(..) {
            let legs = timestamps.legs();
            let delays = timestamps.delays(|at| offset_at(legs, at));
            self.resolved.push((exchange, delays));
        }
        (self.clock_error_ns, self.assumed) = (error_ns, assumed);
    }

    /// Return every exchange in order of time. Exchanges that were not [`resolve_delays`](Self::resolve_delays) have no
    /// delays.
    pub fn exchanges(&self) -> Exchanges {
        let mut exchanges = Exchanges {
            clock_error_ns: self.is_resolved().then_some(self.clock_error_ns),
            by_hardware: self.is_by_hardware(),
            ..Exchanges::default()
        };
        let unresolved = self.unresolved.iter();
        let without_delays = unresolved.map(|(exchange, _)| (*exchange, Delays::default()));
        let resolved = self.resolved.iter().copied();
        let mut all: Vec<(Exchange, Delays)> = resolved.chain(without_delays).collect();
        all.sort_by_key(|(exchange, _)| exchange.at_ns);
        for (exchange, delays) in all {
            exchanges.at_ns.push(exchange.at_ns);
            exchanges.flow.push(exchange.flow);
            exchanges.outbound_ns.push(delays.outbound_ns);
            exchanges.inbound_ns.push(delays.inbound_ns);
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

    /// Return true if some delay is known.
    fn is_resolved(&self) -> bool {
        let mut delays = self.resolved.iter();
        delays.any(|(_, read)| read.outbound_ns.is_some() || read.inbound_ns.is_some())
    }

    fn is_by_hardware(&self) -> bool {
        !self.assumed && self.is_resolved()
    }

    /// Return the known delays of a direction.
    fn delays_ns(&self, of: fn(&Delays) -> Option<i64>) -> impl Iterator<Item = i64> {
        self.resolved
            .iter()
            .filter_map(move |(_, delays)| of(delays))
    }

    /// Append the peer to its window. Exchanges that were not [`resolve_delays`](Self::resolve_delays) are only counted.
    pub fn append_to(&self, window: &mut MeshWindow, peer_key: u32, spike_threshold_ns: u64) {
        let measured: Vec<Measured> = self.resolved.iter().filter_map(measured).collect();
        let outbound: Vec<i64> = self.delays_ns(|delays| delays.outbound_ns).collect();
        let inbound: Vec<i64> = self.delays_ns(|delays| delays.inbound_ns).collect();
        let round_trip: Vec<i64> = self.delays_ns(|delays| delays.round_trip_ns).collect();
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
            let of = |flow| self.resolved.iter().filter(move |(e, _)| e.flow == flow);
            (0..self.flows).map(move |flow| of(flow).filter_map(|(_, d)| delay(d)).collect())
        };
        let [outbound_flows, inbound_flows] =
            [&mut window.outbound_flows, &mut window.inbound_flows]
                .map(Option::get_or_insert_default);
        measured_flows(|read| read.outbound_ns).for_each(|f| append_flow(outbound_flows, f));
        measured_flows(|read| read.inbound_ns).for_each(|f| append_flow(inbound_flows, f));
        let (error_ns, loss) = (self.clock_error_ns, &self.loss);
        let columns = [
            (&mut window.outbound, outbound, error_ns, loss.outbound()),
            (&mut window.inbound, inbound, error_ns, loss.inbound()),
            (&mut window.round_trip, round_trip, 0, loss.round_trip()),
        ];
        for (columns, delays_ns, error_ns, loss) in columns {
            Row::of(&delays_ns, loss, error_ns).append_to(columns.get_or_insert_default());
        }
        window.peer_marks.push(self.marks);
        let [outbound_ns, inbound_ns] = self.residence.means_ns();
        window.outbound_residence_ns.push(outbound_ns);
        window.inbound_residence_ns.push(inbound_ns);
        window
            .evidence
            .extend(around_spike(peer_key, &measured, spike_threshold_ns));
    }
}

/// The time that switches say they held the packets of exchanges.
#[derive(Debug, Default)]
struct ResidenceSum {
    count: u64,
    sums_ns: [u64; 2],
}

impl ResidenceSum {
    fn add<T>(&mut self, outcome: &Outcome<T>) {
        if outcome.outbound.is_some() && outcome.inbound.is_some() {
            let of = outcome.residence;
            self.count += 1;
            for (sum_ns, ns) in self.sums_ns.iter_mut().zip([of.outbound_ns, of.inbound_ns]) {
                *sum_ns = sum_ns.saturating_add(ns.unsigned_abs());
            }
        }
    }

    /// Return the means of both directions, ns; 0 without any.
    fn means_ns(&self) -> [u32; 2] {
        let mean = |sum_ns: u64| sum_ns.checked_div(self.count).unwrap_or(0);
        self.sums_ns
            .map(|sum_ns| u32::try_from(mean(sum_ns)).unwrap_or(u32::MAX))
    }
}

/// Return the bits of `peer_marks` for what a responder reports about itself.
fn marks_of(responder: ResponderNotes) -> u32 {
    u32::from(responder.is_unnamed) | u32::from(responder.has_own_stamps) << 1
}

/// Return the exchange if both of its delays are known.
fn measured((exchange, delays): &(Exchange, Delays)) -> Option<Measured> {
    Some(Measured {
        at_ns: exchange.at_ns,
        outbound_ns: delays.outbound_ns?,
        inbound_ns: delays.inbound_ns?,
    })
}
