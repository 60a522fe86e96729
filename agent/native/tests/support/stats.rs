//! The stats of a frame as owned arrays, for the tests of the crate and its fuzz target.

use sinemora_native::columns::{COLUMNS, DIRECTIONS, QUANTILES};
use sinemora_native::frame::{self, FrameError, Kind, StatsMut, StatsRef};

#[derive(Debug, PartialEq, Eq)]
pub struct Stats {
    pub columns: Vec<i32>,
    pub quantiles: Vec<u16>,
    pub flows: Vec<u16>,
    pub sources: Vec<u8>,
    pub by_flow: Vec<i32>,
}

impl Stats {
    /// Return stats of `targets` targets with the value 0 in every column.
    pub fn zeros(targets: usize) -> Self {
        Self {
            columns: vec![0; COLUMNS * DIRECTIONS * targets],
            quantiles: vec![0; QUANTILES.len() * DIRECTIONS * targets],
            flows: vec![0; targets],
            sources: vec![0; targets],
            by_flow: Vec::new(),
        }
    }

    /// Decode blocks of stats, one after another.
    pub fn read(blocks: &[&[u8]]) -> Result<Self, FrameError> {
        let mut targets = 0;
        for block in blocks {
            targets += frame::targets_in(Kind::Stats, block)?;
        }
        let mut stats = Self::zeros(targets);
        stats.by_flow = frame::stats_of(blocks, stats.as_mut()?)?;
        Ok(stats)
    }

    pub fn as_ref(&self) -> StatsRef<'_> {
        StatsRef {
            columns: &self.columns,
            quantiles: &self.quantiles,
            flows: &self.flows,
            sources: &self.sources,
            by_flow: &self.by_flow,
        }
    }

    pub fn as_mut(&mut self) -> Result<StatsMut<'_>, FrameError> {
        StatsMut::new(
            &mut self.columns,
            &mut self.quantiles,
            &mut self.flows,
            &mut self.sources,
        )
    }
}
