//! Errors that end the agent.

use crate::backend::CallError;
use crate::config::ConfigError;
use crate::enrol::EnrolError;
use crate::identity::IdentityError;
use crate::packet_loop::LoopError;
use crate::state_dir::StateError;

/// An error that ends the agent, one variant for each part.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Enrol(#[from] EnrolError),
    #[error(transparent)]
    Call(#[from] CallError),
    /// A file or socket that the agent needs.
    #[error("{at}: {why}")]
    Io { at: String, why: String },
    #[error(transparent)]
    Measuring(#[from] LoopError),
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
