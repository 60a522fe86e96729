//! Measured delay distribution: a CSV file of samples or of cumulative shares.

use std::path::Path;

/// Limit of lines; a million measured delays are 8 MB.
const MOST_ROWS: usize = 1_000_000;

/// Inverse of a cumulative distribution: shares rising from 0 to 1, the delay at each, with linear interpolation.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    shares: Vec<f64>,
    delays_ns: Vec<f64>,
}

impl Table {
    /// Read `path`; errors name the line.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        Self::parse(&text).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// Parse the text of a table. Its header is `delay_us` (or `_ns`, `_ms`): each line a sample; or has `cumulative`
    /// besides: each line a share in 0..1 and the delay not exceeded by it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let (_, header) = lines.next().ok_or("the file is empty")?;
        let columns: Vec<&str> = header.split(',').map(str::trim).collect();
        let cumulative = columns.iter().position(|name| *name == "cumulative");
        let (delay, scale) = columns
            .iter()
            .enumerate()
            .find_map(|(at, name)| match *name {
                "delay_ns" => Some((at, 1.0)),
                "delay_us" => Some((at, 1e3)),
                "delay_ms" => Some((at, 1e6)),
                _ => None,
            })
            .ok_or_else(|| format!("line 1 is {header:?}; it must name delay_us, delay_ns or delay_ms, and may name cumulative"))?;
        let mut rows: Vec<(f64, f64)> = Vec::new();
        for (number, line) in lines {
            if rows.len() == MOST_ROWS {
                return Err(format!("line {number}: more than {MOST_ROWS} rows"));
            }
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let value = |at: usize, name: &str| {
                let text = fields.get(at).copied().unwrap_or("");
                text.parse::<f64>()
                    .ok()
                    .filter(|value| value.is_finite() && *value >= 0.0)
                    .ok_or_else(|| {
                        format!(
                            "line {number}: {name} is {text:?}; it must be a number of 0 or more"
                        )
                    })
            };
            let delay_ns = value(delay, columns[delay])? * scale;
            let share = match cumulative {
                Some(at) => value(at, "cumulative")?,
                None => 0.0,
            };
            if share > 1.0 {
                return Err(format!(
                    "line {number}: cumulative is {share}; it must be in 0..1"
                ));
            }
            rows.push((share, delay_ns));
        }
        if cumulative.is_some() {
            Self::of_shares(&rows)
        } else {
            Self::of_samples(rows.into_iter().map(|(_, delay)| delay).collect())
        }
    }

    fn of_samples(mut delays_ns: Vec<f64>) -> Result<Self, String> {
        if delays_ns.is_empty() {
            return Err("there is no delay in it".to_owned());
        }
        delays_ns.sort_by(f64::total_cmp);
        let last = (delays_ns.len() - 1).max(1) as f64;
        let shares = (0..delays_ns.len()).map(|at| at as f64 / last).collect();
        Ok(Self { shares, delays_ns })
    }

    fn of_shares(rows: &[(f64, f64)]) -> Result<Self, String> {
        let rising = rows
            .windows(2)
            .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        if rows.len() < 2 || !rising {
            return Err(
                "cumulative must rise from line to line, and delay must not fall".to_owned(),
            );
        }
        if rows.last().map(|row| row.0) != Some(1.0) {
            return Err("the last cumulative must be 1".to_owned());
        }
        Ok(Self {
            shares: rows.iter().map(|row| row.0).collect(),
            delays_ns: rows.iter().map(|row| row.1).collect(),
        })
    }

    /// Return the delay that a share of `uniform` does not exceed.
    pub fn delay_ns(&self, uniform: f64) -> f64 {
        let above = self.shares.partition_point(|share| *share < uniform);
        let Some(below) = above.checked_sub(1) else {
            return self.delays_ns[0];
        };
        let Some(high) = self.delays_ns.get(above) else {
            return self.delays_ns[below];
        };
        let along = (uniform - self.shares[below]) / (self.shares[above] - self.shares[below]);
        self.delays_ns[below] + along * (high - self.delays_ns[below])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_drawn_between_the_smallest_and_the_largest() {
        let table = Table::parse("delay_us\n30\n10\n20\n").unwrap();
        for (share, ns) in [
            (0.0, 10_000.0),
            (0.5, 20_000.0),
            (0.75, 25_000.0),
            (1.0, 30_000.0),
        ] {
            assert_eq!(table.delay_ns(share), ns, "{share}");
        }
        assert_eq!(Table::parse("delay_ms\n2\n").unwrap().delay_ns(0.3), 2e6);
    }

    #[test]
    fn cumulative_shares_are_followed() {
        let table =
            Table::parse("# measured\ncumulative,delay_us\n0,100\n0.9,200\n1,1000\n").unwrap();
        assert!((table.delay_ns(0.45) - 150_000.0).abs() < 1e-6);
        assert!((table.delay_ns(0.95) - 600_000.0).abs() < 1e-6);
    }

    #[test]
    fn the_error_of_a_wrong_table_names_its_line() {
        for (text, expected) in [
            ("", "empty"),
            ("latency\n1\n", "must name delay_us"),
            ("delay_us\n1\nx\n", "line 3"),
            ("delay_us\n-1\n", "line 2"),
            ("delay_us\n", "no delay"),
            ("cumulative,delay_us\n0,1\n0,2\n1,3\n", "must rise"),
            ("cumulative,delay_us\n0,1\n0.5,2\n", "must be 1"),
            ("cumulative,delay_us\n0,1\n1.5,2\n", "in 0..1"),
        ] {
            let why = Table::parse(text).unwrap_err();
            assert!(why.contains(expected), "{text:?}: {why}");
        }
    }
}
