//! Proof that the owner of a source address receives what is sent there.
//!
//! Source addresses can be forged. Until an address has proven itself, no more octets go to it than have come from it, so
//! that nobody can be flooded through this agent.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

use rustc_hash::FxHashMap;

use super::messages::{Body, PortIdentity, RECEIPT_BITS};

/// Octets that an address without a proof may save up: for the longest answer, and one request more.
const MOST_CREDIT: usize = 400;
/// Number of addresses without a proof that are remembered.
const MOST_UNPROVEN: usize = 4096;

/// Proof, or the lack of one, that the source address of a request is not forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// Its sender has received a message of this process at that address.
    Proven,
    /// Nothing, but its sender is able to prove it with the next request.
    Asked,
    /// Nothing: its sender is an agent of an earlier version, which answers a challenge.
    Earlier,
    /// Nothing: its sender is another implementation.
    Standard,
}

/// The identities that addresses know this agent by, and the credit of addresses without a proof.
#[derive(Debug, Default)]
pub struct Receipts {
    /// Key of the identities, different in each process.
    secret: RandomState,
    /// Octets received from addresses that have not proven that they receive, less those sent to them.
    credit: FxHashMap<IpAddr, usize>,
}

impl Receipts {
    /// Return the port identity that an address knows this agent by. It is locally administered. Only who receives packets
    /// at that address can name it: a request that does proves that its source address is not forged.
    pub fn identity_for(&self, client: IpAddr) -> PortIdentity {
        let clock = self.secret.hash_one(client) & !(0x03 << 56) | 0x02 << 56;
        PortIdentity { clock, port: 1 }
    }

    /// Return the port identity of challenges to an address. Only who receives them can answer them.
    pub fn challenger_for(&self, client: IpAddr) -> PortIdentity {
        let clock = self.secret.hash_one(("challenge", client)) & !(0x03 << 56) | 0x02 << 56;
        PortIdentity { clock, port: 1 }
    }

    /// Return what a request proves.
    pub fn of(&self, client: IpAddr, request: &Body) -> Receipt {
        match request {
            Body::CompactReq {
                receipt: Some(receipt),
                ..
            } if *receipt == self.identity_for(client).clock & RECEIPT_BITS => Receipt::Proven,
            Body::CompactReq { receipt, .. } if receipt.is_some() => Receipt::Asked,
            Body::CompactReq { .. } => Receipt::Earlier,
            _ => Receipt::Standard,
        }
    }

    /// Discard what an address that has proven itself had saved up: later packets from there may be forged.
    pub fn drop_credit(&mut self, address: IpAddr) {
        self.credit.remove(&address);
    }

    /// Return true if no more octets go to an address without a proof than have come from it.
    pub fn take_credit(&mut self, address: IpAddr, received: usize, sent: usize) -> bool {
        if self.credit.len() >= MOST_UNPROVEN && !self.credit.contains_key(&address) {
            self.credit.clear();
        }
        let credit = self.credit.entry(address).or_default();
        *credit = (*credit + received).min(MOST_CREDIT);
        let enough = *credit >= sent;
        *credit -= if enough { sent } else { 0 };
        enough
    }
}

/// Return the octets that packets take with their IP and UDP headers, for the lengths of their messages.
pub fn octets(address: IpAddr, lengths: &[usize]) -> usize {
    let headers = if address.is_ipv4() { 28 } else { 48 };
    lengths.iter().map(|length| length + headers).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    fn request(receipt: Option<u64>) -> Body {
        Body::CompactReq {
            soon: true,
            receipt,
            ecn: None,
        }
    }

    #[test]
    fn only_the_identity_told_to_that_address_proves_it() {
        let receipts = Receipts::default();
        let told = receipts.identity_for(CLIENT).clock & RECEIPT_BITS;
        let of = |client, receipt| receipts.of(client, &request(receipt));
        assert_eq!(of(CLIENT, Some(told)), Receipt::Proven);
        assert_eq!(of("10.0.0.2".parse().unwrap(), Some(told)), Receipt::Asked);
        assert_eq!(of(CLIENT, Some(told ^ 1)), Receipt::Asked);
        assert_eq!(of(CLIENT, None), Receipt::Earlier);
        assert_eq!(receipts.of(CLIENT, &Body::DelayReq), Receipt::Standard);
        assert_ne!(
            receipts.challenger_for(CLIENT),
            receipts.identity_for(CLIENT)
        );
        let restarted = Receipts::default();
        assert_eq!(
            restarted.of(CLIENT, &request(Some(told))),
            Receipt::Asked,
            "another process has another identity"
        );
    }
}
