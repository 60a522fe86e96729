//! Errors of the egress guard.

/// An error, with what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub enum GuardError {
    /// An argument is wrong.
    Usage(String),
    /// This machine does not have, or does not permit, what the guard needs.
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

impl std::fmt::Display for GuardError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for GuardError {}
