//! TAP interfaces: the other end of their cable is a file descriptor.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use super::checked;
use super::interface::request;

const TUNSETIFF: libc::Ioctl = 0x4004_54ca;

/// Create a TAP interface `name` in the namespace of the calling thread. Reads and writes never block, and have a
/// `virtio_net_hdr` of 10 bytes in front of the frame; the interface vanishes when the file is closed.
pub fn open_tap(name: &str) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open("/dev/net/tun")?;
    let mut ask = request(name)?;
    ask.ifr_ifru.ifru_flags =
        (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: TUNSETIFF (linux/if_tun.h) reads and writes one ifreq, a local's.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut ask) })?;
    Ok(file)
}
