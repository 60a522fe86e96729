//! The turns of a path: the windows of a period in which a mesh that rotates measures it.

use crate::plan::{MeshPlan, Peer};

const NANOS_PER_S: i64 = 1_000_000_000;
/// Longest time between turns of the packet loop, ns.
const LATE_NS: i64 = 160_000_000;
/// Time to wait after the end of the span of a path, ns: the next plan removes the path before.
const OVER_NS: i64 = 3600 * NANOS_PER_S;

/// Windows in which a path is measured. The number of a window is its start in the backend's time divided by its length;
/// its remainder by the period is its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turns {
    window_ns: i64,
    period: u32,
    /// One bit for each turn of the period.
    word: u64,
    /// Span of a measurement on demand, the backend's time.
    span_ns: Option<(i64, i64)>,
}

impl Turns {
    /// Return the turns of a peer of a validated plan.
    pub fn of(mesh: &MeshPlan, peer: &Peer) -> Self {
        let turns = peer.turns.as_deref();
        Self {
            window_ns: i64::from(mesh.window_s) * NANOS_PER_S,
            period: mesh.period_windows,
            word: turns.map_or(u64::MAX, |turns| turns.iter().map(|turn| 1 << turn).sum()),
            span_ns: mesh.span_ns,
        }
    }

    /// Return the time by which the loop may use a slot late, ns, if the path ends for good: no later turn makes up for it.
    pub fn late_ns(&self) -> i64 {
        self.span_ns.map_or(0, |_| LATE_NS)
    }

    /// Return the time from `backend_ns` until the next window in which the path is measured, ns; 0 within one.
    pub fn wait_ns(&self, backend_ns: i64) -> i64 {
        if let Some((starts_ns, ends_ns)) = self.span_ns {
            let over = backend_ns >= ends_ns;
            return if over {
                OVER_NS
            } else {
                starts_ns.saturating_sub(backend_ns).max(0)
            };
        }
        if self.word == u64::MAX {
            return 0;
        }
        let window = backend_ns.div_euclid(self.window_ns);
        let period = i64::from(self.period);
        let is_turn = |ahead: &i64| self.word >> (window + ahead).rem_euclid(period) & 1 == 1;
        match (0..period).find(is_turn) {
            Some(0) | None => 0,
            Some(ahead) => (window + ahead) * self.window_ns - backend_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW_NS: i64 = 10 * NANOS_PER_S;

    fn turns(period: u32, word: u64) -> Turns {
        Turns {
            window_ns: WINDOW_NS,
            period,
            word,
            span_ns: None,
        }
    }

    #[test]
    fn a_path_waits_for_its_window() {
        let turns = turns(4, 0b0101);
        let waits: Vec<i64> = (0..8)
            .map(|half| turns.wait_ns(half * WINDOW_NS / 2) / NANOS_PER_S)
            .collect();
        assert_eq!(waits, [0, 0, 10, 5, 0, 0, 10, 5]);
        assert_eq!(turns.wait_ns(-1), 1);
        assert_eq!(turns.wait_ns(WINDOW_NS - 1), 0);
    }

    #[test]
    fn the_longest_period_has_a_bit_for_each_turn() {
        let turns = turns(60, 1 << 59);
        assert_eq!(turns.wait_ns(0), 59 * WINDOW_NS);
        assert_eq!(turns.wait_ns(59 * WINDOW_NS), 0);
    }
}
