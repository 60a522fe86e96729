//! Priorities by age and bytes, compared without ever computing a power that overflows.

use super::Knowledge;

/// More than this orders flows by bytes alone, whatever their ages: sizes that differ at all differ by more.
const ALPHA_MAX: f64 = 1e17;

/// Return log2 of age / bytes^α. Ages below 1 ns and sizes below 1 byte count as 1.
pub(super) fn log2_priority(age_ns: f64, bytes: f64, alpha: f64) -> f64 {
    age_ns.max(1.0).log2() + log2_weight(bytes, alpha)
}

fn log2_weight(bytes: f64, alpha: f64) -> f64 {
    -alpha.min(ALPHA_MAX) * bytes.max(1.0).log2()
}

/// bytes^-α as mantissa · 2^exponent, the mantissa from 1 to below 2.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Weight {
    // Weights are ordered by their fields in this order.
    exponent: i64,
    mantissa: f64,
}

impl Weight {
    pub(super) fn new(bytes: f64, alpha: f64) -> Self {
        let log2 = log2_weight(bytes, alpha);
        let whole = log2.floor();
        Self {
            exponent: whole as i64,
            mantissa: (log2 - whole).exp2(),
        }
    }

    /// Return this weight over another that is not smaller: 0 to 1.
    fn over(self, heavier: Self) -> f64 {
        let down = heavier.exponent - self.exponent;
        if down > 1_000 {
            return 0.0;
        }
        self.mantissa / heavier.mantissa * f64::from_bits((1023 - down as u64) << 52)
    }
}

impl Knowledge {
    /// Return the bytes that count.
    pub(super) fn bytes(self, sent: u64, size: u64) -> f64 {
        match self {
            Self::Sent => sent as f64,
            Self::Remaining => (size - sent) as f64,
        }
    }
}

/// A waiting flow. Its priority grows in proportion to its age until its next packet is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) flow: u32,
    /// When its age was 0, ps.
    pub(super) born_ps: u64,
    pub(super) weight: Weight,
}

/// The result of a comparison of two flows.
pub(super) struct Comparison {
    pub(super) first_wins: bool,
    /// From when on the result may be another, ps; never before.
    pub(super) holds_until_ps: u64,
}

/// Compare two flows at a time. Of equals the one that arrived first wins.
///
/// Both sides of the comparison are divided by the larger weight: only a ratio of 0 to 1 is computed, and the
/// comparison of (b, a) is exactly the opposite of that of (a, b).
pub(super) fn compare(a: &Waiting, b: &Waiting, now_ps: u64) -> Comparison {
    let (heavy, light, a_is_heavy) = if a.weight >= b.weight {
        (a, b, true)
    } else {
        (b, a, false)
    };
    let ratio = light.weight.over(heavy.weight);
    let age = |flow: &Waiting| now_ps.saturating_sub(flow.born_ps).max(1) as f64;
    let (heavy_age, light_age) = (age(heavy), age(light));
    let (of_heavy, of_light) = (heavy_age, ratio * light_age);
    let heavy_wins = of_heavy > of_light || (of_heavy == of_light && heavy.flow < light.flow);
    // The heavy flow gains on the light one, so it overtakes once, or never.
    let holds_until_ps = if heavy_wins || ratio >= 1.0 {
        u64::MAX
    } else {
        let rounding = light_age * 4.0 * f64::EPSILON;
        let wait = (of_light - of_heavy - rounding) / (1.0 - ratio) - 2.0;
        // Conversion to an integer saturates.
        now_ps.saturating_add((wait.max(1.0) as u64).max(1))
    };
    Comparison {
        first_wins: heavy_wins == a_is_heavy,
        holds_until_ps,
    }
}
