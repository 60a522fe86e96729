//! TCP and MPTCP sockets with a congestion control.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{
    Timeout, set_socket_reuseaddr, set_socket_timeout, set_tcp_congestion, set_tcp_nodelay,
};
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, listen, socket_with,
};

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const MPTCP_ENABLED: &str = "/proc/sys/net/mptcp/enabled";
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const BACKLOG: i32 = 256;

/// Return the congestion controls that this process may set, the kernel's default first.
pub fn congestion_controls() -> Vec<String> {
    let words = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let default = words(DEFAULT).trim().to_owned();
    let mut names: Vec<String> = words(AVAILABLE)
        .split_whitespace()
        .filter(|name| *name != default && may_set(name))
        .map(str::to_owned)
        .collect();
    if !default.is_empty() {
        names.insert(0, default);
    }
    names
}

fn may_set(name: &str) -> bool {
    new(AddressFamily::INET, false).is_ok_and(|fd| set_tcp_congestion(&fd, name).is_ok())
}

/// Return true if the kernel opens MPTCP sockets.
pub fn has_mptcp() -> bool {
    let is_enabled = std::fs::read_to_string(MPTCP_ENABLED).is_ok_and(|text| text.trim() == "1");
    is_enabled && new(AddressFamily::INET, true).is_ok()
}

/// Connect to a receiver.
pub fn open(to: SocketAddr, congestion: Option<&str>, mptcp: bool) -> io::Result<TcpStream> {
    let fd = new(family(to), mptcp)?;
    if let Some(name) = congestion {
        set_tcp_congestion(&fd, name)?;
    }
    set_tcp_nodelay(&fd, true)?;
    // connect(2) keeps to it, too.
    set_socket_timeout(&fd, Timeout::Send, Some(CONNECT_LIMIT))?;
    connect(&fd, &to)?;
    set_socket_timeout(&fd, Timeout::Send, None)?;
    Ok(TcpStream::from(fd))
}

/// Listen for senders; an MPTCP socket accepts plain TCP as well.
pub fn listen_at(at: SocketAddr) -> io::Result<TcpListener> {
    let fd = new(family(at), has_mptcp())?;
    set_socket_reuseaddr(&fd, true)?;
    bind(&fd, &at)?;
    listen(&fd, BACKLOG)?;
    let listener = TcpListener::from(fd);
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Accept a connection within `wait`. A time limit of the socket does not end an accept of MPTCP.
pub fn accept_within(listener: &TcpListener, wait: Duration) -> io::Result<TcpStream> {
    let limit = Timespec::try_from(wait).map_err(io::Error::other)?;
    let mut polled = [PollFd::new(listener, PollFlags::IN)];
    poll(&mut polled, Some(&limit))?;
    let (stream, _) = listener.accept()?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn new(family: AddressFamily, mptcp: bool) -> io::Result<OwnedFd> {
    let protocol = if mptcp { ipproto::MPTCP } else { ipproto::TCP };
    Ok(socket_with(
        family,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        Some(protocol),
    )?)
}

fn family(address: SocketAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    }
}
