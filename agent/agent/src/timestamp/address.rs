//! Socket addresses in the kernel's structures.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Storage for an address of either family, and its length in use. It is a `sockaddr_in6`, because the larger
/// `sockaddr_storage` takes four times as long to clear for each packet.
#[derive(Clone, Copy)]
pub(super) struct RawAddress {
    pub storage: libc::sockaddr_in6,
    pub len: libc::socklen_t,
}

/// Both begin with the family, as every sockaddr does (POSIX), and a `sockaddr_in` fits in a `sockaddr_in6`.
const _: () = assert!(size_of::<libc::sockaddr_in>() <= size_of::<libc::sockaddr_in6>());
const _: () = assert!(align_of::<libc::sockaddr_in>() <= align_of::<libc::sockaddr_in6>());
const V4_LEN: libc::socklen_t = size_of::<libc::sockaddr_in>() as libc::socklen_t;
const V6_LEN: libc::socklen_t = size_of::<libc::sockaddr_in6>() as libc::socklen_t;

impl RawAddress {
    /// Create storage for the kernel to write to.
    pub fn empty() -> Self {
        Self {
            // SAFETY: sockaddr_in6 is plain integers, for which zero is a value.
            storage: unsafe { std::mem::zeroed() },
            len: V6_LEN,
        }
    }

    /// Return an address for a socket of a family: a socket for IPv6 addresses sends to IPv4 ones as mapped addresses
    /// (RFC 4291, 2.5.5.2).
    pub fn new(address: SocketAddr, of_ipv6_socket: bool) -> Self {
        let mut raw = Self::empty();
        let place = &raw mut raw.storage;
        let address = match address {
            SocketAddr::V4(v4) if of_ipv6_socket => {
                SocketAddrV6::new(v4.ip().to_ipv6_mapped(), v4.port(), 0, 0).into()
            }
            _ => address,
        };
        match address {
            SocketAddr::V4(v4) => {
                let native = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: v4.port().to_be(),
                    sin_addr: in_addr(*v4.ip()),
                    sin_zero: [0; 8],
                };
                // SAFETY: sockaddr_in6 is larger than sockaddr_in and as aligned, which the constants below look at.
                unsafe { place.cast::<libc::sockaddr_in>().write(native) };
                raw.len = V4_LEN;
            }
            SocketAddr::V6(v6) => {
                let native = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: v6.flowinfo(),
                    sin6_addr: in6_addr(*v6.ip()),
                    sin6_scope_id: v6.scope_id(),
                };
                raw.storage = native;
                raw.len = V6_LEN;
            }
        }
        raw
    }

    /// Return the address that the kernel wrote, a mapped one as IPv4; `None` if it is of another family.
    pub fn get(&self) -> Option<SocketAddr> {
        let place = &raw const self.storage;
        match i32::from(self.storage.sin6_family) {
            libc::AF_INET if self.len >= V4_LEN => {
                // SAFETY: the family identifies a sockaddr_in, and the length covers all of it.
                let native = unsafe { place.cast::<libc::sockaddr_in>().read() };
                let ip = ipv4(native.sin_addr);
                Some(SocketAddrV4::new(ip, u16::from_be(native.sin_port)).into())
            }
            libc::AF_INET6 if self.len >= V6_LEN => {
                let native = self.storage;
                let (ip, port) = (
                    native.sin6_addr.s6_addr.into(),
                    u16::from_be(native.sin6_port),
                );
                if let Some(v4) = Ipv6Addr::to_ipv4_mapped(&ip) {
                    return Some(SocketAddrV4::new(v4, port).into());
                }
                Some(SocketAddrV6::new(ip, port, native.sin6_flowinfo, native.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

pub(super) fn in_addr(ip: Ipv4Addr) -> libc::in_addr {
    libc::in_addr {
        s_addr: u32::from_ne_bytes(ip.octets()),
    }
}

pub(super) fn in6_addr(ip: Ipv6Addr) -> libc::in6_addr {
    libc::in6_addr {
        s6_addr: ip.octets(),
    }
}

pub(super) fn ipv4(address: libc::in_addr) -> Ipv4Addr {
    address.s_addr.to_ne_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        for text in [
            "127.0.0.1:319",
            "255.1.2.3:65535",
            "[::1]:320",
            "[fe80::1%5]:9",
        ] {
            let address: SocketAddr = text.parse().unwrap();
            for of_ipv6_socket in [!address.is_ipv4(), true] {
                let raw = RawAddress::new(address, of_ipv6_socket);
                assert_eq!(raw.get(), Some(address));
                assert_eq!(raw.len, if of_ipv6_socket { V6_LEN } else { V4_LEN });
            }
        }
        assert_eq!(RawAddress::empty().get(), None);
    }
}
