"""Checks before moves are applied: the tasks, VMs and limits are as they were when the moves were recommended."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.applications.models import Task
from sinemora.applications.service import get_application
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError
from sinemora.recommendations import load_instance, queries
from sinemora.recommendations.core import constraints
from sinemora.recommendations.core.instance import WAITING
from sinemora.recommendations.schemas import MoveRead


def lock_and_check(session: Session, mesh_id: UUID, steps: list[MoveRead]) -> list[Task]:
    """Return the tasks of the moves, locked together with their VMs; a task that already moved is among them.

    ProductError `recommendation_outdated` names each move that can no longer be made, and what changed.
    """
    applications = sorted({step.application.id for step in steps})
    queries.lock_placement(session, mesh_id, applications, [step.target.id for step in steps])
    return check(session, mesh_id, steps, lock=True)


def check(session: Session, mesh_id: UUID, steps: list[MoveRead], *, lock: bool = False) -> list[Task]:
    """Return the tasks of the moves. Raises the ProductError of `lock_and_check`."""
    tasks = {task.id: task for task in queries.tasks(session, [step.task.id for step in steps], lock=lock)}
    changes = (
        _moved_or_gone(session, mesh_id, steps, tasks)
        or _no_longer_allowed(session, mesh_id, steps, tasks)
        or _beyond_the_day(session, mesh_id, steps)
    )
    if changes:
        first = min(changes)
        raise ProductError(
            "recommendation_outdated",
            409,
            f"Outdated: {_move(steps[first])} is no longer possible: {changes[first]}. Nothing was applied; request"
            " a new recommendation.",
            errors=[
                {"pointer": f"#/steps/{index}", "message": f"{_move(steps[index])}: {words}"}
                for index, words in sorted(changes.items())
            ],
        )
    return list(tasks.values())


def _moved_or_gone(session: Session, mesh_id: UUID, steps: list[MoveRead], tasks: dict[UUID, Task]) -> dict[int, str]:
    """Return what changed by index of the move: tasks elsewhere, VMs gone."""
    members = {member.id for member in mesh_state(session, mesh_id).members}
    ids = {step.target.id for step in steps} | {task.vm_id for task in tasks.values() if task.vm_id is not None}
    vms = queries.vms(session, ids)
    changes = {}
    for index, step in enumerate(steps):
        task = tasks.get(step.task.id)
        if task is None:
            changes[index] = "the task was deleted"
        elif step.target.id not in vms:
            changes[index] = f"{step.target.name} was deleted"
        elif step.target.id not in members:
            changes[index] = f"{step.target.name} is no longer in the mesh"
        elif task.vm_id == step.target.id:
            continue
        elif task.vm_id != (None if step.source is None else step.source.id):
            changes[index] = "the task waits for a VM" if task.vm_id is None else f"it is on {vms[task.vm_id].name} now"
        elif task.pinned:
            changes[index] = "the task is pinned now"
    return changes


def _no_longer_allowed(
    session: Session, mesh_id: UUID, steps: list[MoveRead], tasks: dict[UUID, Task]
) -> dict[int, str]:
    """Return the limit that each move would break, by its index: capacity, anti-affinity, zones, spread."""
    instance = load_instance.load_placement(session, mesh_state(session, mesh_id))
    machine_of = {machine.id: position for position, machine in enumerate(instance.machines)}
    place_of = {
        task.id: (place, position)
        for place, application in enumerate(instance.applications)
        for position, task in enumerate(application.tasks)
    }
    at = tuple(application.at.copy() for application in instance.applications)
    moving = [index for index, step in enumerate(steps) if tasks[step.task.id].vm_id != step.target.id]
    for index in moving:
        place, position = place_of[steps[index].task.id]
        at[place][position] = machine_of[steps[index].target.id]
    occupancy = constraints.Occupancy(instance, at)
    changes = {}
    for index in moving:
        step = steps[index]
        source = WAITING if step.source is None else machine_of.get(step.source.id, WAITING)
        refusal = occupancy.refusal(place_of[step.task.id], source)
        if refusal is not None:
            changes[index] = refusal[0].lower() + refusal[1:]
    return changes


def _beyond_the_day(session: Session, mesh_id: UUID, steps: list[MoveRead]) -> dict[int, str]:
    """Return the moves beyond the maximum of their application in 24 hours, by index."""
    made = queries.moves_since(session, [mesh_id], datetime.now(UTC) - timedelta(days=1))
    changes = {}
    for index, step in enumerate(steps):
        made[step.application.id] += (step.source is not None) + (step.via is not None)
        most = get_application(session, step.application.id).moves_per_day
        if most is not None and made[step.application.id] > most:
            changes[index] = f"{step.application.name} may make at most {most} moves in 24 hours"
    return changes


def _move(step: MoveRead) -> str:
    source = "" if step.source is None else f" from {step.source.name}"
    return f"{step.application.name}/{step.task.name}{source} to {step.target.name}"
