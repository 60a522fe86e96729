//! Windows of which two processes measured a part each, because the agent was started again within them.

use sinemora_native::Sketch;

use super::Spool;
use super::packed::{pack, unpack};
use crate::wire::{Columns, FlowColumns, MeshWindow, NOT_KNOWN};

/// Time after the end of a window in which this process reports its part: the longest deadline of exchanges, s.
const REPORTED_AFTER_S: i64 = 90;

/// Windows that the process before this one has measured in part.
#[derive(Debug, Default)]
pub struct EarlierParts(Vec<MeshWindow>);

impl EarlierParts {
    /// Take the windows that are still open at `now_s` (Unix) out of the spool.
    pub fn take(spool: &Spool, now_s: i64) -> Self {
        let mut open = Vec::new();
        for sequence in spool.sequences().into_iter().rev() {
            let Some(mut report) = spool.read(sequence).and_then(|bytes| unpack(&bytes)) else {
                continue;
            };
            let is_open =
                |window: &MeshWindow| (window.started_at_s..ends_at_s(window)).contains(&now_s);
            if !report.windows.iter().any(is_open) {
                break;
            }
            let (of_report, over) = report.windows.into_iter().partition(is_open);
            report.windows = over;
            if let Ok(bytes) = pack(&report) {
                spool.remove(sequence);
                spool.push(sequence, bytes);
                open.extend::<Vec<_>>(of_report);
            }
        }
        Self(open)
    }

    /// Join the windows of this process with the earlier parts of the same ones. Append the parts of which this process has
    /// measured nothing, once that is certain.
    pub fn join(&mut self, windows: &mut Vec<MeshWindow>, now_s: i64) {
        self.0.retain(|earlier| {
            let same = windows.iter_mut().find(|window| is_same(window, earlier));
            if let Some(window) = same {
                *window = joined(earlier, window);
                return false;
            }
            let waits = now_s < ends_at_s(earlier) + REPORTED_AFTER_S;
            if !waits {
                windows.push(earlier.clone());
            }
            waits
        });
    }
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
                (Some(one), Some(other)) => one.joined(other).append_to(&mut whole),
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

/// One peer in one direction.
struct Row {
    count: u32,
    sent: i32,
    lost: i32,
    min_ns: i64,
    mean_ns: i64,
    max_ns: i64,
    m2: f64,
    clock_error_ns: u64,
    sketch: Sketch,
}

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

impl Row {
    fn joined(&self, other: &Self) -> Self {
        let known = |one: i32, other: i32| match one.min(other) {
            NOT_KNOWN => NOT_KNOWN,
            _ => one.saturating_add(other),
        };
        let (sent, lost) = (known(self.sent, other.sent), known(self.lost, other.lost));
        // Of a part without delays all numbers are 0.
        let (fewer, more) = if self.count < other.count {
            (self, other)
        } else {
            (other, self)
        };
        let count = self.count.saturating_add(other.count);
        let share = f64::from(fewer.count) / f64::from(count.max(1));
        let apart_ns = fewer.mean_ns.saturating_sub(more.mean_ns) as f64;
        let empty = fewer.count == 0;
        Self {
            count,
            sent,
            lost,
            min_ns: if empty {
                more.min_ns
            } else {
                more.min_ns.min(fewer.min_ns)
            },
            mean_ns: more
                .mean_ns
                .saturating_add((share * apart_ns).round() as i64),
            max_ns: if empty {
                more.max_ns
            } else {
                more.max_ns.max(fewer.max_ns)
            },
            m2: more.m2 + fewer.m2 + apart_ns * apart_ns * share * f64::from(more.count),
            clock_error_ns: more.clock_error_ns.max(fewer.clock_error_ns),
            sketch: more.sketch.merge(&fewer.sketch),
        }
    }

    fn append_to(&self, columns: &mut Columns) {
        let sketch = self.sketch.to_bytes();
        columns.count.push(self.count);
        columns.sent.push(self.sent);
        columns.lost.push(self.lost);
        columns.min_ns.push(self.min_ns);
        columns.mean_ns.push(self.mean_ns);
        columns.max_ns.push(self.max_ns);
        columns.m2.push(self.m2);
        columns.clock_error_ns.push(self.clock_error_ns);
        columns.sketch_words.push(sketch.len() as u32 / 2);
        columns.sketch.extend(sketch);
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
