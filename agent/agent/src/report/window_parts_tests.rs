use std::collections::BTreeMap;

use super::*;
use crate::window::Loss;
use crate::wire::Report;

const PEERS: [u32; 3] = [3, 5, 9];

/// Return a window of peers with these delays; `sent` is one more than arrived, of peer 9 it is not known.
fn window(delays_ns: &BTreeMap<u32, Vec<i64>>) -> MeshWindow {
    let mut columns = Columns::default();
    for (&peer, delays) in delays_ns {
        row(peer, delays).append_to(&mut columns);
    }
    MeshWindow {
        mesh_key: 1,
        started_at_s: 100,
        window_s: 10,
        peer_keys: delays_ns.keys().copied().collect(),
        flows: vec![1; delays_ns.len()],
        outbound: Some(columns.clone()),
        inbound: Some(columns.clone()),
        round_trip: Some(columns),
        timestamp_source: 2,
        ..MeshWindow::default()
    }
}

fn row(peer: u32, delays: &[i64]) -> Row {
    let count = delays.len() as u32;
    let loss = Loss {
        sent: (peer != 9).then_some(count + 1),
        lost: Some((peer != 9).into()),
    };
    Row::of(delays, loss, 7 * u64::from(count))
}

#[test]
fn two_parts_are_as_one_measurement_of_all_their_delays() {
    let earlier = BTreeMap::from([(3, vec![40_000, 60_000]), (5, vec![]), (9, vec![90_000])]);
    let later = BTreeMap::from([(3, vec![20_000]), (5, vec![10_000, 30_000])]);
    let whole = joined(&window(&earlier), &window(&later));
    assert_eq!(whole.peer_keys, PEERS);
    let found = rows(whole.outbound.as_ref().unwrap());
    for (peer, found) in PEERS.iter().zip(found) {
        let parts = [&earlier, &later].into_iter();
        let delays: Vec<_> = parts.filter_map(|part| part.get(peer).cloned()).collect();
        let expected = row(*peer, &delays.concat());
        let numbers = |row: &Row| (row.count, row.min_ns, row.mean_ns, row.max_ns);
        assert_eq!(numbers(&found), numbers(&expected), "{peer}");
        assert!((found.m2 - expected.m2).abs() < 1.0, "{peer}");
        let bytes = expected.sketch.to_bytes();
        assert_eq!(found.sketch.to_bytes(), bytes, "{peer}");
    }
    let columns = whole.outbound.unwrap();
    assert_eq!(columns.sent, [5, 4, NOT_KNOWN]);
    assert_eq!(columns.lost, [2, 2, 0]);
    assert_eq!(columns.clock_error_ns, [14, 14, 7]);
}

#[test]
fn what_holds_for_one_part_of_a_window_holds_for_all_of_it() {
    let delays = BTreeMap::from([(3, vec![1_000])]);
    let later = MeshWindow {
        asymmetry_source: vec![2],
        ..window(&delays)
    };
    let earlier = MeshWindow {
        timestamp_source: 1,
        peer_marks: vec![2],
        ..window(&delays)
    };
    let whole = joined(&earlier, &later);
    assert_eq!(whole.timestamp_source, 1, "the least precise");
    assert_eq!(whole.peer_marks, [2]);
    // The earlier part had no hardware clocks.
    assert_eq!(whole.asymmetry_source, [0]);
}

/// Return the spool of `folder` with a report of the window of one delay, number 4, if it holds none yet.
fn spool(folder: &tempfile::TempDir, made_at_s: i64) -> Spool {
    let spool = Spool::open(folder.path(), 1 << 20).unwrap();
    let report = Report {
        sequence: 4,
        made_at_ns: made_at_s * 1_000_000_000,
        windows: vec![window(&BTreeMap::from([(3, vec![40_000])]))],
        ..Report::default()
    };
    if spool.newest() == 0 {
        spool.push(4, pack(&report).unwrap());
    }
    spool
}

#[test]
fn a_window_in_which_processes_are_stopped_and_killed_is_kept_whole() {
    let folder = tempfile::tempdir().unwrap();
    // Each is killed before the window is over.
    for now_s in [104, 105] {
        let spool = spool(&folder, 103);
        EarlierParts::hold(&spool, now_s);
        assert_eq!(spool.oldest(), None, "the part waits for the others");
    }
    let spool = spool(&folder, 103);
    let mut parts = EarlierParts::hold(&spool, 106);
    let other = MeshWindow {
        mesh_key: 2,
        ..window(&BTreeMap::new())
    };
    let mut windows = vec![window(&BTreeMap::from([(3, vec![1, 2])])), other.clone()];
    parts.join(&spool, &mut windows, 111);
    assert_eq!(windows, [other]);
    let sent = unpack(&spool.oldest().unwrap().1).unwrap();
    assert_eq!((sent.sequence, sent.windows.len()), (4, 1));
    assert_eq!(sent.windows[0].outbound.as_ref().unwrap().count, [3]);
}

#[test]
fn a_part_that_nothing_follows_is_sent_once_that_is_certain() {
    let folder = tempfile::tempdir().unwrap();
    let spool = spool(&folder, 103);
    let mut parts = EarlierParts::hold(&spool, 105);
    for (now_s, is_sent) in [(111, false), (201, true)] {
        parts.join(&spool, &mut Vec::new(), now_s);
        assert_eq!(spool.wait(std::time::Duration::ZERO), is_sent);
    }
}

#[test]
fn of_a_clock_that_shows_another_time_no_part_is_held_back() {
    let folder = tempfile::tempdir().unwrap();
    let spool = spool(&folder, 103);
    for now_s in [0, 110, 1 << 40] {
        assert!(EarlierParts::hold(&spool, now_s).0.is_empty());
    }
}
