//! From windows to acknowledged reports: batch, spool on disk, upload, back off.

mod batch;
mod events;
mod refused;
mod sequence;
mod spool;
mod upload;

pub use batch::Batcher;
pub use refused::RefusedReports;
pub use sequence::Sequence;
pub use spool::{Pushed, Spool};
pub use upload::{Pace, Uploader};
