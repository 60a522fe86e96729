//! The sketch itself: bins, words, one sketch, and many of them at once.

mod bin;
mod groups;
mod sketch;
pub(crate) mod words;

pub use bin::{BINS, MAX_VALUE_NS, bin_of, lower_of, value_of, width_of};
pub(crate) use groups::ends_of;
pub use groups::{
    Histogram, Members, Merged, Summary, canonical_words, count_of, is_ordered, merge, summarise,
};
pub use sketch::{OddLength, Sketch};
