//! Requests to a metadata service.

use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::Request;

/// Longer than any answer of use.
const ANSWER_LIMIT_BYTES: u64 = 256 << 10;

/// Asks one service until its time is over. Never through a proxy: the answer would be about the proxy's machine.
#[derive(Debug)]
pub(super) struct Asker {
    agent: Agent,
    url: String,
    until: Instant,
}

/// An answer of the service.
pub(super) struct Told {
    pub status: u16,
    /// Of the `Metadata-Flavor` header.
    pub flavor: Option<String>,
    pub text: String,
}

impl Asker {
    pub fn new(url: &str, limit: Duration) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None);
        Self {
            agent: config.build().new_agent(),
            url: url.trim_end_matches('/').to_owned(),
            until: Instant::now() + limit,
        }
    }

    /// One request; `None` when there is no readable answer in time.
    pub fn ask(&self, method: &str, path: &str, header: (&str, &str)) -> Option<Told> {
        let left = self.until.saturating_duration_since(Instant::now());
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(header.0, header.1)
            .body(())
            .ok()?;
        let configured = self.agent.configure_request(request);
        let configured = configured.timeout_global(Some(left.max(Duration::from_millis(1))));
        let mut response = self.agent.run(configured.build()).ok()?;
        let flavor = response.headers().get("Metadata-Flavor");
        Some(Told {
            flavor: flavor.and_then(|flavor| flavor.to_str().ok().map(str::to_owned)),
            status: response.status().as_u16(),
            text: response
                .body_mut()
                .with_config()
                .limit(ANSWER_LIMIT_BYTES)
                .read_to_string()
                .ok()?,
        })
    }

    /// The text of a GET that was answered with 200.
    pub fn get(&self, path: &str, header: (&str, &str)) -> Option<String> {
        let told = self.ask("GET", path, header)?;
        (told.status == 200).then_some(told.text)
    }
}

/// A name as clouds give them, at most 100 characters; what else may answer at this address says other things.
pub(super) fn plain(text: &str) -> Option<String> {
    let text = text.trim();
    let of_names = |c: char| c.is_ascii_alphanumeric() || "-_.:/=+".contains(c);
    let right = !text.is_empty() && text.len() <= 100 && text.chars().all(of_names);
    right.then(|| text.to_owned())
}
