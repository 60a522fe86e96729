//! Numbers of a path in one direction: columns of 32 bits, in the order in which frames and matrices hold them.

/// Delays measured.
pub const COUNT: usize = 0;
/// Packets that set out; -1 where unknown.
pub const SENT: usize = 1;
/// Packets that did not arrive; -1 where unknown.
pub const LOST: usize = 2;
/// Smallest delay, ns.
pub const MIN: usize = 3;
/// Mean delay, ns.
pub const MEAN: usize = 4;
/// Largest delay, ns.
pub const MAX: usize = 5;
/// Bound on the error of the clocks, ns.
pub const CLOCK_ERROR: usize = 6;
/// Sum of squared deviations from the mean, ns^2: the bits of a float32.
pub const M2: usize = 7;
/// Number of columns.
pub const COLUMNS: usize = 8;

/// From this VM to the target.
pub const OUTBOUND: usize = 0;
/// From the target to this VM.
pub const INBOUND: usize = 1;
/// Both.
pub const ROUND_TRIP: usize = 2;
/// Number of directions.
pub const DIRECTIONS: usize = 3;

/// Quantiles that are stored, as LLQ16 bin + 1, 0 for no value.
pub const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Largest sum of squares that is stored; a float32 holds a little more.
pub const M2_MAX: f64 = 3.4e38;

/// Bits of a sum of squares: a float32 rounded to 16 bits of precision, since more is noise.
pub fn m2_bits(squares: f64) -> i32 {
    let bits = (squares.min(M2_MAX) as f32).to_bits() as i32;
    bits.wrapping_add(0x80) & !0xFF
}
