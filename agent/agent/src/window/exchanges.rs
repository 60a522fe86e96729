//! All exchanges of a window of a measurement on demand.

use serde::Serialize;

/// Exchanges with one peer in order of time, one entry each.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Exchanges {
    /// Start, ns after the start of the window.
    pub at_ns: Vec<u64>,
    /// Source port, by its index in `ports` of the window.
    pub flow: Vec<u8>,
    /// Delay to the peer and back; `None` is not measured.
    pub outbound_ns: Vec<Option<i64>>,
    pub inbound_ns: Vec<Option<i64>>,
    /// True if the packet of the direction was lost; `None` is unknown.
    pub outbound_lost: Vec<Option<bool>>,
    pub inbound_lost: Vec<Option<bool>>,
    /// ECN field that the packet of the direction arrived with after it left with ECT(0); `None` is unknown. Empty if none is
    /// known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outbound_ecn: Vec<Option<u8>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inbound_ecn: Vec<Option<u8>>,
    /// True if the packet and the one sent just before it arrived in the other order; `None` is unknown, also for the first
    /// one of a pair. Empty if order is not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outbound_reversed: Vec<Option<bool>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inbound_reversed: Vec<Option<bool>>,
    /// Bound on the error of the delays by the clocks; `None` without delays.
    pub clock_error_ns: Option<u64>,
    /// True if hardware clocks at both ends split the round trip.
    pub by_hardware: bool,
}

impl Exchanges {
    /// Empty the columns of what was not observed.
    pub(super) fn drop_unasked(&mut self, keeps_order: bool) {
        for ecn in [&mut self.outbound_ecn, &mut self.inbound_ecn] {
            if ecn.iter().all(Option::is_none) {
                ecn.clear();
            }
        }
        if !keeps_order {
            self.outbound_reversed.clear();
            self.inbound_reversed.clear();
        }
    }
}

/// One second of a measurement on demand, as sent to the backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OnDemandWindow {
    /// Number of the measurement in the backend.
    pub key: u32,
    /// The backend's time, Unix s.
    pub started_at_s: i64,
    /// Source ports used, by flow.
    pub ports: Vec<u16>,
    #[serde(flatten)]
    pub exchanges: Exchanges,
}
