//! Summary of many durations: exact count, mean, standard deviation and extremes; quantiles from a sample.

use serde::Serialize;

use crate::random::Random;

const KEPT: usize = 1 << 16;

/// Running summary of nanoseconds. Up to 65,536 values the quantiles are exact; beyond, they come from a uniform
/// sample of that size (reservoir sampling, J. Vitter 1985, algorithm R), good to half a percent of rank.
#[derive(Debug, Clone)]
pub struct Summary {
    count: u64,
    mean: f64,
    squares: f64,
    min: i64,
    max: i64,
    kept: Vec<i64>,
    random: Random,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            count: 0,
            mean: 0.0,
            squares: 0.0,
            min: i64::MAX,
            max: i64::MIN,
            kept: Vec::new(),
            random: Random::new(0, u64::MAX),
        }
    }
}

/// Figures of a summary, in nanoseconds.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub struct Figures {
    pub count: u64,
    pub min: i64,
    pub p01: i64,
    pub p10: i64,
    pub p50: i64,
    pub p90: i64,
    pub p99: i64,
    pub max: i64,
    pub mean: f64,
    pub sd: f64,
}

impl Figures {
    /// Return the quantiles by name, for tables.
    pub fn quantiles(&self) -> [(&'static str, i64); 5] {
        [
            ("p01", self.p01),
            ("p10", self.p10),
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
        ]
    }
}

impl Summary {
    pub fn of(values: impl IntoIterator<Item = i64>) -> Self {
        let mut summary = Self::default();
        for value in values {
            summary.add(value);
        }
        summary
    }

    pub fn add(&mut self, value: i64) {
        self.count += 1;
        // Welford's update: no catastrophic cancellation at a mean far above the spread.
        let away = value as f64 - self.mean;
        self.mean += away / self.count as f64;
        self.squares += away * (value as f64 - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if self.kept.len() < KEPT {
            self.kept.push(value);
        } else if self.random.uniform() < KEPT as f64 / self.count as f64 {
            let at = self.random.below(KEPT);
            self.kept[at] = value;
        }
    }

    /// Return the figures; `None` without durations, as missing is not zero.
    pub fn figures(&self) -> Option<Figures> {
        if self.count == 0 {
            return None;
        }
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let quantile = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        Some(Figures {
            count: self.count,
            min: self.min,
            p01: quantile(0.01),
            p10: quantile(0.1),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            max: self.max,
            mean: self.mean,
            sd: (self.squares / self.count as f64).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact() {
        let figures = Summary::of((0..=1000).map(|x| x * 10)).figures().unwrap();
        assert_eq!(
            (
                figures.min,
                figures.p01,
                figures.p50,
                figures.p99,
                figures.max
            ),
            (0, 100, 5_000, 9_900, 10_000)
        );
        assert!((figures.mean - 5_000.0).abs() < 1e-6);
        assert!((figures.sd - 2_889.6).abs() < 1.0, "{}", figures.sd);
    }

    #[test]
    fn many_values_keep_their_quantiles() {
        let figures = Summary::of(0..1_000_000).figures().unwrap();
        assert_eq!(
            (figures.count, figures.min, figures.max),
            (1_000_000, 0, 999_999)
        );
        for (share, got) in [(0.1, figures.p10), (0.5, figures.p50), (0.9, figures.p90)] {
            assert!((got as f64 - share * 1e6).abs() < 10_000.0, "{share} {got}");
        }
    }

    #[test]
    fn nothing_is_no_zero() {
        assert_eq!(Summary::default().figures(), None);
    }
}
