"""Three network namespaces of Linux in a row, with queueing disciplines. Needs root."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

RECEIVER = "10.77.2.2"
_PROBE = """
ip netns add {0} && ip netns exec {0} tc qdisc add dev lo root tbf rate 1mbit burst 10000 limit 10000
status=$?
ip netns del {0}
exit $status
"""


def missing() -> str | None:
    """Return why this machine cannot shape traffic in namespaces; None if it can."""
    done = subprocess.run(["sh", "-c", _PROBE.format(_named("probe"))], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no token buckets in network namespaces: {done.stderr}"


@dataclass(frozen=True, slots=True)
class Row:
    """Names of the namespaces: a sender, a router, a receiver.

    `shaped` is the router's interface towards the receiver, `entry` the sender's towards the router.
    """

    sender: str
    router: str
    receiver: str
    shaped: str = "right"
    entry: str = "out"

    def shape(self, *qdisc: str) -> None:
        """Replace the queueing discipline towards the receiver; none: the default of the kernel."""
        _replace(self.router, self.shaped, qdisc)

    def shape_entry(self, *qdisc: str) -> None:
        """Replace the queueing discipline at the sender; none: the default of the kernel."""
        _replace(self.sender, self.entry, qdisc)


@contextmanager
def row() -> Iterator[Row]:
    """Yield three connected namespaces, and remove them afterwards."""
    made = Row(*(_named(role) for role in ("sender", "router", "receiver")))
    names = (made.sender, made.router, made.receiver)
    try:
        for name in names:
            _run("ip", "netns", "add", name)
        _connect(made.sender, made.entry, made.router, "left", 1)
        _connect(made.receiver, "in", made.router, made.shaped, 2)
        within(made.router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        yield made
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def inside(name: str, *command: str) -> list[str]:
    """Return a command that runs inside a namespace."""
    return ["ip", "netns", "exec", name, *command]


def within(name: str, *command: str) -> None:
    """Run a command inside a namespace."""
    _run(*inside(name, *command))


def _named(role: str) -> str:
    return f"snm-{os.getpid()}-{role}"


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr)


def _connect(host: str, device: str, router: str, towards: str, subnet: int) -> None:
    """Connect a host to the router, through which its packets leave."""
    _run("ip", "link", "add", device, "netns", host, "type", "veth", "peer", "name", towards, "netns", router)
    for name, own, number in ((host, device, 2), (router, towards, 1)):
        within(name, "ip", "address", "add", f"10.77.{subnet}.{number}/24", "dev", own)
        within(name, "ip", "link", "set", own, "up")
        # One packet at a time, as on a wire.
        within(name, "ethtool", "-K", own, "gro", "off", "gso", "off", "tso", "off")
    within(host, "ip", "route", "add", "default", "via", f"10.77.{subnet}.1")


def _replace(name: str, device: str, qdisc: tuple[str, ...]) -> None:
    subprocess.run(inside(name, "tc", "qdisc", "del", "dev", device, "root"), capture_output=True, check=False)
    if qdisc:
        within(name, "tc", "qdisc", "add", "dev", device, "root", *qdisc)
