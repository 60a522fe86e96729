//! System calls that the standard library lacks. All unsafe code of the box is here, each use with the kernel's
//! contract.

#![expect(unsafe_code, reason = "system calls that the standard library lacks")]

mod clock;
mod interface;
mod namespace;
mod packet;
mod scheduling;
mod stamped;
mod tap;
mod wait;

pub use clock::{monotonic_ns, realtime_ns};
pub use interface::{Address, Mac, configure, kernel_drops};
pub use namespace::Namespace;
pub use packet::{open_packet_socket, packet_drops};
pub use scheduling::{Scheduler, prompt};
pub use stamped::{Received, receive_stamped, stamp_arrivals};
pub use tap::open_tap;
pub use wait::wait_readable;

/// Return the error of the last system call.
fn last_error() -> std::io::Error {
    std::io::Error::last_os_error()
}

/// Convert the result of a system call: 0 or more is success.
fn checked(result: libc::c_int) -> std::io::Result<libc::c_int> {
    if result < 0 {
        Err(last_error())
    } else {
        Ok(result)
    }
}
