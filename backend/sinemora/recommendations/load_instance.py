"""From rows to a `World`."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach, queries
from sinemora.applications.models import Application
from sinemora.applications.performance import Flags, Indices
from sinemora.applications.reading import links_of
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.query import history
from sinemora.measurements.query.history import History
from sinemora.meshes.plan import MeshState
from sinemora.meshes.service import mesh_state
from sinemora.placement.problem import Risk
from sinemora.recommendations.instance import ELSEWHERE, WAITING, Deployed, Machine, Need, World
from sinemora.recommendations.schemas import Policy, Question
from sinemora.recommendations.tail_risk import Felt

BLOCKS_BUDGET = 12_000
"""Blocks read at most: a large mesh is judged on fewer windows, so that the answer comes at once."""
BLOCKS_BUDGET_WHOLE = 6_000
"""The same where whole distributions are read, which weigh more."""
WINDOWS_LEAST = 2


def world(session: Session, mesh_id: UUID, question: Question) -> tuple[World, History]:
    """What a question is about. ProductError `mesh_unknown`, `application_unknown`, `matrix_missing`."""
    mesh = mesh_state(session, mesh_id)
    seen = recent(session, mesh, question, datetime.now(UTC) - timedelta(minutes=question.minutes))
    count = seen.started_at_s.size
    if count < WINDOWS_LEAST:
        raise ProductError(
            "matrix_missing",
            409,
            f"The mesh {mesh.name} has {count} {'window' if count == 1 else 'windows'} in the last"
            f" {question.minutes} minutes;"
            f" at least {WINDOWS_LEAST} are needed, one to choose on and another to judge by. Are its agents running?",
        )
    applications = queries.applications_of(session, mesh_id)
    chosen = _chosen(applications, question.applications)
    machines = _machines(session, mesh, applications)
    even = np.arange(seen.started_at_s.size) % 2 == 0
    deployed = _deployed(session, applications, machines, chosen)
    found = World(machines, deployed, seen.round_trips_ns[even], seen.round_trips_ns[~even])
    if question.policy is not Policy.ROBUST:
        return found, seen
    roots = [int(one.at[one.root]) for one in deployed if one.chosen and one.root is not None]
    felt = felt_in(session, mesh, seen, question.risk, roots)
    parts = (replace(felt, values=felt.values.of(windows), known={}) for windows in (even, ~even))
    return replace(found, felt_choosing=next(parts), felt_judging=next(parts)), seen


def felt_in(session: Session, mesh: MeshState, seen: History, risk: Risk, roots: list[int]) -> Felt:
    """What counts of the distributions of a history, from the machines `roots`; negative ones are none."""
    sources = np.unique([root for root in roots if root >= 0]).astype(np.intp)
    return Felt(risk, history.values(session, mesh, seen, sources))


def recent(session: Session, mesh: MeshState, question: Question, start: datetime) -> History:
    """The windows of a mesh from `start` to now that a question looks at: of a large mesh as many as can be read."""
    budget = BLOCKS_BUDGET_WHOLE if question.policy is Policy.ROBUST else BLOCKS_BUDGET
    return history.round_trips(session, mesh, start, datetime.now(UTC), Statistic(question.statistic), budget)


def _chosen(applications: list[Application], named: list[str]) -> set[UUID]:
    if not named:
        return {one.id for one in applications}
    known = {key: one.id for one in applications for key in (one.name, str(one.id))}
    missing = [
        {"pointer": f"#/applications/{place}", "message": f"there is no application {name} on this mesh"}
        for place, name in enumerate(named)
        if name not in known
    ]
    if missing:
        raise ProductError("application_unknown", 422, f"{missing[0]['message'].capitalize()}.", errors=missing)
    return {known[name] for name in named}


def _machines(session: Session, mesh: MeshState, applications: list[Application]) -> tuple[Machine, ...]:
    carriers = {one.vm_id: one for one in queries.carriers(session, mesh.id)}
    zones = {member.id: (member.zone_id, member.zone_name) for member in mesh.members}
    found = []
    for member in mesh.members:
        carrier = carriers[member.id]
        price = None if carrier.price_per_hour is None else float(carrier.price_per_hour)
        found.append(
            Machine(
                id=member.id,
                name=member.name,
                zone_id=zones[member.id][0],
                zone=zones[member.id][1],
                host=carrier.host,
                # What runs there already fits, whatever was said.
                slots=max(carrier.slots, carrier.slots_taken),
                cpu_millicores=carrier.cpu_millicores,
                memory_mib=carrier.memory_mib,
                price_per_hour=price,
            )
        )
    return tuple(found)


def _deployed(
    session: Session, applications: list[Application], machines: tuple[Machine, ...], chosen: set[UUID]
) -> tuple[Deployed, ...]:
    entries = attach.entries(session, applications)
    machine_of = {machine.id: at for at, machine in enumerate(machines)}
    place = {one.id: at for at, one in enumerate(applications)}
    found = []
    for one in applications:
        apart = {place[other.other_id] for other in one.apart_from if other.other_id in place}
        apart |= {place[other.id] for other in applications if any(s.other_id == one.id for s in other.apart_from)}
        fields = ("id", "name", "objective", "moves_max", "move_cost", "per_vm_max", "per_host_max", "per_zone_max")
        roots = roots_of(one)
        found.append(
            Deployed(
                **{field: getattr(one, field) for field in fields},
                tasks=tuple(
                    Need(task.id, task.name, task.pinned, task.slots, task.cpu_millicores, task.memory_mib)
                    for task in one.tasks
                ),
                root=roots[0] if roots else None,
                links=links_of(one),
                sensitivity=attach.sensitivity(one, entries[one.id]),
                at=machines_of(one, machine_of),
                allowed=_allowed(one, machines),
                apart_from=frozenset(apart),
                chosen=one.id in chosen,
            )
        )
    return tuple(found)


def roots_of(application: Application) -> list[int]:
    """The root of a star, by position; none of a graph."""
    return [position for position, task in enumerate(application.tasks) if task.root]


def machines_of(application: Application, machine_of: dict[UUID, int]) -> Indices:
    """Where its tasks run, as machines; `WAITING` or `ELSEWHERE` for the others."""
    found = [WAITING if t.vm_id is None else machine_of.get(t.vm_id, ELSEWHERE) for t in application.tasks]
    return np.array(found, np.intp)


def _allowed(application: Application, machines: tuple[Machine, ...]) -> Flags | None:
    if not application.zones:
        return None
    zones = {zone.zone_id for zone in application.zones}
    return np.array([machine.zone_id in zones for machine in machines])
