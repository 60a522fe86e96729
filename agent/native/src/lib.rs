//! Computations shared by agent and backend: LLQ16 sketches, stored frames, merging, reports and matrices.
//!
//! LLQ16 is a fixed log-linear histogram written as 16-bit words. A word is `bin << 5 | code`, little-endian, and
//! stands for `code + 1` values of its bin when `code < 16`, else for `2^(code - 11)`. Words of one bin add up, so two
//! sketches are merged by joining their bytes. Every quantile read from a sketch is within 1/128 of a value that was
//! put in.
//!
//! ```
//! use sinemora_native::Sketch;
//! let sketch = Sketch::of([45_000, 45_000, 1_000_000]);
//! assert_eq!(sketch.to_bytes(), [0xe1, 0x52, 0x40, 0x77]);
//! assert_eq!(sketch.quantile(0.5), Some(44_800));
//! ```
//!
//! `vectors.json` in this crate pins the bytes for every language that reads or writes them.

pub mod columns;
pub mod frame;
mod llq16;
pub mod matrix;
pub mod merge;
mod protobuf;
pub mod report;
pub mod rice;
pub mod threads;

pub use llq16::*;
