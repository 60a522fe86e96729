"""Three network namespaces in a row: a sender, a router with a shaper towards the receiver, a receiver. Needs root."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

RECEIVER = "10.77.2.2"


@dataclass(frozen=True, slots=True)
class Row:
    """Names of the namespaces; `shaped` is the router's interface towards the receiver."""

    sender: str
    router: str
    receiver: str
    shaped: str = "right"

    def shape(self, *qdisc: str) -> None:
        """Replace the queueing discipline towards the receiver; none: the default of the kernel."""
        subprocess.run(
            [*_within(self.router), "tc", "qdisc", "del", "dev", self.shaped, "root"], capture_output=True, check=False
        )
        if qdisc:
            _run(*_within(self.router), "tc", "qdisc", "add", "dev", self.shaped, "root", *qdisc)


@contextmanager
def row() -> Iterator[Row]:
    """Yield three connected namespaces, and remove them afterwards."""
    names = [f"snm-{os.getpid()}-{role}" for role in ("sender", "router", "receiver")]
    made = Row(*names)
    try:
        for name in names:
            _run("ip", "netns", "add", name)
            _run(*_within(name), "ip", "link", "set", "lo", "up")
        sender, router, receiver = names
        _pair(sender, "out", "10.77.1.2/24", router, "left", "10.77.1.1/24")
        _pair(router, "right", "10.77.2.1/24", receiver, "in", f"{RECEIVER}/24")
        _run(*_within(router), "sysctl", "-qw", "net.ipv4.ip_forward=1")
        _run(*_within(sender), "ip", "route", "add", "default", "via", "10.77.1.1")
        _run(*_within(receiver), "ip", "route", "add", "default", "via", "10.77.2.1")
        yield made
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _pair(left: str, left_name: str, left_ip: str, right: str, right_name: str, right_ip: str) -> None:
    _run("ip", "link", "add", left_name, "netns", left, "type", "veth", "peer", "name", right_name, "netns", right)
    for name, port, ip in ((left, left_name, left_ip), (right, right_name, right_ip)):
        _run(*_within(name), "ip", "address", "add", ip, "dev", port)
        _run(*_within(name), "ip", "link", "set", port, "up")
        # One packet at a time, as on a wire.
        subprocess.run(
            [*_within(name), "ethtool", "-K", port, "gro", "off", "gso", "off", "tso", "off"],
            capture_output=True,
            check=False,
        )


def _within(name: str) -> tuple[str, ...]:
    return ("ip", "netns", "exec", name)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
