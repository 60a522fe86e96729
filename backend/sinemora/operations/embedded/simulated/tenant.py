"""Simulated tenant in the database: its owner, quotas, zones, VMs, mesh, alert rules and applications."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.queries import tenant_by_name
from sinemora.access.tenants.service import create_owner
from sinemora.alerts.rules.service import create_default_rules
from sinemora.applications import service as applications
from sinemora.applications.models import Application
from sinemora.applications.schemas import ApplicationCreate, TaskWrite
from sinemora.fleet.inventory import agents
from sinemora.fleet.inventory.models import EVENT_PORT, GENERAL_PORT, Vm
from sinemora.fleet.inventory.queries import active_agent, ensure_vm, ensure_zone
from sinemora.fleet.inventory.schemas import ZoneName
from sinemora.fleet.meshes import enrolment, service
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.schemas import EnrolmentTokenCreate, MeshCreate
from sinemora.kit.config import settings
from sinemora.kit.db import named, system_session, tenant_session
from sinemora.kit.security import digest
from sinemora.operations import quota
from sinemora.operations.archives import tenant
from sinemora.operations.embedded import first_run
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.simulated.api import Identity, Post, enrol
from sinemora.operations.embedded.simulated.faults import Fault, FaultKind
from sinemora.operations.embedded.simulated.windows import WINDOW_S
from sinemora.operations.embedded.simulated.world import World

MESH = "Simulated network"
PROVIDER = "simulated"
LABELS = {"simulated": "true"}
_WINDOWS_PER_S = 200_000
"""The quota of the tenant, windows of paths per second. Its 9,900 paths need 165; loading sends them faster."""
_VMS = 200
_REFERENCE_US = 100.0


@dataclass(frozen=True)
class Home:
    """Tenant that a simulated network is loaded into, its owner, and the days of windows that are loaded.

    `is_own`: the tenant exists for this network alone and has quotas for it.
    """

    tenant: str
    email: str
    days: int
    is_own: bool


OWN = Home("Simulated", "simulated@demo.example", 31, is_own=True)
TENANT, EMAIL = OWN.tenant, OWN.email


@dataclass(frozen=True)
class Simulated:
    """The tenant's ids and keys. `password` is set only if one was generated."""

    actor: Actor
    mesh_id: UUID
    mesh_key: int
    password: str | None
    created: bool


def first_home() -> Home:
    """Return the tenant of the first start, which shows a day of a simulated network from the first second on."""
    return Home(first_run.TENANT, settings().owner_email, 1, is_own=False)


def find(home: Home = OWN) -> UUID | None:
    """Return the id of the tenant, if there is one and it has the simulated network."""
    with system_session() as session:
        found = tenant_by_name(session, home.tenant)
    if found is None or home.is_own:
        return None if found is None else found.id
    with tenant_session(found.id) as session:
        return None if named(session, Mesh, MESH) is None else found.id


def delete() -> None:
    """Delete the tenant with all measurements."""
    tenant.delete(TENANT, lambda line: print(line, file=sys.stderr, flush=True))


def prepare(world: World, window_s: int = WINDOW_S, home: Home = OWN) -> Simulated:
    """Create what is missing of the tenant, without agents. Safe to repeat. EmbeddedError."""
    given = settings().owner_password
    try:
        owner = create_owner(home.tenant, home.email, given.get_secret_value() if given else None)
    except ValueError as error:
        raise EmbeddedError(f"SINEMORA_OWNER_PASSWORD: {error}.", "Set another, or none.") from None
    if home.is_own:
        limits = {"vms": _VMS, "windows_per_s": _WINDOWS_PER_S, "raw_days": kept_days(home)}
        quota.change(home.tenant, {name: str(limit) for name, limit in limits.items()})
    actor = replace(first_run.actor_of(owner), name=home.email)
    with tenant_session(owner.tenant_id) as session:
        mesh = named(session, Mesh, MESH)
        if mesh is None:
            mesh = service.create_mesh(session, actor, MeshCreate(name=MESH, window_s=window_s, rate_hz=1))
        for name, zone in zip(world.names, world.zone_of.tolist(), strict=True):
            place = ensure_zone(session, PROVIDER, world.region_name(zone), world.zones[zone])
            ensure_vm(session, name, place, EVENT_PORT, GENERAL_PORT).labels = dict(LABELS)
        create_default_rules(session, mesh.id)
        return Simulated(actor, mesh.id, mesh.key, owner.password, owner.created)


def enrol_agents(post: Post, world: World, simulated: Simulated, known: Mapping[str, Identity]) -> dict[str, Identity]:
    """Return the identities of all agents; those that are not `known` enrol. EmbeddedError.

    An agent whose identity is not known belongs to an enrolment that was interrupted: it is revoked first.
    """
    identities = {}
    with tenant_session(simulated.actor.tenant_id) as session:
        for name in world.names:
            vm, identity = named(session, Vm, name), known.get(name)
            agent = None if vm is None else active_agent(session, vm.id)
            if agent is not None and identity and agent.credential_digest == digest(identity.credential):
                identities[name] = identity
            elif agent is not None:
                agents.revoke(session, simulated.actor, agent.id)
        missing = [name for name in world.names if name not in identities]
        if not missing:
            return identities
        request = EnrolmentTokenCreate(mesh_id=simulated.mesh_id, max_uses=len(missing))
        token = enrolment.create_token(session, simulated.actor, request)[1]
    for name in missing:
        at = world.names.index(name)
        zone = int(world.zone_of[at])
        place = ZoneName(provider=PROVIDER, region=world.region_name(zone), name=world.zones[zone])
        identities[name] = enrol(post, token, name, place, f"10.99.{at // 250}.{at % 250 + 1}")
    return identities


def create_applications(simulated: Simulated, world: World, faults: Sequence[Fault], home: Home = OWN) -> None:
    """Create three applications: on the slow VM, between the slow zones, and between zones without a fault.

    In a tenant that has other applications their names begin with `simulated-`.
    """
    prefix = "" if home.is_own else "simulated-"
    by_kind = {fault.kind: fault for fault in faults}
    (slow_vm,), pair = by_kind[FaultKind.SLOW_VM].sources, by_kind[FaultKind.ZONE_PAIR]
    mates = [vm for vm in np.flatnonzero(world.zone_of == world.zone_of[slow_vm]).tolist() if vm != slow_vm]
    there, back = (np.flatnonzero(world.zone_of == zone).tolist() for zone in world.asymmetric)
    declared = (
        ("checkout", "memcached-server", slow_vm, mates[:2], 0.5, "Carts in Memcached, on a VM that became slow"),
        ("training", "strads-lasso", pair.sources[0], pair.targets[:2], None, "Regression between two zones"),
        ("lookup", "dns", there[0], back[:2], None, "Name service; the way to its clients is the longer one"),
    )
    with tenant_session(simulated.actor.tenant_id) as session:
        for short, curve, server, clients, objective, description in declared:
            name = prefix + short
            if named(session, Application, name) is not None:
                continue
            tasks = [TaskWrite(vm=world.names[vm], root=vm == server) for vm in (server, *clients)]
            body = ApplicationCreate(
                name=name,
                description=f"Simulated. {description}",
                mesh=str(simulated.mesh_id),
                curve=curve,
                reference_us=_REFERENCE_US,
                tasks=tasks,
                objective=objective,
            )
            applications.create_application(session, simulated.actor, body)


def kept_days(home: Home = OWN) -> int:
    """Return the number of days of windows that are loaded and kept."""
    return min(settings().retention_raw_days, home.days)
