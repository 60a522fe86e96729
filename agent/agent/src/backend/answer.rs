//! Answers of the backend, and the verdict on a request that follows from each.

use std::time::Duration;

use serde::Deserialize;

use crate::calendar;

/// HTTP answer of any status.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub status: u16,
    pub etag: Option<String>,
    pub retry_after: Option<Duration>,
    /// The `Sinemora-Time-Ns` header: the backend's clock when it answered, Unix ns.
    pub time_ns: Option<i64>,
    pub timing: Timing,
    pub location: Option<String>,
    /// The `Sinemora-Acknowledged` header of a gateway: `queued` on its disk, or `stored` by the backend.
    pub acknowledged: Option<String>,
    /// The body is JSON. A portal or the maintenance page of a proxy answers HTML in place of the backend.
    pub is_json: bool,
    pub body: Vec<u8>,
}

/// When an exchange with the backend took place; local times are of `CLOCK_BOOTTIME`, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// Before the request left.
    pub sent_ns: i64,
    /// After the head of the answer had arrived.
    pub received_ns: i64,
    /// The `Sinemora-Held-Ns` header: time that the backend held the request before it read its clock; 0 if not reported.
    pub held_ns: i64,
}

/// Code of the problem of an agent whose identity another machine uses, too.
pub const IDENTITY_COPIED: &str = "identity_copied";

/// Beginning of the `type` of every problem of the product.
const PROBLEM_TYPE: &str = "urn:sinemora:problem:";

/// Problem details (RFC 9457) with the backend's stable `code`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// Names the product; the page of a proxy in its place may have a `code`, too.
    #[serde(rename = "type")]
    pub kind: String,
    pub code: String,
    pub title: String,
    pub detail: String,
    pub errors: Vec<FieldProblem>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct FieldProblem {
    pub pointer: String,
    pub message: String,
}

/// Consequence of an answer for the request that it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// The backend may accept the same request later.
    Later {
        retry_after: Option<Duration>,
        why: String,
    },
    /// The backend will never accept the same request.
    Refused {
        why: String,
    },
    /// The backend accepts nothing from this agent.
    Locked {
        code: String,
        why: String,
    },
}

impl Answer {
    /// Return the problem that a JSON body describes; fields that the body lacks are empty.
    pub fn problem(&self) -> Problem {
        if self.is_json {
            serde_json::from_slice(&self.body).unwrap_or_default()
        } else {
            Problem::default()
        }
    }

    /// Format status, code and detail as one line for a log.
    pub fn describe(&self) -> String {
        let problem = self.problem();
        let mut text = match (problem.code.as_str(), self.location.as_deref()) {
            ("", Some(location)) => format!(
                "HTTP {} redirects to {location}: set `backend` to the URL of the backend itself",
                self.status
            ),
            ("", None) => format!("HTTP {}", self.status),
            (code, _) => format!("HTTP {} {code}", self.status),
        };
        let detail = if problem.detail.is_empty() {
            &problem.title
        } else {
            &problem.detail
        };
        if !detail.is_empty() {
            text.push_str(": ");
            text.push_str(detail);
        }
        for error in problem.errors.iter().take(5) {
            text.push_str(&format!("; {} {}", error.pointer, error.message));
        }
        text
    }

    /// Return the verdict on a request that asks the backend to store something.
    pub fn verdict(&self) -> Verdict {
        let why = self.describe();
        let from_backend = self.problem().kind.starts_with(PROBLEM_TYPE);
        match self.status {
            204 => Verdict::Accepted,
            200..=299 if self.is_json => Verdict::Accepted,
            200..=299 => self.of_another_server(),
            401 if from_backend => Verdict::Locked {
                code: self.problem().code,
                why,
            },
            409 if from_backend && self.problem().code == IDENTITY_COPIED => Verdict::Locked {
                code: IDENTITY_COPIED.to_owned(),
                why,
            },
            // During a deployment a proxy answers in place of the backend. Only the backend itself knows that it will never
            // accept a request; a proxy knows that of one that is too large.
            400..=499 if !from_backend && self.status != 413 => Verdict::Later {
                retry_after: self.retry_after,
                why,
            },
            // These concern the connection or the moment, not the content of the request.
            401 | 403 | 407 | 408 | 421 | 425 | 429 => Verdict::Later {
                retry_after: self.retry_after,
                why,
            },
            400..=499 => Verdict::Refused { why },
            _ => Verdict::Later {
                retry_after: self.retry_after,
                why,
            },
        }
    }
}

impl Answer {
    /// Return the verdict on a report. An answer without the time of a backend and without the word of a gateway is no
    /// acknowledgement, whatever its status: a maintenance page may answer 200, and the report would be lost.
    pub fn verdict_on_report(&self) -> Verdict {
        match self.verdict() {
            Verdict::Accepted if self.time_ns.is_none() && self.acknowledged.is_none() => {
                self.of_another_server()
            }
            verdict => verdict,
        }
    }

    fn of_another_server(&self) -> Verdict {
        Verdict::Later {
            retry_after: self.retry_after,
            why: format!(
                "{} is not an answer of a Sinemora backend: a proxy or a portal answers in its place, or `backend` is wrong",
                self.describe()
            ),
        }
    }
}

/// Parse `Retry-After` (RFC 9110, 10.2.3): seconds, or a date, which is compared with `now_s`.
pub fn retry_after(text: &str, now_s: i64) -> Option<Duration> {
    let text = text.trim();
    let seconds = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => u64::try_from(calendar::from_http_date(text)?.saturating_sub(now_s)).unwrap_or(0),
    };
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, problem: Option<&str>) -> Answer {
        Answer {
            status,
            is_json: problem.is_some(),
            body: problem.unwrap_or("").into(),
            ..Answer::default()
        }
    }

    #[test]
    fn verdicts() {
        let coded = Some(
            r#"{"type": "urn:sinemora:problem:report_malformed", "code": "report_malformed", "detail": "peer_keys must ascend"}"#,
        );
        let of_proxy = Some(r#"{"type": "about:blank", "code": "maintenance"}"#);
        let revoked =
            Some(r#"{"type": "urn:sinemora:problem:agent_revoked", "code": "agent_revoked"}"#);
        let table = [
            (204, None, "accepted"),
            (200, Some("{}"), "accepted"),
            (200, None, "later"),
            (302, None, "later"),
            (400, coded, "refused"),
            (400, None, "later"),
            (400, of_proxy, "later"),
            (401, revoked, "locked"),
            (401, of_proxy, "later"),
            (401, None, "later"),
            (403, None, "later"),
            (404, coded, "refused"),
            (404, None, "later"),
            (404, of_proxy, "later"),
            (408, coded, "later"),
            (409, coded, "refused"),
            (413, None, "refused"),
            (422, coded, "refused"),
            (429, coded, "later"),
            (500, coded, "later"),
            (503, coded, "later"),
        ];
        for (status, problem, expected) in table {
            let verdict = match answer(status, problem).verdict() {
                Verdict::Accepted => "accepted",
                Verdict::Later { .. } => "later",
                Verdict::Refused { .. } => "refused",
                Verdict::Locked { .. } => "locked",
            };
            assert_eq!(verdict, expected, "{status} {problem:?}");
        }
    }

    #[test]
    fn only_the_product_acknowledges_a_report() {
        for status in [200, 204] {
            let page = answer(status, Some("{}"));
            assert!(
                matches!(page.verdict_on_report(), Verdict::Later { why, .. } if why.contains("proxy"))
            );
            let of_backend = Answer {
                time_ns: Some(1),
                ..page.clone()
            };
            assert_eq!(of_backend.verdict_on_report(), Verdict::Accepted);
            let of_gateway = Answer {
                acknowledged: Some("queued".into()),
                ..page
            };
            assert_eq!(of_gateway.verdict_on_report(), Verdict::Accepted);
        }
    }

    #[test]
    fn a_problem_reads_as_one_line() {
        let body = r#"{"code": "invalid", "title": "Invalid", "detail": "Two fields are wrong.",
                       "errors": [{"pointer": "/windows/0/flows", "message": "too many"}, {"pointer": "/x"}]}"#;
        let text = answer(422, Some(body)).describe();
        let expected = "HTTP 422 invalid: Two fields are wrong.; /windows/0/flows too many; /x ";
        assert_eq!(text, expected);
        assert_eq!(answer(502, None).describe(), "HTTP 502");
        assert_eq!(answer(500, Some("<html>")).describe(), "HTTP 500");
        let moved = Answer {
            status: 308,
            location: Some("https://b.example/".into()),
            ..Answer::default()
        };
        let text = moved.describe();
        assert!(text.contains("set `backend`"), "{text}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let s = |n| Some(Duration::from_secs(n));
        assert_eq!(retry_after("120", 0), s(120));
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(retry_after(date, 784_111_770), s(7));
        assert_eq!(retry_after(date, 999_999_999), s(0));
        assert_eq!(retry_after("soon", 0), None);
        assert_eq!(retry_after("-1", 0), None);
    }
}
