//! The peers of a plan, and the defects that a plan may have.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// Largest number of source ports towards a peer of a mesh.
pub(super) const MOST_FLOWS: u32 = 16;

/// A VM to measure or to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    pub vm_key: u32,
    pub name: String,
    pub address: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
    /// Role of *this* agent towards the peer.
    pub role: Role,
    /// Messages of the exchanges with the peer.
    #[serde(default)]
    pub protocol: Protocol,
    /// PTP domain of a standard responder, 0 to 127.
    #[serde(default, skip_serializing_if = "is_default")]
    pub domain: u8,
    /// Keyed hash of the ids of both VMs, by which the peer names itself; 0 if the backend gives none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vm_tag: u64,
    /// Source ports used towards the peer, 1 to 16; each samples another path of an ECMP fabric.
    pub flows: u32,
    /// Windows of a period in which it is measured, by number modulo the period; `None` is every window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Vec<u32>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sends Delay_Req and reports the windows of the pair.
    Client,
    /// Answers the peer's Delay_Req.
    Responder,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// The compact exchange between two agents: a Sync carries the whole response to a Delay_Req.
    #[default]
    #[serde(rename = "compact")]
    Compact,
    /// Unicast negotiation (IEEE 1588-2019, 16.1) with a standard responder, which has no agent.
    #[serde(rename = "ieee1588")]
    Ieee1588,
    /// SPTP (Meta's Simple PTP) with a server that has no agent: no negotiation, a request for every exchange.
    #[serde(rename = "sptp")]
    Sptp,
}

/// Defect of a plan; the plan before it stays in force.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It is not JSON of the agreed shape.
    #[error("the plan is not readable: {0}")]
    Malformed(String),
    /// A value is outside its limits: its place, and the limits.
    #[error("the plan's {at} {should_be}")]
    Invalid { at: String, should_be: &'static str },
}

impl Peer {
    /// Return the address at which the peer receives event messages (Sync, Delay_Req).
    pub fn event_address(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.event_port)
    }

    /// Return the address at which the peer receives general messages (Follow_Up, Delay_Resp).
    pub fn general_address(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.general_port)
    }

    /// Return true if its turns are some of a period, ascending.
    pub(super) fn takes_turns_of(&self, period: u32) -> bool {
        let Some(turns) = &self.turns else {
            return true;
        };
        let ascending = turns.windows(2).all(|pair| pair[0] < pair[1]);
        ascending && turns.last().is_some_and(|last| *last < period)
    }

    /// Validate a peer with at most `most_flows` source ports.
    pub(super) fn validate(&self, at: &str, most_flows: u32) -> Result<(), PlanError> {
        let field = |name: &str| format!("{at}.{name}");
        check(
            self.event_port != 0,
            || field("event_port"),
            "must not be 0",
        )?;
        check(
            self.general_port != 0,
            || field("general_port"),
            "must not be 0",
        )?;
        check(
            self.event_port != self.general_port,
            || field("general_port"),
            "must differ from event_port",
        )?;
        check(
            (1..=most_flows).contains(&self.flows),
            || field("flows"),
            if most_flows == MOST_FLOWS {
                "must be 1 to 16"
            } else {
                "must be 1 to 64"
            },
        )?;
        check(self.domain <= 127, || field("domain"), "must be 0 to 127")?;
        // A multicast or broadcast datagram would reach hosts that never agreed to be measured.
        let one_host = match self.address {
            IpAddr::V4(a) => !(a.is_unspecified() || a.is_multicast() || a.is_broadcast()),
            IpAddr::V6(a) => !(a.is_unspecified() || a.is_multicast()),
        };
        check(
            one_host,
            || field("address"),
            "must be the address of one host",
        )
    }
}

pub(super) fn check(
    holds: bool,
    at: impl FnOnce() -> String,
    should_be: &'static str,
) -> Result<(), PlanError> {
    if holds {
        Ok(())
    } else {
        Err(PlanError::Invalid {
            at: at(),
            should_be,
        })
    }
}
