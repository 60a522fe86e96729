//! Reading the clocks.

/// Return `CLOCK_MONOTONIC`, the clock of the box's own times, in nanoseconds.
pub fn monotonic_ns() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Return `CLOCK_REALTIME`, the clock of the kernel's packet timestamps, in nanoseconds.
pub fn realtime_ns() -> i64 {
    read(libc::CLOCK_REALTIME)
}

fn read(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: clock_gettime(2) writes one timespec, a local's. It fails only for an unknown clock; both are known.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
