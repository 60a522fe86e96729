"""Simulated VMs of the demonstration: their zones, addresses, ports and folders."""

import json
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sinemora.operations.embedded import ports
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.errors import EmbeddedError

MESH = "demo"
PROVIDER = "demo"
REGION = "local"
_ZONES = "abc"
_EVENT_PORTS = range(20319, 29319, 10)


@dataclass(frozen=True)
class Machine:
    """Simulated VM. Its name and address depend on its number only, so they stay when the number of VMs changes."""

    name: str
    zone: str
    address: str
    """The address that its programs use."""
    probe_address: str
    """The address that other machines send to; `network` relays it, as one-to-one NAT would."""
    event_port: int
    state_dir: Path

    @property
    def general_port(self) -> int:
        """Return the general port: the event port plus one, as 320 follows 319."""
        return self.event_port + 1

    @property
    def metrics_port(self) -> int:
        """Return the TCP port of metrics, on the machine's address."""
        return self.event_port + 2

    @property
    def work_port(self) -> int:
        """Return the UDP port of the machine's applications."""
        return self.event_port + 3

    @property
    def relayed_ports(self) -> tuple[int, int, int]:
        """Return the UDP ports whose packets cross the demonstration's network."""
        return self.event_port, self.general_port, self.work_port

    @property
    def identity_file(self) -> Path:
        """Return the file with the agent's identity."""
        return self.state_dir / "identity.json"

    @property
    def agent_id(self) -> str:
        """Return the id of the enrolled agent; empty without an enrolment or a readable file."""
        try:
            return str(json.loads(self.identity_file.read_text())["agent_id"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""


def network_of(folder: DataFolder, *, chosen: bool) -> str:
    """Return the first three octets of the machines' addresses.

    A chosen data folder gets separate addresses, so that several products can run on one machine.
    """
    octet = zlib.crc32(str(folder.path).encode()) % 255 + 1 if chosen else 0
    return f"127.20.{octet}"


def machines(count: int, folder: DataFolder, net: str, event_port: int = 0) -> list[Machine]:
    """Return the `count` machines (0 to 64), zones in turn: a-1, b-1, c-1, a-2 …"""
    names = [f"{_ZONES[number % 3]}-{number // 3 + 1}" for number in range(count)]
    return [
        Machine(name, name[0], f"{net}.{number + 1}", f"{net}.{number + 101}", event_port, folder.path / "demo" / name)
        for number, name in enumerate(names)
    ]


def free_event_port(count: int, folder: DataFolder, net: str) -> int:
    """Return a port that is free, with the next three, on all machines' addresses: the last one used if possible.

    Raises EmbeddedError when there is none.
    """
    simulated = machines(count, folder, net)
    addresses = [address for machine in simulated for address in (machine.address, machine.probe_address)]
    remembered = folder.path / "demo" / "event-port"
    candidates = list(_EVENT_PORTS)
    with suppress(OSError, ValueError):
        candidates.insert(0, int(remembered.read_text()))
    for port in candidates:
        if all(
            all(ports.udp_free(address, port + offset) for offset in (0, 1, 3)) and ports.tcp_free(address, port + 2)
            for address in addresses
        ):
            remembered.write_text(f"{port}\n")
            return port
    raise EmbeddedError(
        f"No ports are free for the demonstration on {addresses[0]} to {addresses[-1]}.",
        "Run without it: SINEMORA_DEMO_AGENTS=0",
    )
