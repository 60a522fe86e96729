//! The time scale of our stamps on the wire.

#[cfg(feature = "synthetic-clock")]
use super::synthetic::Synthetic;
use crate::clock::RawTime;

/// The raw clock, brought near UTC once and then never steered.
#[derive(Debug, Clone)]
pub(super) struct TimeScale {
    ahead_ns: i64,
    #[cfg(feature = "synthetic-clock")]
    synthetic: Option<Synthetic>,
}

impl TimeScale {
    /// A time scale that is `ahead_ns` ahead of the raw clock.
    pub fn starting(ahead_ns: i64) -> Self {
        Self {
            ahead_ns,
            #[cfg(feature = "synthetic-clock")]
            synthetic: Synthetic::wanted(),
        }
    }

    /// A time as messages carry it, ns.
    #[cfg(not(feature = "synthetic-clock"))]
    pub fn of(&self, at: RawTime) -> i64 {
        self.ahead_ns.saturating_add(at.0)
    }

    /// The same, of the clock that is asked for.
    #[cfg(feature = "synthetic-clock")]
    pub fn of(&self, at: RawTime) -> i64 {
        let ahead_ns = self.synthetic.as_ref().map(|clock| clock.ahead_ns(at));
        at.0.saturating_add(ahead_ns.unwrap_or(self.ahead_ns))
    }
}
