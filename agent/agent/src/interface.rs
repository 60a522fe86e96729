//! The network interface of an address.

#![expect(unsafe_code, reason = "system calls that the standard library lacks")]

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

/// Return the name of the interface that has `address`; `None` if none has.
pub fn interface_of(address: IpAddr) -> io::Result<Option<String>> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: getifaddrs writes a list to `first`, which is freed below.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = None;
    let mut next = first;
    while !next.is_null() {
        // SAFETY: the list is valid until it is freed, and `next` is one of its entries.
        let entry = unsafe { &*next };
        // SAFETY: `ifa_addr` is null or an address of the family that it names.
        if unsafe { ip_of(entry.ifa_addr) } == Some(address) {
            // SAFETY: the name of an entry ends with a zero.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) };
            // A further address of an interface may be labelled `eth0:1`.
            let name = name.to_string_lossy();
            found = name.split(':').next().map(str::to_owned);
            break;
        }
        next = entry.ifa_next;
    }
    // SAFETY: `first` came from getifaddrs and nothing of the list is used from here on.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// Read an address.
///
/// # Safety
/// `address` is null, or points to a socket address that is as long as its family demands.
unsafe fn ip_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: every socket address starts with its family.
    match i32::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: the family says that it is one of IPv4; copied, because its alignment is not promised.
            let ipv4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(ipv4.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that it is one of IPv6.
            let ipv6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(ipv6.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_its_interface_and_an_address_of_documentation_has_none() {
        let loopback = interface_of([127, 0, 0, 1].into()).unwrap();
        assert_eq!(loopback.as_deref(), Some("lo"));
        assert_eq!(interface_of([192, 0, 2, 1].into()).unwrap(), None);
    }
}
