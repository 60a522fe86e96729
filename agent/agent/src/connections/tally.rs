//! Readings of connections become windows: retransmissions and timeouts by peer.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use rustc_hash::FxHashMap;

use super::sock_diag::Connection;
use super::tcp_info::{Recoveries, TcpInfo};
use crate::wire::{ConnectionPeer, ConnectionWindow};

/// Length of a window, s. Windows start at its multiples in the backend's time.
pub const WINDOW_S: u32 = 60;
/// The least retransmission timeout of Linux is 200 ms; on a short path the timeout is hardly above it.
const BAND_US: std::ops::RangeInclusive<u32> = 195_000..=235_000;
/// Peers of a window with rows of their own; the rest joins the others.
const PEERS_MAX: usize = 64;
/// Key of the row of all remote addresses that are no peer.
const OTHERS: u32 = 0;

/// Adds up the changes of connections between readings, by peer.
#[derive(Debug, Default)]
pub struct Tally {
    /// Connections of the last reading; `None` before the first.
    last: Option<FxHashMap<u64, TcpInfo>>,
    /// Rows of the open window, and the connections that each has seen.
    rows: BTreeMap<u32, Row>,
}

#[derive(Debug, Default)]
struct Row {
    sums: ConnectionPeer,
    seen: FxHashMap<u64, ()>,
}

impl Tally {
    /// Add a reading. `peers` has the VM keys of addresses.
    ///
    /// Counters from before the first reading do not count; one that is new since the last reading counts from
    /// its start.
    pub fn read(&mut self, connections: &[Connection], peers: &HashMap<IpAddr, u32>) {
        let mut now = FxHashMap::default();
        for connection in connections {
            now.insert(connection.cookie, connection.info);
            let Some(last) = &self.last else { continue };
            let before = last.get(&connection.cookie).copied().unwrap_or_default();
            let key = peers.get(&connection.remote).copied().unwrap_or(OTHERS);
            let row = self.rows.entry(key).or_default();
            row.seen.insert(connection.cookie, ());
            add(&mut row.sums, &before, &connection.info);
        }
        self.last = Some(now);
    }

    /// End the window that started at `started_at_s`, and return it; `None` without connections.
    pub fn end_window(&mut self, started_at_s: i64) -> Option<ConnectionWindow> {
        let mut peers: Vec<ConnectionPeer> = std::mem::take(&mut self.rows)
            .into_iter()
            .map(|(vm_key, row)| ConnectionPeer {
                vm_key,
                connections: u32::try_from(row.seen.len()).unwrap_or(u32::MAX),
                ..row.sums
            })
            .collect();
        // The row of the others stays, so that it can take the rest.
        peers.sort_by_key(|row| {
            (
                row.vm_key != OTHERS,
                std::cmp::Reverse((row.timeouts, row.segments_sent)),
            )
        });
        if let Some((kept, rest)) = peers.split_at_mut_checked(PEERS_MAX + 1) {
            if let Some(others) = kept.first_mut().filter(|row| row.vm_key == OTHERS) {
                rest.iter().for_each(|row| merge(others, row));
            }
            peers.truncate(PEERS_MAX + 1);
        }
        peers.sort_by_key(|row| row.vm_key);
        (!peers.is_empty()).then_some(ConnectionWindow {
            started_at_s,
            window_s: WINDOW_S,
            peers,
        })
    }
}

fn add(sums: &mut ConnectionPeer, before: &TcpInfo, now: &TcpInfo) {
    sums.segments_sent += u64::from(now.segments_sent.wrapping_sub(before.segments_sent));
    sums.segments_retransmitted += u64::from(
        now.segments_retransmitted
            .wrapping_sub(before.segments_retransmitted),
    );
    let (timeouts, waited_ms) = match now.recoveries {
        Some(now) => {
            let before = before.recoveries.unwrap_or_default();
            let Recoveries { count, time_ms } = now;
            let waited_ms = time_ms.wrapping_sub(before.time_ms);
            (u32::from(count.wrapping_sub(before.count)), waited_ms)
        }
        // Older kernels do not count them: those that a reading meets are a lower bound.
        None => (u32::from(now.is_recovering && !before.is_recovering), 0),
    };
    if timeouts == 0 {
        return;
    }
    sums.timeouts += timeouts;
    if BAND_US.contains(&now.rto_us) {
        sums.timeouts_in_band += timeouts;
    }
    sums.stalled_ms += u64::from(timeouts) * u64::from(now.rto_us / 1_000) + u64::from(waited_ms);
    if sums.rto_us == 0 || now.rto_us < sums.rto_us {
        sums.rto_us = now.rto_us;
    }
}

fn merge(sums: &mut ConnectionPeer, other: &ConnectionPeer) {
    sums.connections = sums.connections.saturating_add(other.connections);
    sums.segments_sent += other.segments_sent;
    sums.segments_retransmitted += other.segments_retransmitted;
    sums.timeouts += other.timeouts;
    sums.timeouts_in_band += other.timeouts_in_band;
    sums.stalled_ms += other.stalled_ms;
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 3));
    const STRANGER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn info(sent: u32, again: u32, rto_ms: u32, recoveries: Option<(u16, u32)>) -> TcpInfo {
        TcpInfo {
            rto_us: rto_ms * 1_000,
            is_recovering: false,
            segments_sent: sent,
            segments_retransmitted: again,
            recoveries: recoveries.map(|(count, time_ms)| Recoveries { count, time_ms }),
            ..TcpInfo::default()
        }
    }

    fn connection(cookie: u64, remote: IpAddr, info: TcpInfo) -> Connection {
        Connection {
            cookie,
            local: STRANGER,
            local_port: 1,
            remote,
            remote_port: 2,
            info,
        }
    }

    fn tally_of(readings: &[&[Connection]]) -> Vec<ConnectionPeer> {
        let peers = HashMap::from([(PEER, 3)]);
        let mut tally = Tally::default();
        for reading in readings {
            tally.read(reading, &peers);
        }
        tally
            .end_window(60)
            .map_or_else(Vec::new, |window| window.peers)
    }

    #[test]
    fn a_timeout_near_200_ms_is_in_the_band_and_one_of_a_long_path_is_not() {
        let rows = tally_of(&[
            &[
                connection(1, PEER, info(100, 5, 204, Some((1, 7)))),
                connection(2, PEER, info(0, 0, 400, Some((0, 0)))),
            ],
            &[
                connection(1, PEER, info(150, 8, 204, Some((3, 9)))),
                connection(2, PEER, info(10, 1, 400, Some((1, 1)))),
            ],
        ]);
        let expected = ConnectionPeer {
            vm_key: 3,
            connections: 2,
            segments_sent: 60,
            segments_retransmitted: 4,
            timeouts: 3,
            timeouts_in_band: 2,
            stalled_ms: 2 * 204 + 2 + 400 + 1,
            rto_us: 204_000,
        };
        assert_eq!(rows, [expected]);
    }

    #[test]
    fn what_was_before_the_first_reading_does_not_count_and_a_new_connection_does() {
        let old = connection(1, PEER, info(100, 5, 204, Some((1, 7))));
        assert!(tally_of(&[&[old]]).is_empty());
        let new = connection(9, STRANGER, info(20, 1, 210, Some((1, 0))));
        let rows = tally_of(&[&[old], &[old, new]]);
        let timeouts: Vec<_> = rows.iter().map(|row| (row.vm_key, row.timeouts)).collect();
        assert_eq!(timeouts, [(0, 1), (3, 0)]);
        assert_eq!(rows[0].segments_sent, 20);
        assert_eq!(rows[1].connections, 1);
    }

    #[test]
    fn a_kernel_without_counters_shows_recoveries_that_readings_meet() {
        let [no, yes] = [false, true].map(|is_recovering| {
            let info = TcpInfo {
                is_recovering,
                ..info(1, 0, 201, None)
            };
            [connection(1, PEER, info)]
        });
        let rows = tally_of(&[&no, &yes, &yes, &no, &yes]);
        assert_eq!((rows[0].timeouts, rows[0].timeouts_in_band), (2, 2));
    }

    #[test]
    fn rows_are_bounded_and_the_rest_joins_the_others() {
        let peers: HashMap<IpAddr, u32> = (1..=100_u32)
            .map(|key| (IpAddr::from([10, 0, 1, u8::try_from(key).unwrap()]), key))
            .collect();
        let mut tally = Tally::default();
        tally.read(&[], &peers);
        let mut reading: Vec<Connection> = peers
            .iter()
            .map(|(address, key)| connection((*key).into(), *address, info(1, 0, 0, None)))
            .collect();
        reading.push(connection(500, STRANGER, info(1, 0, 0, None)));
        tally.read(&reading, &peers);
        let window = tally.end_window(0).unwrap();
        assert_eq!(window.peers.len(), PEERS_MAX + 1);
        assert_eq!(window.peers[0].connections, 37);
        let sent: u64 = window.peers.iter().map(|row| row.segments_sent).sum();
        assert_eq!(sent, 101);
        assert!(
            tally.end_window(60).is_none(),
            "the next window starts empty"
        );
    }
}
