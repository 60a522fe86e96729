//! Changes of the ECN field of IP packets (RFC 3168): what a congested switch does, and a hop that clears it.

/// Change of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnChange {
    /// Mark the congestion of an ECN-capable packet (CE); others stay.
    Mark,
    /// Clear the field.
    Clear,
}

/// Change the field of an IP packet. Return true if it was another one before.
pub fn change(packet: &mut [u8], change: EcnChange) -> bool {
    let (place, shift) = match packet.first().map(|octet| octet >> 4) {
        Some(4) if packet.len() >= 20 => (1, 0),
        // The traffic class lies across the first two octets.
        Some(6) if packet.len() >= 40 => (1, 4),
        _ => return false,
    };
    let before = packet[place] >> shift & 0b11;
    let after = match (change, before) {
        (EcnChange::Mark, 0) => 0,
        (EcnChange::Mark, _) => 0b11,
        (EcnChange::Clear, _) => 0,
    };
    packet[place] = packet[place] & !(0b11 << shift) | after << shift;
    if packet[0] >> 4 == 4 {
        // HC' = ~(~HC + ~m + m') (RFC 1624).
        let sum = u16::from_be_bytes([packet[10], packet[11]]);
        let mut new = u32::from(!sum) + u32::from(!u16::from(before)) + u32::from(after);
        while new > 0xffff {
            new = (new & 0xffff) + (new >> 16);
        }
        packet[10..12].copy_from_slice(&(!(new as u16)).to_be_bytes());
    }
    after != before
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return an IPv4 header of 20 octets with this type of service and a right checksum.
    fn ipv4(service: u8) -> Vec<u8> {
        let mut packet = vec![0x45, service, 0, 60, 0x12, 0x34, 0x40, 0, 64, 17, 0, 0];
        packet.extend([10, 78, 1, 1, 10, 78, 1, 2]);
        let sum = !folded(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    /// Return the one's complement sum of all words; of a whole header it is 0xffff.
    fn folded(packet: &[u8]) -> u16 {
        let words = packet.chunks_exact(2);
        let sum: u32 = words
            .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
            .sum();
        let sum = (sum & 0xffff) + (sum >> 16);
        ((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn the_checksum_stays_right_and_the_dscp_as_it_is() {
        for dscp in [0, 0x2e << 2] {
            for (before, how, after) in [
                (0, EcnChange::Mark, 0),
                (1, EcnChange::Mark, 3),
                (2, EcnChange::Mark, 3),
                (3, EcnChange::Mark, 3),
                (0, EcnChange::Clear, 0),
                (2, EcnChange::Clear, 0),
                (3, EcnChange::Clear, 0),
            ] {
                let mut packet = ipv4(dscp | before);
                assert_eq!(change(&mut packet, how), before != after);
                assert_eq!(packet, ipv4(dscp | after), "{before} {how:?}");
                assert_eq!(folded(&packet), 0xffff);
            }
        }
    }

    #[test]
    fn the_class_of_ipv6_keeps_its_other_bits() {
        let mut packet = vec![0; 40];
        packet[..2].copy_from_slice(&[0x6b, 0xa5]);
        assert!(change(&mut packet, EcnChange::Mark));
        assert_eq!(packet[..2], [0x6b, 0xb5]);
        assert!(change(&mut packet, EcnChange::Clear));
        assert_eq!(packet[..2], [0x6b, 0x85]);
    }

    #[test]
    fn what_is_no_ip_packet_stays() {
        for packet in [vec![], vec![0x45; 12], vec![0x00; 60]] {
            let mut changed = packet.clone();
            assert!(!change(&mut changed, EcnChange::Mark));
            assert_eq!(changed, packet);
        }
    }
}
