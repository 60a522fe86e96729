//! Watch for the loss of the address that probes leave from, as by a DHCP lease with another address.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::stop::Stop;

/// Time between looks, and looks in a row without the address: an interface that is set up again loses it for a moment.
const INTERVAL: Duration = Duration::from_secs(2);
const LOOKS: u32 = 2;

/// Wait until `address` is no longer one of this machine. Return false if stopped before.
pub fn await_loss(address: IpAddr, stop: &Stop) -> bool {
    let mut missing = 0;
    while !stop.wait(INTERVAL) {
        missing = if is_here(address) { 0 } else { missing + 1 };
        if missing == LOOKS {
            return true;
        }
    }
    false
}

/// Return true unless no socket can have the address.
fn is_here(address: IpAddr) -> bool {
    let any_port = SocketAddr::new(address, 0);
    !UdpSocket::bind(any_port).is_err_and(|error| error.kind() == ErrorKind::AddrNotAvailable)
}
