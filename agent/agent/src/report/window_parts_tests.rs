use std::collections::BTreeMap;

use super::*;
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
    let mean = delays.iter().sum::<i64>() as f64 / f64::from(count.max(1));
    Row {
        count,
        sent: if peer == 9 {
            NOT_KNOWN
        } else {
            count as i32 + 1
        },
        lost: i32::from(peer != 9),
        min_ns: delays.iter().copied().min().unwrap_or(0),
        mean_ns: mean.round() as i64,
        max_ns: delays.iter().copied().max().unwrap_or(0),
        m2: delays.iter().map(|one| (*one as f64 - mean).powi(2)).sum(),
        clock_error_ns: 7 * u64::from(count),
        sketch: Sketch::of(delays.iter().copied()),
    }
}

#[test]
fn two_parts_are_as_one_measurement_of_all_their_delays() {
    let earlier = BTreeMap::from([(3, vec![40_000, 60_000]), (5, vec![]), (9, vec![90_000])]);
    let later = BTreeMap::from([(3, vec![20_000]), (5, vec![10_000, 30_000])]);
    let whole = joined(&window(&earlier), &window(&later));
    assert_eq!(whole.peer_keys, PEERS);
    let found = rows(whole.outbound.as_ref().unwrap());
    for (peer, found) in PEERS.iter().zip(found) {
        let delays: Vec<i64> = [&earlier, &later]
            .iter()
            .filter_map(|part| part.get(peer))
            .flatten()
            .copied()
            .collect();
        let expected = row(*peer, &delays);
        let numbers = |row: &Row| (row.count, row.min_ns, row.mean_ns, row.max_ns);
        assert_eq!(numbers(&found), numbers(&expected), "{peer}");
        assert!((found.m2 - expected.m2).abs() < 1.0, "{peer}");
        assert_eq!(
            found.sketch.to_bytes(),
            expected.sketch.to_bytes(),
            "{peer}"
        );
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
    assert_eq!(
        whole.asymmetry_source,
        [0],
        "the earlier part had no hardware clocks"
    );
}

#[test]
fn the_next_process_continues_the_window_that_was_open_when_this_one_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::open(folder.path(), 1 << 20).unwrap();
    let delays = BTreeMap::from([(3, vec![40_000])]);
    let over = MeshWindow {
        started_at_s: 90,
        ..window(&delays)
    };
    let report = Report {
        sequence: 4,
        windows: vec![over.clone(), window(&delays)],
        ..Report::default()
    };
    spool.push(4, pack(&report).unwrap());
    let mut parts = EarlierParts::take(&spool, 105);
    let left = unpack(&spool.read(4).unwrap()).unwrap();
    assert_eq!((left.sequence, left.windows), (4, vec![over]));

    let mut windows = vec![window(&delays)];
    parts.join(&mut windows, 111);
    assert_eq!(windows.len(), 1);
    assert_eq!(windows[0].outbound.as_ref().unwrap().count, [2]);

    let mut alone = Vec::new();
    let mut parts = EarlierParts(vec![window(&delays)]);
    parts.join(&mut alone, 111);
    assert!(alone.is_empty(), "the window may still be measured");
    parts.join(&mut alone, 201);
    assert_eq!(alone, [window(&delays)]);
}

#[test]
fn of_a_clock_that_shows_another_time_no_part_is_held_back() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::open(folder.path(), 1 << 20).unwrap();
    let report = Report {
        windows: vec![window(&BTreeMap::new())],
        ..Report::default()
    };
    spool.push(1, pack(&report).unwrap());
    for now_s in [0, 110, 1 << 40] {
        assert!(EarlierParts::take(&spool, now_s).0.is_empty());
    }
    assert_eq!(spool.size().1, 1);
}
