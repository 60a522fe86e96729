"""Hosts joined by a delaybox: a network of two addresses with the delays that a test or a benchmark injects."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

from agents import BINARY
from laboratory import Host, Lab, LabError, Process

DELAYBOX = BINARY.with_name("delaybox")
CLIENT, RESPONDER = "10.99.0.1", "10.99.0.2"
"""Addresses of hosts that are joined by several links."""
_networks = itertools.count(1)


@dataclass(frozen=True)
class Box:
    """A running delaybox between two hosts: their addresses behind it, and its start (Unix s)."""

    process: Process
    addresses: tuple[str, str]
    began_s: float


def join(lab: Lab, left: Host, right: Host, settings: Sequence[str]) -> Box:
    """Join two hosts by a delaybox; outbound is from `left` to `right`. Raises LabError if the box is not built."""
    if not DELAYBOX.exists():
        raise LabError(f"{DELAYBOX} is not built.\nWhat to do: make setup")
    net = f"10.78.{next(_networks)}"
    sides = [f"--{side}=netns:/proc/{host.holder.pid}/ns/net" for side, host in (("left", left), ("right", right))]
    sides += [f"--left-address={net}.1/24", f"--right-address={net}.2/24"]
    process = lab.start([DELAYBOX, "run", *sides, *settings], "delaybox")
    process.require("the delaybox", "ready")
    return Box(process, (f"{net}.1", f"{net}.2"), time.time())


def join_by_hash(lab: Lab, client: Host, responder: Host, links_us: Sequence[tuple[int, int]]) -> None:
    """Join the addresses `CLIENT` and `RESPONDER` by links of these delays there and back, µs.

    The client's kernel sends each flow over one of them by a hash of addresses and ports (RFC 2992), as a fabric does.
    Responses take the first link.
    """
    paths = []
    for nth, (there_us, back_us) in enumerate(links_us):
        paths.append(join(lab, client, responder, [f"--outbound=delay={there_us}us", f"--inbound=delay={back_us}us"]))
        for host in (client, responder):
            # The next box creates an interface of the same name.
            host.run("ip", "link", "set", "delay0", "down")
            host.run("ip", "link", "set", "delay0", "name", f"path{nth}")
            host.run("ip", "link", "set", f"path{nth}", "up")
    for host, own, other, side in ((client, CLIENT, RESPONDER, 1), (responder, RESPONDER, CLIENT, 0)):
        host.run("ip", "address", "add", f"{own}/32", "dev", "lo")
        _set_ipv4(host, "conf/all/rp_filter", 0)
        _set_ipv4(host, "conf/default/rp_filter", 0)
        for path in paths:
            _set_ipv4(host, f"conf/{interface(host, path.addresses[1 - side])}/rp_filter", 0)
        hops = [word for path in paths for word in ("nexthop", "via", path.addresses[side])]
        if host is responder or len(paths) == 1:
            hops = ["via", paths[0].addresses[side]]
        host.run("ip", "route", "add", f"{other}/32", *hops)
    _set_ipv4(client, "fib_multipath_hash_policy", 1)


def _set_ipv4(host: Host, name: str, value: int) -> None:
    """Set a value of IPv4 of a host; a minimal Debian has no sysctl."""
    host.run("sh", "-c", f"echo {value} > /proc/sys/net/ipv4/{name}")


def interface(host: Host, address: str) -> str:
    """Return the interface of a host that has an address."""
    lines = host.run("ip", "-o", "-4", "address", "show").splitlines()
    return next(line.split()[1] for line in lines if f" {address}/" in line)
