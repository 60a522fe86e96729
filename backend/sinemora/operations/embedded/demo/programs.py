"""Programs of the demonstration: its network with the story, and an agent with a bulk sender for each machine."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sinemora.operations.embedded.data_folder import checkout
from sinemora.operations.embedded.demo.machines import PROVIDER, REGION, Machine
from sinemora.operations.embedded.demo.stage import Stage
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.programs import Program
from sinemora.operations.embedded.servers.service_user import ServiceUser

BUILD = "build-agent"  # the program that builds the agent while the product runs already
NETWORK = "demo-network"
SIMULATED = "simulated-network"
_FIRST_SCREEN = "sinemora.operations.embedded.simulated.first_screen"
LOADED = "simulated-network.loaded"  # the file by which the simulated network says that it is loaded
_WITHIN_ZONE = "delay=normal:25us,2us"
# One way, by source and target. Zone c sends to zone a by a longer route than it receives from it.
_BETWEEN_ZONES = {
    ("a", "b"): "delay=normal:110us,4us",
    ("b", "a"): "delay=normal:110us,4us",
    ("b", "c"): "delay=normal:180us,5us",
    ("c", "b"): "delay=normal:180us,5us",
    ("a", "c"): "delay=normal:230us,6us",
    ("c", "a"): "delay=normal:330us,8us",
}


def network(
    simulated: list[Machine],
    folder: Path,
    env: dict[str, str],
    needs: tuple[str, ...],
    user: ServiceUser,
    *,
    story: bool,
) -> Program:
    """Return the network between the machines, with the story or without one, as a program of `user`.

    EmbeddedError when delaybox is not built and `BUILD` is not in `needs`.
    """
    stage = Stage(simulated, _built("delaybox", needs), folder / "relay.toml")
    write_relay_file(simulated, stage.relay_file)
    command = [str(stage.delaybox), "relay", str(stage.relay_file)]
    if story:
        stage.write(folder / "stage.json")
        command = [sys.executable, "-m", "sinemora.operations.embedded.story.play", str(folder / "stage.json")]
    return Program(NETWORK, "Demonstration", command, Path.cwd(), env, user, needs=needs, stop_timeout_s=6)


def simulated_network(folder: Path, backend: str, env: dict[str, str], user: ServiceUser) -> Program:
    """Return the program that loads a simulated network and keeps it current; it is up when it is loaded."""
    return Program(
        SIMULATED,
        "Simulated network",
        [sys.executable, "-m", _FIRST_SCREEN, str(folder), backend],
        Path.cwd(),
        env,
        user,
        needs=("api",),
        ready=(folder / LOADED).exists,
        once=True,
    )


def agents(
    simulated: list[Machine],
    token: str,
    unenrolled: list[str],
    backend: str,
    env: dict[str, str],
    needs: tuple[str, ...],
    user: ServiceUser,
) -> list[Program]:
    """Return the agents and their bulk senders as programs of `user`.

    The `unenrolled` ones enrol with `token` and lose an earlier identity.

    `needs` names programs that must be up first. EmbeddedError when the agent is not built and `BUILD` is not one.
    """
    agent, transfer = _built("sinemora-agent", needs), _built("sinemora-transfer", needs)
    for machine in simulated:
        if machine.name in unenrolled:
            machine.identity_file.unlink(missing_ok=True)
    clean = {key: value for key, value in env.items() if not key.startswith("SINEMORA_")}

    def program(name: str, title: str, binary: Path, machine: Machine, token: str, needs: tuple[str, ...]) -> Program:
        return Program(
            name=f"{name}-{machine.name}",
            title=f"{title} {machine.name}",
            command=[str(binary), "run"],
            cwd=machine.state_dir.parent,
            environment=clean | _settings(machine, token, backend),
            user=user,
            needs=needs,
            stop_timeout_s=3,
        )

    programs = []
    for machine in simulated:
        own_token = token if machine.name in unenrolled else ""
        measures = program("agent", "Agent", agent, machine, own_token, needs)
        # The bulk sender acts with the identity of the agent, once there is one.
        programs += [measures, program("transfer", "Transfers of", transfer, machine, "", (*needs, measures.name))]
    return programs


def _built(program: str, needs: tuple[str, ...]) -> Path:
    """Return the path of a program of the agent's workspace, built or being built."""
    root = checkout()
    path = root / "agent" / "target" / "debug" / program if root else Path(shutil.which(program) or program)
    if not path.is_file() and BUILD not in needs:
        how = "make setup builds it" if root else "the packages of a release have it"
        raise EmbeddedError(
            f"{program} is not {'built' if root else 'installed'}, so there is no demonstration.",
            f"{how}; without a demonstration: SINEMORA_DEMO_AGENTS=0",
        )
    return path


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
        "PROBE_ADDRESS": machine.probe_address,
        "EVENT_PORT": str(machine.event_port),
        "GENERAL_PORT": str(machine.general_port),
        "STATE_DIR": str(machine.state_dir),
        "BULK_SENDER": "true",  # over loopback alone; a person still has to start each run
        "METRICS_LISTEN": f"{machine.address}:{machine.metrics_port}",
    }
    return {f"SINEMORA_AGENT_{key}": value for key, value in values.items()}


def write_relay_file(machines: Sequence[Machine], path: Path) -> None:
    """Write the configuration of the relay between the machines (docs/delaybox.md)."""
    hosts = [
        {"name": one.name, "group": one.zone, "inner": one.address, "outer": one.probe_address} for one in machines
    ]
    zones = {machine.zone for machine in machines}
    links = [{"from": "*", "to": "*", "words": _WITHIN_ZONE}]
    links += [
        {"from": source, "to": target, "words": words}
        for (source, target), words in _BETWEEN_ZONES.items()
        if {source, target} <= zones
    ]
    ports = sorted({port for machine in machines for port in machine.relayed_ports})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"ports = {json.dumps(ports)}\n{_tables('hosts', hosts)}{_tables('links', links)}")


def _tables(name: str, rows: Sequence[dict[str, str]]) -> str:
    return "".join(f"[[{name}]]\n{_fields(row)}" for row in rows)


def _fields(row: dict[str, str]) -> str:
    # Strings of JSON without control characters are strings of TOML.
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())
