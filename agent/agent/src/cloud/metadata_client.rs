//! Requests to a metadata service.

use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::Request;

/// Longest answer that is read.
const ANSWER_LIMIT_BYTES: u64 = 256 << 10;

/// Client of one service with one deadline for all requests. It uses no proxy: the answer would be about the proxy's VM.
#[derive(Debug)]
pub(super) struct MetadataClient {
    agent: Agent,
    url: String,
    deadline: Instant,
}

/// An answer of the service.
pub(super) struct Response {
    pub status: u16,
    /// Value of the `Metadata-Flavor` header.
    pub flavor: Option<String>,
    pub text: String,
}

impl MetadataClient {
    pub fn new(url: &str, limit: Duration) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None);
        Self {
            agent: config.build().new_agent(),
            url: url.trim_end_matches('/').to_owned(),
            deadline: Instant::now() + limit,
        }
    }

    /// Send a request; return `None` if no readable answer arrives before the deadline.
    pub fn request(&self, method: &str, path: &str, header: (&str, &str)) -> Option<Response> {
        let left = self.deadline.saturating_duration_since(Instant::now());
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
        Some(Response {
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

    /// Return the text of a GET if its status is 200.
    pub fn get(&self, path: &str, header: (&str, &str)) -> Option<String> {
        let response = self.request("GET", path, header)?;
        (response.status == 200).then_some(response.text)
    }
}

/// Return a name as clouds use them, at most 100 characters; `None` for other text, as of another kind of server.
pub(super) fn plain(text: &str) -> Option<String> {
    let text = text.trim();
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:/=+".contains(c);
    let is_name = !text.is_empty() && text.len() <= 100 && text.chars().all(is_allowed);
    is_name.then(|| text.to_owned())
}
