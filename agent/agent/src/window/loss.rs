//! Loss by direction: which packets of an exchange were lost, and how many of a window.
//!
//! | direction | sent | lost |
//! | --- | --- | --- |
//! | outbound | each request | the peer's reception report shows that the request did not arrive (RFC 7680) |
//! | inbound | each Sync: one for every request that arrived and was not shed | the Sync did not arrive |
//! | round trip | each request | no answer by the deadline (RFC 2681) |
//!
//! The exchange provides these facts: `ptp/exchange_table.rs` reads reception reports, and `ptp/exchange.rs` infers
//! whether a Sync was sent. A standard responder sends Syncs without a request; `standard_clients/sync_count.rs` finds
//! those that are missing between two that arrived.

use crate::ptp::Outcome;

/// True if the packet of a direction was lost; `None` is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    pub outbound: Option<bool>,
    pub inbound: Option<bool>,
    /// A lost Follow_Up or Delay_Resp costs a measurement, but is no loss of the round trip.
    pub round_trip: bool,
}

/// Packets sent and packets lost; `None` if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    pub sent: Option<u32>,
    pub lost: Option<u32>,
}

/// Number of packets sent and lost towards one peer in one window.
#[derive(Debug, Default)]
pub(super) struct LossCount {
    requests: u32,
    requests_lost: u32,
    request_unknown: bool,
    syncs: u32,
    syncs_lost: u32,
    sync_unknown: bool,
    round_trips_lost: u32,
}

impl Lost {
    pub fn of<T>(outcome: &Outcome<T>) -> Self {
        let sync_lost = |sent: bool| sent && !outcome.sync_arrived;
        Self {
            outbound: outcome.request_arrived.map(|arrived| !arrived),
            inbound: outcome.sync_sent.map(sync_lost),
            round_trip: !outcome.answered,
        }
    }
}

impl LossCount {
    /// Count the packets of an exchange. One unknown outcome makes the number of its direction unknown.
    pub fn add<T>(&mut self, outcome: &Outcome<T>) {
        let lost = Lost::of(outcome);
        self.requests += 1;
        self.requests_lost += u32::from(lost.outbound == Some(true));
        self.request_unknown |= lost.outbound.is_none();
        self.syncs += u32::from(outcome.sync_sent == Some(true));
        self.syncs_lost += u32::from(lost.inbound == Some(true));
        // A late Sync corrects the count of an earlier window.
        self.sync_unknown |= lost.inbound.is_none() || outcome.syncs_missed.is_none();
        let missed = outcome.syncs_missed.unwrap_or(0);
        self.syncs = self.syncs.saturating_add_signed(missed.max(0));
        self.syncs_lost = self.syncs_lost.saturating_add_signed(missed);
        self.round_trips_lost += u32::from(lost.round_trip);
    }

    pub fn outbound(&self) -> Loss {
        Loss {
            sent: Some(self.requests),
            lost: (!self.request_unknown).then_some(self.requests_lost),
        }
    }

    pub fn inbound(&self) -> Loss {
        Loss {
            sent: (!self.sync_unknown).then_some(self.syncs),
            lost: (!self.sync_unknown).then_some(self.syncs_lost),
        }
    }

    pub fn round_trip(&self) -> Loss {
        Loss {
            sent: Some(self.requests),
            lost: Some(self.round_trips_lost),
        }
    }
}
