//! Line: decides the fate of each packet of a direction at its arrival. Time is an argument.

pub mod bucket;
pub mod distribution;
pub mod settings;
pub mod table;

use crate::ecn::EcnChange;
use crate::random::Random;
use bucket::Bucket;
use settings::Settings;

/// Fate of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Lost at random.
    Lost,
    /// Dropped: the queue of the rate limit is full.
    Dropped,
    /// It leaves at `at_ns`. `drawn_ns` is the delay that was drawn; the rate limit and the order of packets may
    /// have added to it.
    Leaves { at_ns: i64, drawn_ns: i64 },
}

/// Treatment of a packet that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Treatment {
    pub ecn: Option<EcnChange>,
    /// It leaves before the packet in front of it, if that still waits.
    pub overtakes: bool,
}

/// Direction and its state.
#[derive(Debug, Clone)]
pub struct Line {
    settings: Settings,
    bucket: Option<Bucket>,
    // Separate streams: more loss does not change the delays drawn.
    delays: Random,
    losses: Random,
    treatments: Random,
    last_leaves_ns: i64,
    clamped: u64,
}

impl Line {
    /// Create a line that has seen no packet. Lines of different `number` draw independently from one `seed`.
    pub fn new(settings: Settings, seed: u64, number: u64) -> Self {
        Self {
            bucket: settings.rate.map(Bucket::new),
            settings,
            delays: Random::new(seed, 2 * number),
            losses: Random::new(seed, 2 * number + 1),
            treatments: Random::new(seed, u64::MAX - number),
            last_leaves_ns: i64::MIN,
            clamped: 0,
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Return the number of draws below zero, which count as zero.
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// Apply these settings; packets in the box keep their time. A changed rate starts with a full bucket.
    pub fn set(&mut self, settings: Settings) {
        if settings.rate != self.settings.rate {
            self.bucket = settings.rate.map(Bucket::new);
        }
        self.settings = settings;
    }

    /// Decide what happens to a packet that leaves, in addition to its delay.
    pub fn treatment(&mut self) -> Treatment {
        let mut happens = |share: f64| share > 0.0 && self.treatments.uniform() < share;
        let overtakes = happens(self.settings.reorder);
        let marked = happens(self.settings.mark).then_some(EcnChange::Mark);
        let cleared = happens(self.settings.clear).then_some(EcnChange::Clear);
        Treatment {
            ecn: cleared.or(marked),
            overtakes,
        }
    }

    /// Decide on a packet of `bytes` that arrives at `now_ns`.
    pub fn arrival(&mut self, now_ns: i64, bytes: u64) -> Fate {
        if self.settings.loss > 0.0 && self.losses.uniform() < self.settings.loss {
            return Fate::Lost;
        }
        let admitted_ns = match &mut self.bucket {
            None => now_ns,
            Some(bucket) => match bucket.admit(now_ns, bytes) {
                None => return Fate::Dropped,
                Some(at_ns) => at_ns,
            },
        };
        let drawn =
            self.settings.delay.draw(&mut self.delays).round() as i64 + self.settings.add_ns;
        if drawn < 0 {
            self.clamped += 1;
        }
        let drawn_ns = drawn.max(0);
        let at_ns = admitted_ns
            .saturating_add(drawn_ns)
            .max(self.last_leaves_ns);
        self.last_leaves_ns = at_ns;
        Fate::Leaves { at_ns, drawn_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::settings::Change;
    use super::*;

    fn line(text: &str, seed: u64) -> Line {
        let settings = Change::parse(text)
            .unwrap()
            .applied_to(&Settings::default());
        Line::new(settings, seed, 0)
    }

    fn leaves(line: &mut Line, now_ns: i64) -> i64 {
        match line.arrival(now_ns, 100) {
            Fate::Leaves { at_ns, .. } => at_ns,
            fate => panic!("{fate:?}"),
        }
    }

    #[test]
    fn a_shorter_delay_does_not_let_later_packets_overtake() {
        let mut line = line("delay=1ms", 1);
        let first = leaves(&mut line, 0);
        line.set(Settings::default());
        assert_eq!(leaves(&mut line, 10), first);
        assert_eq!(leaves(&mut line, 2_000_000), 2_000_000);
    }

    #[test]
    fn loss_does_not_change_the_delays_drawn() {
        let draws = |text: &str| {
            let mut line = line(text, 5);
            (0..100i64)
                .filter_map(|at| match line.arrival(at * 10_000_000, 100) {
                    Fate::Leaves { drawn_ns, .. } => Some(drawn_ns),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        let without = draws("delay=normal:1ms,100us");
        let with = draws("delay=normal:1ms,100us loss=20%");
        assert!(with.len() < without.len());
        assert_eq!(with, without[..with.len()]);
    }

    #[test]
    fn draws_below_zero_count_as_zero_and_are_counted() {
        let mut line = line("delay=normal:10us,10us add=-10us", 1);
        for at in 0..1_000i64 {
            leaves(&mut line, at * 1_000_000);
        }
        assert!((400..600).contains(&line.clamped()), "{}", line.clamped());
    }
}
