//! Priority of the threads of artifacts.

/// Added to the niceness: probe packets go first.
const NICE: i32 = 10;

/// Let other threads go first. In Linux niceness belongs to a thread.
pub fn lower_priority() {
    let _ = rustix::process::nice(NICE);
}
