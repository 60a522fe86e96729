//! Transmission of events to the backend. They are few and small, and not spooled on disk.

use std::time::Duration;

use serde_json::json;
use ureq::http::Method;

use crate::backend::{Body, CallError, Client, Verdict};
use crate::calendar::rfc3339;
use crate::counters::Event;

/// Largest number of events that the backend accepts in one request.
pub const MOST_AT_ONCE: usize = 100;
const LIMIT: Duration = Duration::from_secs(15);

/// Sends events (`POST /v1/agents/self/events`).
pub fn send(client: &Client, events: &[Event]) -> Result<Verdict, CallError> {
    let body = json!({ "events": events.iter().map(as_json).collect::<Vec<_>>() }).to_string();
    let answer = client.send(
        &Method::POST,
        "/v1/agents/self/events",
        Body::Json(body.as_bytes()),
        LIMIT,
    )?;
    Ok(answer.verdict())
}

fn as_json(event: &Event) -> serde_json::Value {
    json!({
        "kind": event.kind.as_str(),
        "at": rfc3339(event.at_ns),
        "detail": { "message": event.detail },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::EventKind;

    #[test]
    fn an_event_on_the_wire() {
        let event = Event {
            kind: EventKind::ClockStep,
            at_ns: 1_500_000_000,
            detail: "by -3 s".into(),
        };
        let expected = json!({
            "kind": "clock_step", "at": "1970-01-01T00:00:01.500000000Z", "detail": {"message": "by -3 s"}
        });
        assert_eq!(as_json(&event), expected);
    }
}
