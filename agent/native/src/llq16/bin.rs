//! The fixed bins: exact up to 127 ns, then 64 to an octave.

/// Number of bins; a bin fits 11 bits.
pub const BINS: u16 = 2048;

/// Longest delay with a bin of its size, ns (137.4 s); longer ones are counted in the last bin.
pub const MAX_VALUE_NS: u64 = (1 << 37) - 1;

/// Return the bin of a delay in ns, `0..BINS`. Negative delays (clock error) go to bin 0, long ones to the last.
pub fn bin_of(value_ns: i64) -> u16 {
    let value = u64::try_from(value_ns).unwrap_or(0).min(MAX_VALUE_NS);
    let bin = if value < 128 {
        value
    } else {
        let shift = u64::from(value.ilog2()) - 6;
        64 * shift + (value >> shift)
    };
    bin as u16
}

/// Return the least value of a bin, ns.
pub fn lower_of(bin: u16) -> u64 {
    if bin < 128 {
        u64::from(bin)
    } else {
        (64 + u64::from(bin % 64)) << shift_of(bin)
    }
}

/// Number of values that share a bin.
pub fn width_of(bin: u16) -> u64 {
    1 << shift_of(bin)
}

/// Return the value that represents a bin, ns: its middle, at most 1/128 from every value in it.
pub fn value_of(bin: u16) -> u64 {
    lower_of(bin) + width_of(bin) / 2
}

fn shift_of(bin: u16) -> u16 {
    (bin / 64).saturating_sub(1)
}
