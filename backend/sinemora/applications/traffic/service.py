"""Use cases of traffic: proposals of a mesh, their acceptance, and applications that follow."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Tenant
from sinemora.applications import service as applications
from sinemora.applications.models import Application, TrafficDecision
from sinemora.applications.queries import applications_named
from sinemora.applications.schemas import (
    EDGES_MAX,
    TASKS_MAX,
    ApplicationCreate,
    ApplicationShape,
    EdgeWrite,
    Named,
    TaskWrite,
)
from sinemora.applications.traffic import core, queries, schemas
from sinemora.applications.traffic.schemas import ProposalState
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.inventory.schemas import VmName
from sinemora.fleet.meshes.queries import lock_mesh
from sinemora.fleet.meshes.service import get_mesh
from sinemora.kit.db import locked
from sinemora.kit.errors import ProductError, existing

_LOOK_BACK = timedelta(days=7)
_FOLLOWED = timedelta(days=1)
_SHOWN = 100
_LINKS_SHOWN = 300
_ELSEWHERE_SHOWN = 10
_WEIGHT_MIN = 1e-3
_DRIFT = 0.1
"""Total change of an application's shares from which on its weights are written again."""


class _Found:
    """Proposals of a mesh with what was decided on them."""

    def __init__(self, session: Session, mesh_id: UUID, now: datetime) -> None:
        self.since = (now - _LOOK_BACK).date()
        self.vms, self.edges = _traffic(session, mesh_id, self.since)
        self.proposals = core.proposals(self.edges, len(self.vms))
        self.decided: dict[str, TrafficDecision] = {}
        decisions = queries.decisions(session, mesh_id)
        self._taken = {decision.key for decision in decisions}
        for decision in decisions:
            proposal = core.matching(self.proposals, decision.port, decision.server_vm_ids)
            # Of two, the one that has an application.
            if proposal and (proposal.key not in self.decided or decision.application_id):
                self.decided[proposal.key] = decision

    def key_of(self, proposal: core.Proposal) -> str:
        """Return the key under which a proposal was decided on, which stays while its servers change, or a free one."""
        decision = self.decided.get(proposal.key)
        return core.key_beyond(proposal.key, self._taken) if decision is None else decision.key


def _traffic(
    session: Session, mesh_id: UUID, since: date, ports: Collection[int] | None = None
) -> tuple[dict[UUID, Vm], list[core.TrafficEdge]]:
    """Return the VMs of a mesh and the traffic between them; none that joined or was deleted between the two."""
    vms = queries.vms_of(session, mesh_id)
    edges = queries.edges_of(session, mesh_id, since, ports)
    return vms, [edge for edge in edges if edge.client in vms and edge.server in vms]


def _by_key(known: _Found, key: str) -> core.Proposal:
    """Return a proposal. ProductError `proposal_unknown`."""
    return existing(next((one for one in known.proposals if key == known.key_of(one)), None), "proposal")


def found(session: Session, mesh_id: UUID, now: datetime) -> schemas.TrafficProposals:
    """Return the proposals of a mesh from the traffic of seven days. ProductError `mesh_unknown`."""
    get_mesh(session, mesh_id)
    tenant = existing(session.get(Tenant, session.info["tenant_id"]), "tenant")
    known = _Found(session, mesh_id, now)
    counted = queries.elsewhere(session, mesh_id, known.since)
    elsewhere = {vm_id: one for vm_id, one in counted.items() if vm_id in known.vms}
    inside: dict[UUID, int] = dict.fromkeys(elsewhere, 0)
    for edge in known.edges:
        for end in (edge.client, edge.server):
            if end in inside:
                inside[end] += edge.size
    shares = {vm_id: size / (size + inside[vm_id]) for vm_id, (size, _) in elsewhere.items() if size + inside[vm_id]}
    outside, total = sum(size for size, _ in elsewhere.values()), sum(edge.size for edge in known.edges)
    ids = [one.application_id for one in known.decided.values() if one.application_id]
    names = {one.id: one.name for one in applications_named(session, (), ids)} if ids else {}
    most = sorted(shares, key=lambda vm_id: (-shares[vm_id], known.vms[vm_id].name))[:_ELSEWHERE_SHOWN]
    return schemas.TrafficProposals(
        counted=tenant.service_traffic,
        vms=len(known.vms),
        vms_counted=len(elsewhere),
        elsewhere=outside / (outside + total) if outside + total else None,
        elsewhere_vms=[
            schemas.TrafficElsewhere(vm=VmName.model_validate(known.vms[vm_id]), share=shares[vm_id]) for vm_id in most
        ],
        connections_left_out=sum(left_out for _, left_out in elsewhere.values()),
        items=_shown(known, names),
    )


def _shown(known: _Found, names: Mapping[UUID, str]) -> list[schemas.TrafficProposal]:
    labels = {vm_id: vm.labels for vm_id, vm in known.vms.items()}
    vm_names = {vm_id: vm.name for vm_id, vm in known.vms.items()}
    taken: set[str] = set()
    shown = []
    for proposal in known.proposals[:_SHOWN]:
        decision = known.decided.get(proposal.key)
        application_id = decision and decision.application_id
        state = ProposalState.EVERYWHERE if proposal.everywhere else ProposalState.OPEN
        if decision is not None:
            state = ProposalState.ACCEPTED if application_id else ProposalState.DISMISSED
        name = _free(proposal.name(vm_names, labels), taken)
        taken.add(name)
        links = sorted(proposal.weights.items(), key=lambda item: -item[1])
        shown.append(
            schemas.TrafficProposal(
                key=known.key_of(proposal),
                state=state,
                name=name,
                port=proposal.port,
                shape=ApplicationShape.STAR if proposal.is_star else ApplicationShape.GRAPH,
                curve=proposal.curve,
                servers=_vms(known.vms, proposal.servers),
                clients=_vms(known.vms, proposal.clients),
                links=[
                    schemas.ProposedLink(client_vm_id=client, server_vm_id=server, share=share)
                    for (client, server), share in links[:_LINKS_SHOWN]
                ],
                links_total=len(links),
                share=proposal.share,
                stability=proposal.stability,
                days=max(edge.days for edge in proposal.edges),
                first_at=min(edge.first_at for edge in proposal.edges),
                last_at=max(edge.last_at for edge in proposal.edges),
                application=Named(id=application_id, name=names[application_id]) if application_id else None,
            )
        )
    return shown


def _vms(vms: Mapping[UUID, Vm], ids: Sequence[UUID]) -> list[VmName]:
    return [VmName.model_validate(vm) for vm in sorted((vms[vm_id] for vm_id in ids), key=lambda vm: vm.name)]


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken: this one, or with the first number that is free."""
    number = 2
    free = name
    while free in taken:
        free = f"{name[:90]} {number}"
        number += 1
    return free


def dismiss(
    session: Session, actor: Actor, mesh_id: UUID, key: str, body: schemas.ProposalUpdate, now: datetime
) -> schemas.TrafficProposal:
    """Dismiss a proposal, or bring it back. ProductError `mesh_unknown`, `proposal_unknown`, `proposal_accepted`."""
    mesh = get_mesh(session, mesh_id)
    lock_mesh(session, mesh_id)
    known = _Found(session, mesh_id, now)
    proposal = _by_key(known, key)
    decision = known.decided.get(proposal.key)
    _refuse_accepted(session, decision)
    if body.dismissed and decision is None:
        known.decided[proposal.key] = decision = _decision(mesh_id, known, proposal)
        session.add(decision)
        audit.record(session, actor, "proposal.dismissed", mesh.id, mesh.name, port=proposal.port, proposal=key)
    elif not body.dismissed and decision is not None:
        session.delete(known.decided.pop(proposal.key))
        audit.record(session, actor, "proposal.restored", mesh.id, mesh.name, port=proposal.port, proposal=key)
    session.flush()
    return next(one for one in _shown(known, {}) if one.key == known.key_of(proposal))


def _decision(mesh_id: UUID, known: _Found, proposal: core.Proposal) -> TrafficDecision:
    servers = list(proposal.servers)
    return TrafficDecision(mesh_id=mesh_id, key=known.key_of(proposal), port=proposal.port, server_vm_ids=servers)


def _refuse_accepted(session: Session, decision: TrafficDecision | None) -> None:
    if decision is not None and decision.application_id is not None:
        name = applications.get_application(session, decision.application_id).name
        raise ProductError(
            "proposal_accepted",
            409,
            f"Accepted already: this proposal is the application {name}. Open that, or delete it to decide again.",
            application_id=str(decision.application_id),
        )


def accept(session: Session, actor: Actor, mesh_id: UUID, body: schemas.ProposalsAccept, now: datetime) -> Application:
    """Declare proposals as one application, which follows their VMs unless `body` has its own tasks.

    ProductErrors of `create_application`, `proposal_unknown`, `proposal_accepted`,
    `application_too_large`.
    """
    get_mesh(session, mesh_id)
    lock_mesh(session, mesh_id)
    known = _Found(session, mesh_id, now)
    chosen = list({(one := _by_key(known, key)).key: one for key in body.proposals}.values())
    for proposal in chosen:
        _refuse_accepted(session, known.decided.get(proposal.key))
    tasks, edges = (body.tasks, []) if body.tasks else _declared(chosen, known.vms)
    application = applications.create_application(
        session,
        actor,
        ApplicationCreate(
            **body.model_dump(exclude={"proposals", "tasks"}), mesh=str(mesh_id), tasks=tasks, edges=edges
        ),
    )
    for proposal in chosen:
        decision = known.decided.get(proposal.key) or _decision(mesh_id, known, proposal)
        decision.since, decision.application_id = func.now(), application.id
        decision.stopped = applications.EDITED.format(name=actor.name) if body.tasks else None
        session.add(decision)
    session.flush()
    session.refresh(application)
    return application


def _declared(chosen: list[core.Proposal], vms: Mapping[UUID, Vm]) -> tuple[list[TaskWrite], list[EdgeWrite]]:
    """Return tasks and edges of the VMs that have traffic now. ProductError `application_too_large`."""
    edges = core.current([edge for proposal in chosen for edge in proposal.edges])
    weights = core.weights_of(edges)
    servers = {edge.server for edge in edges}
    ends = {end for edge in edges for end in (edge.client, edge.server)}
    if len(ends) > TASKS_MAX or len(weights) > EDGES_MAX:
        raise ProductError(
            "application_too_large",
            409,
            f"Application too large: {len(ends):,} VMs with {len(weights):,} links; at most {TASKS_MAX:,} tasks and"
            f" {EDGES_MAX:,} edges are allowed. Choose fewer proposals.",
        )
    is_star = len(chosen) == 1 and core.is_star(weights)
    order = sorted(ends, key=lambda vm_id: (vm_id not in servers, vms[vm_id].name))
    tasks = [TaskWrite(name=vms[vm_id].name, vm=str(vm_id), root=is_star and vm_id in servers) for vm_id in order]
    return tasks, [] if is_star else _edges(weights, {vm_id: vm.name for vm_id, vm in vms.items()})


def follow(session: Session, mesh_id: UUID, now: datetime) -> None:
    """Let the applications of a mesh that follow traffic have tasks where it is seen."""
    following: dict[UUID, list[TrafficDecision]] = {}
    owners: dict[tuple[int, UUID], UUID | None] = {}
    for decision in queries.decisions(session, mesh_id):
        owners |= {(decision.port, vm_id): decision.application_id for vm_id in decision.server_vm_ids}
        if decision.application_id is not None and decision.stopped is None:
            following.setdefault(decision.application_id, []).append(decision)
    ports = {decision.port for decisions in following.values() for decision in decisions}
    vms, edges = _traffic(session, mesh_id, (now - _FOLLOWED).date(), ports)
    proposals = core.proposals(edges, len(vms), at_once=True)
    for application in applications_named(session, (), following) if proposals else ():
        # Servers that other proposals were decided on stay theirs, even if clients came to be the same.
        theirs = {place for place, owner in owners.items() if owner != application.id}
        matched = [(one, core.matching(proposals, one.port, one.server_vm_ids)) for one in following[application.id]]
        pairs = [(one, core.without(proposal, theirs)) for one, proposal in matched if proposal]
        seen = [proposal for _, proposal in pairs if proposal.edges]
        if not seen or not _change(application, seen, now):
            continue
        lock_mesh(session, mesh_id)
        if locked(session, Application, application.id) is None:  # deleted meanwhile
            continue
        session.refresh(application)
        change = _change(application, seen, now)
        if change is None or any(decision.stopped for decision in application.traffic):
            continue
        _write(session, application, *change, {vm_id: vms[vm_id].name for vm_id in vms}, seen)
        placed = {task.vm_id for task in application.tasks}
        for decision, proposal in pairs:
            decision.server_vm_ids = [vm_id for vm_id in proposal.servers if vm_id in placed] or decision.server_vm_ids


def _change(
    application: Application, seen: Sequence[core.Proposal], now: datetime
) -> tuple[core.Changes, dict[tuple[UUID, UUID], float]] | None:
    """Return the changes of tasks and the new weights of an application; None where nothing changed."""
    since = max(decision.since for decision in application.traffic)
    servers = {vm_id for proposal in seen for vm_id in proposal.servers}
    tasks = [
        core.FollowedTask(
            id=task.id,
            vm=task.vm_id,
            serves=task.root or task.vm_id in servers,
            pinned=task.pinned,
            added_at=task.created_at if task.created_at > since else None,
            placed_at=task.placed_at if task.placed_at and task.placed_at > since else None,
            waiting_since=task.waiting_since,
        )
        for task in application.tasks
    ]
    changes = core.follow(tasks, seen, now)
    weights = core.weights_of(core.current([edge for proposal in seen for edge in proposal.edges]))
    vm_of = {task.id: task.vm_id for task in application.tasks}
    stored = {
        frozenset((vm_of[edge.source_task_id], vm_of[edge.target_task_id])): edge.weight for edge in application.edges
    }
    drift = sum(abs(share - stored.get(frozenset(ends), 0.0)) for ends, share in weights.items())
    return (changes, weights) if changes or (stored and drift > _DRIFT) else None


def _write(
    session: Session,
    application: Application,
    changes: core.Changes,
    weights: Mapping[tuple[UUID, UUID], float],
    vm_names: Mapping[UUID, str],
    seen: Sequence[core.Proposal],
) -> None:
    """Write the changes of an application that is locked, and its new weights if it is a graph."""
    names = {task.id: task.name for task in application.tasks}
    servers = {vm_id for proposal in seen for vm_id in proposal.servers}
    is_graph = bool(application.edges) or not servers.isdisjoint(changes.added)
    tasks: dict[str, TaskWrite] = {}
    for task in application.tasks:
        if task.id not in changes.removed:
            written = applications.task_written(task)
            if task.id in changes.waiting:
                written.vm = None
            elif task.id in changes.moved:
                written.vm = str(changes.moved[task.id])
            written.root = task.root and not is_graph
            tasks[task.name] = written
    for vm_id in changes.added[: max(TASKS_MAX - len(tasks), 0)]:
        name = _free(vm_names[vm_id], set(tasks))
        tasks[name] = TaskWrite(name=name, vm=str(vm_id))
    edges: list[EdgeWrite] = []
    if is_graph:
        task_on = {UUID(task.vm): name for name, task in tasks.items() if task.vm}
        kept = [applications.edge_written(edge, names) for edge in application.edges]
        edges = [
            *(edge for edge in kept if _waits(tasks.get(edge.source), tasks.get(edge.target))),
            *_edges({pair: share for pair, share in weights.items() if task_on.keys() >= set(pair)}, task_on),
        ]
        if not edges:
            next(iter(tasks.values())).root = True
    if changes:
        by_vm = {name: vm_names[vm_id] for task_id, vm_id in changes.moved.items() if (name := names[task_id])}
        added = [vm_names[vm_id] for vm_id in changes.added]
        others = {kind: [names[task_id] for task_id in getattr(changes, kind)] for kind in ("waiting", "removed")}
        detail = {"moved": by_vm, "added": added, **others}
        audit.record(session, None, "application.followed", application.id, application.name, **detail)
    applications.replace_tasks(session, application, list(tasks.values()), edges)
    application.updated_at = datetime.now(UTC)
    session.flush()


def _waits(*ends: TaskWrite | None) -> bool:
    """Return true for the ends of an edge of which one waits, so that nothing is observed of it."""
    return None not in ends and not all(end and end.vm for end in ends)


def _edges(weights: Mapping[tuple[UUID, UUID], float], name_of: Mapping[UUID, str]) -> list[EdgeWrite]:
    return [
        EdgeWrite(source=name_of[client], target=name_of[server], weight=max(round(share, 3), _WEIGHT_MIN))
        for (client, server), share in weights.items()
    ][:EDGES_MAX]
