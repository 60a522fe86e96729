//! A synthetic clock with a known error, for benchmarks only.
//!
//! `SINEMORA_SYNTHETIC_CLOCK` holds pairs `name=number`, separated by commas. At the raw time `origin_ns` the clock is
//! `base_ns + offset_ns` ahead of the raw one and runs `skew_ppb` faster. Its rate swings by `wander_ppb` over `wander_s`.
//! It is stepped by `step_ns` `step_at_ns` later. Missing numbers are 0.

use std::collections::HashMap;
use std::f64::consts::TAU;

use crate::clock::RawTime;

const VARIABLE: &str = "SINEMORA_SYNTHETIC_CLOCK";

#[derive(Debug, Clone)]
pub(super) struct Synthetic {
    base_ns: i64,
    origin_ns: i64,
    offset_ns: i64,
    skew_ppb: i64,
    wander_ppb: i64,
    wander_s: i64,
    step_ns: i64,
    step_at_ns: i64,
}

impl Synthetic {
    /// Return the clock that the environment describes, if any.
    pub fn from_environment() -> Option<Self> {
        let text = std::env::var(VARIABLE).ok()?;
        let named: HashMap<&str, i64> = text
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .filter_map(|(name, number)| Some((name, number.parse().ok()?)))
            .collect();
        let of = |name| named.get(name).copied().unwrap_or(0);
        Some(Self {
            base_ns: of("base_ns"),
            origin_ns: of("origin_ns"),
            offset_ns: of("offset_ns"),
            skew_ppb: of("skew_ppb"),
            wander_ppb: of("wander_ppb"),
            wander_s: of("wander_s").max(1),
            step_ns: of("step_ns"),
            step_at_ns: of("step_at_ns"),
        })
    }

    /// Return its offset from the raw clock, ns.
    pub fn ahead_ns(&self, at: RawTime) -> i64 {
        let passed_ns = at.0.saturating_sub(self.origin_ns);
        let passed_s = passed_ns as f64 / 1e9;
        let turn = TAU / self.wander_s as f64;
        let wandered = self.wander_ppb as f64 / turn * (turn * passed_s).sin();
        let drifted = self.skew_ppb as f64 * passed_s + wandered;
        let stepped = if passed_ns >= self.step_at_ns {
            self.step_ns
        } else {
            0
        };
        self.base_ns + self.offset_ns + stepped + drifted.round() as i64
    }
}
