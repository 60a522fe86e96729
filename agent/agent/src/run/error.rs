//! Errors that end the agent.

use crate::backend::CallError;
use crate::config::ConfigError;
use crate::enrol::EnrolError;
use crate::identity::IdentityError;
use crate::packet_loop::LoopError;
use crate::state_dir::StateError;

/// An error that ends the agent, one variant for each part.
#[derive(Debug)]
pub enum RunError {
    Config(ConfigError),
    State(StateError),
    Identity(IdentityError),
    Enrol(EnrolError),
    Call(CallError),
    /// A file or socket that the agent needs.
    Io {
        at: String,
        why: String,
    },
    Measuring(LoopError),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::State(error) => error.fmt(f),
            Self::Identity(error) => error.fmt(f),
            Self::Enrol(error) => error.fmt(f),
            Self::Call(error) => error.fmt(f),
            Self::Io { at, why } => write!(f, "{at}: {why}"),
            Self::Measuring(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<ConfigError> for RunError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<StateError> for RunError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<IdentityError> for RunError {
    fn from(error: IdentityError) -> Self {
        Self::Identity(error)
    }
}

impl From<EnrolError> for RunError {
    fn from(error: EnrolError) -> Self {
        Self::Enrol(error)
    }
}

impl From<CallError> for RunError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<LoopError> for RunError {
    fn from(error: LoopError) -> Self {
        Self::Measuring(error)
    }
}

impl RunError {
    /// Return the exit code: 2 for a wrong setting, 3 for a refused enrolment, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) => 2,
            Self::Enrol(EnrolError::Refused { .. } | EnrolError::Held { .. }) => 3,
            _ => 1,
        }
    }
}
