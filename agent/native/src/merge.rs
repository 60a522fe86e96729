//! Merging the columns of many distributions into groups.
//!
//! Counts add up; the smallest and largest delay survive; means are weighted by count; the sums of squared deviations
//! merge by Chan, Golub and LeVeque (1979), so the variance is that of all values together; the clock error bound is the
//! largest one. Packets sent and lost add up over the windows where both are known and are -1 (unknown) without any.

use crate::columns::{CLOCK_ERROR, COLUMNS, COUNT, LOST, M2, MAX, MEAN, MIN, SENT, m2_bits};

const LARGEST: i64 = i32::MAX as i64;

#[derive(Clone)]
struct Sums {
    count: i64,
    weighted: i64,
    squares: f64,
    least: i64,
    most: i64,
    error: i64,
    sent: i64,
    lost: i64,
    /// Packets sent where the number of lost ones is unknown too.
    sent_alone: i64,
    sent_known: bool,
    both_known: bool,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            count: 0,
            weighted: 0,
            squares: 0.0,
            least: LARGEST,
            most: -LARGEST,
            error: i64::from(i32::MIN),
            sent: 0,
            lost: 0,
            sent_alone: 0,
            sent_known: false,
            both_known: false,
        }
    }
}

impl Sums {
    fn add(&mut self, number: impl Fn(usize) -> i32) {
        let of = |column: usize| i64::from(number(column));
        let count = of(COUNT);
        if count > 0 {
            self.count += count;
            self.weighted = self.weighted.wrapping_add(count * of(MEAN));
            self.least = self.least.min(of(MIN));
            self.most = self.most.max(of(MAX));
            self.error = self.error.max(of(CLOCK_ERROR));
        } else {
            self.error = self.error.max(0);
        }
        if of(SENT) >= 0 {
            self.sent_known = true;
            self.sent_alone += of(SENT);
            if of(LOST) >= 0 {
                self.both_known = true;
                self.sent += of(SENT);
                self.lost += of(LOST);
            }
        }
    }

    /// Add the squares of a member, once all members are added.
    fn add_squares(&mut self, number: impl Fn(usize) -> i32) {
        let mean = self.weighted as f64 / self.count.max(1) as f64;
        let away = f64::from(number(MEAN)) - mean;
        let own = f64::from(f32::from_bits(number(M2) as u32));
        self.squares += own + f64::from(number(COUNT)) * away * away;
    }

    fn number(&self, column: usize) -> i32 {
        let some = self.count > 0;
        let known = |number: i64| if some { number as i32 } else { 0 };
        match column {
            COUNT => self.count.min(LARGEST) as i32,
            MIN => known(self.least),
            MEAN if some => (self.weighted as f64 / self.count as f64).round_ties_even() as i32,
            MAX => known(self.most),
            CLOCK_ERROR if self.error >= -LARGEST => self.error as i32,
            SENT if self.both_known => self.sent as i32,
            SENT if self.sent_known => self.sent_alone as i32,
            LOST if self.both_known => self.lost as i32,
            SENT | LOST => -1,
            M2 => m2_bits(if some { self.squares } else { 0.0 }),
            _ => 0,
        }
    }
}

/// Merge columns of shape (8, m), by the group of each, into `merged`, shape (8, groups).
///
/// A group without members has count 0, with sent and lost unknown. `false` when sizes or groups do not fit.
pub fn merge_columns(columns: &[i32], owners: &[i64], merged: &mut [i32]) -> bool {
    let (m, size) = (owners.len(), merged.len() / COLUMNS);
    let fits = |owner: &i64| usize::try_from(*owner).is_ok_and(|owner| owner < size);
    if columns.len() != COLUMNS * m || merged.len() % COLUMNS != 0 || !owners.iter().all(fits) {
        return false;
    }
    let mut sums = vec![Sums::default(); size];
    for (i, owner) in owners.iter().enumerate() {
        sums[*owner as usize].add(|column| columns[column * m + i]);
    }
    for (i, owner) in owners.iter().enumerate() {
        sums[*owner as usize].add_squares(|column| columns[column * m + i]);
    }
    if size > 0 {
        for (column, row) in merged.chunks_exact_mut(size).enumerate() {
            for (number, sums) in row.iter_mut().zip(&sums) {
                *number = sums.number(column);
            }
        }
    }
    true
}
