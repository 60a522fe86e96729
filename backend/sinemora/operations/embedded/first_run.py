"""First run: creates the tenant, its owner and the demonstration mesh. Safe to repeat.

    python -m sinemora.operations.embedded.first_run NAME=AGENT_ID NAME= …

It is a separate process, so that the supervisor does not load the backend. The arguments are the demonstration machines
with the identity that each has on disk, if any. The output is one line of JSON:
`{"created": bool, "password": str | null, "token": str, "unenrolled": [NAME, …]}`. `unenrolled` machines have no
identity that the database knows; they enrol with `token`.
"""

import json
import sys
from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Role, Tenant
from sinemora.access.tenants.service import OwnerCreated, create_owner
from sinemora.fleet.inventory import agents
from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.fleet.inventory.queries import active_agent
from sinemora.fleet.meshes import enrolment, service
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.schemas import EnrolmentTokenCreate, MeshCreate
from sinemora.kit.config import settings
from sinemora.kit.db import named, tenant_session
from sinemora.operations.embedded.demo import machines as demo

TENANT = "Sinemora"


def main(arguments: list[str]) -> int:
    """Create missing objects and print the result."""
    password = settings().owner_password
    try:
        owner = create_owner(TENANT, settings().owner_email, password.get_secret_value() if password else None)
    except ValueError as error:
        print(f"SINEMORA_OWNER_EMAIL, SINEMORA_OWNER_PASSWORD: {error}", file=sys.stderr)
        return 1
    result = {"created": owner.created, "password": owner.password, "token": "", "unenrolled": list[str]()}
    if arguments:
        identities = dict(argument.split("=", 1) for argument in arguments)
        actor = actor_of(owner)
        with tenant_session(owner.tenant_id) as session:
            result["token"], result["unenrolled"] = prepare(session, actor, identities)
    print(json.dumps(result))
    return 0


def owner_of_demonstration() -> Actor:
    """Return the owner of the tenant that has the demonstration."""
    return actor_of(create_owner(TENANT, settings().owner_email))


def actor_of(owner: OwnerCreated) -> Actor:
    """Return an owner as the actor of changes."""
    with tenant_session(owner.tenant_id) as session:
        tenant = session.get_one(Tenant, owner.tenant_id)
        return Actor(tenant.id, tenant.key, tenant.name, "user", owner.user_id, settings().owner_email, Role.owner)


def prepare(session: Session, actor: Actor, identities: Mapping[str, str]) -> tuple[str, list[str]]:
    """Make the machines of `identities` (name to agent id or empty) the only members of the demonstration mesh.

    Return an enrolment token and the machines that need it. An agent whose identity is no longer on this disk is
    revoked, so that its VM can enrol again.
    """
    mesh = named(session, Mesh, demo.MESH) or service.create_mesh(session, actor, MeshCreate(name=demo.MESH))
    unenrolled = set(identities)
    for vm in session.scalars(select(Vm).join(Zone).where(Zone.provider == demo.PROVIDER, Zone.region == demo.REGION)):
        if vm.name not in identities:
            _leave(session, actor, mesh, vm)
            continue
        agent = active_agent(session, vm.id)
        if agent is not None and str(agent.id) == identities[vm.name]:
            unenrolled.discard(vm.name)
            service.add_vm(session, actor, mesh.id, vm.id)
        elif agent is not None:
            agents.revoke(session, actor, agent.id)
    if not unenrolled:
        return "", []
    request = EnrolmentTokenCreate(mesh_id=mesh.id, max_uses=len(unenrolled))
    return enrolment.create_token(session, actor, request)[1], sorted(unenrolled)


def _leave(session: Session, actor: Actor, mesh: Mesh, vm: Vm) -> None:
    if any(member.id == vm.id for member in service.mesh_state(session, mesh.id).members):
        service.remove_vm(session, actor, mesh.id, vm.id)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
