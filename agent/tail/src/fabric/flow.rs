//! A flow that is being sent: its ends, its sender, and what its receiver has.

use super::sender::Sender;
use crate::priority::Weight;

pub(super) struct Flow {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) size: u64,
    pub(super) packets: u32,
    /// Data of a full packet.
    pub(super) packet_bytes: u32,
    /// Spine of its data, and of what goes back.
    pub(super) spine: u32,
    pub(super) back_spine: u32,
    /// When its first packet was sent, ps.
    pub(super) born_ps: Option<u64>,
    /// bytes^-α of its next packet.
    pub(super) weight: Weight,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// An event for its timeout is scheduled.
    pub(super) has_timer: bool,
}

impl Flow {
    /// Return the data of a packet.
    pub(super) fn bytes_of(&self, index: u32) -> u32 {
        if index + 1 < self.packets {
            return self.packet_bytes;
        }
        (self.size - u64::from(index) * u64::from(self.packet_bytes)) as u32
    }

    /// Return the bytes that were sent at least once.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.size
            .min(u64::from(self.sender.next) * u64::from(self.packet_bytes))
    }
}

/// Packets that arrived, and those that were granted.
pub(super) struct Receiver {
    /// A bit for each packet.
    arrived: Vec<u64>,
    pub(super) packets: u32,
    pub(super) bytes: u64,
    pub(super) granted: u32,
    /// Class of the newest granted packets.
    pub(super) granted_class: u8,
    /// The host knows of the flow, and grants it packets.
    pub(super) is_known: bool,
}

impl Receiver {
    pub(super) fn new(packets: u32, granted: u32) -> Self {
        Self {
            arrived: vec![0; packets.div_ceil(64) as usize],
            packets: 0,
            bytes: 0,
            granted,
            granted_class: 0,
            is_known: false,
        }
    }

    pub(super) fn has(&self, index: u32) -> bool {
        (self.arrived[(index / 64) as usize] >> (index % 64)) & 1 == 1
    }

    /// Add a packet; return whether it is new.
    pub(super) fn add(&mut self, index: u32, bytes: u32) -> bool {
        let is_new = !self.has(index);
        if is_new {
            self.arrived[(index / 64) as usize] |= 1 << (index % 64);
            self.packets += 1;
            self.bytes += u64::from(bytes);
        }
        is_new
    }
}
