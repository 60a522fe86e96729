//! Choice of the next block to fetch. Pure; time is an argument.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::Digest;
use super::manifest::Block;

/// Blocks after the first missing one among which the choice is random: agents that fetch the same file then hold
/// different blocks soon, and readers that follow the order do not wait long.
const WINDOW: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Open,
    /// Requested at this time.
    Requested(Instant),
    Held,
}

/// Blocks of an artifact that are not held yet. A block that occurs repeatedly counts once.
#[derive(Debug)]
pub struct Missing {
    slots: Vec<Slot>,
    places: HashMap<Digest, Vec<usize>>,
    first: usize,
    left: usize,
}

impl Missing {
    pub fn new(blocks: &[Block], held: impl Fn(&Digest) -> bool) -> Self {
        let mut places: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (at, block) in blocks.iter().enumerate() {
            places.entry(block.digest).or_default().push(at);
        }
        let slots: Vec<Slot> = blocks
            .iter()
            .enumerate()
            .map(|(at, block)| {
                let is_first = places[&block.digest][0] == at;
                if held(&block.digest) || !is_first {
                    Slot::Held
                } else {
                    Slot::Open
                }
            })
            .collect();
        let left = slots.iter().filter(|slot| **slot != Slot::Held).count();
        Self {
            slots,
            places,
            first: 0,
            left,
        }
    }

    /// Number of blocks that are not held.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Choose a block that `has`, the rather one without `nearer`; `random` is 0 … 1. When all others are requested,
    /// one that was requested longer than `late` ago.
    pub fn choose(
        &mut self,
        has: impl Fn(usize) -> bool,
        nearer: impl Fn(usize) -> bool,
        random: f64,
        now: Instant,
        late: Duration,
    ) -> Option<usize> {
        while self.slots.get(self.first) == Some(&Slot::Held) {
            self.first += 1;
        }
        let open = |at: &usize| self.slots[*at] == Slot::Open && has(*at);
        let rest = self.first..self.slots.len();
        let mut found: Vec<usize> = rest
            .clone()
            .filter(open)
            .filter(|at| !nearer(*at))
            .take(WINDOW)
            .collect();
        if found.is_empty() {
            found = rest.filter(open).take(WINDOW).collect();
        }
        if found.is_empty() {
            return self.choose_requested(has, now, late);
        }
        let place = (random * found.len() as f64) as usize;
        let chosen = *found.get(place.min(found.len() - 1))?;
        self.slots[chosen] = Slot::Requested(now);
        Some(chosen)
    }

    /// Choose a block that was requested longer than `late` ago.
    pub fn choose_late(&mut self, now: Instant, late: Duration) -> Option<usize> {
        self.choose_requested(|_| true, now, late)
    }

    fn choose_requested(
        &mut self,
        has: impl Fn(usize) -> bool,
        now: Instant,
        late: Duration,
    ) -> Option<usize> {
        let is_late = |at: &usize| {
            matches!(self.slots[*at], Slot::Requested(since) if now - since > late) && has(*at)
        };
        let chosen = (self.first..self.slots.len()).find(is_late)?;
        self.slots[chosen] = Slot::Requested(now);
        Some(chosen)
    }

    /// Note that a requested block did not arrive.
    pub fn give_back(&mut self, at: usize) {
        if matches!(self.slots[at], Slot::Requested(_)) {
            self.slots[at] = Slot::Open;
        }
    }

    /// Note that a block is held. Return false if it was before.
    pub fn arrived(&mut self, digest: &Digest) -> bool {
        let at = self.places[digest][0];
        if self.slots[at] == Slot::Held {
            return false;
        }
        self.slots[at] = Slot::Held;
        self.left -= 1;
        true
    }
}
