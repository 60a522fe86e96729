//! Reports of windows to the backend: batching, spooling on disk, upload with backoff.

mod batch;
pub mod events;
mod on_demand;
mod packed;
mod refused;
mod sequence;
mod spool;
mod upload;
mod window_parts;
mod window_queue;

pub use batch::Batcher;
pub use on_demand::OnDemandUploader;
pub use refused::RefusedReports;
pub use sequence::Sequence;
pub use spool::{PushResult, Spool};
pub use upload::{Pace, Uploader};
pub use window_parts::EarlierParts;
pub use window_queue::WindowQueue;
