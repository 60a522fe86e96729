//! Setting up an interface in the namespace of the calling thread, without `ip`.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use super::checked;

/// Queue length of an interface, frames; the default of 500 is 5 ms at 100,000 packets/s.
const QUEUE_FRAMES: libc::c_int = 10_000;

/// Ethernet address.
pub type Mac = [u8; 6];

/// IPv4 address with prefix length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    pub ip: Ipv4Addr,
    pub prefix: u8,
}

impl Address {
    /// Parse `10.77.0.1/24`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read = || {
            let (ip, prefix) = text.split_once('/')?;
            let prefix = prefix
                .parse()
                .ok()
                .filter(|prefix| (1..=30).contains(prefix))?;
            Some(Self {
                ip: ip.parse().ok()?,
                prefix,
            })
        };
        read().ok_or_else(|| {
            format!("{text:?} is no IPv4 address with its network; write 10.77.0.1/24")
        })
    }

    /// Return whether `other` is in the same network.
    pub fn reaches(&self, other: Ipv4Addr) -> bool {
        (u32::from(self.ip) ^ u32::from(other)) & self.mask() == 0
    }

    fn mask(&self) -> u32 {
        u32::MAX << (32 - self.prefix)
    }
}

/// Set the addresses of interface `name` and its permanent `neighbour`, disable IPv6, and bring it and `lo` up.
/// Without IPv6 and ARP, only the user's packets pass through the box.
pub fn configure(
    name: &str,
    mac: Mac,
    address: Address,
    neighbour: (Ipv4Addr, Mac),
    mtu: u32,
) -> io::Result<()> {
    // A kernel without IPv6 has no such file.
    let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
    let any = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let set = |code: libc::Ioctl, ask: &mut libc::ifreq| {
        // SAFETY: the SIOCSIF* requests (netdevice(7)) read one ifreq, which the caller owns.
        checked(unsafe { libc::ioctl(any.as_raw_fd(), code, std::ptr::from_mut(ask)) })
    };
    let mut ask = request(name)?;
    ask.ifr_ifru.ifru_hwaddr = hardware(mac);
    set(libc::SIOCSIFHWADDR, &mut ask)?;
    ask.ifr_ifru.ifru_metric = QUEUE_FRAMES;
    // Needs CAP_NET_ADMIN of the first user namespace (net/core/dev_ioctl.c); without it the default remains.
    let _ = set(libc::SIOCSIFTXQLEN, &mut ask);
    ask.ifr_ifru.ifru_mtu = mtu as libc::c_int;
    set(libc::SIOCSIFMTU, &mut ask)?;
    ask.ifr_ifru.ifru_addr = internet(address.ip);
    set(libc::SIOCSIFADDR, &mut ask)?;
    ask.ifr_ifru.ifru_netmask = internet(Ipv4Addr::from(address.mask()));
    set(libc::SIOCSIFNETMASK, &mut ask)?;
    ask.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    set(libc::SIOCSIFFLAGS, &mut ask)?;
    let mut lo = request("lo")?;
    lo.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    set(libc::SIOCSIFFLAGS, &mut lo)?;
    let mut known = libc::arpreq {
        arp_pa: internet(neighbour.0),
        arp_ha: hardware(neighbour.1),
        arp_flags: libc::ATF_COM | libc::ATF_PERM,
        arp_netmask: internet(Ipv4Addr::UNSPECIFIED),
        arp_dev: characters(name)?,
    };
    // SAFETY: SIOCSARP (arp(7)) reads one arpreq, a local's.
    checked(unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCSARP, &raw mut known) })?;
    Ok(())
}

/// Return the frames that the kernel dropped because the box did not read in time (`/proc/net/dev`, drops of
/// transmission: the box reads what the namespace sends).
pub fn kernel_drops(name: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    let prefix = format!("{name}:");
    text.lines()
        .find_map(|line| line.trim_start().strip_prefix(&prefix))
        .and_then(|fields| fields.split_whitespace().nth(11)?.parse().ok())
        .ok_or_else(|| io::Error::other(format!("{name} is not in /proc/net/dev")))
}

/// Create an empty request for interface `name`.
pub(super) fn request(name: &str) -> io::Result<libc::ifreq> {
    Ok(libc::ifreq {
        ifr_name: characters(name)?,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_metric: 0 },
    })
}

fn characters<const N: usize>(name: &str) -> io::Result<[libc::c_char; N]> {
    if name.is_empty() || name.len() >= N {
        let why = format!(
            "{name:?} cannot be the name of an interface: 1 to {} letters",
            N - 1
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(out)
}

fn hardware(mac: Mac) -> libc::sockaddr {
    let mut address = libc::sockaddr {
        sa_family: libc::ARPHRD_ETHER,
        sa_data: [0; 14],
    };
    for (to, from) in address.sa_data.iter_mut().zip(mac) {
        *to = from as libc::c_char;
    }
    address
}

/// Encode `sockaddr_in` in the shape of `sockaddr`: two bytes of port, four of address.
fn internet(ip: Ipv4Addr) -> libc::sockaddr {
    let mut address = libc::sockaddr {
        sa_family: libc::AF_INET as libc::sa_family_t,
        sa_data: [0; 14],
    };
    for (to, from) in address.sa_data[2..].iter_mut().zip(ip.octets()) {
        *to = from as libc::c_char;
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let address = Address::parse("10.77.0.1/24").unwrap();
        assert_eq!(
            Ipv4Addr::from(address.mask()),
            Ipv4Addr::new(255, 255, 255, 0)
        );
        assert!(address.reaches(Ipv4Addr::new(10, 77, 0, 200)));
        assert!(!address.reaches(Ipv4Addr::new(10, 77, 1, 2)));
        for text in [
            "10.77.0.1",
            "10.77.0.1/0",
            "10.77.0/24",
            "::1/64",
            "10.77.0.1/31",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
