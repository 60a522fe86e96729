"""Several client hosts and a server around a switch, with delaybox on the links of one role.

As on the test bed of UCAM-CL-TR-914 (section 4), the latency of a host is that of its link to the switch: all of its
traffic passes through one delaybox, in both directions.
"""

import subprocess
from pathlib import Path
from typing import Literal

from sinemora.kit.delaybox import Delaybox
from sinemora.labs.profiler import child_process
from sinemora.labs.profiler.network import holder, in_namespace
from sinemora.labs.profiler.recipes import ProfileError

Role = Literal["server", "one-client", "clients"]

CLIENTS_MAX = 16
_SWITCH = "switch0"


class Star:
    """Hosts 10.77.0.1 (the server), 10.77.0.2 … (clients), each a namespace with a link to a switch."""

    name = "delaybox"
    address = "10.77.0.1"

    def __init__(self, clients: int, delayed: Role, program: Path | None) -> None:
        self._holders: list[subprocess.Popen[bytes]] = []
        self._boxes: list[Delaybox] = []
        self._program, self._delayed = program, delayed
        try:
            self._switch = self._namespace()
            self._in_switch("ip", "link", "add", "name", _SWITCH, "type", "bridge", "forward_delay", "0")
            self._in_switch("ip", "link", "set", _SWITCH, "up")
            late = {"server": {0}, "one-client": {1}, "clients": set(range(1, clients + 1))}[delayed]
            hosts = [self._host(number, number in late) for number in range(clients + 1)]
        except BaseException:
            self.close()
            raise
        self.server, *self.clients = hosts

    def add(self, added_us: float) -> None:
        """Add latency to the round trip of the delayed hosts, half in each direction."""
        words = f"delay={round(added_us * 500)}ns"
        self.vary(words, words)

    def vary(self, outbound: str, inbound: str) -> None:
        """Set delaybox's words: `outbound` towards the server, `inbound` back."""
        for box in self._boxes:
            # The left side of a box is the host, so that what leaves a client goes outbound, and what leaves the
            # server too: from the clients' side that is inbound.
            leaving, arriving = (inbound, outbound) if self._delayed == "server" else (outbound, inbound)
            box.ask(f"outbound {leaving}")
            box.ask(f"inbound {arriving}")
            box.ask("reset")

    def achieved_us(self) -> float | None:
        """Return the median latency achieved since the last change, the largest of the delayed links."""
        known = [box.achieved_us() for box in self._boxes]
        return None if None in known else max(us for us in known if us is not None)

    def close(self) -> None:
        """Stop the boxes and remove the hosts."""
        for box in self._boxes:
            box.close()
        for one in self._holders:
            child_process.stop(one)

    def _namespace(self) -> "subprocess.Popen[bytes]":
        self._holders.append(one := holder())
        quiet = "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6"
        # A kernel without IPv6 has no such file.
        subprocess.run([*_inside(one), "sh", "-c", quiet], capture_output=True, check=False)
        return one

    def _host(self, number: int, late: bool) -> list[str]:
        """Create a host and its link; return the prefix of commands that run there."""
        host = self._namespace()
        self._pair(f"port{number}", ("e0", host))
        port = f"port{number}"
        if late:
            port = f"far{number}"
            self._pair(f"near{number}", (port, self._switch))
            self._up(self._switch, f"near{number}")
            switch = f"/proc/{self._switch.pid}/ns/net"
            self._up(self._switch, f"port{number}")
            sides = ("--left", f"if:port{number}@{switch}", "--right", f"if:near{number}@{switch}")
            self._boxes.append(Delaybox(["run", *sides], self._program))
        self._in_switch("ip", "link", "set", port, "master", _SWITCH)
        self._up(self._switch, port)
        inside = _inside(host)
        in_namespace(inside, "ip", "address", "add", f"10.77.0.{number + 1}/24", "dev", "e0")
        self._up(host, "lo")
        self._up(host, "e0")
        return inside

    def _pair(self, name: str, other: tuple[str, "subprocess.Popen[bytes]"]) -> None:
        peer, place = other
        self._in_switch(
            *("ip", "link", "add", "name", name, "type", "veth", "peer", "name", peer, "netns", str(place.pid))
        )

    def _in_switch(self, *command: str) -> None:
        in_namespace(_inside(self._switch), *command)

    @staticmethod
    def _up(place: "subprocess.Popen[bytes]", interface: str) -> None:
        in_namespace(_inside(place), "ip", "link", "set", interface, "up")


def _inside(place: "subprocess.Popen[bytes]") -> list[str]:
    return ["nsenter", f"--net=/proc/{place.pid}/ns/net"]


def star(clients: int, delayed: Role, program: Path | None) -> Star:
    """Return a star of `clients` hosts. Raises `ProfileError` outside 2 … 16."""
    if not 2 <= clients <= CLIENTS_MAX:
        raise ProfileError(f"--clients must be 1 … {CLIENTS_MAX}, not {clients}")
    return Star(clients, delayed, program)
