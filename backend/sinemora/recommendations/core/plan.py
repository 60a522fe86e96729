"""Moves as text that a person or a pipeline carries out: a Terraform variable, or a script for systemd.

`kubernetes.py` has the formats of Kubernetes. Names are data: where a format cannot express one, its part is left out
with the reason in the head, and nothing is run or included by a name.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

# The names that ssh takes as a host, and at most what DNS has (RFC 1123, 2.1).
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})")
_UNIT_MAX = 255
"""Longest name of a unit, in bytes (systemd.unit(5))."""
_UNIT_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.-@")
_HEAD_MAX = 20
"""Most parts left out that a head lists one by one."""


@dataclass(frozen=True, slots=True)
class Place:
    """VM with its zone and region, as the inventory names them now."""

    vm: str
    zone: str
    region: str


@dataclass(frozen=True, slots=True)
class PlacedTask:
    """Task with its VM before and after the moves; None waits. `via`: the VM where it is parked on the way.

    `moves`: position of its move in the order of execution; None stays.
    """

    application: str
    task: str
    before: Place | None
    after: Place | None
    via: Place | None = None
    moves: int | None = None

    @property
    def name(self) -> str:
        """Name of application and task."""
        return f"{self.application}/{self.task}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an application that a plan passes on: most tasks in a zone, and applications it shares no VM with."""

    per_zone_max: int | None = None
    apart_from: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """Moves of a recommendation with all tasks of the touched applications and VMs. `back`: the way back."""

    recommendation: str
    mesh: str
    tasks: tuple[PlacedTask, ...]
    limits: Mapping[str, Limits]
    back: bool = False

    def reversed(self) -> "Plan":
        """Return the plan for the way back."""
        tasks = tuple(replace(task, before=task.after, after=task.before) for task in self.tasks)
        return replace(self, tasks=tasks, back=not self.back)

    @property
    def moved(self) -> list[PlacedTask]:
        """Tasks that move, in the order of execution: on the way back the reverse one."""
        moved = [task for task in self.tasks if task.moves is not None]
        return sorted(moved, key=lambda task: task.moves or 0, reverse=self.back)


class NothingToWrite(Exception):
    """No move can be expressed in a format; the message has the first reason."""


def quoted(name: str) -> str:
    """Return a name in quotes for a comment of one line: only what is printed as it is stays as it is."""
    kept = (one if one.isprintable() and one not in '"\\' else one.encode("unicode_escape").decode() for one in name)
    return '"' + "".join(kept).replace('"', '\\"') + '"'


def head(plan: Plan, does: str, does_not: Iterable[str], left_out: Sequence[str]) -> str:
    """Return comment lines: origin of the plan, what it does and does not do, and what was left out."""
    way = "way back of " if plan.back else ""
    lines = [
        f"Sinemora: {way}recommendation {plan.recommendation} on the mesh {quoted(plan.mesh)}.",
        does,
        *(f"It does not {words}." for words in does_not),
        *(f"Left out: {words}." for words in left_out[:_HEAD_MAX]),
        *([f"Left out: {len(left_out) - _HEAD_MAX} more."] if len(left_out) > _HEAD_MAX else []),
    ]
    return "".join(f"# {line}\n" for line in lines)


def terraform(plan: Plan) -> str:
    """Return a tfvars file with the zone of each instance that moves with all of its tasks.

    Raises `NothingToWrite`.
    """
    left_out: list[str] = []
    of_vm: dict[str, list[tuple[PlacedTask, Place]]] = defaultdict(list)
    # An instance keeps the name of the VM that it was before the moves, on the way back too.
    for task in (plan.reversed() if plan.back else plan).tasks:
        if task.before is not None:
            of_vm[task.before.vm].append((task, task.before))
        elif task.moves is not None:
            left_out.append(f"{quoted(task.name)} had no instance; declare one, or delete it, in its zone")
    lines = []
    for vm, placed in sorted(of_vm.items()):
        if all(task.moves is None for task, _ in placed):
            continue
        old = placed[0][1].zone
        zones = {task.after.zone for task, _ in placed if task.after is not None}
        if len(zones) > 1:
            left_out.append(f"{quoted(vm)}: its tasks are in different zones after the moves")
        elif zones == {old}:
            left_out.append(f"{quoted(vm)}: the move stays in its zone")
        else:
            now, before = (old, *zones) if plan.back else (*zones, old)
            lines.append(f"  {_hcl(vm)} = {_hcl(now)} # was {quoted(before)}\n")
    require(lines, left_out)
    does = "Variables file for Terraform or OpenTofu: the new zone of each instance, by the name of its VM."
    does_not = (
        "create, address or fill instances: an instance in another zone is a new one, and its disks stay",
        "choose the VM: a recommendation is applied when its tasks are recorded on the VMs that it names",
        "name types of instances, subnets or images of the zone, nor know tasks of other meshes on these VMs",
    )
    declared = (
        '# The variable that it fits:  variable "vm_zones" {\n'
        "#                               type    = map(string)\n"
        "#                               default = {}\n"
        "#                             }\n"
        "# Its use:  availability_zone = lookup(var.vm_zones, each.key, each.value.zone)\n"
    )
    return f"{head(plan, does, does_not, left_out)}{declared}vm_zones = {{\n{''.join(lines)}}}\n"


def _hcl(text: str) -> str:
    """Return a string literal of HCL: no interpolation, no directive, one line."""
    escaped = "".join(
        {'"': '\\"', "\\": "\\\\"}.get(one) or (one if one.isprintable() else f"\\U{ord(one):08x}") for one in text
    )
    return '"' + escaped.replace("${", "$${").replace("%{", "%%{") + '"'


def systemd(plan: Plan) -> str:
    """Return a shell script that stops each task's unit on its old VM and starts it on the new one.

    Raises `NothingToWrite`.
    """
    left_out: list[str] = []
    commands = []
    for task, old, new in legs(plan):
        unit = _unit(task.task)
        wrong = [place.vm for place in (old, new) if place is not None and not _HOST.fullmatch(place.vm)]
        if unit is None or wrong:
            reason = "too long for the name of a unit" if unit is None else f"{quoted(wrong[0])} is no name of a host"
            left_out.append(f"{quoted(task.name)}: {reason}; later moves may lack its room")
            continue
        ends = (("stop", old), ("start", new))
        commands.append(f"\n# {quoted(task.name)}\n")
        commands += [_remote(place.vm, f"systemctl {verb} -- {shlex.quote(unit)}") for verb, place in ends if place]
    require(commands, left_out)
    does = "Sketch for systemd: the unit TASK.service is stopped on the old VM and started on the new one, over SSH."
    does_not = (
        "copy units, data or configuration: each unit must be installed on its new VM, and may not be enabled there",
        "tell clients the new address, nor wait until a task serves",
        "go on after a failure: it ends there, and says at which command",
    )
    guard = (
        "set -eu\n"
        'if [ "${1-}" != --carry-out ]; then\n'
        "  echo 'Nothing was done. Read this script, then run it with --carry-out.' >&2\n"
        "  exit 2\n"
        "fi\n"
        "set -x\n"
    )
    return f"#!/bin/sh\n{head(plan, does, does_not, left_out)}{guard}{''.join(commands)}"


def _remote(host: str, command: str) -> str:
    """Return a line that runs a command on a host: quoted for this shell, inside of it for the other one."""
    return f"ssh -n -o BatchMode=yes -- {shlex.quote(host)} {shlex.quote(command)}\n"


def _unit(task: str) -> str | None:
    """Return the name of a task's unit, escaped as `systemd-escape --mangle` does; None if it is too long."""
    name = "".join(chr(one) if one in _UNIT_SAFE else f"\\x{one:02x}" for one in task.encode()) + ".service"
    return name if len(name) <= _UNIT_MAX else None


def legs(plan: Plan) -> list[tuple[PlacedTask, Place | None, Place | None]]:
    """Return the steps of each task in order. One that is parked continues after the last task has left its target."""
    if plan.back:
        return [(task, new, old) for task, old, new in reversed(legs(plan.reversed()))]
    moved = plan.moved
    steps = []
    waiting: list[PlacedTask] = []
    for at, task in enumerate(moved):
        steps.append((task, task.before, task.via or task.after))
        waiting += [task] if task.via else []
        full = {left.before.vm for left in moved[at + 1 :] if left.before is not None}
        free = [one for one in waiting if one.after is not None and one.after.vm not in full]
        steps += [(one, one.via, one.after) for one in free]
        waiting = [one for one in waiting if one not in free]
    return steps


def require(parts: Collection[object], left_out: Sequence[str]) -> None:
    """Raise `NothingToWrite` without any part."""
    if not parts:
        raise NothingToWrite(left_out[0] if left_out else "nothing is measured")
