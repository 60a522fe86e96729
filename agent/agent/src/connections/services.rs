//! Readings of connections become windows of connections and bytes by peer and listening port.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use rustc_hash::FxHashMap;

use super::sock_diag::{Connection, Reading};
use crate::wire::{ServicePeer, ServiceWindow};

/// Length of a window, s. Windows start at its multiples in the backend's time.
pub const WINDOW_S: u32 = 30;
/// Rows of peers in a window, and those of one peer: a port scanner must not fill the window.
const ROWS_MAX: usize = 256;
const ROWS_OF_PEER_MAX: usize = 16;
/// Connections without any bytes, as short ones are seen, from which a peer and port has a row.
const SHORT_MIN: u32 = 3;
/// Key of the row of all remote addresses that are no VM.
const OTHERS: u32 = 0;

/// Adds up the changes of connections between readings, by peer and listening port.
#[derive(Debug, Default)]
pub struct Services {
    /// Connections of the last reading; `None` before the first.
    last: Option<FxHashMap<u64, Known>>,
    /// True if the last reading left some out: one that it lacks may be old.
    was_cut: bool,
    rows: BTreeMap<(u32, u16, bool), ServicePeer>,
    /// True if there was a reading before the open window.
    is_whole: bool,
    /// Connections that the fullest reading of the open window left out.
    left_out: u32,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    /// True if this VM listened at the port when the connection was first seen.
    serves: bool,
    bytes_sent: u64,
    bytes_received: u64,
}

impl Services {
    /// Add a reading. `vms` has the keys of VMs by address.
    ///
    /// A connection of the first reading counts from then on, as does one that an incomplete reading may have left out.
    /// Any other counts from its start.
    pub fn read(&mut self, reading: &Reading, vms: &HashMap<IpAddr, u32>) {
        let mut now = FxHashMap::default();
        let others = |one: &&Connection| one.remote != one.local;
        for one in reading
            .connections
            .iter()
            .chain(&reading.ended)
            .filter(others)
        {
            let before = self
                .last
                .as_ref()
                .and_then(|last| last.get(&one.cookie).copied());
            let known = Known {
                serves: before.map_or_else(
                    || reading.listening.contains(&one.local_port),
                    |before| before.serves,
                ),
                // One that ended has no counters any more.
                bytes_sent: (one.info.bytes_sent).max(before.map_or(0, |b| b.bytes_sent)),
                bytes_received: (one.info.bytes_received)
                    .max(before.map_or(0, |b| b.bytes_received)),
            };
            now.insert(one.cookie, known);
            if before.is_none() && (self.last.is_none() || self.was_cut) {
                continue;
            }
            let key = vms.get(&one.remote).copied().unwrap_or(OTHERS);
            let port = match (key, known.serves) {
                (OTHERS, _) => 0,
                (_, true) => one.local_port,
                (_, false) => one.remote_port,
            };
            let row = self.rows.entry((key, port, known.serves)).or_default();
            row.connections += u32::from(before.is_none());
            row.bytes_sent += known.bytes_sent - before.map_or(0, |b| b.bytes_sent);
            row.bytes_received += known.bytes_received - before.map_or(0, |b| b.bytes_received);
        }
        self.last = Some(now);
        self.was_cut = reading.left_out > 0;
        self.left_out = self.left_out.max(reading.left_out);
    }

    /// End the window that started at `started_at_s` and return it, empty without traffic; `None` if there was no reading
    /// before it, so that what its first part had is not known.
    pub fn end_window(&mut self, started_at_s: i64) -> Option<ServiceWindow> {
        let rows = std::mem::take(&mut self.rows).into_iter();
        if !std::mem::replace(&mut self.is_whole, self.last.is_some()) {
            return None;
        }
        let mut peers: Vec<ServicePeer> = rows
            .map(|((vm_key, port, serves), sums)| ServicePeer {
                vm_key,
                port: port.into(),
                serves,
                ..sums
            })
            .filter(|row| {
                row.bytes_sent + row.bytes_received > 0
                    || row.connections >= if row.vm_key == OTHERS { 1 } else { SHORT_MIN }
            })
            .collect();
        peers.sort_by_key(|row| Reverse((row.bytes_sent + row.bytes_received, row.connections)));
        let (mut of_peer, mut of_all) = (FxHashMap::<u32, usize>::default(), 0);
        let mut left_out = std::mem::take(&mut self.left_out);
        peers.retain(|row| {
            let rows = of_peer.entry(row.vm_key).or_default();
            *rows += 1;
            let stays = row.vm_key == OTHERS || (*rows <= ROWS_OF_PEER_MAX && of_all < ROWS_MAX);
            of_all += usize::from(stays && row.vm_key != OTHERS);
            if !stays {
                left_out = left_out.saturating_add(row.connections.max(1));
            }
            stays
        });
        peers.sort_by_key(|row| (row.vm_key, row.port, row.serves));
        Some(ServiceWindow {
            started_at_s,
            window_s: WINDOW_S,
            peers,
            connections_left_out: left_out,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp_info::TcpInfo;
    use super::*;

    const OWN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 250));

    fn vm(number: u32) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::from(0x0a00_0000 + number))
    }

    fn open(cookie: u64, peer: u32, ports: (u16, u16), bytes: (u64, u64)) -> Connection {
        Connection {
            cookie,
            local: OWN,
            local_port: ports.0,
            remote: vm(peer),
            remote_port: ports.1,
            info: TcpInfo {
                bytes_sent: bytes.0,
                bytes_received: bytes.1,
                ..TcpInfo::default()
            },
        }
    }

    fn reading(connections: &[Connection], ended: &[Connection]) -> Reading {
        Reading {
            connections: connections.to_vec(),
            ended: ended.to_vec(),
            listening: [11_211].into_iter().collect(),
            ..Reading::default()
        }
    }

    /// Return (key, port, serves, connections, bytes sent, received) of each row after an empty first reading.
    fn rows_of(readings: &[Reading]) -> Vec<(u32, u32, bool, u32, u64, u64)> {
        let vms = (1..=100).map(|key| (vm(key), key)).collect();
        let mut services = Services::default();
        services.read(&reading(&[], &[]), &vms);
        assert_eq!(services.end_window(0), None, "it began before the reading");
        readings.iter().for_each(|one| services.read(one, &vms));
        let window = services.end_window(30).unwrap();
        let row = |p: &ServicePeer| {
            let bytes = (p.bytes_sent, p.bytes_received);
            (p.vm_key, p.port, p.serves, p.connections, bytes.0, bytes.1)
        };
        window.peers.iter().map(row).collect()
    }

    #[test]
    fn connections_count_once_with_the_bytes_of_their_life_on_the_side_that_listens() {
        let client = |bytes| open(1, 3, (40_000, 80), bytes);
        let server = |bytes| open(2, 4, (11_211, 50_000), bytes);
        let own = Connection {
            remote: OWN,
            ..client((9, 9))
        };
        let rows = rows_of(&[
            reading(&[client((10, 500)), server((7, 2)), own], &[]),
            reading(
                &[client((30, 900)), open(3, 1_000, (40_001, 443), (5, 6))],
                &[server((0, 0))],
            ),
            reading(&[], &[client((0, 0))]),
        ]);
        let expected = [
            (0, 0, false, 1, 5, 6),
            (3, 80, false, 1, 30, 900),
            (4, 11_211, true, 1, 7, 2),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn rows_are_bounded_and_what_is_left_out_is_said() {
        let ports = |peer: u32| {
            (1..=20).map(move |port| {
                let cookie = peer * 100 + u32::from(port);
                open(cookie.into(), peer, (9, port), (1, 1))
            })
        };
        let many: Vec<_> = (1..=30).flat_map(ports).collect();
        let vms = (1..=100).map(|key| (vm(key), key)).collect();
        let mut services = Services::default();
        services.read(&reading(&[], &[]), &vms);
        assert_eq!(services.end_window(0), None);
        let reading = Reading {
            left_out: 1_000,
            ..reading(&many, &[])
        };
        services.read(&reading, &vms);
        let window = services.end_window(30).unwrap();
        assert_eq!(window.peers.len(), 256);
        assert_eq!(window.connections_left_out, 1_000 + 600 - 256);
        assert_eq!(services.end_window(60).unwrap().peers, []);
    }
}
