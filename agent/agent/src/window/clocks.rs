//! Offsets of the virtual clocks at the end of a window, which the backend compares around loops of VMs.

use sinemora_wire::{MeshWindow, OFFSET_NOT_KNOWN};

use crate::clock::{Offset, PeerClock, RawTime};

/// The end of a window on the raw clock, and the offset of the wire's time scale from the raw clock, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowEnd {
    pub at: RawTime,
    pub time_scale_ns: i64,
}

/// Appends offset and skew of every peer's clock against ours, on the time scales of both ends' messages.
pub fn append_clocks<'a>(
    window: &mut MeshWindow,
    ended: WindowEnd,
    clock: impl Fn(u32) -> Option<&'a PeerClock>,
) {
    for &peer_key in &window.peer_keys {
        let offset = clock(peer_key).and_then(|clock| clock.offset_at(ended.at));
        let (offset_ns, error_ns, skew_ppb) = match offset {
            Some(offset) => against_ours(&offset, ended.time_scale_ns),
            None => (0, OFFSET_NOT_KNOWN, 0),
        };
        window.clock_offset_ns.push(offset_ns);
        window.clock_offset_error_ns.push(error_ns);
        window.clock_skew_ppb.push(skew_ppb);
    }
}

/// Returns the peer's clock minus ours, one standard deviation, and its rate.
fn against_ours(offset: &Offset, time_scale_ns: i64) -> (i64, u64, i32) {
    let peer_ahead_ns = offset.offset_ns.saturating_neg();
    (
        peer_ahead_ns.saturating_sub(time_scale_ns),
        offset.random_ns.div_ceil(3),
        offset.skew_ppb.saturating_neg(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Leg;

    #[test]
    fn the_peers_clock_is_reported_relative_to_ours() {
        // Our stamps are 1 s ahead of the raw clock, the peer's 1.003 s: it is 3 ms ahead of us.
        let mut clock = PeerClock::new();
        for i in 0..40 {
            let at = i * 50_000_000;
            let outbound = Leg {
                local: RawTime(at),
                remote_ns: at + 50_000 + 1_003_000_000,
            };
            let inbound = Leg {
                local: RawTime(at + 150_000),
                remote_ns: at + 100_000 + 1_003_000_000,
            };
            clock.observe(outbound, inbound);
        }
        let mut window = MeshWindow {
            peer_keys: vec![3, 4],
            ..MeshWindow::default()
        };
        let ended = WindowEnd {
            at: RawTime(2_000_000_000),
            time_scale_ns: 1_000_000_000,
        };
        append_clocks(&mut window, ended, |key| (key == 3).then_some(&clock));
        assert!((window.clock_offset_ns[0] - 3_000_000).abs() < 1_000);
        assert!(window.clock_offset_error_ns[0] < 10_000);
        assert_eq!(
            (window.clock_offset_ns[1], window.clock_offset_error_ns[1]),
            (0, OFFSET_NOT_KNOWN)
        );
        assert!(window.clock_skew_ppb[0].abs() < 100);
    }
}
