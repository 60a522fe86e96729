"""Network namespaces of Linux, connected by pairs of virtual interfaces, with queueing disciplines. Needs root."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

RECEIVER = "10.77.2.2"
_PREFIX = "snm"
_NAME = re.compile(rf"{_PREFIX}-(\d+)-")
_numbers = count()


def unavailable(kinds: Sequence[str] = ("tbf",)) -> str | None:
    """Return why this machine cannot shape traffic in namespaces, and what to do; None if it can.

    `kinds`: queueing disciplines that are needed. It makes a namespace for the answer, and removes it.
    """
    if sys.platform != "linux":
        return "Network namespaces need Linux."
    if os.geteuid() != 0:
        return "Network namespaces need root: run the command with sudo."
    missing = [tool for tool in ("ip", "tc") if shutil.which(tool) is None]
    if missing:
        return f"{' and '.join(missing)} not found: install the package iproute2."
    try:
        with namespaces(["check"]) as (name,):
            for kind, arguments in _CHECKS.items():
                if kind in kinds:
                    within(name, "tc", "qdisc", "replace", "dev", "lo", "root", kind, *arguments)
    except CommandFailed as error:
        if "netns" in error.command:
            return f"This machine permits no network namespaces, as many containers do: {error}. Use a VM."
        return f"The kernel cannot shape: {error}. Load the modules sch_tbf and sch_htb, or use another kernel."
    return None


_CHECKS = {
    "tbf": ("rate", "1mbit", "burst", "10000", "limit", "10000"),
    "htb": (),
}


class CommandFailed(Exception):
    """A command of iproute2 that failed; the message has its first line of errors."""

    def __init__(self, command: Sequence[str], words: str) -> None:
        super().__init__(f"`{' '.join(command)}`: {words.strip().splitlines()[0] if words.strip() else 'no reason'}")
        self.command = tuple(command)


@contextmanager
def namespaces(roles: Sequence[str]) -> Iterator[list[str]]:
    """Yield the names of new namespaces, one a role, and remove them and their processes' links afterwards."""
    remove_stale()
    number = next(_numbers)
    names = [f"{_PREFIX}-{os.getpid()}-{number}-{role}" for role in roles]
    try:
        for name in names:
            run("ip", "netns", "add", name)
            within(name, "ip", "link", "set", "lo", "up")
        yield names
    finally:
        for name in names:
            _remove(name)


def remove_stale() -> None:
    """Remove the namespaces of processes that were killed."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        name = line.split()[0] if line.split() else ""
        match = _NAME.match(name)
        if match and not os.path.exists(f"/proc/{match[1]}"):
            _remove(name)


def connect(
    left: str, left_device: str, left_ip: str | None, right: str, right_device: str, right_ip: str | None
) -> None:
    """Connect two namespaces; addresses with their prefix length, None for an end without one."""
    run("ip", "link", "add", left_device, "netns", left, "type", "veth", "peer", "name", right_device, "netns", right)
    for name, device, ip in ((left, left_device, left_ip), (right, right_device, right_ip)):
        if ip is not None:
            within(name, "ip", "address", "add", ip, "dev", device)
        within(name, "ip", "link", "set", device, "up")
        # One packet at a time, as on a wire.
        subprocess.run(
            inside(name, "ethtool", "-K", device, "gro", "off", "gso", "off", "tso", "off"),
            capture_output=True,
            check=False,
        )


def forward(name: str) -> None:
    """Let a namespace forward packets; a minimal Debian has no sysctl."""
    within(name, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")


def inside(name: str, *command: str) -> list[str]:
    """Return a command that runs inside a namespace."""
    return ["ip", "netns", "exec", name, *command]


def within(name: str, *command: str) -> None:
    """Run a command inside a namespace. Raises `CommandFailed`."""
    run(*inside(name, *command))


def run(*command: str) -> None:
    """Run a command. Raises `CommandFailed`."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandFailed(command, done.stderr)


def clear(name: str, device: str) -> None:
    """Remove the queueing disciplines of a device: the default of the kernel."""
    subprocess.run(inside(name, "tc", "qdisc", "del", "dev", device, "root"), capture_output=True, check=False)


def _remove(name: str) -> None:
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@dataclass(frozen=True, slots=True)
class Row:
    """Names of three namespaces in a row: a sender, a router, a receiver.

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
        """Replace the queueing discipline at the sender."""
        _replace(self.sender, self.entry, qdisc)


def _replace(name: str, device: str, qdisc: Sequence[str]) -> None:
    clear(name, device)
    if qdisc:
        within(name, "tc", "qdisc", "add", "dev", device, "root", *qdisc)


@contextmanager
def row() -> Iterator[Row]:
    """Yield three connected namespaces, and remove them afterwards."""
    with namespaces(["sender", "router", "receiver"]) as (sender, router, receiver):
        connect(sender, "out", "10.77.1.2/24", router, "left", "10.77.1.1/24")
        connect(router, "right", "10.77.2.1/24", receiver, "in", f"{RECEIVER}/24")
        forward(router)
        within(sender, "ip", "route", "add", "default", "via", "10.77.1.1")
        within(receiver, "ip", "route", "add", "default", "via", "10.77.2.1")
        yield Row(sender, router, receiver)
