//! Parsers of durations, sizes, rates and shares.

/// Parse a duration in nanoseconds: `100us`, `1.5ms`, `2s`, `250ns`; a bare 0 needs no unit. May be negative.
pub fn duration_ns(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text:?} is no duration; write 100us, 1.5ms, 2s or 250ns");
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let scale = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "" if number == 0.0 => 1.0,
        _ => return Err(wrong()),
    };
    let ns = (number * scale).round();
    if ns.abs() > 3.6e12 {
        return Err(format!("{text:?} is more than an hour"));
    }
    Ok(ns as i64)
}

/// Parse a duration like [`duration_ns`]; refuse a negative one.
pub fn positive_ns(text: &str) -> Result<i64, String> {
    match duration_ns(text)? {
        ns if ns < 0 => Err(format!("{text:?} is negative; a delay cannot be")),
        ns => Ok(ns),
    }
}

/// Parse a size in bytes: `1500`, `1500B`, `250kB` (thousands), `1MB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    scaled(
        text,
        &[("", 1.0), ("b", 1.0), ("kb", 1e3), ("mb", 1e6), ("gb", 1e9)],
    )
    .ok_or_else(|| format!("{text:?} is no size; write 1500B, 250kB or 1MB"))
}

/// Parse a rate in bits per second: `100mbit`, `1gbit`, `64kbit`.
pub fn bits_per_s(text: &str) -> Result<u64, String> {
    scaled(
        text,
        &[("bit", 1.0), ("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)],
    )
    .filter(|rate| *rate > 0)
    .ok_or_else(|| format!("{text:?} is no rate; write 100mbit, 1gbit or 64kbit"))
}

/// Parse a share between 0 and 1: `1%` or `0.01`.
pub fn share(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|value| value / 100.0),
        None => text.parse(),
    };
    value
        .ok()
        .filter(|value| (0.0..=1.0).contains(value))
        .ok_or_else(|| format!("{text:?} is no share; write 1% or 0.01"))
}

/// Format nanoseconds for people.
pub fn readable(ns: f64) -> String {
    match ns.abs() {
        size if size >= 1e9 => format!("{:.3} s", ns / 1e9),
        size if size >= 1e6 => format!("{:.3} ms", ns / 1e6),
        _ => format!("{:.1} µs", ns / 1e3),
    }
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit = unit.to_ascii_lowercase();
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    let value = (number * scale).round();
    (0.0..1e15).contains(&value).then_some(value as u64)
}

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|(_, c)| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .map_or(text.len(), |(at, _)| at);
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then_some((number, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ns) in [
            ("100us", 100_000),
            ("1.5ms", 1_500_000),
            ("2s", 2_000_000_000),
            ("250ns", 250),
            ("250 µs", 250_000),
            ("0", 0),
            ("-3us", -3_000),
        ] {
            assert_eq!(duration_ns(text), Ok(ns), "{text}");
        }
        for text in ["", "100", "us", "1h", "1.2.3us", "9999s", "infs", "nan"] {
            assert!(duration_ns(text).is_err(), "{text}");
        }
        assert!(positive_ns("-1us").unwrap_err().contains("negative"));
    }

    #[test]
    fn sizes_rates_and_shares() {
        assert_eq!(bytes("250kB"), Ok(250_000));
        assert_eq!(bytes("1500"), Ok(1500));
        assert_eq!(bits_per_s("100mbit"), Ok(100_000_000));
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.5"), Ok(0.5));
        for text in ["-1", "10 apples", ""] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(bits_per_s("0mbit").is_err());
        assert!(bits_per_s("100").is_err());
        assert!(share("101%").is_err());
        assert!(share("nan").is_err());
    }
}
