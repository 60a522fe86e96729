"""Demonstration mesh: agents on loopback addresses of this machine, in three zones, with real packets."""

import json
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sinemora.embedded import ports
from sinemora.embedded.data_folder import DataFolder, checkout
from sinemora.embedded.errors import EmbeddedError
from sinemora.embedded.programs import Program

BUILD = "build-agent"  # the program that builds the agent while the product runs already
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


def network(folder: DataFolder, *, chosen: bool) -> str:
    """Return the first three octets of the machines' addresses.

    A chosen data folder gets separate addresses, so that several products can run on one machine.
    """
    octet = zlib.crc32(str(folder.path).encode()) % 255 + 1 if chosen else 0
    return f"127.20.{octet}"


def machines(count: int, folder: DataFolder, net: str, event_port: int = 0) -> list[Machine]:
    """Return the `count` machines (0 to 64), zones in turn: a-1, b-1, c-1, a-2 …"""
    names = [f"{_ZONES[number % 3]}-{number // 3 + 1}" for number in range(count)]
    return [
        Machine(name, name[0], f"{net}.{number + 1}", event_port, folder.path / "demo" / name)
        for number, name in enumerate(names)
    ]


def free_event_port(count: int, folder: DataFolder, net: str) -> int:
    """Return a port that is free, with the next two, on all machines' addresses: the last one used if possible.

    Raises EmbeddedError when there is none.
    """
    addresses = [machine.address for machine in machines(count, folder, net)]
    remembered = folder.path / "demo" / "event-port"
    candidates = list(_EVENT_PORTS)
    with suppress(OSError, ValueError):
        candidates.insert(0, int(remembered.read_text()))
    for port in candidates:
        if all(
            ports.udp_free(address, port) and ports.udp_free(address, port + 1) and ports.tcp_free(address, port + 2)
            for address in addresses
        ):
            remembered.write_text(f"{port}\n")
            return port
    raise EmbeddedError(
        f"No ports are free for the demonstration on {addresses[0]} to {addresses[-1]}.",
        "Run without it: SINEMORA_DEMO_AGENTS=0",
    )


def programs(
    simulated: list[Machine],
    token: str,
    unenrolled: list[str],
    backend: str,
    env: dict[str, str],
    needs: tuple[str, ...],
) -> list[Program]:
    """Return the agents as programs; the `unenrolled` ones enrol with `token` and lose an earlier identity.

    `needs` names programs that must be up first. EmbeddedError when the agent is not built and `BUILD` is not one.
    """
    root = checkout()
    binary = root / "agent" / "target" / "debug" / "sinemora-agent" if root else Path("sinemora-agent")
    if not binary.is_file() and BUILD not in needs:
        raise EmbeddedError(
            "The agent is not built, so there is no demonstration.",
            "make setup builds it; without a demonstration: SINEMORA_DEMO_AGENTS=0",
        )
    for machine in simulated:
        if machine.name in unenrolled:
            machine.identity_file.unlink(missing_ok=True)
    clean = {key: value for key, value in env.items() if not key.startswith("SINEMORA_")}
    return [
        Program(
            name=f"agent-{machine.name}",
            title=f"Agent {machine.name}",
            command=[str(binary), "run"],
            cwd=machine.state_dir.parent,
            environment=clean | _settings(machine, token if machine.name in unenrolled else "", backend),
            needs=needs,
            stop_timeout_s=3,
        )
        for machine in simulated
    ]


def _settings(machine: Machine, token: str, backend: str) -> dict[str, str]:
    # As environment: every process list would show a token on the command line.
    values = {
        "BACKEND": backend,
        "TOKEN": token,
        "NAME": machine.name,
        "ZONE_PROVIDER": PROVIDER,
        "ZONE_REGION": REGION,
        "ZONE_NAME": machine.zone,
        "CLOUD_METADATA": "off",  # it would describe this machine, not the simulated ones
        "LISTEN_ADDRESS": machine.address,
        "EVENT_PORT": str(machine.event_port),
        "GENERAL_PORT": str(machine.general_port),
        "STATE_DIR": str(machine.state_dir),
        "METRICS_LISTEN": f"{machine.address}:{machine.metrics_port}",
    }
    return {f"SINEMORA_AGENT_{key}": value for key, value in values.items()}
