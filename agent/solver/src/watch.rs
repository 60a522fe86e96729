//! Progress of a search while it runs, and the order to stop.

/// Called with the cost of the best placement found and a lower bound, NaN where unknown; `false` stops the search.
///
/// What a stopped search returns is of no use. A search calls it at least every few tenths of a second.
pub type Watch<'w> = &'w mut dyn FnMut(f64, f64) -> bool;
