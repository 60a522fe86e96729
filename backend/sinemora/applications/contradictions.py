"""Constraints of an application that no placement can keep together: they are refused when they are declared.

Pins to VMs contradict zones, spread limits and applications to be apart from; a spread limit over the named zones
contradicts the number of tasks. What depends on slots, hosts and the number of VMs changes with the inventory:
recommendations report it (`recommendations/core/broken_limits.py`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.applications import queries
from sinemora.applications.models import Application, Task
from sinemora.fleet.inventory.models import Vm
from sinemora.kit.errors import ProductError

FIELDS = frozenset({"tasks", "zones", "apart_from", "per_vm_max", "per_zone_max"})
"""Fields whose values can contradict one another."""
_SHOWN = 50
_Error = dict[str, str]


def check(session: Session, application: Application, changed: Collection[str] = FIELDS) -> None:
    """Refuse constraints that contradict one another. ProductError `constraints_contradict`.

    `changed`: the fields of the request. An error points to one of them.
    """
    if not FIELDS & set(changed):
        return
    session.flush()
    pins = [(position, task) for position, task in enumerate(application.tasks) if task.pinned and task.vm_id]
    vms = {vm.id: vm for vm in queries.vms_named(session, (), {task.vm_id for _, task in pins if task.vm_id})}
    errors = [
        *_zones(session, application, pins, vms, changed),
        *_pins_over_spread(application, pins, vms, changed),
        *_tasks_over_spread(application, changed),
        *_apart(session, application, pins, vms, changed),
    ]
    if errors:
        raise ProductError(
            "constraints_contradict",
            422,
            f"Contradiction: {errors[0]['message']}",
            errors=errors[:_SHOWN],
        )


def _zones(
    session: Session,
    application: Application,
    pins: list[tuple[int, Task]],
    vms: Mapping[UUID, Vm],
    changed: Collection[str],
) -> Iterator[_Error]:
    allowed = {zone.zone_id for zone in application.zones}
    if not allowed:
        return
    names = ", ".join(sorted(zone.name for zone in queries.zones_named(session, (), allowed)))
    for position, task in pins:
        vm = _vm(task, vms)
        if vm.zone_id not in allowed:
            yield {
                "pointer": _pointer(changed, ("tasks", f"/{position}/vm"), ("zones", "")),
                "message": f"{task.name} is pinned to {vm.name} in zone {vm.zone.name}, and {application.name} may only"
                f" use {names}. Allow zone {vm.zone.name}, unpin {task.name}, or name a VM in the allowed zones.",
            }


def _pins_over_spread(
    application: Application, pins: list[tuple[int, Task]], vms: Mapping[UUID, Vm], changed: Collection[str]
) -> Iterator[_Error]:
    """Yield the domains with more pinned tasks than a spread limit allows; the root counts towards none."""
    for level, most in (("vm", application.per_vm_max), ("zone", application.per_zone_max)):
        if most is None:
            continue
        pinned: dict[str, int] = defaultdict(int)
        for _, task in pins:
            if not task.root:
                vm = _vm(task, vms)
                pinned[vm.name if level == "vm" else vm.zone.name] += 1
        for name, count in pinned.items():
            if count > most:
                where = f"to {name}" if level == "vm" else f"in zone {name}"
                field = f"per_{level}_max"
                yield {
                    "pointer": _pointer(changed, (field, ""), ("tasks", "")),
                    "message": f"{count} tasks are pinned {where}, and {field} allows {most}. Raise it to {count},"
                    f" or unpin {count - most} of them.",
                }


def _tasks_over_spread(application: Application, changed: Collection[str]) -> Iterator[_Error]:
    """Yield that the named zones together have room for fewer tasks than there are."""
    most, zones = application.per_zone_max, len(application.zones)
    tasks = sum(not task.root for task in application.tasks)
    if most is not None and zones and tasks > most * zones:
        in_zones = "1 zone" if zones == 1 else f"{zones} zones"
        yield {
            "pointer": _pointer(changed, ("per_zone_max", ""), ("zones", ""), ("tasks", "")),
            "message": f"{tasks} tasks, and {in_zones} with at most {most} in each have room for {most * zones}. Raise"
            f" per_zone_max to {-(-tasks // zones)}, or allow more zones.",
        }


def _apart(
    session: Session,
    application: Application,
    pins: list[tuple[int, Task]],
    vms: Mapping[UUID, Vm],
    changed: Collection[str],
) -> Iterator[_Error]:
    """Yield pins to VMs that have pinned tasks of applications to be apart from, whichever of the two declares it."""
    if not pins:
        return
    theirs = {vm_id: (name, task) for vm_id, name, task in queries.pins_of_apart(session, application.id, list(vms))}
    for position, task in pins:
        vm = _vm(task, vms)
        if vm.id in theirs:
            other, their_task = theirs[vm.id]
            yield {
                "pointer": _pointer(changed, ("tasks", f"/{position}/vm"), ("apart_from", "")),
                "message": f"{task.name} and {other}/{their_task} are pinned to {vm.name}, and {application.name} and"
                f" {other} must not share a VM. Unpin one of them, name another VM, or let them share VMs.",
            }


def _vm(task: Task, vms: Mapping[UUID, Vm]) -> Vm:
    assert task.vm_id is not None
    return vms[task.vm_id]


def _pointer(changed: Collection[str], *places: tuple[str, str]) -> str:
    """Return the pointer to the first of these fields that the request has, with what follows its name."""
    return next((f"#/{field}{rest}" for field, rest in places if field in changed), "#")
