//! One direction of one peer: from delays to a row of the columns.

use sinemora_native::{Sketch, bin_of, value_of};
use sinemora_wire::{Columns, FlowColumns, NOT_KNOWN};

use super::loss::Loss;

/// One direction of one peer in a window.
pub struct Row {
    pub count: u32,
    pub sent: i32,
    pub lost: i32,
    pub min_ns: i64,
    pub mean_ns: i64,
    pub max_ns: i64,
    pub m2: f64,
    pub clock_error_ns: u64,
    pub sketch: Sketch,
}

impl Row {
    /// Return the row of delays in ns in any order, what was lost, and the bound on the clock's error in ns.
    pub fn of(delays_ns: &[i64], loss: Loss, clock_error_ns: u64) -> Self {
        let known = |count: Option<u32>| {
            count
                .and_then(|n| i32::try_from(n).ok())
                .unwrap_or(NOT_KNOWN)
        };
        let count = delays_ns.len();
        let sum: i128 = delays_ns.iter().copied().map(i128::from).sum();
        // Two passes: exact, where one pass over large and nearly equal numbers would cancel.
        let mean = if count == 0 {
            0.0
        } else {
            sum as f64 / count as f64
        };
        let square = |delay: &i64| (*delay as f64 - mean).powi(2);
        Self {
            count: count as u32,
            sent: known(loss.sent),
            lost: known(loss.lost),
            min_ns: delays_ns.iter().copied().min().unwrap_or(0),
            mean_ns: mean.round() as i64,
            max_ns: delays_ns.iter().copied().max().unwrap_or(0),
            m2: delays_ns
                .iter()
                .map(square)
                .fold(0.0, |sum, square| sum + square),
            clock_error_ns: if count == 0 { 0 } else { clock_error_ns },
            sketch: Sketch::of(delays_ns.iter().copied()),
        }
    }

    /// Append the peer to the columns of its window.
    pub fn append_to(&self, columns: &mut Columns) {
        let sketch = self.sketch.to_bytes();
        columns.count.push(self.count);
        columns.sent.push(self.sent);
        columns.lost.push(self.lost);
        columns.min_ns.push(self.min_ns);
        columns.mean_ns.push(self.mean_ns);
        columns.max_ns.push(self.max_ns);
        columns.m2.push(self.m2);
        columns.clock_error_ns.push(self.clock_error_ns);
        columns.sketch_words.push(sketch.len() as u32 / 2);
        columns.sketch.extend(sketch);
    }
}

/// Append a flow: delays in ns in any order.
pub(super) fn append_flow(columns: &mut FlowColumns, mut delays_ns: Vec<i64>) {
    delays_ns.sort_unstable();
    let middle = delays_ns.len().saturating_sub(1) / 2;
    let (least, most) = (delays_ns.first(), delays_ns.last());
    let p50_ns = delays_ns.get(middle).map_or(0, |delay| {
        let rounded_ns = value_of(bin_of(*delay)) as i64;
        rounded_ns.clamp(
            least.copied().unwrap_or(rounded_ns),
            most.copied().unwrap_or(rounded_ns),
        )
    });
    columns.count.push(delays_ns.len() as u32);
    columns.min_ns.push(least.copied().unwrap_or(0));
    columns.p50_ns.push(p50_ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: Loss = Loss {
        sent: None,
        lost: None,
    };

    fn columns(delays_ns: &[i64], loss: Loss) -> Columns {
        let mut columns = Columns::default();
        Row::of(delays_ns, loss, 700).append_to(&mut columns);
        columns
    }

    #[test]
    fn statistics_are_those_of_the_delays() {
        let loss = Loss {
            sent: Some(5),
            lost: Some(1),
        };
        let row = columns(&[45_000, -20, 45_000, 1_000_020], loss);
        assert_eq!((row.count[0], row.sent[0], row.lost[0]), (4, 5, 1));
        assert_eq!((row.min_ns[0], row.max_ns[0]), (-20, 1_000_020));
        assert_eq!(row.mean_ns[0], 272_500);
        let naive: f64 = [-227_500f64, -272_520.0, -227_500.0, 727_520.0]
            .iter()
            .map(|d| d * d)
            .sum();
        assert!((row.m2[0] - naive).abs() < 1.0);
        assert_eq!((row.clock_error_ns[0], row.sketch_words[0]), (700, 3));
        assert_eq!(row.sketch, [0x00, 0x00, 0xe1, 0x52, 0x40, 0x77]);
    }

    #[test]
    fn missing_is_not_zero() {
        let loss = Loss {
            sent: Some(8),
            ..UNKNOWN
        };
        let row = columns(&[], loss);
        assert_eq!((row.count[0], row.sent[0], row.lost[0]), (0, 8, NOT_KNOWN));
        assert_eq!((row.clock_error_ns[0], row.sketch_words[0]), (0, 0));
        assert!(row.sketch.is_empty());
        assert!(row.m2[0].is_sign_positive());
    }

    #[test]
    fn nearly_equal_large_delays_keep_their_variance() {
        let row = columns(&[90_000_000_000, 90_000_000_001], UNKNOWN);
        assert_eq!(row.m2, [0.5]);
    }

    #[test]
    fn absurd_delays_overflow_nothing() {
        let row = columns(&[i64::MAX, i64::MAX, i64::MIN], UNKNOWN);
        assert!(row.m2[0].is_finite());
        assert_eq!(row.max_ns, [i64::MAX]);
    }
}
