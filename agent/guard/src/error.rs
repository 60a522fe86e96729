//! Errors of the egress guard.

/// An error, with what to do about it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// An argument is wrong.
    #[error("{0}")]
    Usage(String),
    /// This machine does not have, or does not permit, what the guard needs.
    #[error("{0}")]
    Failed(String),
}

impl GuardError {
    /// Return the exit code: 2 for a wrong argument, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
        }
    }
}
