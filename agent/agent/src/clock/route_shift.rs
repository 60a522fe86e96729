//! Detection of a direction that stays above its base.

/// Shortest time, s, and fewest bins of a constant rise that counts as a longer route. A persistent queue looks alike, which
/// does no harm: the base follows it down at once.
const LONG_S: f64 = 20.0;
const LEAST_BINS: usize = 3;
const MOST_BINS: usize = 128;

/// Share of the rise that it may vary by from bin to bin.
const STEADY: f64 = 0.25;

/// The excess of a direction over its base in each bin since it left the base, ns.
#[derive(Debug, Default)]
pub struct RouteShiftDetector {
    since_s: f64,
    excesses: Vec<f64>,
}

impl RouteShiftDetector {
    /// Forget the rise.
    pub fn end(&mut self) {
        self.excesses.clear();
    }

    /// Add a bin. Return the rise, ns, once it has lasted, and forget it.
    pub fn add(&mut self, at_s: f64, excess: f64, gate: f64) -> Option<f64> {
        if self.excesses.is_empty() {
            self.since_s = at_s;
        } else if self.excesses.len() == MOST_BINS {
            self.excesses.remove(0);
        }
        self.excesses.push(excess);
        if at_s - self.since_s < LONG_S || self.excesses.len() < LEAST_BINS {
            return None;
        }
        // The first bin may hold exchanges from before the rise.
        let mut sorted = self.excesses[1..].to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = |share: usize| sorted[(sorted.len() - 1) * share / 10];
        let (low, middle, high) = (quantile(1), quantile(5), quantile(9));
        if high - low > gate.max(STEADY * middle) {
            return None;
        }
        self.end();
        Some(middle)
    }
}
