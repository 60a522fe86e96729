//! Transmission of events to the backend. They are few and small, and not spooled on disk.

use std::time::Duration;

use serde_json::json;
use ureq::http::Method;

use crate::backend::{Body, CallError, Client, Verdict};
use crate::calendar::{self, rfc3339};
use crate::counters::Event;

/// Largest number of events that the backend accepts in one request.
pub const MOST_AT_ONCE: usize = 100;
const LIMIT: Duration = Duration::from_secs(15);
/// A machine that shuts down does not wait for long.
const STOPPING_LIMIT: Duration = Duration::from_secs(2);
const PATH: &str = "/v1/agents/self/events";

/// Send events (`POST /v1/agents/self/events`).
pub fn send(client: &Client, events: &[Event]) -> Result<Verdict, CallError> {
    let body = json!({ "events": events.iter().map(as_json).collect::<Vec<_>>() }).to_string();
    let answer = client.send(&Method::POST, PATH, Body::Json(body.as_bytes()), LIMIT)?;
    Ok(answer.verdict())
}

/// Tell the backend that this agent is being stopped, so that it does not count as silent. Nothing is sent twice: the
/// process ends.
pub fn send_stopping(client: &Client) -> Result<Verdict, CallError> {
    let at = rfc3339(i64::try_from(calendar::now_s()).unwrap_or(0) * 1_000_000_000);
    let body = json!({ "events": [{ "kind": "stopping", "at": at, "detail": {} }] }).to_string();
    let answer = client.send(
        &Method::POST,
        PATH,
        Body::Json(body.as_bytes()),
        STOPPING_LIMIT,
    )?;
    Ok(answer.verdict())
}

fn as_json(event: &Event) -> serde_json::Value {
    let mut detail = json!({ "message": event.detail });
    if let Some(path) = &event.path {
        detail["mesh_key"] = path.mesh_key.into();
        detail["peer_key"] = path.peer_key.into();
        detail["reason"] = path.reason.into();
    }
    json!({
        "kind": event.kind.as_str(),
        "at": rfc3339(event.at_ns),
        "detail": detail,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{EventKind, EventPath};

    #[test]
    fn an_event_on_the_wire() {
        let event = Event {
            kind: EventKind::ClockStep,
            at_ns: 1_500_000_000,
            detail: "by -3 s".into(),
            path: None,
        };
        let expected = json!({
            "kind": "clock_step", "at": "1970-01-01T00:00:01.500000000Z", "detail": {"message": "by -3 s"}
        });
        assert_eq!(as_json(&event), expected);
        let of_path = Event {
            kind: EventKind::NoService,
            path: Some(EventPath {
                mesh_key: 3,
                peer_key: 7,
                reason: "closed",
            }),
            ..event
        };
        let expected =
            json!({"message": "by -3 s", "mesh_key": 3, "peer_key": 7, "reason": "closed"});
        assert_eq!(as_json(&of_path)["detail"], expected);
    }
}
