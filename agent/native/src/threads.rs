//! Work on two processors.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Threads that may help others at any time: a server that answers many at once gains nothing from more.
const HELPERS_MAX: usize = 2;

static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// Run both, side by side where a helper is free, else one after the other.
pub fn both<A, B: Send>(first: impl FnOnce() -> A, second: impl FnOnce() -> B + Send) -> (A, B) {
    if HELPERS.fetch_add(1, Ordering::Relaxed) < HELPERS_MAX {
        let results = thread::scope(|scope| {
            let helper = scope.spawn(second);
            let result = first();
            (result, helper.join())
        });
        HELPERS.fetch_sub(1, Ordering::Relaxed);
        match results {
            (result, Ok(other)) => (result, other),
            (_, Err(panic)) => resume_unwind(panic),
        }
    } else {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
        let result = first();
        (result, second())
    }
}

/// Return the results of `work` for all parts, in their order, half of them from a second processor.
pub fn map<T: Sync, R: Send>(parts: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (first, second) = parts.split_at(parts.len() / 2);
    if first.is_empty() {
        return second.iter().map(work).collect();
    }
    let half = |parts: &[T]| parts.iter().map(&work).collect::<Vec<R>>();
    let (mut results, more) = both(|| half(first), || half(second));
    results.extend(more);
    results
}
