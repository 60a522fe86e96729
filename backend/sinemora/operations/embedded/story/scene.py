"""Scene of the demonstration: applications, a rule, a receiver and a metric source; whatever is missing is created."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.alerts.evaluation.rule import Kind
from sinemora.alerts.models import Receiver, ReceiverKind
from sinemora.alerts.receivers import hidden_url
from sinemora.alerts.receivers import queries as receiver_queries
from sinemora.alerts.receivers import service as receivers
from sinemora.alerts.receivers.schemas import ReceiverFields, Route, RoutingWrite
from sinemora.alerts.rules import queries as rule_queries
from sinemora.alerts.rules import service as rules
from sinemora.alerts.rules.schemas import ConditionModel, RuleCreate
from sinemora.applications import service as applications
from sinemora.applications.learning import service as learning
from sinemora.applications.learning.models import MetricSource
from sinemora.applications.learning.schemas import MetricPathWrite, MetricSourceCreate
from sinemora.applications.models import Application
from sinemora.applications.schemas import ApplicationCreate, CapacityUpdate, TaskWrite
from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.db import named
from sinemora.kit.http.etag import IfMatch

WATCHED = "checkout"
"""The application whose metric is measured and whose objective the story makes it miss."""
RECEIVER = "Demonstration log"
_SLOTS = 2
# Each with its published curve, server, clients and objective. Clients are far from their server on purpose.
_APPLICATIONS = (
    (WATCHED, "memcached-server", "a-1", ("b-1", "c-1"), 0.30, "Carts in Memcached; one client is two zones away"),
    ("lookup", "dns", "b-2", ("a-1", "c-2"), None, "Name service; both clients are in other zones"),
    ("training", "strads-lasso", "c-1", ("c-2", "b-1"), None, "Regression; one worker is in another zone"),
)
LINKS = tuple((name, client, server) for name, _, server, clients, _, _ in _APPLICATIONS for client in clients)
"""Application, client and server of each connection."""
_REFERENCE_US = 100.0
# Ordinary delays between zones are below it. Rules that compare with a baseline need twenty minutes to learn one.
_LIMIT_NS = 450_000


def create(session: Session, actor: Actor, mesh: MeshState, hook: str, key: str) -> UUID:
    """Create what is missing; notifications go to the URL `hook`, signed with `key`. Return the metric source."""
    vms = {member.name: member.id for member in mesh.members}
    if named(session, Application, WATCHED) is None:
        for name in sorted(vms):
            applications.update_capacity(
                session, actor, vms[name], CapacityUpdate(slots=_SLOTS), IfMatch("*", required=True)
            )
        for application in _APPLICATIONS:
            _declare(session, actor, mesh, *application)
    _create_rule(session, actor, mesh)
    _create_receiver(session, actor, hook, key)
    return _create_source(session, actor, mesh, vms).id


def _declare(
    session: Session,
    actor: Actor,
    mesh: MeshState,
    name: str,
    curve: str,
    server: str,
    clients: Sequence[str],
    objective: float | None,
    description: str,
) -> None:
    if named(session, Application, name) is not None:
        return
    tasks = [TaskWrite(name=f"{name}-server", vm=server, root=True, pinned=True)]
    tasks += [TaskWrite(name=f"{name}-{number}", vm=client) for number, client in enumerate(clients, 1)]
    body = ApplicationCreate(
        name=name,
        description=description,
        mesh=str(mesh.id),
        curve=curve,
        reference_us=_REFERENCE_US,
        tasks=tasks,
        objective=objective,
    )
    applications.create_application(session, actor, body)


def _create_rule(session: Session, actor: Actor, mesh: MeshState) -> None:
    rule = RuleCreate(
        mesh_id=mesh.id,
        name="Delay above 450 µs",
        condition=ConditionModel(kind=Kind.THRESHOLD, above=_LIMIT_NS),
    )
    if rule_queries.rule_named(session, mesh.id, rule.name) is None:
        rules.create_rule(session, actor, rule)


def _create_receiver(session: Session, actor: Actor, hook: str, key: str) -> None:
    row = named(session, Receiver, RECEIVER)
    if row is None:
        body = ReceiverFields(name=RECEIVER, kind=ReceiverKind.webhook, settings={"url": hook}, secret={"key": key})
        receivers.create_receiver(session, actor, body)
        if receiver_queries.routing(session) is None:
            tree = RoutingWrite(root=Route(receivers=[RECEIVER]))
            receivers.write_routing(session, actor, tree, IfMatch(None, required=False))
    elif hidden_url.opened(row.settings) != hook:  # its port changed
        row.settings = hidden_url.sealed(hook)


def _create_source(session: Session, actor: Actor, mesh: MeshState, vms: dict[str, UUID]) -> MetricSource:
    name = f"{WATCHED}, requests of one connection"
    known = named(session, MetricSource, name)
    if known is not None:
        return known
    paths = [
        MetricPathWrite(source_vm_id=vms[client], target_vm_id=vms[server])
        for application, client, server in LINKS
        if application == WATCHED
    ]
    body = MetricSourceCreate(name=name, mesh_id=mesh.id, paths=paths, metric="rate", unit="requests/s")
    return learning.create_source(session, actor, body)
