//! The policies against closed forms, their limits, and a search through all waiting flows after every packet.

use super::link::{Order, Packet, run};
use super::priority::{Waiting, Weight, compare, log2_priority};
use super::*;

const BYTE_PS: i64 = 800; // 10 Gbit/s
const PACKET: i64 = 1460;

/// Numbers from 0 to below 1, the same on every machine (SplitMix64).
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

struct Drawn {
    arrivals: Vec<i64>,
    sizes: Vec<i64>,
}

impl Drawn {
    /// Poisson arrivals at a load of 0.8; sizes by the inverse of their distribution.
    fn new(seed: u64, count: usize, mean: f64, size: impl Fn(f64) -> f64) -> Self {
        let mut draws = Draws(seed);
        let gap_ps = mean * BYTE_PS as f64 / LOAD;
        let mut at = 0.0;
        let mut drawn = Self {
            arrivals: Vec::new(),
            sizes: Vec::new(),
        };
        for _ in 0..count {
            at -= (1.0 - draws.unit()).ln() * gap_ps;
            drawn.arrivals.push(at as i64);
            drawn.sizes.push((size(draws.unit()) as i64).max(1));
        }
        drawn
    }

    /// Sizes from 1 byte to 1 MB, log-uniform: many small, few large.
    fn mixed(seed: u64, count: usize) -> Self {
        let mean = 999_999.0 / 1e6_f64.ln();
        Self::new(seed, count, mean, |unit| 1e6_f64.powf(unit))
    }

    fn flows(&self) -> Flows<'_> {
        Flows::new(&self.arrivals, &self.sizes, BYTE_PS, PACKET).expect("flows are in order")
    }

    fn under(&self, policy: &Policy) -> Outcome {
        simulate(&self.flows(), policy, false, |_| true).expect("nobody stops it")
    }

    fn mean_s(&self, outcome: &Outcome) -> f64 {
        let pairs = outcome.finish_ps.iter().zip(&self.arrivals);
        pairs.map(|(end, start)| (end - start) as f64).sum::<f64>() / 1e12 / self.sizes.len() as f64
    }
}

const LOAD: f64 = 0.8;

fn age(alpha: f64, knows: Knowledge, first_packet_rule: bool) -> Policy {
    Policy::Age {
        alpha,
        knows,
        first_packet_rule,
    }
}

/// Every waiting flow is looked at after every packet.
struct Search {
    alpha: f64,
    knows: Knowledge,
    first_packet_rule: bool,
    fresh: Vec<u32>,
    waiting: Vec<Waiting>,
}

impl Order for Search {
    fn arrive(&mut self, flow: u32, size: u64, now_ps: u64) {
        if self.first_packet_rule {
            self.fresh.push(flow);
        } else {
            self.waiting.push(Waiting {
                flow,
                born_ps: now_ps,
                weight: Weight::new(self.knows.bytes(0, size), self.alpha),
            });
        }
    }

    fn next(&mut self, now_ps: u64) -> Option<u32> {
        if !self.fresh.is_empty() {
            return Some(self.fresh.remove(0));
        }
        let mut best = *self.waiting.first()?;
        for other in &self.waiting[1..] {
            if !compare(&best, other, now_ps).first_wins {
                best = *other;
            }
        }
        Some(best.flow)
    }

    fn sent(&mut self, packet: &Packet, next_bytes: u64, _now_ps: u64) {
        let at = self
            .waiting
            .iter()
            .position(|flow| flow.flow == packet.flow);
        let born_ps = at.map_or(packet.started_ps, |at| self.waiting.swap_remove(at).born_ps);
        if next_bytes > 0 {
            let bytes = self.knows.bytes(packet.sent(), packet.size);
            self.waiting.push(Waiting {
                flow: packet.flow,
                born_ps,
                weight: Weight::new(bytes, self.alpha),
            });
        }
    }
}

#[test]
fn priorities_are_those_of_the_source() {
    // Age 1 ms, 100,000 B: P = 10, 316,227.766 and 1e-4.
    for (alpha, priority) in [(1.0, 10.0), (0.1, 316_227.766_016_838), (2.0, 1e-4)] {
        let log2 = log2_priority(1e6, 1e5, alpha);
        assert!((log2.exp2() / priority - 1.0).abs() < 1e-12, "α = {alpha}");
    }
    assert_eq!(log2_priority(0.0, 0.0, 2.0), 0.0);
    assert!(log2_priority(1e9, 2.0, 1e15).is_finite());
    assert!(log2_priority(1e9, 2.0, f64::INFINITY).is_finite());
}

#[test]
fn the_tournament_finds_what_a_search_finds() {
    let drawn = Drawn::mixed(7, 3_000);
    for knows in [Knowledge::Sent, Knowledge::Remaining] {
        for alpha in [0.0, 0.03, 0.5, 1.0, 1.5, 2.0, 45.06, 638.37, 1e15] {
            for first_packet_rule in [true, false] {
                let mut search = Search {
                    alpha,
                    knows,
                    first_packet_rule,
                    fresh: Vec::new(),
                    waiting: Vec::new(),
                };
                let searched = run(&drawn.flows(), &mut search, |_| true).expect("not stopped");
                let found = drawn.under(&age(alpha, knows, first_packet_rule));
                let label = format!("{knows:?}, α = {alpha}, {first_packet_rule}");
                assert_eq!(found, searched, "{label}");
            }
        }
    }
}

#[test]
fn limits_are_the_policies_they_tend_to() {
    let drawn = Drawn::mixed(3, 20_000);
    let fcfs = drawn.under(&Policy::Fcfs);
    for knows in [Knowledge::Sent, Knowledge::Remaining] {
        assert_eq!(drawn.under(&age(0.0, knows, false)), fcfs);
    }
    let (las, srpt) = (drawn.under(&Policy::Las), drawn.under(&Policy::Srpt));
    for alpha in [1e15, f64::INFINITY] {
        assert_eq!(drawn.under(&age(alpha, Knowledge::Sent, false)), las);
        assert_eq!(drawn.under(&age(alpha, Knowledge::Remaining, false)), srpt);
    }
    assert_eq!(drawn.under(&age(1e15, Knowledge::Sent, true)), las);
}

fn all_policies() -> Vec<Policy> {
    let mut policies = vec![Policy::Fcfs, Policy::Ps, Policy::Las, Policy::Srpt];
    for knows in [Knowledge::Sent, Knowledge::Remaining] {
        policies.push(age(1.5, knows, true));
        policies.push(Policy::Classes {
            alpha: 1.5,
            knows,
            boundaries: vec![-4.0, 0.0, 4.0],
        });
    }
    policies
}

#[test]
fn every_policy_sends_every_byte_and_never_idles() {
    let drawn = Drawn::mixed(11, 5_000);
    let bytes: i64 = drawn.sizes.iter().sum();
    let packets = drawn.sizes.iter().map(|size| (size + PACKET - 1) / PACKET);
    let packets: i64 = packets.sum();
    let last = drawn.under(&Policy::Fcfs).finish_ps.iter().max().copied();
    for policy in all_policies() {
        let outcome = drawn.under(&policy);
        assert_eq!(outcome.packets, packets as u64, "{policy:?}");
        assert_eq!(outcome.finish_ps.iter().max().copied(), last, "{policy:?}");
        let starts = outcome.finish_ps.iter().zip(&drawn.arrivals);
        for ((finish, start), size) in starts.zip(&drawn.sizes) {
            assert!(finish - start >= size * BYTE_PS, "{policy:?}");
        }
        if !outcome.class_bytes.is_empty() {
            assert_eq!(outcome.class_bytes.iter().sum::<i64>(), bytes);
            // First packets are in the top class.
            let first: i64 = drawn.sizes.iter().map(|size| PACKET.min(*size)).sum();
            assert!(outcome.class_bytes[3] >= first, "{policy:?}");
        }
        let again = drawn.under(&policy);
        assert_eq!(again, outcome, "the same flows give the same outcome");
    }
}

#[test]
fn fcfs_waits_as_pollaczek_and_khinchine_say() {
    // Uniform sizes of 1 to 20,000 B: E[S²] = 4/3 E[S]², so the mean wait is ρ (4/3) E[S] / (2 (1 - ρ)).
    let drawn = Drawn::new(5, 2_000_000, 10_000.0, |unit| 1.0 + unit * 19_999.0);
    let service_s = 10_000.0 * BYTE_PS as f64 / 1e12;
    let expected = service_s * (1.0 + LOAD * (4.0 / 3.0) / (2.0 * (1.0 - LOAD)));
    let ratio = drawn.mean_s(&drawn.under(&Policy::Fcfs)) / expected;
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
}

#[test]
fn sharing_takes_the_mean_of_processor_sharing() {
    // M/G/1-PS: the mean time is E[S] / (1 - ρ), whatever the distribution. Many packets a flow: turns are short.
    let drawn = Drawn::new(9, 150_000, 500_000.0, |unit| 50_000.0 + unit * 900_000.0);
    let expected = 500_000.0 * BYTE_PS as f64 / 1e12 / (1.0 - LOAD);
    let ratio = drawn.mean_s(&drawn.under(&Policy::Ps)) / expected;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn no_policy_has_a_lower_mean_than_srpt() {
    let drawn = Drawn::mixed(13, 20_000);
    let least = drawn.mean_s(&drawn.under(&Policy::Srpt));
    for policy in all_policies() {
        // Packets are not interrupted, so a part of a packet each is possible.
        let packet_s = (PACKET * BYTE_PS) as f64 / 1e12;
        let mean = drawn.mean_s(&drawn.under(&policy));
        assert!(mean > least - packet_s, "{policy:?}");
    }
}

#[test]
fn a_starved_large_flow_is_revived() {
    // One large flow; then small flows that would keep it waiting for as long as they come.
    let arrivals: Vec<i64> = (0..2_000).map(|index| index * 2_500_000).collect();
    let mut sizes = vec![3_000; 2_000];
    sizes[0] = 1_000_000;
    let flows = Flows::new(&arrivals, &sizes, BYTE_PS, PACKET).expect("in order");
    let end = |policy: &Policy| {
        simulate(&flows, policy, false, |_| true)
            .expect("ends")
            .finish_ps[0]
    };
    let srpt = end(&Policy::Srpt);
    let revived = end(&age(0.2, Knowledge::Remaining, true));
    assert!(revived < srpt * 2 / 3, "{revived} and {srpt}");
}

#[test]
fn priorities_are_recorded_for_boundaries() {
    let drawn = Drawn::mixed(17, 2_000);
    let policy = age(1.0, Knowledge::Sent, true);
    let outcome = simulate(&drawn.flows(), &policy, true, |_| true).expect("not stopped");
    let firsts = drawn.sizes.len() as u64;
    assert_eq!(outcome.recorded.len() as u64, outcome.packets - firsts);
    let after_first: i64 = drawn.sizes.iter().map(|size| (size - PACKET).max(0)).sum();
    assert_eq!(outcome.recorded_bytes.iter().sum::<i64>(), after_first);
}

#[test]
fn flows_that_make_no_sense_are_refused() {
    for (arrivals, sizes, byte_ps, packet) in [
        (vec![2, 1], vec![1, 1], 800, 1460),
        (vec![0], vec![0], 800, 1460),
        (vec![0], vec![1, 1], 800, 1460),
        (vec![-1], vec![1], 800, 1460),
        (vec![0], vec![1], 0, 1460),
        (vec![0], vec![1], 800, 0),
        (vec![0], vec![i64::MAX], 800, 1460),
    ] {
        let flows = Flows::new(&arrivals, &sizes, byte_ps, packet);
        assert_eq!(flows.err(), Some(TooLong));
    }
}
