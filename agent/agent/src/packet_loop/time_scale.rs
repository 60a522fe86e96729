//! The time scale of timestamps in messages.

#[cfg(feature = "synthetic-clock")]
use super::synthetic::Synthetic;
use crate::clock::RawTime;

/// The raw clock with a fixed offset, which was near UTC at the start. It is never steered.
#[derive(Debug, Clone)]
pub(super) struct TimeScale {
    ahead_ns: i64,
    #[cfg(feature = "synthetic-clock")]
    synthetic: Option<Synthetic>,
}

impl TimeScale {
    /// Create a time scale that is `ahead_ns` ahead of the raw clock.
    pub fn starting(ahead_ns: i64) -> Self {
        Self {
            ahead_ns,
            #[cfg(feature = "synthetic-clock")]
            synthetic: Synthetic::from_environment(),
        }
    }

    /// Convert a raw time to the time scale of messages, ns.
    #[cfg(not(feature = "synthetic-clock"))]
    pub fn of(&self, at: RawTime) -> i64 {
        self.ahead_ns.saturating_add(at.0)
    }

    /// Convert a raw time to the time scale of messages, by the synthetic clock if there is one, ns.
    #[cfg(feature = "synthetic-clock")]
    pub fn of(&self, at: RawTime) -> i64 {
        let ahead_ns = self.synthetic.as_ref().map(|clock| clock.ahead_ns(at));
        at.0.saturating_add(ahead_ns.unwrap_or(self.ahead_ns))
    }
}
