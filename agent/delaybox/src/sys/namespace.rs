//! Network namespaces, held by a file descriptor.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use super::checked;

/// Network namespace that lives at least as long as this value.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// Create an empty namespace.
    pub fn fresh() -> io::Result<Self> {
        in_thread(|| {
            // SAFETY: unshare(2) takes flags alone; CLONE_NEWNET concerns the calling thread, which ends after this.
            checked(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
            Self::current()
        })
    }

    /// Return the namespace of this thread.
    pub fn current() -> io::Result<Self> {
        Self::open(Path::new("/proc/thread-self/ns/net"))
    }

    /// Open the namespace at `path`, for example `/run/netns/NAME` or `/proc/PID/ns/net`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
        })
    }

    /// Return the path for other programs while this process runs: `nsenter --net=PATH`.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Run `action` in this namespace. Sockets and TAP interfaces stay in the namespace that created them.
    pub fn within<T: Send>(&self, action: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        in_thread(|| {
            // SAFETY: setns(2) takes a descriptor, open as long as `self`, and moves the calling thread alone, which
            // ends after this.
            checked(unsafe { libc::setns(self.file.as_raw_fd(), libc::CLONE_NEWNET) })?;
            action()
        })
    }
}

/// Run `action` in a separate thread, as it changes its thread.
fn in_thread<T: Send>(action: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        scope
            .spawn(action)
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a thread of the set-up died")))
    })
}
