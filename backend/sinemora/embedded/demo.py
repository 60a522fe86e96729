"""The demonstration mesh: agents on loopback addresses of this machine, in three zones, with real packets."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sinemora.embedded import ports
from sinemora.embedded.data_folder import DataFolder, checkout
from sinemora.embedded.programs import Program
from sinemora.embedded.trouble import TroubleError

MESH = "demo"
PROVIDER = "demo"
REGION = "local"
_ZONES = "abc"
_NETWORK = "127.20.0."
_EVENT_PORTS = range(20319, 29319, 10)


@dataclass(frozen=True)
class Machine:
    """One pretended VM. Its name and address depend on its number alone, so that more or fewer keep their identity."""

    name: str
    zone: str
    address: str
    event_port: int
    state_dir: Path

    @property
    def general_port(self) -> int:
        """Beside the event port, as 320 is beside 319."""
        return self.event_port + 1

    @property
    def metrics_port(self) -> int:
        """TCP, on the machine's own address."""
        return self.event_port + 2

    @property
    def identity_file(self) -> Path:
        """What the agent keeps of its enrolment."""
        return self.state_dir / "identity.json"

    @property
    def agent_id(self) -> str:
        """Who this agent was enrolled as; empty when it never was, or the file cannot be read."""
        try:
            return str(json.loads(self.identity_file.read_text())["agent_id"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""


def machines(count: int, folder: DataFolder) -> list[Machine]:
    """The `count` machines (1 to 64), zones in turn: a-1, b-1, c-1, a-2 …, on ports that are free on all of them.

    Raises TroubleError when none are.
    """
    addresses = [f"{_NETWORK}{number + 1}" for number in range(count)]
    port = _event_port(addresses, folder.path / "demo" / "event-port")
    return [
        Machine(
            name=f"{_ZONES[number % 3]}-{number // 3 + 1}",
            zone=_ZONES[number % 3],
            address=address,
            event_port=port,
            state_dir=folder.path / "demo" / f"{_ZONES[number % 3]}-{number // 3 + 1}",
        )
        for number, address in enumerate(addresses)
    ]


def programs(
    found: list[Machine], token: str, strangers: list[str], backend: str, env: dict[str, str]
) -> list[Program]:
    """The agents as programs; the `strangers` among them enrol with `token`, whatever identity they had.

    Raises TroubleError when the agent is not built.
    """
    root = checkout()
    binary = root / "agent" / "target" / "release" / "sinemora-agent" if root else Path("sinemora-agent")
    if not binary.is_file():
        raise TroubleError(
            "The agent is not built, so there is no demonstration.",
            "make setup builds it; without a demonstration: SINEMORA_DEMO_AGENTS=0",
        )
    for machine in found:
        if machine.name in strangers:
            machine.identity_file.unlink(missing_ok=True)
    clean = {key: value for key, value in env.items() if not key.startswith("SINEMORA_")}
    return [
        Program(
            name=f"agent-{machine.name}",
            title=f"Agent {machine.name}",
            command=[str(binary), "run"],
            cwd=machine.state_dir.parent,
            environment=clean | _settings(machine, token if machine.name in strangers else "", backend),
            needs=("api",),
            stop_patience_s=3,
        )
        for machine in found
    ]


def _settings(machine: Machine, token: str, backend: str) -> dict[str, str]:
    # By environment: a token on the command line would stand in every process list.
    given = {
        "BACKEND": backend,
        "TOKEN": token,
        "NAME": machine.name,
        "ZONE_PROVIDER": PROVIDER,
        "ZONE_REGION": REGION,
        "ZONE_NAME": machine.zone,
        "LISTEN_ADDRESS": machine.address,
        "EVENT_PORT": str(machine.event_port),
        "GENERAL_PORT": str(machine.general_port),
        "STATE_DIR": str(machine.state_dir),
        "METRICS_LISTEN": f"{machine.address}:{machine.metrics_port}",
    }
    return {f"SINEMORA_AGENT_{key}": value for key, value in given.items()}


def _event_port(addresses: list[str], remembered: Path) -> int:
    """The ports of last time when they are free, else the first three in a row that are."""
    last: list[int] = []
    with suppress(OSError, ValueError):
        last.append(int(remembered.read_text()))
    candidates: list[int] = [*last, *_EVENT_PORTS]
    for port in candidates:
        if all(
            ports.udp_free(address, port) and ports.udp_free(address, port + 1) and ports.tcp_free(address, port + 2)
            for address in addresses
        ):
            remembered.write_text(f"{port}\n")
            return port
    raise TroubleError(
        f"No ports are free for the demonstration on {addresses[0]} to {addresses[-1]}.",
        "Run without it: SINEMORA_DEMO_AGENTS=0",
    )
