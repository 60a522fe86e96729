//! Origins of packet timestamps.

/// The origin of a packet timestamp, from the least to the most precise. The numbers are those of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum TimestampSource {
    /// This process, after waking: late by scheduling, with a larger error.
    User = 1,
    /// The kernel, when the packet passes the driver.
    Kernel = 2,
    /// The network card, when the packet passes its wire.
    Hardware = 3,
}

impl TimestampSource {
    /// Return the name in reports and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Kernel => "kernel",
            Self::Hardware => "hardware",
        }
    }
}
