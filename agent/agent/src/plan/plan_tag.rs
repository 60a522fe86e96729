//! The tag of the plan in force, shared by all who ask for it.

use std::sync::{Arc, Mutex, PoisonError};

/// The `ETag` of the plan in force: with it an answer without a wait has no body.
#[derive(Debug, Clone, Default)]
pub struct PlanTag(Arc<Mutex<Option<String>>>);

impl PlanTag {
    pub fn set(&self, etag: Option<&str>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = etag.map(str::to_owned);
    }

    pub fn get(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
