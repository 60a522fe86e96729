//! State of a TCP connection in the kernel (`struct tcp_info`, linux/tcp.h), as far as it is used.
//!
//! ```text
//!   2  1  retransmits: retransmissions of the segment that waits
//!   4  1  backoff: times that the retransmission timeout was doubled
//!   8  4  rto, µs, with the backoff
//! 100  4  total_retrans: segments sent again
//! 120  8  bytes_acked: bytes sent that arrived; the first SYN of a client counts as one
//! 128  8  bytes_received
//! 156  4  data_segs_out: segments with data sent (Linux 4.6)
//! 242  2  total_rto_recoveries: recoveries by timeout (Linux 6.7)
//! 244  4  total_rto_time: ms from a timeout until its recovery (Linux 6.7)
//! ```

/// Counters of a connection. Those that an older kernel lacks are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpInfo {
    /// Retransmission timeout without its backoff, µs.
    pub rto_us: u32,
    /// True while a segment that was sent again by timeout waits for its acknowledgement.
    pub is_recovering: bool,
    pub segments_sent: u32,
    pub segments_retransmitted: u32,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    pub recoveries: Option<Recoveries>,
}

/// Recoveries by timeout, as the kernel counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recoveries {
    pub count: u16,
    /// Time from the timeouts until the acknowledgements, ms; without the timeouts themselves.
    pub time_ms: u32,
}

impl TcpInfo {
    /// Read the structure; `None` if it is shorter than that of Linux 4.6.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let segments_sent = u32_at(bytes, 156)?;
        let backoff = *bytes.get(4)?;
        let recoveries = u16_at(bytes, 242)
            .zip(u32_at(bytes, 244))
            .map(|(count, time_ms)| Recoveries { count, time_ms });
        Some(Self {
            rto_us: u32_at(bytes, 8)?.checked_shr(backoff.into()).unwrap_or(0),
            is_recovering: *bytes.get(2)? > 0,
            segments_sent,
            segments_retransmitted: u32_at(bytes, 100)?,
            bytes_sent: if segments_sent == 0 {
                0
            } else {
                u64_at(bytes, 120)?
            },
            bytes_received: u64_at(bytes, 128)?,
            recoveries,
        })
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_from_their_offsets_and_the_backoff_is_taken_out() {
        let mut bytes = [0_u8; 248];
        bytes[2] = 1;
        bytes[4] = 2;
        bytes[8..12].copy_from_slice(&816_000_u32.to_ne_bytes());
        bytes[100..104].copy_from_slice(&7_u32.to_ne_bytes());
        bytes[120..128].copy_from_slice(&70_000_u64.to_ne_bytes());
        bytes[128..136].copy_from_slice(&9_u64.to_ne_bytes());
        bytes[156..160].copy_from_slice(&900_u32.to_ne_bytes());
        bytes[242..244].copy_from_slice(&3_u16.to_ne_bytes());
        bytes[244..248].copy_from_slice(&5_u32.to_ne_bytes());
        let mut expected = TcpInfo {
            rto_us: 204_000,
            is_recovering: true,
            segments_sent: 900,
            segments_retransmitted: 7,
            bytes_sent: 70_000,
            bytes_received: 9,
            recoveries: Some(Recoveries {
                count: 3,
                time_ms: 5,
            }),
        };
        assert_eq!(TcpInfo::read(&bytes), Some(expected));
        expected.recoveries = None;
        assert_eq!(TcpInfo::read(&bytes[..232]), Some(expected));
        assert_eq!(TcpInfo::read(&bytes[..100]), None);
    }
}
