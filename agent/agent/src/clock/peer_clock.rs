//! The clock of one peer over time: envelopes, and where one ends because the clock stepped.

use super::envelope::{Envelope, Line};
use super::raw_time::{Leg, RawTime};

/// Until so many exchanges are seen, each one redraws the line.
const YOUNG: u32 = 16;

/// Afterwards the line is redrawn this often, ns, and whenever a window asks.
const REDRAW_NS: i64 = 5_000_000_000;

/// So many exchanges that fit a step make one, if no exchange between them fits the line as it was.
const STEP_PROOF: usize = 3;

/// So many that do not fit the line and do not prove a step are taken for a shorter route.
const MOST_SUSPECTS: usize = 12;

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
    proofs: usize,
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
        match self.look(outbound, inbound) {
            Look::Stepped => self.proofs += 1,
            Look::Short if !self.suspects.is_empty() => {}
            _ => {
                self.clear();
                self.add(outbound, inbound);
                return false;
            }
        }
        self.suspects.push((outbound, inbound));
        let proven = self.proofs == STEP_PROOF;
        if proven {
            let suspects = std::mem::take(&mut self.suspects);
            self.restart(suspects[0].0.local);
            suspects.into_iter().for_each(|(o, i)| self.add(o, i));
        } else if self.suspects.len() == MOST_SUSPECTS {
            self.clear();
        }
        proven
    }

    /// The peer's clock starts anew at `at`: what was learnt holds for before, not for after.
    pub fn restart(&mut self, at: RawTime) {
        self.refresh();
        self.suspects.clear();
        self.proofs = 0;
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

    /// There was no step: the suspects are exchanges like any other.
    fn clear(&mut self) {
        self.proofs = 0;
        for (outbound, inbound) in std::mem::take(&mut self.suspects) {
            self.add(outbound, inbound);
        }
    }

    /// A step takes from one direction what it adds to the other and leaves the round trip alone; a queue only
    /// adds, and a shorter route shortens the round trip.
    fn look(&self, outbound: Leg, inbound: Leg) -> Look {
        let Some(era) = &self.era else {
            return Look::Plain;
        };
        let (_, error_ns) = era.envelope.offset_at(&era.line, inbound.local);
        let gate_ns = 4.0 * error_ns + LEAST_STEP_NS;
        let (a, b) = era.envelope.excess(&era.line, outbound, inbound);
        let (low, high) = (a.min(b), a.max(b));
        if low >= -gate_ns {
            Look::Plain
        } else if high > gate_ns && (low + high).abs() < -low / 2.0 {
            Look::Stepped
        } else {
            Look::Short
        }
    }
}

/// What an exchange looks like beside the line.
enum Look {
    /// As it should, delayed or not.
    Plain,
    /// Shorter one way and as much longer the other.
    Stepped,
    /// Shorter one way than it can be: after a step in a queue, or on a shorter route.
    Short,
}

#[cfg(test)]
#[path = "peer_clock_tests.rs"]
mod tests;
