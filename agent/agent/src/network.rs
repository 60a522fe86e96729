//! Addresses: where this agent listens, and ranges in CIDR notation.

use std::net::IpAddr;
use std::str::FromStr;

/// The address and the ports that this agent receives packets at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen {
    pub address: IpAddr,
    pub event_port: u16,
    pub general_port: u16,
    /// First source port of the flows beyond the first; 0 leaves their ports to the system.
    pub flow_port: u16,
}

impl Listen {
    /// Return the address of this VM that packets pass: `probe_address` where it listens at all.
    pub fn own_address(&self, probe_address: IpAddr) -> IpAddr {
        if self.address.is_unspecified() {
            probe_address
        } else {
            self.address
        }
    }
}

/// An address range in CIDR notation, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Return true if the range contains `address`; false for the other address family.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differing = u32::from(own) ^ u32::from(other);
                differing.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differing = u128::from(own) ^ u128::from(other);
                differing.leading_zeros() >= u32::from(self.prefix)
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address
            .parse()
            .map_err(|_| format!("{text:?} is neither an address nor a network like 10.0.0.0/8"))?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(most), |prefix| {
            let read = prefix.parse().ok().filter(|prefix| *prefix <= most);
            read.ok_or_else(|| format!("{text:?}: the part after / must be 0 to {most}"))
        })?;
        Ok(Self { address, prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_the_addresses_of_its_prefix() {
        let cases = [
            ("10.1.0.0/16", "10.1.255.255", true),
            ("10.1.0.0/16", "10.2.0.0", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.2", false),
            ("0.0.0.0/0", "255.255.255.255", true),
            ("0.0.0.0/0", "::1", false),
            ("fd00::/8", "fdff::9", true),
            ("fd00::/8", "fe00::", false),
        ];
        for (network, address, inside) in cases {
            let network: Network = network.parse().unwrap();
            assert_eq!(
                network.contains(address.parse().unwrap()),
                inside,
                "{address} in {network:?}"
            );
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, expected) in [
            ("10.1.0.0/33", "must be 0 to 32"),
            ("::/129", "must be 0 to 128"),
            ("ten", "neither an address nor a network"),
            ("10.0.0.1/x", "must be 0 to 32"),
        ] {
            let error = text.parse::<Network>().unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
