//! Identity of this agent: issued once at enrolment, kept in `identity.json`, readable only by the agent.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::state_dir::write_atomically;

/// Name of the file inside the state folder.
pub const IDENTITY_FILE: &str = "identity.json";

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub agent_id: String,
    pub vm_id: String,
    pub vm_key: u32,
    pub tenant_id: String,
    /// `sma_…`; authenticates this agent until it is revoked.
    pub credential: String,
    /// URL of the backend that issued it.
    pub backend: String,
    /// Public keys of the installation, base64: only artifacts that one of them signed are accepted.
    #[serde(default)]
    pub keys: Vec<String>,
}

/// Omits the credential, which must not reach a log.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity")
            .field("agent_id", &self.agent_id)
            .field("vm_id", &self.vm_id)
            .finish_non_exhaustive()
    }
}

/// Failure to read or write the identity.
#[derive(Debug, thiserror::Error)]
#[error("{} {why}", path.display())]
pub struct IdentityError {
    path: PathBuf,
    why: String,
}

impl Identity {
    /// Return the identity in `folder`, or `None` if this agent was never enrolled.
    ///
    /// Make a file private that others may read, and log a warning: they may know its credential.
    pub fn load(folder: &Path) -> Result<Option<Self>, IdentityError> {
        let path = folder.join(IDENTITY_FILE);
        let failed = |why: String| IdentityError {
            path: path.clone(),
            why,
        };
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed(format!("cannot be read: {e}"))),
        };
        let mode = std::fs::metadata(&path).map_or(0, |m| m.permissions().mode());
        if mode & 0o077 != 0 {
            tracing::warn!(
                path = %path.display(),
                "the identity was readable by other users of this machine and is private now; \
                 if you do not trust all of them, revoke this agent and enrol it again"
            );
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(
                |e| {
                    failed(format!(
                        "is readable by others and cannot be made private: {e}"
                    ))
                },
            )?;
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|e| {
            failed(format!(
                "is damaged ({e}): delete it and enrol this agent again"
            ))
        })
    }

    /// Write the identity to `folder` atomically, with mode 0600.
    pub fn store(&self, folder: &Path) -> Result<(), IdentityError> {
        let path = folder.join(IDENTITY_FILE);
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other);
        text.and_then(|text| write_atomically(&path, &text))
            .map_err(|e| IdentityError {
                path,
                why: format!("cannot be written: {e}"),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            agent_id: "a".into(),
            vm_id: "v".into(),
            vm_key: 7,
            tenant_id: "t".into(),
            credential: "sma_secret".into(),
            backend: "https://sinemora.example".into(),
            keys: vec!["k".into()],
        }
    }

    #[test]
    fn is_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Identity::load(folder.path()).unwrap(), None);
        identity().store(folder.path()).unwrap();
        let path = folder.path().join(IDENTITY_FILE);
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        assert_eq!(Identity::load(folder.path()).unwrap(), Some(identity()));

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(Identity::load(folder.path()).unwrap(), Some(identity()));
        assert_eq!(mode(), 0o600, "made private again");
    }

    #[test]
    fn the_error_of_a_damaged_file_names_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(IDENTITY_FILE), "{").unwrap();
        let error = Identity::load(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("delete it and enrol this agent again"),
            "{error}"
        );
    }

    #[test]
    fn the_credential_stays_out_of_debug_output() {
        assert!(!format!("{:?}", identity()).contains("secret"));
    }
}
