//! The last plan on disk, so that an agent measures even if the backend is unreachable when it starts.

use std::path::{Path, PathBuf};

use super::Plan;
use crate::state_dir::write_atomically;

#[derive(Debug)]
pub struct PlanCache(PathBuf);

impl PlanCache {
    pub fn new(state_dir: &Path) -> Self {
        Self(state_dir.join("plan.json"))
    }

    /// Return the plan of the last run, if it is this agent's and still valid.
    pub fn load(&self, agent_id: &str) -> Option<Plan> {
        let bytes = std::fs::read(&self.0).ok()?;
        match Plan::from_json(&bytes) {
            Ok(plan) => Some(plan).filter(|plan| plan.agent_id == agent_id),
            Err(error) => {
                tracing::warn!(path = %self.0.display(), "the plan of the last run is not used: {error}");
                None
            }
        }
    }

    /// Store `plan` for the next start. A failure does not affect this run and is only logged.
    pub fn store(&self, plan: &Plan) {
        let stored = serde_json::to_vec(plan)
            .map_err(Into::into)
            .and_then(|text| write_atomically(&self.0, &text));
        if let Err(error) = stored {
            tracing::warn!(path = %self.0.display(), %error, "the plan cannot be stored for the next start");
        }
    }

    /// Remove the plan: a revoked agent must not measure after a restart either.
    pub fn remove(&self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_used_by_its_own_agent_only() {
        let folder = tempfile::tempdir().unwrap();
        let cache = PlanCache::new(folder.path());
        assert_eq!(cache.load("a"), None);
        let plan = Plan {
            agent_id: "a".into(),
            revision: "7".into(),
            ..Plan::idle()
        };
        cache.store(&plan);
        assert_eq!(cache.load("a").as_ref(), Some(&plan));
        assert_eq!(cache.load("b"), None);
        cache.remove();
        assert_eq!(cache.load("a"), None);
    }

    #[test]
    fn an_order_of_the_bulk_sender_is_not_kept() {
        let mut plan = serde_json::to_value(Plan::idle()).unwrap();
        plan["bulk"] = serde_json::json!([{"id": "o", "secret": "secret of one run"}]);
        let folder = tempfile::tempdir().unwrap();
        PlanCache::new(folder.path()).store(&Plan::from_json(plan.to_string().as_bytes()).unwrap());
        let kept = std::fs::read_to_string(folder.path().join("plan.json")).unwrap();
        assert!(!kept.contains("secret of one run"));
    }

    #[test]
    fn a_damaged_file_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.json"), "{").unwrap();
        assert_eq!(PlanCache::new(folder.path()).load("a"), None);
    }
}
