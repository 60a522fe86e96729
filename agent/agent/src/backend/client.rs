//! Requests to the backend: TLS with the system's authorities, the environment's proxy, limits on time and size.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ureq::http::{HeaderMap, Method, Request, header};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};

use super::answer::{Answer, Timing, retry_after};
use super::{no_answer, pinned};
use crate::calendar::{self, LATEST_NS};
use crate::config::{BackendUrl, Trust};
use crate::timestamp::boot_now_ns;

/// Largest answer that is read. A plan of 2,000 peers takes less than a tenth of it.
const ANSWER_LIMIT_BYTES: u64 = 8 << 20;
const TIME_HEADER: header::HeaderName = header::HeaderName::from_static("sinemora-time-ns");
const HELD_HEADER: header::HeaderName = header::HeaderName::from_static("sinemora-held-ns");
const SENDER_HEADER: header::HeaderName = header::HeaderName::from_static("sinemora-sender");
const ACKNOWLEDGED_HEADER: header::HeaderName =
    header::HeaderName::from_static("sinemora-acknowledged");
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Files in which distributions keep the authorities they trust. The first one that exists is used.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
];

/// HTTP client of one backend, with or without a credential. Clones are cheap and share connections.
#[derive(Debug, Clone)]
pub struct Client {
    agent: ureq::Agent,
    backend: BackendUrl,
    authorization: Option<Arc<str>>,
}

/// Body of a request.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    None,
    Json(&'a [u8]),
    /// A protobuf report, compressed with zstd.
    Report(&'a [u8]),
}

/// Failure to get an answer.
#[derive(Debug)]
pub enum CallError {
    /// The file of authorities cannot be used.
    Authorities { path: PathBuf, why: String },
    /// No answer arrived; `hint` is the usual remedy.
    NoAnswer {
        backend: String,
        why: String,
        hint: &'static str,
    },
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Authorities { path, why } => write!(f, "ca_file {}: {why}", path.display()),
            Self::NoAnswer {
                backend,
                why,
                hint: "",
            } => write!(f, "no answer from {backend}: {why}"),
            Self::NoAnswer { backend, why, hint } => {
                write!(f, "no answer from {backend}: {why} ({hint})")
            }
        }
    }
}

impl std::error::Error for CallError {}

impl Client {
    /// Create a client that trusts the authorities of `trust`.
    pub fn new(backend: BackendUrl, trust: &Trust) -> Result<Self, CallError> {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would send the credential to another host, and turn the POST of a report into a GET.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_LIMIT))
            .user_agent(concat!("sinemora-agent/", env!("CARGO_PKG_VERSION")));
        if backend.is_loopback() {
            config = config.proxy(None);
        }
        let agent = match &trust.ca_pin {
            None => {
                let tls = TlsConfig::builder().root_certs(authorities(trust)?);
                config.tls_config(tls.build()).build().new_agent()
            }
            Some(pin) => {
                let tls = Arc::new(pinned::client_config(pin.clone()));
                let connector =
                    ().chain(ConnectProxyConnector::default())
                        .chain(TcpConnector::default())
                        .chain(pinned::PinnedConnector(tls));
                ureq::Agent::with_parts(config.build(), connector, DefaultResolver::default())
            }
        };
        Ok(Self {
            agent,
            backend,
            authorization: None,
        })
    }

    /// Return a client of the same backend whose requests carry an agent's credential.
    pub fn with_credential(&self, credential: &str) -> Self {
        Self {
            authorization: Some(format!("Bearer {credential}").into()),
            ..self.clone()
        }
    }

    pub fn backend(&self) -> &BackendUrl {
        &self.backend
    }

    /// Request `path`, with `If-None-Match` if there is an `etag`.
    pub fn get(
        &self,
        path: &str,
        etag: Option<&str>,
        limit: Duration,
    ) -> Result<Answer, CallError> {
        self.call(&Method::GET, path, Body::None, etag, limit)
    }

    /// Send `body` to `path`.
    pub fn send(
        &self,
        method: &Method,
        path: &str,
        body: Body<'_>,
        limit: Duration,
    ) -> Result<Answer, CallError> {
        self.call(method, path, body, None, limit)
    }

    fn call(
        &self,
        method: &Method,
        path: &str,
        body: Body<'_>,
        etag: Option<&str>,
        limit: Duration,
    ) -> Result<Answer, CallError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.backend));
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization.as_ref());
            request = request.header(SENDER_HEADER, sender());
        }
        if let Some(etag) = etag {
            request = request.header(header::IF_NONE_MATCH, etag);
        }
        request = request.header(header::ACCEPT, "application/json, application/problem+json");
        let (request, bytes) = match body {
            Body::None => (request, None),
            Body::Json(bytes) => (
                request.header(header::CONTENT_TYPE, "application/json"),
                Some(bytes),
            ),
            Body::Report(bytes) => {
                let request = request.header(header::CONTENT_TYPE, "application/x-protobuf");
                (
                    request.header(header::CONTENT_ENCODING, "zstd"),
                    Some(bytes),
                )
            }
        };
        let sent_ns = boot_now_ns();
        let response = match bytes {
            Some(bytes) => request
                .body(bytes)
                .map_err(Into::into)
                .and_then(|r| self.run(r, limit)),
            None => request
                .body(())
                .map_err(Into::into)
                .and_then(|r| self.run(r, limit)),
        };
        response
            .and_then(|response| read(response, sent_ns))
            .map_err(|e| self.no_answer(&e))
    }

    fn run<B: ureq::AsSendBody>(
        &self,
        request: Request<B>,
        limit: Duration,
    ) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        self.agent.run(
            self.agent
                .configure_request(request)
                .timeout_global(Some(limit))
                .build(),
        )
    }

    fn no_answer(&self, error: &ureq::Error) -> CallError {
        CallError::NoAnswer {
            backend: match self.agent.config().proxy() {
                None => self.backend.to_string(),
                Some(proxy) => {
                    let (host, port) = (proxy.host(), proxy.port());
                    format!("{} through the proxy {host}:{port}", self.backend)
                }
            },
            why: error.to_string(),
            hint: no_answer::hint(error),
        }
    }
}

/// Return the name of this process and of its machine in requests: two that take turns share a copied identity.
fn sender() -> &'static str {
    static SENDER: OnceLock<String> = OnceLock::new();
    SENDER.get_or_init(|| {
        let process = RandomState::new().build_hasher().finish();
        let id = std::fs::read("/etc/machine-id").unwrap_or_default();
        // The id itself must not leave the machine (machine-id(5)). FNV-1a, so that every version gives the same.
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let machine = b"sinemora"
            .iter()
            .chain(&id)
            .fold(0xcbf2_9ce4_8422_2325, fold);
        format!("{process:016x}-{machine:016x}")
    })
}

/// Read an answer whose head has just arrived; the request left after `sent_ns` (`CLOCK_BOOTTIME`).
fn read(response: ureq::http::Response<ureq::Body>, sent_ns: i64) -> Result<Answer, ureq::Error> {
    let received_ns = boot_now_ns();
    let (parts, mut body) = response.into_parts();
    let text = |name: header::HeaderName| header_text(&parts.headers, &name);
    // A date in `Retry-After` is in the sender's time, so it is compared with the sender's `Date`.
    let date_s = text(header::DATE).and_then(|t| calendar::from_http_date(&t));
    let now_s = date_s.unwrap_or_else(|| calendar::now_s().try_into().unwrap_or(i64::MAX));
    Ok(Answer {
        status: parts.status.as_u16(),
        etag: text(header::ETAG),
        retry_after: text(header::RETRY_AFTER).and_then(|t| retry_after(&t, now_s)),
        time_ns: text(TIME_HEADER).and_then(|t| time_in(&t)),
        timing: Timing {
            sent_ns,
            received_ns,
            held_ns: text(HELD_HEADER).and_then(|t| time_in(&t)).unwrap_or(0),
        },
        location: text(header::LOCATION),
        acknowledged: text(ACKNOWLEDGED_HEADER),
        is_json: text(header::CONTENT_TYPE).is_some_and(|t| t.contains("json")),
        body: body.with_config().limit(ANSWER_LIMIT_BYTES).read_to_vec()?,
    })
}

/// Return a time or a length of time, ns; `None` for one that no clock shows.
fn time_in(text: &str) -> Option<i64> {
    let ns = text.parse().ok()?;
    (0..=LATEST_NS).contains(&ns).then_some(ns)
}

fn header_text(headers: &HeaderMap, name: &header::HeaderName) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned)
}

fn authorities(trust: &Trust) -> Result<RootCerts, CallError> {
    let ca_file = trust.ca_file.as_deref();
    let from_env = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let known = SYSTEM_AUTHORITIES.iter().map(PathBuf::from);
    let mut trusted = from_env
        .into_iter()
        .chain(known)
        .filter(|_| !trust.ca_only)
        .find_map(|path| certificates(&path).ok())
        .unwrap_or_default();
    let system_has_some = !trusted.is_empty();
    if let Some(path) = ca_file {
        trusted.extend(certificates(path).map_err(|why| CallError::Authorities {
            path: path.to_owned(),
            why,
        })?);
    }
    // A minimal container image has no authorities: then the compiled-in ones of Mozilla are used, or only `ca_file`.
    if !system_has_some && ca_file.is_none() {
        return Ok(RootCerts::WebPki);
    }
    Ok(RootCerts::Specific(Arc::new(trusted)))
}

fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, String> {
    let pem = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|e| format!("is not PEM: {e}"))? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        Err("holds no certificate (BEGIN CERTIFICATE)".to_owned())
    } else {
        Ok(certificates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, "hello").unwrap();
        let trust = |path: &Path| Trust {
            ca_file: Some(path.to_owned()),
            ..Trust::default()
        };
        let error = authorities(&trust(&path)).unwrap_err().to_string();
        assert!(
            error.contains("ca.pem") && error.contains("holds no certificate"),
            "{error}"
        );
        let error = authorities(&trust(Path::new("/nonexistent.pem")))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/nonexistent.pem: cannot be read"),
            "{error}"
        );
    }

    #[test]
    fn a_backend_that_is_away_is_named() {
        // Port 1 of loopback: nothing listens there.
        let backend = BackendUrl::parse("http://127.0.0.1:1", false).unwrap();
        let client = Client::new(backend, &Trust::default()).unwrap();
        let error = client
            .get("/healthz", None, Duration::from_secs(5))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("no answer from http://127.0.0.1:1: "),
            "{error}"
        );
    }
}
