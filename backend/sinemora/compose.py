"""The laboratories of this installation: the one list by which they bring what they have.

A laboratory is used next to the product: it profiles, simulates or rehearses. Modules are named instead of imported,
since nothing of the product imports a laboratory, and a command imports only its own. Without an entry the product
runs, and the console shows no page of the laboratory.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType


@dataclass(frozen=True)
class Lab:
    """A laboratory: modules with its `router`, its tables and its jobs, and commands by name: module and help.

    `page`: its name in the console, where it has pages.
    """

    routes: str | None = None
    models: str | None = None
    jobs: str | None = None
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    page: str | None = None


LABS: tuple[Lab, ...] = (
    Lab(
        commands={
            "profile": (
                "sinemora.labs.profiler.command",
                "Measure the curve of an application: performance against added latency.",
            )
        }
    ),
    Lab(
        routes="sinemora.labs.simulation.routes",
        models="sinemora.labs.simulation.models",
        jobs="sinemora.labs.simulation.job",
        commands={"simulate": ("sinemora.labs.simulation.command", "Compare placement policies through time.")},
        page="simulations",
    ),
    Lab(
        routes="sinemora.labs.tail_lab.routes",
        jobs="sinemora.labs.tail_lab.job",
        commands={
            "tail-lab": (
                "sinemora.labs.tail_lab.command",
                "Find the order of packets that cuts the tail of a bottleneck link.",
            )
        },
        page="tail-lab",
    ),
)


def imported(part: str) -> Iterator[ModuleType]:
    """Import and yield the modules that the laboratories name as `part`: routes, models or jobs."""
    for lab in LABS:
        if name := getattr(lab, part):
            yield import_module(name)


def commands() -> dict[str, tuple[str, str]]:
    """Return the commands of all laboratories: name to module and help."""
    return {name: found for lab in LABS for name, found in lab.commands.items()}


def pages() -> list[str]:
    """Return the names of the laboratories that have pages in the console."""
    return [lab.page for lab in LABS if lab.page]
