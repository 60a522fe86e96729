//! Windows, acknowledgements and losses of a flow, at its sender.

use std::collections::{BTreeSet, VecDeque};

use super::transport::{Settings, Transport};

/// Packets sent later whose acknowledgement lets one count as lost (RFC 5681).
const LATER_ACKS: u8 = 3;
/// Weight of the newest window in the share of marked packets (DCTCP: g).
const NEWEST: f64 = 1.0 / 16.0;
const BACKOFF_MAX: u64 = 64;

struct InFlight {
    /// Number of the transmission, which ascends.
    number: u64,
    index: u32,
    later_acks: u8,
}

/// State of a sender. Homa uses `limit` alone, the others the window.
pub(super) struct Sender {
    /// First packet that was never sent.
    pub(super) next: u32,
    /// The first `limit` packets may be sent.
    pub(super) limit: u32,
    pub(super) resend: BTreeSet<u32>,
    /// When packets in flight count as lost, ps.
    pub(super) deadline_ps: u64,
    in_flight: VecDeque<InFlight>,
    transmissions: u64,
    window: f64,
    threshold: f64,
    backoff: u64,
    /// Transmissions below this number were lost in a window that has been cut already.
    recovered: u64,
    /// DCTCP: share of marked packets, those of this window, and its last transmission.
    marked_share: f64,
    acked: u32,
    marked: u32,
    window_ends: u64,
}

impl Sender {
    pub(super) fn new(settings: &Settings, limit: u32) -> Self {
        Self {
            next: 0,
            limit,
            resend: BTreeSet::new(),
            deadline_ps: 0,
            in_flight: VecDeque::new(),
            transmissions: 0,
            window: settings.window_packets.into(),
            threshold: f64::INFINITY,
            backoff: 1,
            recovered: 0,
            // As in Linux: the first mark halves the window.
            marked_share: 1.0,
            acked: 0,
            marked: 0,
            window_ends: 0,
        }
    }

    pub(super) fn can_send(&self, transport: Transport) -> bool {
        let has_packet = self.next < self.limit || !self.resend.is_empty();
        has_packet && (transport == Transport::Homa || self.in_flight.len() < self.window as usize)
    }

    /// Take the packet to send: lost ones first.
    pub(super) fn take(&mut self) -> u32 {
        self.resend.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// A packet is sent that will be acknowledged.
    pub(super) fn on_send(&mut self, index: u32, settings: &Settings, now_ps: u64) {
        if self.in_flight.is_empty() {
            self.deadline_ps = now_ps + settings.timeout_ps * self.backoff;
        }
        self.in_flight.push_back(InFlight {
            number: self.transmissions,
            index,
            later_acks: 0,
        });
        self.transmissions += 1;
    }

    /// A packet is acknowledged.
    pub(super) fn on_ack(
        &mut self,
        transport: Transport,
        settings: &Settings,
        index: u32,
        is_marked: bool,
        now_ps: u64,
    ) {
        let Some(at) = self.in_flight.iter().position(|sent| sent.index == index) else {
            // It counted as lost and was not.
            self.resend.remove(&index);
            return;
        };
        let Some(acked) = self.in_flight.remove(at) else {
            return;
        };
        self.backoff = 1;
        self.deadline_ps = now_ps + settings.timeout_ps;
        self.grow(transport, settings);
        if transport == Transport::Pfabric {
            return;
        }
        if transport == Transport::Dctcp {
            self.count_marks(acked.number, is_marked);
        }
        self.find_losses(at);
    }

    fn grow(&mut self, transport: Transport, settings: &Settings) {
        let most = f64::from(settings.window_max);
        let is_slow_start = self.window < self.threshold || transport == Transport::Pfabric;
        let more = if is_slow_start {
            1.0
        } else {
            1.0 / self.window
        };
        self.window = (self.window + more).min(most);
    }

    /// Packets sent before several that were acknowledged count as lost, as in TCP: also one that waits in a lower class.
    fn find_losses(&mut self, sent_before: usize) {
        let mut newest_lost = None;
        let mut at = 0;
        for _ in 0..sent_before {
            let earlier = &mut self.in_flight[at];
            earlier.later_acks += 1;
            if earlier.later_acks < LATER_ACKS {
                at += 1;
            } else if let Some(lost) = self.in_flight.remove(at) {
                self.resend.insert(lost.index);
                newest_lost = Some(lost.number);
            }
        }
        if newest_lost.is_some_and(|number| number >= self.recovered) {
            self.threshold = (self.window / 2.0).max(2.0);
            self.window = self.threshold;
            self.recovered = self.transmissions;
        }
    }

    fn count_marks(&mut self, number: u64, is_marked: bool) {
        self.acked += 1;
        if is_marked {
            self.marked += 1;
            // Slow start ends with the first mark.
            self.threshold = self.threshold.min(self.window);
        }
        if number < self.window_ends {
            return;
        }
        let share = f64::from(self.marked) / f64::from(self.acked);
        self.marked_share += NEWEST * (share - self.marked_share);
        if self.marked > 0 {
            self.window = (self.window * (1.0 - self.marked_share / 2.0)).max(1.0);
            self.threshold = self.window;
        }
        (self.acked, self.marked) = (0, 0);
        self.window_ends = self.transmissions;
    }

    pub(super) fn has_in_flight(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// All packets in flight count as lost.
    pub(super) fn on_timeout(&mut self, transport: Transport, settings: &Settings, now_ps: u64) {
        self.resend
            .extend(self.in_flight.drain(..).map(|sent| sent.index));
        self.recovered = self.transmissions;
        if transport == Transport::Pfabric {
            self.window = (self.window / 2.0).max(1.0);
        } else {
            self.threshold = (self.window / 2.0).max(2.0);
            self.window = 1.0;
            self.backoff = (2 * self.backoff).min(BACKOFF_MAX);
        }
        self.deadline_ps = now_ps + settings.timeout_ps * self.backoff;
    }
}
