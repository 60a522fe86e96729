//! The clock of one peer over time: envelopes, and where one ends because the clock stepped.

use super::envelope::{Envelope, Line};
use super::raw_time::{Leg, RawTime};

/// Until so many exchanges are seen, each one redraws the line.
const YOUNG: u32 = 16;

/// Afterwards the line is redrawn this often, ns, and whenever a window asks.
const REDRAW_NS: i64 = 5_000_000_000;

/// So many exchanges in a row that fit a step make one.
const STEP_PROOF: usize = 3;

/// Steps below this, ns, are left to the envelope.
const LEAST_STEP_NS: f64 = 10_000.0;

/// Our clock minus the peer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    pub offset_ns: i64,
    /// Bound on the error of `offset_ns`, and so of any one-way delay made with it.
    pub error_ns: u64,
}

/// Offset and skew of a peer's clock, from the first exchange on.
#[derive(Debug, Default)]
pub struct PeerClock {
    era: Option<Era>,
    /// The era before the clock stepped, and when it ended.
    past: Option<(Era, RawTime)>,
    /// Exchanges that look like a step of the clock; they belong to nothing yet.
    suspects: Vec<(Leg, Leg)>,
    seen: u32,
    drawn_at: RawTime,
    stale: bool,
}

#[derive(Debug)]
struct Era {
    envelope: Envelope,
    line: Line,
}

impl PeerClock {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a complete exchange. Whether it proves that one of the two clocks has stepped.
    pub fn observe(&mut self, outbound: Leg, inbound: Leg) -> bool {
        if self.looks_stepped(outbound, inbound) {
            self.suspects.push((outbound, inbound));
            if self.suspects.len() < STEP_PROOF {
                return false;
            }
            let suspects = std::mem::take(&mut self.suspects);
            self.restart(suspects[0].0.local);
            suspects.into_iter().for_each(|(o, i)| self.add(o, i));
            return true;
        }
        for (outbound, inbound) in std::mem::take(&mut self.suspects) {
            self.add(outbound, inbound);
        }
        self.add(outbound, inbound);
        false
    }

    /// The peer's clock starts anew at `at`: what was learnt holds for before, not for after.
    pub fn restart(&mut self, at: RawTime) {
        self.refresh();
        self.suspects.clear();
        self.seen = 0;
        if let Some(era) = self.era.take() {
            self.past = Some((era, at));
        }
    }

    /// Draws the line through everything seen so far. Worth a few microseconds before many questions.
    pub fn refresh(&mut self) {
        if let Some(era) = self.era.as_mut().filter(|_| self.stale) {
            era.line = era.envelope.fit();
            self.stale = false;
        }
    }

    /// The offset at a time since the clock was first seen; `None` when no exchange tells of that time.
    pub fn offset_at(&self, at: RawTime) -> Option<Offset> {
        let past = self
            .past
            .as_ref()
            .filter(|(_, until)| at < *until)
            .map(|(era, _)| era);
        let era = past.or(self.era.as_ref())?;
        let (offset_ns, error_ns) = era.envelope.offset_at(&era.line, at);
        Some(Offset {
            offset_ns,
            error_ns: (era.line.half_gap_ns + error_ns).ceil() as u64,
        })
    }

    fn add(&mut self, outbound: Leg, inbound: Leg) {
        match &mut self.era {
            Some(era) => era.envelope.add(outbound, inbound),
            None => {
                let envelope = Envelope::new(outbound, inbound);
                let line = envelope.fit();
                self.era = Some(Era { envelope, line });
            }
        }
        self.seen = self.seen.saturating_add(1);
        self.stale = true;
        if self.seen < YOUNG || inbound.local.since(self.drawn_at) >= REDRAW_NS {
            self.refresh();
            self.drawn_at = inbound.local;
        }
    }

    /// A step takes from one direction what it adds to the other and leaves the round trip alone; a queue only
    /// adds, and a shorter route shortens the round trip.
    fn looks_stepped(&self, outbound: Leg, inbound: Leg) -> bool {
        let Some(era) = &self.era else { return false };
        let (_, error_ns) = era.envelope.offset_at(&era.line, inbound.local);
        let gate_ns = 4.0 * error_ns + LEAST_STEP_NS;
        let (a, b) = era.envelope.excess(&era.line, outbound, inbound);
        let (low, high) = (a.min(b), a.max(b));
        low < -gate_ns && high > gate_ns && (low + high).abs() < -low / 2.0
    }
}

#[cfg(test)]
#[path = "peer_clock_tests.rs"]
mod tests;
