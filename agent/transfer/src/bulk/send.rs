//! Sender of a step: its connections at once, each with its share of the bytes.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ring::hmac;

use super::access::{Named, greet};
use super::channel::{Channel, Tls};
use super::order::BulkStep;
use super::progress::{Abort, StepProgress};
use super::socket;
use crate::artifacts::{RateLimit, lower_priority};
use sinemora_agent::plan::BackendClock;

/// A receiver may get the order a little later.
const RECEIVER_LIMIT: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(50);
const BLOCK_BYTES: usize = 64 << 10;

/// State that the connections of an order share.
pub struct Sender<'a> {
    pub key: &'a hmac::Key,
    pub tls: &'a Tls,
    /// Limit of this agent over all steps.
    pub limit: &'a RateLimit,
    pub abort: &'a Abort,
    pub clock: &'a BackendClock,
}

impl Sender<'_> {
    /// Send a step, and record its times and its failure.
    pub fn run(&self, step: &BulkStep, progress: &StepProgress) {
        let limit = RateLimit::new(
            step.rate_bytes_per_s
                .unwrap_or_else(|| self.limit.bytes_per_s()),
        );
        std::thread::scope(|scope| {
            for connection in 0..step.connections {
                let limit = &limit;
                let body = move || {
                    lower_priority();
                    if let Err(error) = self.connection(step, progress, connection, limit) {
                        if !self.abort.is_set() {
                            progress.fail(error.to_string());
                        }
                    }
                };
                let name = std::thread::Builder::new().name("bulk-send".to_owned());
                if let Err(error) = name.spawn_scoped(scope, body) {
                    progress.fail(format!("no thread for a connection: {error}"));
                    return;
                }
            }
        });
    }

    fn connection(
        &self,
        step: &BulkStep,
        progress: &StepProgress,
        connection: u16,
        limit: &RateLimit,
    ) -> io::Result<()> {
        let bytes = share(step.bytes, step.connections, connection);
        let named = Named {
            step: step.index,
            connection,
        };
        let (stream, began) = self.connect(step, progress)?;
        let closing = self.abort.watch(&stream)?;
        let sent = self.send(step, progress, named, bytes, stream, limit);
        closing.close();
        sent?;
        progress.end_connection(usize::from(connection), began);
        Ok(())
    }

    /// Send the bytes of a connection, and wait until the receiver has them.
    fn send(
        &self,
        step: &BulkStep,
        progress: &StepProgress,
        named: Named,
        bytes: u64,
        stream: TcpStream,
        limit: &RateLimit,
    ) -> io::Result<()> {
        let mut channel: Box<dyn Channel> = if step.tls {
            self.tls.connect(stream)?
        } else {
            Box::new(stream)
        };
        greet(&mut channel, self.key, named, bytes)?;
        let block = block();
        let sent = &progress.connections[usize::from(named.connection)].bytes;
        let piece = limit
            .piece_bytes()
            .min(self.limit.piece_bytes())
            .min(BLOCK_BYTES) as u64;
        let mut left = bytes;
        while left > 0 {
            let size = left.min(piece) as usize;
            self.limit.pass(size);
            limit.pass(size);
            if self.abort.is_set() {
                return Err(io::Error::other("ended early"));
            }
            channel.write_all(&block[..size])?;
            sent.fetch_add(size as u64, Relaxed);
            left -= size as u64;
        }
        channel.flush()?;
        let mut received = [0; 8];
        channel.read_exact(&mut received)?;
        if u64::from_le_bytes(received) != bytes {
            return Err(io::Error::other("the receiver did not get all bytes"));
        }
        Ok(())
    }

    /// Connect, again and again while the receiver does not listen yet. Return when the step began, too.
    fn connect(
        &self,
        step: &BulkStep,
        progress: &StepProgress,
    ) -> io::Result<(TcpStream, Instant)> {
        let to = SocketAddr::new(step.address, step.port);
        let until = Instant::now() + RECEIVER_LIMIT;
        loop {
            let (at_ns, at) = (self.clock.now_ns(), Instant::now());
            match socket::open(to, step.congestion.as_deref(), step.mptcp) {
                Err(error)
                    if error.kind() == io::ErrorKind::ConnectionRefused
                        && Instant::now() < until =>
                {
                    if self.abort.wait_until(Instant::now() + AGAIN) {
                        return Err(error);
                    }
                }
                Err(error) => return Err(io::Error::new(error.kind(), format!("{to}: {error}"))),
                Ok(stream) => return Ok((stream, progress.begin(at_ns, at))),
            }
        }
    }
}

/// Return the bytes of a connection: an even share, the first ones one more.
pub fn share(bytes: u64, connections: u16, connection: u16) -> u64 {
    let (all, at) = (u64::from(connections), u64::from(connection));
    bytes / all + u64::from(at < bytes % all)
}

/// Return bytes that do not compress (xorshift64, Marsaglia 2003).
fn block() -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..BLOCK_BYTES / 8)
        .flat_map(|_| next().to_le_bytes())
        .collect()
}
