//! Independent measurement of the box: datagrams through it, with timestamps outside it.
//!
//! Both namespaces are on one machine and share its clock, so a one-way delay is arrival minus departure. Departure
//! is the moment before the system call, arrival the kernel's timestamp. The caller measures the path
//! without delay the same way and subtracts it.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::error::Error;
use crate::line::settings::Direction;
use crate::random::Random;
use crate::sides::{Side, Sides};
use crate::sys::{monotonic_ns, realtime_ns, receive_stamped, stamp_arrivals};

/// Bytes of a probe: sequence number and room up to the size of a small request.
const PROBE_BYTES: usize = 64;

/// Settings of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub count: u32,
    /// Mean time between probes; each varies by up to a quarter, so that none locks in with a timer.
    pub interval_ns: i64,
    /// Time to wait for the last probes.
    pub patience_ns: i64,
}

/// Result of the probes.
#[derive(Debug, Clone, Default)]
pub struct ProbeResult {
    /// One-way delays in nanoseconds, by arrival.
    pub delays_ns: Vec<i64>,
    pub sent: u32,
    pub reordered: u32,
}

impl ProbeResult {
    /// Append `more`.
    pub fn append(&mut self, more: Self) {
        self.delays_ns.extend(more.delays_ns);
        self.sent += more.sent;
        self.reordered += more.reordered;
    }
}

/// Send probes in `direction` and collect them.
pub fn send_probes(
    sides: &Sides,
    direction: Direction,
    plan: Plan,
    seed: u64,
) -> Result<ProbeResult, Error> {
    let [from, to] = match direction {
        Direction::Outbound => [&sides[0], &sides[1]],
        Direction::Inbound => [&sides[1], &sides[0]],
    };
    let failed = |error: std::io::Error| Error::system("probing through the box", &error);
    let receiver = bound(to)?;
    let sender = bound(from)?;
    stamp_arrivals(&receiver).map_err(failed)?;
    receiver.set_nonblocking(true).map_err(failed)?;
    let target = receiver.local_addr().map_err(failed)?;
    let mut departures = vec![0i64; plan.count as usize];
    let mut result = ProbeResult::default();
    let mut random = Random::new(seed, 99);
    let mut next = monotonic_ns();
    let mut last_seen = None;
    let mut payload = [0u8; PROBE_BYTES];
    let mut collect = |departures: &[i64], result: &mut ProbeResult| -> Result<(), Error> {
        let mut buffer = [0u8; PROBE_BYTES];
        while let Some(received) = receive_stamped(&receiver, &mut buffer).map_err(failed)? {
            let sequence = u32::from_le_bytes([buffer[0], buffer[1], buffer[2], buffer[3]]);
            let Some(departed) = departures.get(sequence as usize) else {
                continue;
            };
            if received.bytes != PROBE_BYTES || *departed == 0 {
                continue;
            }
            result.reordered += u32::from(last_seen.is_some_and(|last| last > sequence));
            last_seen = Some(sequence);
            result.delays_ns.push(received.at_ns - departed);
        }
        Ok(())
    };
    for sequence in 0..plan.count {
        let wait = next - monotonic_ns();
        if wait > 0 {
            std::thread::sleep(Duration::from_nanos(wait.unsigned_abs()));
        }
        let vary = (random.uniform() - 0.5) * 0.5 * plan.interval_ns as f64;
        next += plan.interval_ns + vary as i64;
        payload[..4].copy_from_slice(&sequence.to_le_bytes());
        departures[sequence as usize] = realtime_ns();
        sender.send_to(&payload, target).map_err(failed)?;
        result.sent += 1;
        collect(&departures, &mut result)?;
    }
    let end = monotonic_ns() + plan.patience_ns;
    while monotonic_ns() < end && result.delays_ns.len() < plan.count as usize {
        std::thread::sleep(Duration::from_millis(1));
        collect(&departures, &mut result)?;
    }
    Ok(result)
}

fn bound(side: &Side) -> Result<UdpSocket, Error> {
    let address = side.address().ok_or_else(|| {
        Error::setting(
            "verify",
            "probes need sides whose addresses the box has given",
        )
    })?;
    side.namespace()
        .within(|| UdpSocket::bind(SocketAddr::new(IpAddr::V4(address), 0)))
        .map_err(|error| Error::system("a socket for probes", &error))
}
