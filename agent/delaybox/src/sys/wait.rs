//! Waiting for readable files or a deadline, to the nanosecond.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Wait until one of `files` can be read, at most `limit_ns` (`None`: as long as it takes). Signals end it early.
pub fn wait_readable(files: &[BorrowedFd<'_>], limit_ns: Option<i64>) -> io::Result<()> {
    let mut asked: Vec<libc::pollfd> = files
        .iter()
        .map(|file| libc::pollfd {
            fd: file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let limit = limit_ns.map(|ns| libc::timespec {
        tv_sec: ns.max(0) / 1_000_000_000,
        tv_nsec: ns.max(0) % 1_000_000_000,
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: ppoll(2) reads and writes the pollfd of a local vector, reads one timespec or null, and null leaves signals alone.
    // `limit` points into the variable of the same name, which lives to the end of the function.
    let ready = unsafe {
        libc::ppoll(
            asked.as_mut_ptr(),
            asked.len() as libc::nfds_t,
            limit,
            std::ptr::null(),
        )
    };
    match super::checked(ready) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}
