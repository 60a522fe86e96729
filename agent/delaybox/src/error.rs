//! Errors: what failed, where, and what to do.

use std::fmt;

/// Error of delaybox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A setting is wrong: `place` is the flag, key or line.
    Setting { place: String, why: String },
    /// The system refused: `what` failed, `why`, and `advice` on what to do.
    System {
        what: String,
        why: String,
        advice: &'static str,
    },
}

impl Error {
    pub fn setting(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Setting {
            place: place.into(),
            why: why.into(),
        }
    }

    /// Create the error of a system call.
    pub fn system(what: impl Into<String>, error: &std::io::Error) -> Self {
        let advice = match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => {
                "run it as root, or in a user namespace of your own: unshare -Urn delaybox …"
            }
            Some(libc::ENODEV | libc::ENXIO) => "see which interfaces there are: ip link",
            Some(libc::EBUSY) => "another program holds it; choose another name",
            _ => "",
        };
        Self::System {
            what: what.into(),
            why: error.to_string(),
            advice,
        }
    }

    /// Return the exit code: 2 for a wrong setting, 1 otherwise.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Setting { .. } => 2,
            Self::System { .. } => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { place, why } => write!(f, "{place}: {why}"),
            Self::System { what, why, advice } => {
                write!(f, "{what}: {why}")?;
                if advice.is_empty() {
                    Ok(())
                } else {
                    write!(f, "\nWhat to do: {advice}")
                }
            }
        }
    }
}

impl std::error::Error for Error {}
