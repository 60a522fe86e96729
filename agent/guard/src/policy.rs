//! The order of flows: classes by the bytes that a flow sent, or by its age over them.
//!
//! Source of the priorities: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing",
//! Columbia University, 2021, chapter 2; `sinemora tail-lab` finds α and the boundaries.

use std::time::Duration;

/// α from which the age of a flow counts nothing, as in the tail lab.
pub const ALPHA_MAX: f64 = 1e15;
/// Most classes: HTB has eight priorities.
pub const CLASSES_MAX: usize = 8;
/// Code points of classes, lowest class first. CS1 is left out: some networks serve it after the default (RFC 3662).
const CODE_POINTS: [u8; CLASSES_MAX] = [0, 10, 16, 24, 32, 40, 48, 56];

/// Criterion that puts a flow into a class.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Bytes that the flow sent. `bytes` ascend: at each, the flow falls into the next lower class.
    StrictPriority { bytes: Vec<u64> },
    /// log2 of age (ns) / bytes^α. `boundaries` ascend: at each, the next higher class begins.
    LogPriority { alpha: f64, boundaries: Vec<f64> },
}

/// The order, and how packets are marked.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub order: Order,
    /// Code points (DSCP) of the classes, highest class first; `None` leaves packets as they are.
    pub code_points: Option<Vec<u8>>,
    /// Pause after which a connection counts as a new flow.
    pub flow_gap: Duration,
}

impl Order {
    /// Return the number of classes.
    pub fn classes(&self) -> usize {
        1 + match self {
            Self::StrictPriority { bytes } => bytes.len(),
            Self::LogPriority { boundaries, .. } => boundaries.len(),
        }
    }

    /// Return the class of the next packet of a flow, 0 the highest. The first packet of a flow is in class 0 always.
    pub fn class_of(&self, age_ns: u64, sent_bytes: u64) -> usize {
        match self {
            Self::StrictPriority { bytes } => bytes.partition_point(|bound| *bound <= sent_bytes),
            Self::LogPriority { alpha, boundaries } => {
                let log2 = |value: u64| (value.max(1) as f64).log2();
                let priority = log2(age_ns) - alpha * log2(sent_bytes);
                boundaries.len() - boundaries.partition_point(|start| *start <= priority)
            }
        }
    }

    /// Parse boundaries, separated by commas; the error says what would be right.
    pub fn parse(mode: &str, alpha: Option<f64>, boundaries: &str) -> Result<Self, String> {
        let order = match (mode, alpha) {
            ("strict-priority", Some(_)) => {
                return Err(
                    "--alpha belongs to --mode log-priority; strict-priority has no α".to_owned(),
                );
            }
            ("strict-priority", None) => Self::StrictPriority {
                bytes: list(boundaries, "bytes, for example 20000,300000", |bytes| {
                    *bytes > 0
                })?,
            },
            (_, None) => return Err("--mode log-priority needs --alpha".to_owned()),
            (_, Some(alpha)) if (0.0..=ALPHA_MAX).contains(&alpha) => Self::LogPriority {
                alpha,
                boundaries: list(
                    boundaries,
                    "log2 of priorities, for example -4.5,0,3",
                    |value: &f64| value.is_finite(),
                )?,
            },
            (_, Some(alpha)) => return Err(format!("--alpha {alpha} must be from 0 to 1e15")),
        };
        let classes = order.classes();
        if classes > CLASSES_MAX {
            return Err(format!(
                "--boundaries makes {classes} classes; there may be {CLASSES_MAX} at most"
            ));
        }
        Ok(order)
    }
}

fn list<T: std::str::FromStr + PartialOrd>(
    text: &str,
    what: &str,
    is_valid: impl Fn(&T) -> bool,
) -> Result<Vec<T>, String> {
    let wrong = |problem: &str| format!("--boundaries {text:?} {problem}: they are {what}");
    let values: Vec<T> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(&is_valid))
        .collect::<Option<_>>()
        .ok_or_else(|| wrong("cannot be read"))?;
    if values.windows(2).all(|pair| pair[0] < pair[1]) {
        Ok(values)
    } else {
        Err(wrong("must ascend"))
    }
}

/// Parse code points: `auto`, `keep`, or one for each class, highest class first.
pub fn code_points(text: &str, classes: usize) -> Result<Option<Vec<u8>>, String> {
    match text {
        "keep" => Ok(None),
        "auto" => Ok(Some(CODE_POINTS[..classes].iter().rev().copied().collect())),
        _ => {
            let points: Option<Vec<u8>> = text
                .split(',')
                .map(|part| part.trim().parse().ok().filter(|point| *point < 64))
                .collect();
            points
                .filter(|points| points.len() == classes)
                .map(Some)
                .ok_or_else(|| {
                    format!("--dscp {text:?} must be auto, keep, or {classes} numbers from 0 to 63, highest class first")
                })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_falls_a_class_at_each_boundary_of_bytes() {
        let order = Order::parse("strict-priority", None, "1000,50000").unwrap();
        for (sent, class) in [
            (1, 0),
            (999, 0),
            (1_000, 1),
            (49_999, 1),
            (50_000, 2),
            (u64::MAX, 2),
        ] {
            assert_eq!(order.class_of(1, sent), class, "{sent}");
        }
    }

    /// Vectors of the source: age 1 ms and 100,000 bytes have log2 priority 3.322 at α = 1, 18.271 at 0.1, −13.288 at 2.
    #[test]
    fn log_priorities_are_those_of_the_source() {
        for (alpha, log2) in [(1.0, 3.322), (0.1, 18.271), (2.0, -13.288)] {
            for (start, class) in [(log2 - 0.001, 0), (log2 + 0.001, 1)] {
                let order = Order::parse("log-priority", Some(alpha), &start.to_string()).unwrap();
                assert_eq!(order.class_of(1_000_000, 100_000), class, "α {alpha}");
            }
        }
    }

    #[test]
    fn age_lifts_a_flow_that_waits() {
        let order = Order::parse("log-priority", Some(1.0), "-2,2,6").unwrap();
        let classes: Vec<usize> = [1, 10, 100, 10_000]
            .map(|ms| order.class_of(ms * 1_000_000, 1_000_000))
            .to_vec();
        assert_eq!(classes, [2, 1, 0, 0]);
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let cases: [(&str, Option<f64>, &str, &str); 8] = [
            ("strict", Some(1.0), "1", "--alpha belongs to"),
            ("strict", None, "2,1", "must ascend: they are bytes"),
            ("strict", None, "", "cannot be read: they are bytes"),
            ("strict", None, "0,5", "cannot be read"),
            ("log", None, "1", "needs --alpha"),
            ("log", Some(-1.0), "1", "from 0 to 1e15"),
            ("log", Some(1.0), "1,nan", "cannot be read: they are log2"),
            (
                "log",
                Some(1.0),
                "1,2,3,4,5,6,7,8",
                "makes 9 classes; there may be 8",
            ),
        ];
        for (mode, alpha, boundaries, expected) in cases {
            let mode = format!("{mode}-priority");
            let error = Order::parse(&mode, alpha, boundaries).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn code_points_rise_with_the_class_and_leave_out_cs1() {
        assert_eq!(code_points("auto", 4), Ok(Some(vec![24, 16, 10, 0])));
        assert_eq!(code_points("keep", 4), Ok(None));
        assert_eq!(code_points("46, 0", 2), Ok(Some(vec![46, 0])));
        for wrong in ["46", "64,0", "x,0", ""] {
            let error = code_points(wrong, 2).unwrap_err();
            assert!(error.contains("2 numbers from 0 to 63"), "{error}");
        }
    }
}
