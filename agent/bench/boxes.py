"""Hosts joined by a delaybox: a network of two addresses with the delays that a test or a benchmark injects."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

from agents import BINARY
from laboratory import Host, Lab, LabError, Process

DELAYBOX = BINARY.with_name("delaybox")
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


def interface(host: Host, address: str) -> str:
    """Return the interface of a host that has an address."""
    lines = host.run("ip", "-o", "-4", "address", "show").splitlines()
    return next(line.split()[1] for line in lines if f" {address}/" in line)
