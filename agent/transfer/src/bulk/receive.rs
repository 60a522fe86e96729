//! Receiver of an order: accepts the connections that it names, reads their bytes and acknowledges them.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ring::hmac;

use super::access::{self, admit};
use super::channel::{Channel, Tls};
use super::order::{BulkOrder, BulkRole, BulkStep};
use super::progress::{Abort, Progress};
use super::send::share;
use super::socket;
use crate::artifacts::{RateLimit, lower_priority};

/// Time between checks of the end of an order.
const WAIT: Duration = Duration::from_millis(200);
/// Time in which a connection proves that it belongs to the order, and number of those that have not yet.
const GREETING_LIMIT: Duration = Duration::from_secs(5);
const STRANGERS_MAX: usize = 64;
const BUFFER_BYTES: usize = 256 << 10;

/// Listening socket of an order.
#[derive(Debug)]
pub struct Receiver(TcpListener);

/// State that the connections of an order share.
pub struct Shared<'a> {
    pub order: &'a BulkOrder,
    pub key: &'a hmac::Key,
    pub tls: &'a Tls,
    pub limit: &'a RateLimit,
    pub progress: &'a Progress,
    pub abort: &'a Abort,
}

impl Receiver {
    pub fn bind(at: SocketAddr) -> io::Result<Self> {
        socket::listen_at(at).map(Self)
    }

    /// Serve until all bytes of the order are received, or it ends.
    pub fn run(&self, shared: &Shared<'_>) {
        let strangers = AtomicUsize::new(0);
        let received = || {
            let steps = shared.progress.steps.iter();
            steps
                .filter(|step| step.role == BulkRole::Receiver)
                .all(|step| step.is_complete())
        };
        std::thread::scope(|scope| {
            while !shared.abort.is_set() && !received() {
                let stream = match socket::accept_within(&self.0, WAIT) {
                    Ok(stream) => stream,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                    Err(_) => {
                        std::thread::sleep(WAIT);
                        continue;
                    }
                };
                if strangers.load(Relaxed) >= STRANGERS_MAX {
                    continue;
                }
                let stranger = Stranger::count(&strangers);
                let body = move || {
                    lower_priority();
                    if let Err(error) = shared.serve(stream, stranger) {
                        tracing::debug!("a connection of the bulk sender ended: {error}");
                    }
                };
                let name = std::thread::Builder::new().name("bulk-receive".to_owned());
                if let Err(error) = name.spawn_scoped(scope, body) {
                    tracing::debug!("no thread for a connection of the bulk sender: {error}");
                }
            }
        });
    }
}

/// A connection that has not proven yet that it belongs to the order: counted for as long as this lives.
struct Stranger<'a>(&'a AtomicUsize);

impl<'a> Stranger<'a> {
    fn count(all: &'a AtomicUsize) -> Self {
        all.fetch_add(1, Relaxed);
        Self(all)
    }
}

impl Drop for Stranger<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Shared<'_> {
    fn serve(&self, stream: TcpStream, stranger: Stranger<'_>) -> io::Result<()> {
        let closing = self.abort.watch(&stream)?;
        let served = self.receive(stream, stranger);
        closing.close();
        served
    }

    fn receive(&self, stream: TcpStream, stranger: Stranger<'_>) -> io::Result<()> {
        let (mut channel, step, connection, bytes) = self.admit(stream)?;
        drop(stranger);
        let progress = self
            .progress
            .step(step.index, BulkRole::Receiver)
            .ok_or_else(|| refused("an unknown step"))?;
        let began = progress.begin(0, Instant::now());
        let mut buffer = vec![0; BUFFER_BYTES.min(self.limit.piece_bytes().max(16 << 10))];
        let mut left = bytes;
        while left > 0 {
            let size = buffer
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            let read = channel.read(&mut buffer[..size])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= read as u64;
            self.limit.pass(read);
        }
        channel.write_all(&bytes.to_le_bytes())?;
        channel.flush()?;
        progress.end_connection(connection, began);
        Ok(())
    }

    /// Return the channel of a connection that belongs to the order, its step, number and bytes.
    fn admit(&self, stream: TcpStream) -> io::Result<(Box<dyn Channel>, &BulkStep, usize, u64)> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GREETING_LIMIT))?;
        stream.set_write_timeout(Some(GREETING_LIMIT))?;
        let after = stream.try_clone()?;
        let mut first = [0];
        stream.peek(&mut first)?;
        let is_tls = first[0] != access::PLAIN;
        let mut channel: Box<dyn Channel> = if is_tls {
            self.tls.accept(stream)?
        } else {
            Box::new(stream)
        };
        let (named, bytes) = admit(&mut channel, self.key)?;
        let step = self
            .order
            .steps
            .iter()
            .find(|step| step.role == BulkRole::Receiver && step.index == named.step)
            .ok_or_else(|| refused("an unknown step"))?;
        if named.connection >= step.connections || is_tls != step.tls {
            return Err(refused("a connection that the order does not have"));
        }
        if bytes != share(step.bytes, step.connections, named.connection) {
            return Err(refused("another number of bytes than the order has"));
        }
        let progress = self.progress.step(step.index, BulkRole::Receiver);
        let connection = usize::from(named.connection);
        // A second connection of this number would receive its bytes again.
        let is_first = progress.is_some_and(|one| one.connections[connection].claim());
        if !is_first {
            return Err(refused("a connection for the second time"));
        }
        after.set_read_timeout(None)?;
        after.set_write_timeout(None)?;
        Ok((channel, step, connection, bytes))
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}
