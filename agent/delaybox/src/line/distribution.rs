//! Delay distributions: those of the published appliance (UCAM-CL-TR-914, section 4) and a table.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::table::Table;
use crate::random::Random;
use crate::units::positive_ns;

/// Shape of NetEm's Pareto table: its variance is finite, its fourth moment is not.
const DEFAULT_SHAPE: f64 = 3.0;
/// Weights with which NetEm's second heavy tail mixes a normal and a Pareto variate.
const NORMAL_WEIGHT: f64 = 0.25;
const PARETO_WEIGHT: f64 = 0.75;
const HOW: &str = "write constant:100us, uniform:50us,150us, normal:MEAN,SD, pareto:MEAN,SD[,SHAPE], \
                   pareto-normal:MEAN,SD or table:FILE.csv";

/// Distribution of delays in nanoseconds; a draw below zero counts as zero.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    Constant {
        delay_ns: f64,
    },
    Uniform {
        low_ns: f64,
        high_ns: f64,
    },
    Normal {
        mean_ns: f64,
        sd_ns: f64,
    },
    /// Pareto, shifted and scaled to this mean and standard deviation. The minimum is
    /// mean − sd · √((shape − 2) / shape): 0.577 standard deviations below the mean for shape 3.
    Pareto {
        mean_ns: f64,
        sd_ns: f64,
        shape: f64,
    },
    /// Weighted sum of a standard normal and a standardised Pareto variate of shape 3, scaled alike.
    ParetoNormal {
        mean_ns: f64,
        sd_ns: f64,
    },
    Table {
        name: String,
        table: Arc<Table>,
    },
}

impl Distribution {
    pub const NONE: Self = Self::Constant { delay_ns: 0.0 };

    /// Read `kind:numbers`; a bare duration is a constant.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((kind, rest)) = text.split_once(':') else {
            let delay_ns = positive_ns(text).map_err(|why| format!("{why}; or {HOW}"))? as f64;
            return Ok(Self::Constant { delay_ns });
        };
        if kind == "table" {
            let table = Table::read(Path::new(rest))?;
            return Ok(Self::Table {
                name: rest.to_owned(),
                table: Arc::new(table),
            });
        }
        let fields: Vec<&str> = rest.split(',').map(str::trim).collect();
        let ns = |at: usize| positive_ns(fields[at]).map(|ns| ns as f64);
        match (kind, fields.len()) {
            ("constant", 1) => Ok(Self::Constant { delay_ns: ns(0)? }),
            ("uniform", 2) => {
                let (low_ns, high_ns) = (ns(0)?, ns(1)?);
                if low_ns > high_ns {
                    return Err(format!("{text:?}: the smaller delay comes first"));
                }
                Ok(Self::Uniform { low_ns, high_ns })
            }
            ("normal", 2) => Ok(Self::Normal {
                mean_ns: ns(0)?,
                sd_ns: ns(1)?,
            }),
            ("pareto", 2 | 3) => {
                let shape = match fields.get(2) {
                    None => DEFAULT_SHAPE,
                    Some(text) => text
                        .parse()
                        .ok()
                        .filter(|shape| *shape > 2.0 && *shape <= 1000.0)
                        .ok_or_else(|| format!("{text:?}: the shape must be above 2 (its variance would be infinite) and at most 1000"))?,
                };
                Ok(Self::Pareto {
                    mean_ns: ns(0)?,
                    sd_ns: ns(1)?,
                    shape,
                })
            }
            ("pareto-normal", 2) => Ok(Self::ParetoNormal {
                mean_ns: ns(0)?,
                sd_ns: ns(1)?,
            }),
            _ => Err(format!("{text:?} is no delay; {HOW}")),
        }
    }

    /// Draw a delay in nanoseconds, possibly below zero.
    pub fn draw(&self, random: &mut Random) -> f64 {
        match self {
            Self::Constant { delay_ns } => *delay_ns,
            Self::Uniform { low_ns, high_ns } => low_ns + (high_ns - low_ns) * random.uniform(),
            Self::Normal { mean_ns, sd_ns } => mean_ns + sd_ns * random.normal(),
            Self::Pareto {
                mean_ns,
                sd_ns,
                shape,
            } => mean_ns + sd_ns * standard_pareto(*shape, random),
            Self::ParetoNormal { mean_ns, sd_ns } => {
                let mixed = NORMAL_WEIGHT * random.normal()
                    + PARETO_WEIGHT * standard_pareto(DEFAULT_SHAPE, random);
                mean_ns + sd_ns * mixed / NORMAL_WEIGHT.hypot(PARETO_WEIGHT)
            }
            Self::Table { table, .. } => table.delay_ns(random.uniform()),
        }
    }
}

/// Draw a Pareto variate of minimum 1, shifted to mean 0 and scaled to standard deviation 1.
fn standard_pareto(shape: f64, random: &mut Random) -> f64 {
    let mean = shape / (shape - 1.0);
    let sd = (shape / (shape - 2.0)).sqrt() / (shape - 1.0);
    (random.uniform().powf(-1.0 / shape) - mean) / sd
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { delay_ns } => write!(f, "constant:{delay_ns}ns"),
            Self::Uniform { low_ns, high_ns } => write!(f, "uniform:{low_ns}ns,{high_ns}ns"),
            Self::Normal { mean_ns, sd_ns } => write!(f, "normal:{mean_ns}ns,{sd_ns}ns"),
            Self::Pareto {
                mean_ns,
                sd_ns,
                shape,
            } => write!(f, "pareto:{mean_ns}ns,{sd_ns}ns,{shape}"),
            Self::ParetoNormal { mean_ns, sd_ns } => {
                write!(f, "pareto-normal:{mean_ns}ns,{sd_ns}ns")
            }
            Self::Table { name, .. } => write!(f, "table:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(text: &str) -> (f64, f64, f64) {
        let distribution = Distribution::parse(text).unwrap();
        let mut random = Random::new(3, 0);
        let draws: Vec<f64> = (0..400_000)
            .map(|_| distribution.draw(&mut random))
            .collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        let least = draws.iter().copied().fold(f64::INFINITY, f64::min);
        (mean, variance.sqrt(), least)
    }

    #[test]
    fn mean_and_spread_are_those_asked_for() {
        for (text, mean, sd) in [
            ("120us", 120e3, 0.0),
            ("constant:120us", 120e3, 0.0),
            ("uniform:100us,200us", 150e3, 100e3 / 12f64.sqrt()),
            ("normal:200us,20us", 200e3, 20e3),
            // A tail of shape 12 converges; that of shape 3 has no fourth moment, so its spread is tested below.
            ("pareto:200us,20us,12", 200e3, 20e3),
        ] {
            let (got_mean, got_sd, _) = moments(text);
            assert!((got_mean - mean).abs() < 200.0, "{text}: {got_mean}");
            assert!((got_sd - sd).abs() < 0.02 * sd + 1e-6, "{text}: {got_sd}");
        }
        for text in ["pareto:200us,20us", "pareto-normal:200us,20us"] {
            let (mean, sd, _) = moments(text);
            assert!((mean - 200e3).abs() < 500.0, "{text}: {mean}");
            assert!((15e3..27e3).contains(&sd), "{text}: {sd}");
        }
    }

    #[test]
    fn the_least_pareto_delay_is_the_documented_one() {
        let (_, _, least) = moments("pareto:200us,20us");
        let bound = 200e3 - 20e3 * (1.0f64 / 3.0).sqrt();
        assert!(least >= bound && least < bound + 10.0, "{least} {bound}");
    }

    #[test]
    fn what_is_no_distribution_is_told_how_one_is_written() {
        for text in [
            "",
            "fast",
            "uniform:1us",
            "uniform:2us,1us",
            "normal:1us,-1us",
            "pareto:1us,1us,2",
            "gauss:1us,2us",
            "table:/none.csv",
        ] {
            assert!(Distribution::parse(text).is_err(), "{text}");
        }
        let why = Distribution::parse("gauss:1us,2us").unwrap_err();
        assert!(why.contains("normal:MEAN,SD"), "{why}");
    }
}
