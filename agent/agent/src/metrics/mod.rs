//! HTTP server of `/metrics` for Prometheus and `/healthz` for supervisors, on loopback by default.
//!
//! One thread answers one request at a time, with limits on size and time: enough for a scrape every few seconds.
//! A slow client is disconnected.

mod text;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::counters::Counters;
use crate::plan::BackendClock;

const REQUEST_LIMIT_BYTES: usize = 4096;
const CLIENT_LIMIT: Duration = Duration::from_secs(2);

/// Server that answers scrapes until the process ends.
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
    counters: Arc<Counters>,
    backend_clock: Arc<BackendClock>,
}

impl MetricsServer {
    /// Bind the address; fail if another program uses it.
    pub fn bind(
        address: SocketAddr,
        counters: Arc<Counters>,
        backend_clock: Arc<BackendClock>,
    ) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind(address)?,
            counters,
            backend_clock,
        })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    pub fn run(self) {
        for stream in self.listener.incoming() {
            let answered = stream.and_then(|stream| self.answer(stream));
            if let Err(error) = answered {
                tracing::debug!(%error, "a scrape failed");
                // Without free file descriptors, accepting fails at once and repeatedly.
                if error.kind() != io::ErrorKind::WouldBlock {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }

    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        let request = read_request(&mut stream)?;
        let mut words = request.lines().next().unwrap_or_default().split(' ');
        let (method, target) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let path = target.split('?').next().unwrap_or_default();
        let (status, kind, body) = match (method, path) {
            ("GET" | "HEAD", "/metrics") => (
                "200 OK",
                "text/plain; version=0.0.4; charset=utf-8",
                text::metrics(&self.counters, &self.backend_clock),
            ),
            ("GET" | "HEAD", "/healthz") => {
                ("200 OK", "application/json", text::health(&self.counters))
            }
            ("GET" | "HEAD", _) => (
                "404 Not Found",
                "text/plain",
                "here are /metrics and /healthz\n".to_owned(),
            ),
            _ => (
                "405 Method Not Allowed",
                "text/plain",
                "only GET\n".to_owned(),
            ),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        if method == "HEAD" {
            Ok(())
        } else {
            stream.write_all(body.as_bytes())
        }
    }
}

fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let until = Instant::now() + CLIENT_LIMIT;
    stream.set_write_timeout(Some(CLIENT_LIMIT))?;
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while request.len() < REQUEST_LIMIT_BYTES && !request.windows(4).any(|four| four == b"\r\n\r\n")
    {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer)? {
            0 => break,
            read => request.extend_from_slice(&buffer[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}

#[cfg(test)]
mod tests;
