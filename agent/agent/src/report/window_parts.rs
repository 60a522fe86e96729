//! Windows of which several processes measured a part each, because the agent was started again within them.
//!
//! A part stays in the spool until the whole window takes its place there, so that a process that is killed before loses
//! its own part only.

use std::collections::BTreeMap;

use sinemora_native::Sketch;

use super::Spool;
use super::packed::{pack, unpack};
use crate::window::Row;
use crate::wire::{Columns, FlowColumns, MeshWindow, NOT_KNOWN};

/// Time after the end of a window in which this process reports its part: the longest deadline of exchanges, s.
const REPORTED_AFTER_S: i64 = 90;

/// Longest window, s: no report that was made earlier holds a part of an open one.
const LONGEST_S: i64 = 60;

/// Windows that the processes before this one have measured in part, by the number of the report that waits with them.
#[derive(Debug, Default)]
pub struct EarlierParts(BTreeMap<u64, Vec<MeshWindow>>);

impl EarlierParts {
    /// Hold back the reports of the spool with windows that are still open at `now_s` (Unix).
    pub fn hold(spool: &Spool, now_s: i64) -> Self {
        let mut parts = BTreeMap::new();
        for sequence in spool.sequences().into_iter().rev() {
            let Some(report) = spool.read(sequence).and_then(|bytes| unpack(&bytes)) else {
                continue;
            };
            if report.made_at_ns / 1_000_000_000 < now_s - LONGEST_S {
                break;
            }
            let mut open = report.windows;
            open.retain(|window| (window.started_at_s..ends_at_s(window)).contains(&now_s));
            if !open.is_empty() {
                spool.hold(sequence, true);
                parts.insert(sequence, open);
            }
        }
        Self(parts)
    }

    /// Move the windows of this process that have earlier parts into the reports of these, as whole windows. Release a report
    /// once all its windows are whole, or it is certain that this process has measured nothing of them.
    pub fn join(&mut self, spool: &Spool, windows: &mut Vec<MeshWindow>, now_s: i64) {
        self.0.retain(|&sequence, parts| {
            let mut whole = Vec::new();
            parts.retain(|earlier| {
                let same = windows.iter().position(|window| is_same(window, earlier));
                whole.extend(same.map(|at| joined(earlier, &windows.remove(at))));
                same.is_none() && now_s < ends_at_s(earlier) + REPORTED_AFTER_S
            });
            windows.extend(not_replaced(spool, sequence, whole));
            if parts.is_empty() {
                spool.hold(sequence, false);
            }
            !parts.is_empty()
        });
    }
}

/// Put whole windows in the place of their parts in a report. Return them if the report is gone, as from a full spool.
fn not_replaced(spool: &Spool, sequence: u64, whole: Vec<MeshWindow>) -> Vec<MeshWindow> {
    if whole.is_empty() {
        return whole;
    }
    let Some(mut report) = spool.read(sequence).and_then(|bytes| unpack(&bytes)) else {
        return whole;
    };
    // The state of the process that measured the first part is no longer news.
    report.health = None;
    for window in &whole {
        report.windows.retain(|part| !is_same(part, window));
    }
    report.windows.extend_from_slice(&whole);
    let Ok(bytes) = pack(&report) else {
        return whole;
    };
    spool.push(sequence, bytes);
    Vec::new()
}

fn ends_at_s(window: &MeshWindow) -> i64 {
    window.started_at_s + i64::from(window.window_s)
}

fn is_same(one: &MeshWindow, other: &MeshWindow) -> bool {
    let of = |window: &MeshWindow| (window.mesh_key, window.started_at_s, window.window_s);
    of(one) == of(other)
}

/// Return the whole of two parts of one window. What does not add up, such as the clocks, is that of the later part.
fn joined(earlier: &MeshWindow, later: &MeshWindow) -> MeshWindow {
    let mut peer_keys = [&earlier.peer_keys[..], &later.peer_keys].concat();
    peer_keys.sort_unstable();
    peer_keys.dedup();
    let parts = [earlier, later];
    let places: Vec<[Option<usize>; 2]> = peer_keys
        .iter()
        .map(|key| parts.map(|part| part.peer_keys.binary_search(key).ok()))
        .collect();
    // The entries of a column of both parts for each peer.
    let each = |of: fn(&MeshWindow) -> &Vec<u32>, join: fn(u32, u32) -> u32| -> Vec<u32> {
        // An empty column is 0 for all.
        let value = |part: usize, at: usize| of(parts[part]).get(at).copied().unwrap_or(0);
        let both = |place: &[Option<usize>; 2]| match (
            place[0].map(|at| value(0, at)),
            place[1].map(|at| value(1, at)),
        ) {
            (Some(one), Some(other)) => join(one, other),
            (one, other) => one.or(other).unwrap_or(0),
        };
        places.iter().map(both).collect()
    };
    let columns = |of: fn(&MeshWindow) -> &Option<Columns>| {
        let rows = parts.map(|part| of(part).as_ref().map_or_else(Vec::new, rows));
        let mut whole = Columns::default();
        for place in &places {
            let row = |part: usize| place[part].and_then(|at| rows[part].get(at));
            match (row(0), row(1)) {
                (Some(one), Some(other)) => joined_rows(one, other).append_to(&mut whole),
                (one, other) => one
                    .or(other)
                    .into_iter()
                    .for_each(|row| row.append_to(&mut whole)),
            }
        }
        Some(whole)
    };
    let is_alike = earlier.peer_keys == later.peer_keys && earlier.flows == later.flows;
    let flows = |of: fn(&MeshWindow) -> &Option<FlowColumns>| {
        let both = of(earlier).as_ref().zip(of(later).as_ref());
        both.filter(|_| is_alike)
            .map(|(one, other)| joined_flows(one, other))
    };
    let mut whole = MeshWindow {
        flows: each(|part| &part.flows, u32::max),
        outbound: columns(|part| &part.outbound),
        inbound: columns(|part| &part.inbound),
        round_trip: columns(|part| &part.round_trip),
        outbound_flows: flows(|part| &part.outbound_flows),
        inbound_flows: flows(|part| &part.inbound_flows),
        asymmetry_source: each(|part| &part.asymmetry_source, u32::min),
        peer_marks: each(|part| &part.peer_marks, |one, other| one | other),
        outbound_residence_ns: each(|part| &part.outbound_residence_ns, u32::midpoint),
        inbound_residence_ns: each(|part| &part.inbound_residence_ns, u32::midpoint),
        timestamp_source: match (earlier.timestamp_source, later.timestamp_source) {
            (0, known) | (known, 0) => known,
            (one, other) => one.min(other),
        },
        evidence: later.evidence.clone(),
        peer_keys,
        ..later.clone()
    };
    let has_evidence = |key: u32| later.evidence.iter().any(|one| one.peer_key == key);
    let of_earlier = earlier.evidence.iter();
    let missing = of_earlier
        .filter(|one| !has_evidence(one.peer_key))
        .cloned();
    whole.evidence.extend(missing);
    if !is_alike {
        whole.offset_from_peer_ns.clear();
        whole.offset_error_ns.clear();
        whole.skew_from_peer_ppb.clear();
    }
    whole
}

/// Return the rows of columns.
fn rows(columns: &Columns) -> Vec<Row> {
    let mut sketches = columns.sketch.as_slice();
    let mut next_sketch = |words: u32| {
        let (sketch, rest) = sketches.split_at((2 * words as usize).min(sketches.len()));
        sketches = rest;
        Sketch::from_bytes(sketch).unwrap_or_else(|_| Sketch::of([]))
    };
    (0..columns.count.len())
        .map(|at| Row {
            count: columns.count[at],
            sent: columns.sent[at],
            lost: columns.lost[at],
            min_ns: columns.min_ns[at],
            mean_ns: columns.mean_ns[at],
            max_ns: columns.max_ns[at],
            m2: columns.m2[at],
            clock_error_ns: columns.clock_error_ns[at],
            sketch: next_sketch(columns.sketch_words[at]),
        })
        .collect()
}

/// Return the row of the delays of both.
fn joined_rows(one: &Row, other: &Row) -> Row {
    let known = |one: i32, other: i32| match one.min(other) {
        NOT_KNOWN => NOT_KNOWN,
        _ => one.saturating_add(other),
    };
    let (fewer, more) = if one.count < other.count {
        (one, other)
    } else {
        (other, one)
    };
    let count = one.count.saturating_add(other.count);
    let share = f64::from(fewer.count) / f64::from(count.max(1));
    let apart_ns = fewer.mean_ns.saturating_sub(more.mean_ns) as f64;
    // Of a part without delays all numbers are 0.
    let bounds = if fewer.count == 0 { more } else { fewer };
    let from_more_ns = (share * apart_ns).round() as i64;
    Row {
        count,
        sent: known(one.sent, other.sent),
        lost: known(one.lost, other.lost),
        min_ns: more.min_ns.min(bounds.min_ns),
        mean_ns: more.mean_ns.saturating_add(from_more_ns),
        max_ns: more.max_ns.max(bounds.max_ns),
        m2: more.m2 + fewer.m2 + apart_ns * apart_ns * share * f64::from(more.count),
        clock_error_ns: more.clock_error_ns.max(fewer.clock_error_ns),
        sketch: more.sketch.merge(&fewer.sketch),
    }
}

/// Return the flows of both parts. Two medians do not add up: it is that of the part with more delays.
fn joined_flows(one: &FlowColumns, other: &FlowColumns) -> FlowColumns {
    let mut whole = FlowColumns::default();
    for at in 0..one.count.len().min(other.count.len()) {
        let (fewer, more) = if one.count[at] < other.count[at] {
            (one, other)
        } else {
            (other, one)
        };
        let least = if fewer.count[at] == 0 { more } else { fewer };
        whole
            .count
            .push(one.count[at].saturating_add(other.count[at]));
        whole.min_ns.push(more.min_ns[at].min(least.min_ns[at]));
        whole.p50_ns.push(more.p50_ns[at]);
    }
    whole
}

#[cfg(test)]
#[path = "window_parts_tests.rs"]
mod tests;
