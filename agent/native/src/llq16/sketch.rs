//! A sketch: how many values fell into each bin.

use super::bin::{bin_of, value_of};
use super::words;

/// Counts per bin, ascending, none of them 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    counts: Vec<(u16, u64)>,
}

/// Bytes that are not whole words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OddLength(pub usize);

impl std::fmt::Display for OddLength {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "a sketch of {} bytes is not made of 16-bit words",
            self.0
        )
    }
}

impl std::error::Error for OddLength {}

impl Sketch {
    /// Return the sketch of delays in ns, in any order.
    pub fn of(values_ns: impl IntoIterator<Item = i64>) -> Self {
        let mut bins: Vec<u16> = values_ns.into_iter().map(bin_of).collect();
        bins.sort_unstable();
        let counts = bins
            .chunk_by(|a, b| a == b)
            .map(|run| (run[0], run.len() as u64))
            .collect();
        Self { counts }
    }

    /// Read words in any order and repetition: also the bytes of several sketches, one after the other.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, OddLength> {
        let pairs = bytes.chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return Err(OddLength(bytes.len()));
        }
        Ok(Self::gather(
            pairs
                .map(|pair| words::read(u16::from_le_bytes([pair[0], pair[1]])))
                .collect(),
        ))
    }

    /// Everything that is in either.
    pub fn merge(&self, other: &Self) -> Self {
        Self::gather([self.counts.as_slice(), &other.counts].concat())
    }

    /// Return the canonical words: one sequence for one content.
    pub fn to_words(&self) -> Vec<u16> {
        let mut words = Vec::with_capacity(self.counts.len() + 4);
        for &(bin, count) in &self.counts {
            words::write(bin, count, &mut words);
        }
        words
    }

    /// Return the canonical words as bytes, little-endian; empty for an empty sketch.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_words()
            .into_iter()
            .flat_map(u16::to_le_bytes)
            .collect()
    }

    /// Number of values added.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&(_, count)| count).sum()
    }

    /// Return the value in ns below or at which a share `q` (0 to 1) of the values lies; `None` if empty.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((q * self.total() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        self.counts.iter().find_map(|&(bin, count)| {
            seen += count;
            (seen >= rank).then(|| value_of(bin))
        })
    }

    fn gather(mut counts: Vec<(u16, u64)>) -> Self {
        counts.sort_unstable_by_key(|&(bin, _)| bin);
        counts.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
        Self { counts }
    }
}
