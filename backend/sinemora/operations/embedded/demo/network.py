"""Network of the demonstration: delaybox relays the packets between its machines, with the delays of a cloud."""

import json
from collections.abc import Sequence
from pathlib import Path

from sinemora.operations.embedded.demo.machines import Machine

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
